/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts and numbers of OTLP's JSON. See otlp_json_text.h.
 */
#include "otlp/otlp_json_text.h"
#include "base/misuse.h"
#include "base/number.h"
#include "base/utf8.h"

#include <math.h>
#include <string.h>

char *crest_otlp_json_put(char *at, const char *text)
{
    return stpcpy(at, text);
}

/* Puts a text in quotes, as valid UTF-8 with what JSON wants escaped. */
char *crest_otlp_json_text(char *at, const char *text)
{
    static const char digits[] = "0123456789abcdef";
    size_t length = strlen(text), bad;
    int replaced = 0;
    *at++ = '"';
    while (length != 0) {
        unsigned char c = (unsigned char)*text;
        size_t bytes = crest_utf8_character(text, length, &bad);
        if (bytes == 0) {
            at = crest_otlp_json_put(at, CREST_UTF8_REPLACEMENT);
            replaced = 1;
            bytes = bad;
        } else if (c < ' ') {
            at = crest_otlp_json_put(at, "\\u00");
            *at++ = digits[c >> 4];
            *at++ = digits[c & 15];
        } else {
            if (c == '"' || c == '\\')
                *at++ = '\\';
            at = (char *)memcpy(at, text, bytes) + bytes;
        }
        text += bytes;
        length -= bytes;
    }
    if (replaced)
        crest_misuse_count(CREST_MISUSE_TEXT, text);
    *at++ = '"';
    return at;
}

/* Puts `name`, a text such as ",\"count\":", and a number. */
char *crest_otlp_json_u64(char *at, const char *name, uint64_t value)
{
    at = crest_otlp_json_put(at, name);
    *at++ = '"';
    at += crest_number_u64(at, value);
    *at++ = '"';
    return at;
}

char *crest_otlp_json_i64(char *at, const char *name, int64_t value)
{
    at = crest_otlp_json_put(at, name);
    *at++ = '"';
    at += crest_number_i64(at, value);
    *at++ = '"';
    return at;
}

char *crest_otlp_json_i32(char *at, const char *name, int value)
{
    at = crest_otlp_json_put(at, name);
    return at + crest_number_i64(at, value);
}

char *crest_otlp_json_double(char *at, const char *name, double value)
{
    at = crest_otlp_json_put(at, name);
    if (isnan(value))
        return crest_otlp_json_put(at, "\"NaN\"");
    if (isinf(value))
        return crest_otlp_json_put(at, value > 0 ? "\"Infinity\"" : "\"-Infinity\"");
    return at + crest_number_double(at, value);
}

/* Puts an attribute, behind a comma if it is not the first. */
char *crest_otlp_json_attribute(char *at, const char *key, const char *value, int *first)
{
    at = crest_otlp_json_put(at, *first ? "{\"key\":" : ",{\"key\":");
    *first = 0;
    at = crest_otlp_json_text(at, key);
    at = crest_otlp_json_text(crest_otlp_json_put(at, ",\"value\":{\"stringValue\":"), value);
    return crest_otlp_json_put(at, "}}");
}
