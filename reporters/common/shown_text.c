/* SPDX-License-Identifier: Apache-2.0 */
/*
 * UTF-8 checks, and sanitising a server's text for display. See shown_text.h.
 *
 * Source of the ranges: Unicode 15, table 3-7, "Well-Formed UTF-8 Byte Sequences".
 */
#include "common/shown_text.h"

#include <string.h>

static int push_text_tail(unsigned char byte)
{
    return (byte & 0xc0) == 0x80;
}

size_t crest_push_text_step(const char *text, size_t length)
{
    const unsigned char *s = (const unsigned char *)text;
    if (length == 0)
        return 0;
    if (s[0] < 0x80)
        return 1;
    size_t need = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
    if (s[0] < 0xc2 || s[0] > 0xf4 || length < need)
        return 0;
    for (size_t i = 1; i < need; i++)
        if (!push_text_tail(s[i]))
            return 0;
    /* Longer than needed, a surrogate, or past U+10FFFF. */
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
        (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
        return 0;
    return need;
}

int crest_push_text_valid(const char *text)
{
    size_t left = strlen(text);
    while (left > 0) {
        size_t step = crest_push_text_step(text, left);
        if (step == 0)
            return 0;
        text += step;
        left -= step;
    }
    return 1;
}

/* C0, DEL and, in two bytes, C1: a terminal acts on these instead of showing them. */
static int push_text_control(const unsigned char *character)
{
    return character[0] <= ' ' || character[0] == 0x7f ||
           (character[0] == 0xc2 && character[1] < 0xa0);
}

size_t crest_push_text_show(const char *text, size_t length, char *shown, size_t size)
{
    size_t used = 0, fits = 0;
    int blank = 0;
    while (length > 0) {
        size_t step = crest_push_text_step(text, length);
        const char *from = step ? text : "?";
        size_t bytes = step ? step : 1;
        text += bytes;
        length -= bytes;
        if (push_text_control((const unsigned char *)from)) {
            blank = used > 0;
            continue;
        }
        if (used + (size_t)blank + bytes >= size) {
            memcpy(shown + fits, "...", 4);
            return fits + 3;
        }
        if (blank)
            shown[used++] = ' ';
        blank = 0;
        memcpy(shown + used, from, bytes);
        used += bytes;
        /* The last place where the mark of a cut ("...") would still fit. */
        if (used + 4 <= size)
            fits = used;
    }
    shown[used] = '\0';
    return used;
}
