/* SPDX-License-Identifier: Apache-2.0 */
/*
 * UTF-8. See utf8.h.
 */
#include "base/utf8.h"

#include <string.h>

typedef struct utf8_lead {
    unsigned char first, last;            /* range of the first byte */
    unsigned char second_min, second_max; /* range of the second; later ones are 80..bf */
    unsigned char length;
} utf8_lead;

/* The rows of table 3-7 above ASCII: no overlong forms, no surrogates, nothing above U+10FFFF. */
static const utf8_lead utf8_leads[] = {
    {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3}, {0xe1, 0xec, 0x80, 0xbf, 3},
    {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3}, {0xf0, 0xf0, 0x90, 0xbf, 4},
    {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
};

size_t crest_utf8_character(const char *bytes, size_t length, size_t *bad)
{
    const unsigned char *at = (const unsigned char *)bytes;
    if (at[0] < 0x80)
        return 1;
    const utf8_lead *lead = NULL;
    for (size_t i = 0; i < sizeof utf8_leads / sizeof utf8_leads[0]; i++)
        if (at[0] >= utf8_leads[i].first && at[0] <= utf8_leads[i].last)
            lead = &utf8_leads[i];
    size_t good = 1;
    if (lead != NULL && length > 1 && at[1] >= lead->second_min && at[1] <= lead->second_max)
        for (good = 2; good < lead->length && good < length; good++)
            if ((at[good] & 0xc0) != 0x80)
                break;
    if (lead != NULL && good == lead->length)
        return good;
    if (bad != NULL)
        *bad = good;
    return 0;
}

size_t crest_utf8_valid_length(const char *bytes, size_t length)
{
    size_t at = 0;
    while (at < length) {
        size_t step = crest_utf8_character(bytes + at, length - at, NULL);
        if (step == 0)
            break;
        at += step;
    }
    return at;
}

int crest_utf8_is_valid(const char *text)
{
    size_t length = strlen(text);
    return crest_utf8_valid_length(text, length) == length;
}

size_t crest_utf8_cut(const char *bytes, size_t length, size_t max)
{
    if (length <= max)
        return length;
    while (max > 0 && ((unsigned char)bytes[max] & 0xc0) == 0x80)
        max--;
    return max;
}

size_t crest_utf8_copy(const char *text, char *out, size_t size, unsigned *what)
{
    size_t length = strlen(text), at = 0, used = 0;
    unsigned happened = 0;
    while (at < length) {
        size_t bad = 0;
        size_t step = crest_utf8_character(text + at, length - at, &bad);
        const char *from = step != 0 ? text + at : CREST_UTF8_REPLACEMENT;
        size_t bytes = step != 0 ? step : CREST_UTF8_REPLACEMENT_BYTES;
        if (used + bytes >= size) {
            happened |= CREST_UTF8_CUT;
            break;
        }
        if (step == 0)
            happened |= CREST_UTF8_REPLACED;
        memcpy(out + used, from, bytes);
        used += bytes;
        at += step != 0 ? step : bad;
    }
    out[used] = '\0';
    if (what != NULL)
        *what = happened;
    return used;
}
