/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Strict reading of the kernel's texts. See proc_text.h. Uses no function of the C library that
 * needs a NUL, asks the locale, or forgives.
 */
#include "system/parse/proc_text.h"

#include <string.h>

static int proc_text_is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static void proc_text_skip_blanks(crest_text *from)
{
    while (from->at != from->end && proc_text_is_blank(*from->at))
        from->at++;
}

int crest_text_line(crest_text *from, crest_text *line)
{
    size_t length = crest_text_length(*from);
    if (length == 0)
        return 0;
    const char *feed = memchr(from->at, '\n', length);
    line->at = from->at;
    line->end = feed != NULL ? feed : from->end;
    from->at = feed != NULL ? feed + 1 : from->end;
    return 1;
}

int crest_text_word(crest_text *from, crest_text *word)
{
    proc_text_skip_blanks(from);
    word->at = from->at;
    while (from->at != from->end && !proc_text_is_blank(*from->at) && *from->at != '\n')
        from->at++;
    word->end = from->at;
    return word->at != word->end;
}

int crest_text_until(crest_text *from, char separator, crest_text *part)
{
    size_t length = crest_text_length(*from);
    const char *found = length != 0 ? memchr(from->at, separator, length) : NULL;
    if (found == NULL)
        return 0;
    part->at = from->at;
    part->end = found;
    from->at = found + 1;
    return 1;
}

int crest_text_is(crest_text text, const char *bytes)
{
    size_t length = strlen(bytes);
    return crest_text_length(text) == length &&
           (length == 0 || memcmp(text.at, bytes, length) == 0);
}

int crest_text_skip(crest_text *text, const char *prefix)
{
    size_t length = strlen(prefix);
    if (crest_text_length(*text) < length || memcmp(text->at, prefix, length) != 0)
        return 0;
    text->at += length;
    return 1;
}

/* Reads digits as a number; 0 when there are none, or it does not fit. */
static int proc_text_digits(crest_text *from, uint64_t *value)
{
    const char *at = from->at;
    uint64_t sum = 0;
    for (; at != from->end && *at >= '0' && *at <= '9'; at++)
        if (__builtin_mul_overflow(sum, 10u, &sum) ||
            __builtin_add_overflow(sum, (unsigned)(*at - '0'), &sum))
            return 0;
    if (at == from->at)
        return 0;
    from->at = at;
    *value = sum;
    return 1;
}

static int proc_text_ends(crest_text text)
{
    return text.at == text.end || proc_text_is_blank(*text.at) || *text.at == '\n';
}

int crest_text_u64(crest_text *from, uint64_t *value)
{
    crest_text ahead = *from;
    uint64_t read;
    proc_text_skip_blanks(&ahead);
    if (!proc_text_digits(&ahead, &read) || !proc_text_ends(ahead))
        return 0;
    *from = ahead;
    *value = read;
    return 1;
}

int crest_text_i64(crest_text *from, int64_t *value)
{
    crest_text ahead = *from;
    uint64_t read;
    proc_text_skip_blanks(&ahead);
    int negative = crest_text_skip(&ahead, "-");
    if (!proc_text_digits(&ahead, &read) || !proc_text_ends(ahead) ||
        read > (uint64_t)INT64_MAX + (unsigned)negative)
        return 0;
    *from = ahead;
    *value = negative ? (int64_t)(0 - read) : (int64_t)read;
    return 1;
}

int crest_text_decimal(crest_text *from, double *value)
{
    crest_text ahead = *from;
    uint64_t whole, part = 0;
    double below = 1;
    proc_text_skip_blanks(&ahead);
    if (!proc_text_digits(&ahead, &whole))
        return 0;
    if (crest_text_skip(&ahead, ".")) {
        const char *begin = ahead.at;
        if (!proc_text_digits(&ahead, &part))
            return 0;
        for (; begin != ahead.at; begin++)
            below *= 10;
    }
    if (!proc_text_ends(ahead))
        return 0;
    *from = ahead;
    *value = (double)whole + (double)part / below;
    return 1;
}

int crest_text_field(crest_text text, const char *key, crest_text *rest)
{
    while (crest_text_line(&text, rest))
        if (crest_text_skip(rest, key))
            return 1;
    return 0;
}

int crest_text_copy(crest_text text, char *room, size_t size)
{
    size_t length = crest_text_length(text);
    if (length >= size || (length != 0 && memchr(text.at, '\0', length) != NULL))
        return 0;
    if (length != 0)
        memcpy(room, text.at, length);
    room[length] = '\0';
    return 1;
}
