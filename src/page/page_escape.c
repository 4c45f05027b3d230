/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Escaping. See page_escape.h.
 */
#include "page/page_escape.h"
#include "base/utf8.h"

/* Text is escaped in steps of this size. */
#define PAGE_ESCAPE_STEP_BYTES 256u

size_t crest_page_escape(const char **text, char *out, size_t size, int quotes)
{
    const char *at = *text;
    size_t used = 0;
    while (*at != '\0' && size - used >= CREST_PAGE_ESCAPE_MIN) {
        unsigned char c = (unsigned char)*at;
        if (c == '\\' || c == '\n' || (c == '"' && quotes)) {
            out[used++] = '\\';
            out[used++] = c == '\n' ? 'n' : *at;
            at++;
        } else if (c < 0x80) {
            out[used++] = *at++;
        } else {
            size_t bad = 0;
            size_t length = crest_utf8_character(at, strnlen(at, 4), &bad);
            const char *from = length != 0 ? at : CREST_UTF8_REPLACEMENT;
            size_t bytes = length != 0 ? length : CREST_UTF8_REPLACEMENT_BYTES;
            memcpy(out + used, from, bytes);
            used += bytes;
            at += length != 0 ? length : bad;
        }
    }
    *text = at;
    return used;
}

void crest_page_put_escaped(crest_buffer *out, const char *text, int quotes)
{
    while (*text != '\0') {
        char *at = crest_buffer_reserve(out, PAGE_ESCAPE_STEP_BYTES);
        out->used += crest_page_escape(&text, at, PAGE_ESCAPE_STEP_BYTES, quotes);
    }
}

void crest_page_put_label(crest_buffer *out, const char *key, const char *value, int first)
{
    if (!first)
        crest_buffer_put_char(out, ',');
    crest_buffer_put_text(out, key);
    crest_buffer_put_bytes(out, "=\"", 2);
    crest_page_put_escaped(out, value, 1);
    crest_buffer_put_char(out, '"');
}
