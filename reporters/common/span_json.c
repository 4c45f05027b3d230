/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parts of a span as JSON. See span_json.h.
 */
#include "common/span_json.h"
#include "common/shown_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SPAN_JSON_BYTES_FIRST 16384u

int crest_span_text_write(void *context, const void *bytes, size_t length)
{
    crest_span_text *text = context;
    size_t capacity = text->capacity != 0 ? text->capacity : SPAN_JSON_BYTES_FIRST;
    while (capacity - text->length < length)
        capacity *= 2;
    if (capacity != text->capacity) {
        char *grown = realloc(text->bytes, capacity);
        if (grown == NULL)
            return -1;
        text->bytes = grown;
        text->capacity = capacity;
    }
    memcpy(text->bytes + text->length, bytes, length);
    text->length += length;
    return 0;
}

static void span_json_hex(crest_json_output *output, const char *key, const uint8_t *bytes,
                          size_t count)
{
    static const char digits[] = "0123456789abcdef";
    char text[33];
    for (size_t i = 0; i < count; i++) {
        text[2 * i] = digits[bytes[i] >> 4];
        text[2 * i + 1] = digits[bytes[i] & 15];
    }
    text[2 * count] = '\0';
    crest_json_text(output, key, text);
}

void crest_span_json_trace(crest_json_output *output, const char *key, const crest_trace_id *trace)
{
    span_json_hex(output, key, trace->bytes, sizeof trace->bytes);
}

void crest_span_json_id(crest_json_output *output, const char *key, crest_span_id id)
{
    uint8_t bytes[8];
    for (unsigned i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(id >> (56 - 8 * i));
    span_json_hex(output, key, bytes, sizeof bytes);
}

/* How much of a text is put. */
static size_t span_json_cut(const char *text, size_t length)
{
    size_t used = 0;
    if (length <= CREST_SPAN_JSON_TEXT_BYTES_MAX)
        return length;
    while (used < length) {
        size_t bytes = crest_push_text_step(text + used, length - used);
        bytes = bytes != 0 ? bytes : 1;
        if (used + bytes > CREST_SPAN_JSON_TEXT_BYTES_MAX)
            break;
        used += bytes;
    }
    return used;
}

static void span_json_put(crest_json_output *output, const char *text, size_t length)
{
    if (text == NULL)
        text = "", length = 0;
    if (length == SIZE_MAX)
        length = strnlen(text, CREST_SPAN_JSON_TEXT_BYTES_MAX + 4);
    crest_json_put_part(output, text, span_json_cut(text, length));
}

void crest_span_json_text(crest_json_output *output, const char *key, const char *text,
                          size_t length)
{
    crest_json_key(output, key);
    span_json_put(output, text, length);
}

void crest_span_json_attribute(crest_json_output *output, const crest_span_attribute *attribute,
                               int as_text)
{
    char number[CREST_JSON_NUMBER_BYTES] = "";
    crest_json_put_text(output, output->before);
    span_json_put(output, attribute->key, SIZE_MAX);
    crest_json_put(output, ":", 1);
    output->before = ",";
    switch (attribute->type) {
    case CREST_SPAN_I64:
        snprintf(number, sizeof number, "%lld", (long long)attribute->value.i);
        break;
    case CREST_SPAN_DOUBLE: crest_json_number(number, attribute->value.d); break;
    case CREST_SPAN_BOOL: strcpy(number, attribute->value.b ? "true" : "false"); break;
    default: span_json_put(output, attribute->value.s, attribute->length); return;
    }
    if (as_text)
        crest_json_put_string(output, number);
    else
        crest_json_put_text(output, number);
}

const char *crest_span_json_kind(const crest_span *span)
{
    static const char *const words[] = {"internal", "server", "client", "producer", "consumer"};
    return words[span->kind < CREST_SPAN_KIND_COUNT ? span->kind : CREST_SPAN_INTERNAL];
}

const char *crest_span_json_outcome(const crest_span *span)
{
    static const char *const words[] = {"ok", "error", "timeout", "cancelled"};
    return words[(unsigned)span->outcome < CREST_OUTCOME_COUNT ? span->outcome : CREST_OUTCOME_OK];
}

const char *crest_span_json_why(const crest_span *span)
{
    static const char *const words[] = {"sampled", "failed", "timed-out", "slow", "stuck"};
    return words[span->kept_why < CREST_SPAN_WHY_COUNT ? span->kept_why : CREST_SPAN_SAMPLED];
}
