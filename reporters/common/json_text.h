/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts, numbers and members of JSON, written in pieces: valid UTF-8 whatever comes in, the same in
 * every locale.
 *
 *     crest_json_output output = {.write = write, .context = context, .before = ""};
 *     crest_json_put_text(&output, "{");
 *     crest_json_text(&output, "name", name);
 *     crest_json_open(&output, "tags");
 *     crest_json_pair(&output, key, value);
 *     crest_json_close(&output);
 *     crest_json_put_text(&output, "}");
 */
#ifndef CREST_REPORTERS_JSON_TEXT_H
#define CREST_REPORTERS_JSON_TEXT_H

#include <crest/page.h>

#define CREST_JSON_NUMBER_BYTES 40u

typedef struct crest_json_output {
    crest_write_fn *write;
    void *context;
    int stopped;        /* what `write` returned when it stopped; nothing is put any more */
    const char *before; /* what goes before the next member: "" after an opening brace, or "," */
} crest_json_output;

/* As they are. */
void crest_json_put(crest_json_output *output, const char *bytes, size_t length);
void crest_json_put_text(crest_json_output *output, const char *text);
/* In quotes, escaped; what is not UTF-8 becomes U+FFFD. */
void crest_json_put_string(crest_json_output *output, const char *text);
void crest_json_put_part(crest_json_output *output, const char *text, size_t length);

/* Members, behind a comma where they are not the first: keys are the caller's own and need no
 * escaping. */
void crest_json_key(crest_json_output *output, const char *key);
void crest_json_open(crest_json_output *output, const char *key);
void crest_json_close(crest_json_output *output);
void crest_json_text(crest_json_output *output, const char *key, const char *text);
void crest_json_u64(crest_json_output *output, const char *key, uint64_t value);
void crest_json_i64(crest_json_output *output, const char *key, int64_t value);
/* No number is null. */
void crest_json_double(crest_json_output *output, const char *key, double value);
void crest_json_number(char plain[CREST_JSON_NUMBER_BYTES], double value);

/* A member whose key comes from outside, as in an object of labels. Of a repeated key most JSON
 * readers take the last, so our own names come first. */
void crest_json_pair(crest_json_output *output, const char *key, const char *value);

#endif
