/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Strict parsing of the texts of /proc and /sys: what is not exactly a number, or does not fit, is
 * none. Pure; nothing here looks beyond the end of its text.
 *
 *     crest_text line, word;
 *     uint64_t value;
 *     while (crest_text_line(&text, &line))
 *         if (crest_text_word(&line, &word) && crest_text_is(word, "btime") &&
 *             crest_text_u64(&line, &value)) ...
 */
#ifndef CREST_PROC_TEXT_H
#define CREST_PROC_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* A stretch of bytes, without a NUL. */
typedef struct crest_text {
    const char *at;
    const char *end;
} crest_text;

static inline crest_text crest_text_of(const char *bytes, size_t length)
{
    crest_text text = {bytes, bytes + length};
    return text;
}

static inline size_t crest_text_length(crest_text text)
{
    return (size_t)(text.end - text.at);
}

/* Takes the next line off, without its line feed; 0 at the end. */
int crest_text_line(crest_text *from, crest_text *line);

/* Takes the next word off, after blanks and tabs; 0 when there is none. */
int crest_text_word(crest_text *from, crest_text *word);

/* Takes off the text before the next `separator`, and that; 0, and nothing, if there is none. */
int crest_text_until(crest_text *from, char separator, crest_text *part);

/* Whether the text is these bytes. */
int crest_text_is(crest_text text, const char *bytes);

/* Takes `prefix` off the text; 0, and nothing, if it does not begin so. */
int crest_text_skip(crest_text *text, const char *prefix);

/* Takes a whole number off, after blanks: digits, followed by a blank, a line feed or the end. 0,
 * and nothing, for anything else: a sign, no digit, 2^64 or more. */
int crest_text_u64(crest_text *from, uint64_t *value);

/* The same for a number that may have a '-' before it. */
int crest_text_i64(crest_text *from, int64_t *value);

/* Takes a decimal number off: digits, and a '.' with digits if there is one; no sign, no exponent.
 */
int crest_text_decimal(crest_text *from, double *value);

/* The rest of the line that begins with `key` ("VmRSS:"); 0 if there is none. */
int crest_text_field(crest_text text, const char *key, crest_text *rest);

/* Copies the text with a NUL; 0 when it does not fit or holds a NUL. */
int crest_text_copy(crest_text text, char *room, size_t size);

#endif
