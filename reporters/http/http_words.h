/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of options in the messages that HTTP reporters share: written with a dollar for the kind of
 * reporter, whose options they are.
 *
 *     char words[CREST_HTTP_WORDED_BYTES];
 *     crest_http_words("otlp", "Set $.ca-file to it", words);     -> "Set otlp.ca-file to it"
 */
#ifndef CREST_REPORTERS_HTTP_WORDS_H
#define CREST_REPORTERS_HTTP_WORDS_H

/* Bytes of such a text, its NUL included; a longer one is cut. */
#define CREST_HTTP_WORDED_BYTES 512u

/* Copies `text` with `kind` in place of each dollar into `words`, and returns that. */
const char *crest_http_words(const char *kind, const char *text,
                             char words[CREST_HTTP_WORDED_BYTES]);

#endif
