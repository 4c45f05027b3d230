/* SPDX-License-Identifier: Apache-2.0 */
/* Names of options in messages. See http_words.h. */
#include "http/http_words.h"

#include <string.h>

const char *crest_http_words(const char *kind, const char *text,
                             char words[CREST_HTTP_WORDED_BYTES])
{
    size_t used = 0;
    for (; *text != '\0'; text++) {
        const char *part = *text == '$' ? kind : text;
        size_t length = *text == '$' ? strlen(kind) : 1;
        if (length >= CREST_HTTP_WORDED_BYTES - used)
            break;
        memcpy(words + used, part, length);
        used += length;
    }
    words[used] = '\0';
    return words;
}
