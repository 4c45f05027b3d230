/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts, numbers and members of JSON. See json_text.h.
 */
#include "common/json_text.h"
#include "common/shown_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- putting text ---- */

void crest_json_put(crest_json_output *output, const char *bytes, size_t length)
{
    if (output->stopped == 0 && length > 0)
        output->stopped = output->write(output->context, bytes, length);
}

void crest_json_put_text(crest_json_output *output, const char *text)
{
    crest_json_put(output, text, strlen(text));
}

/* The code point of a character that is known to be valid. */
static unsigned json_text_code(const char *text, size_t bytes)
{
    static const unsigned char masks[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    unsigned code = (unsigned char)text[0] & masks[bytes];
    for (size_t i = 1; i < bytes; i++)
        code = code << 6 | ((unsigned char)text[i] & 0x3f);
    return code;
}

/* How a character is written instead of itself; "": as it is. */
static void json_text_escape(unsigned code, char escape[8])
{
    static const char letters[] = "btn\0fr";
    escape[0] = '\0';
    if (code == '"' || code == '\\')
        snprintf(escape, 8, "\\%c", (char)code);
    else if (code >= 8 && code <= 13 && letters[code - 8] != '\0')
        snprintf(escape, 8, "\\%c", letters[code - 8]);
    else if (code < ' ' || (code >= 0x7f && code < 0xa0) || code == 0x2028 || code == 0x2029)
        snprintf(escape, 8, "\\u%04x", code);
}

void crest_json_put_string(crest_json_output *output, const char *text)
{
    crest_json_put_part(output, text, strlen(text));
}

void crest_json_put_part(crest_json_output *output, const char *text, size_t length)
{
    crest_json_put(output, "\"", 1);
    const char *plain = text, *at = text;
    for (size_t left = length; left > 0;) {
        size_t bytes = crest_push_text_step(at, left);
        char escape[8] = "\xef\xbf\xbd";
        if (bytes > 0)
            json_text_escape(json_text_code(at, bytes), escape);
        size_t step = bytes > 0 ? bytes : 1;
        if (escape[0] != '\0') {
            crest_json_put(output, plain, (size_t)(at - plain));
            crest_json_put_text(output, escape);
            plain = at + step;
        }
        at += step;
        left -= step;
    }
    crest_json_put(output, plain, (size_t)(at - plain));
    crest_json_put(output, "\"", 1);
}

/* ---- members ---- */

/* Their keys are ours, and need no escaping. */
void crest_json_key(crest_json_output *output, const char *key)
{
    crest_json_put_text(output, output->before);
    crest_json_put(output, "\"", 1);
    crest_json_put_text(output, key);
    crest_json_put(output, "\":", 2);
    output->before = ",";
}

void crest_json_open(crest_json_output *output, const char *key)
{
    crest_json_key(output, key);
    crest_json_put(output, "{", 1);
    output->before = "";
}

void crest_json_close(crest_json_output *output)
{
    crest_json_put(output, "}", 1);
    output->before = ",";
}

void crest_json_text(crest_json_output *output, const char *key, const char *text)
{
    crest_json_key(output, key);
    crest_json_put_string(output, text != NULL ? text : "");
}

void crest_json_u64(crest_json_output *output, const char *key, uint64_t value)
{
    char text[CREST_JSON_NUMBER_BYTES];
    snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    crest_json_key(output, key);
    crest_json_put_text(output, text);
}

void crest_json_i64(crest_json_output *output, const char *key, int64_t value)
{
    char text[CREST_JSON_NUMBER_BYTES];
    snprintf(text, sizeof text, "%lld", (long long)value);
    crest_json_key(output, key);
    crest_json_put_text(output, text);
}

/* The fewest digits, from 15 on, that read back as the same number; printf and strtod share the
 * locale's decimal point, which is then made a dot. JSON has no NaN and no infinity: null. */
void crest_json_number(char plain[CREST_JSON_NUMBER_BYTES], double value)
{
    char text[CREST_JSON_NUMBER_BYTES];
    if (!isfinite(value)) {
        strcpy(plain, "null");
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    size_t used = 0;
    for (const char *at = text; *at != '\0'; at++) {
        int digit = strchr("0123456789+-e", *at) != NULL;
        if (digit || used == 0 || plain[used - 1] != '.')
            plain[used++] = digit ? *at : '.';
    }
    plain[used] = '\0';
}

void crest_json_double(crest_json_output *output, const char *key, double value)
{
    char text[CREST_JSON_NUMBER_BYTES];
    crest_json_number(text, value);
    crest_json_key(output, key);
    crest_json_put_text(output, text);
}

/* An object whose keys come from outside. Of a repeated key most JSON readers take the last, so our
 * own names come first. */
void crest_json_pair(crest_json_output *output, const char *key, const char *value)
{
    crest_json_put_text(output, output->before);
    crest_json_put_string(output, key);
    crest_json_put(output, ":", 1);
    crest_json_put_string(output, value != NULL ? value : "");
    output->before = ",";
}
