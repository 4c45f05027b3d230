/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Base64 with padding. See hlog_base64.h.
 */
#include "hlog/hlog_base64.h"

#include <string.h>

static const char hlog_letters[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void crest_hlog_base64_encode(const unsigned char *bytes, size_t length, char *letters)
{
    for (size_t at = 0; at < length; at += 3) {
        size_t here = length - at < 3 ? length - at : 3;
        unsigned bits = (unsigned)bytes[at] << 16;
        bits |= here > 1 ? (unsigned)bytes[at + 1] << 8 : 0;
        bits |= here > 2 ? bytes[at + 2] : 0;
        for (size_t i = 0; i < 4; i++)
            *letters++ = i <= here ? hlog_letters[(bits >> (18 - 6 * i)) & 63] : '=';
    }
}

size_t crest_hlog_base64_decode(const char *letters, size_t length, unsigned char *bytes)
{
    size_t used = 0, padding = 0;
    if (length % 4 != 0)
        return (size_t)-1;
    while (padding < 2 && padding < length && letters[length - 1 - padding] == '=')
        padding++;
    for (size_t at = 0; at < length; at += 4) {
        size_t here = at + 4 == length ? 4 - padding : 4;
        unsigned bits = 0;
        for (size_t i = 0; i < 4; i++) {
            const char *found =
                i < here ? memchr(hlog_letters, letters[at + i], sizeof hlog_letters - 1)
                         : hlog_letters;
            if (found == NULL)
                return (size_t)-1;
            bits = bits << 6 | (unsigned)(found - hlog_letters);
        }
        for (size_t i = 0; i + 1 < here; i++)
            bytes[used++] = (unsigned char)(bits >> (16 - 8 * i));
    }
    return used;
}
