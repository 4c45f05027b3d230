/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes answers of OTLP receivers. See otlp_answer.h. */
#include "otlp/otlp_answer.h"
#include "common/shown_text.h"

#include <string.h>

/* Objects and arrays within each other that JSON may have. */
#define OTLP_ANSWER_DEPTH_MAX 32u

/* ---- Protocol Buffers ---- */

/* What is left to read. */
typedef struct otlp_answer_bytes {
    const unsigned char *at, *end;
} otlp_answer_bytes;

/* 0: ended before it was whole, or has more than 64 bits. */
static int otlp_answer_varint(otlp_answer_bytes *in, uint64_t *value)
{
    *value = 0;
    for (unsigned shift = 0; shift < 64 && in->at < in->end; shift += 7) {
        unsigned char byte = *in->at++;
        *value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return shift < 63 || byte <= 1;
    }
    return 0;
}

/* A field: its number and type, and its value or content. */
typedef struct otlp_answer_field {
    uint64_t number;
    unsigned type;
    uint64_t value;            /* of a varint */
    otlp_answer_bytes content; /* of a length-delimited one; cut to what there is */
} otlp_answer_field;

/* Reads the next field; 0 when it is malformed, or ends behind the end in a way other than that its
 * content is cut. */
static int otlp_answer_next(otlp_answer_bytes *in, otlp_answer_field *field, int *cut)
{
    uint64_t key, length;
    if (!otlp_answer_varint(in, &key))
        return 0;
    field->number = key >> 3;
    field->type = (unsigned)(key & 7);
    size_t left = (size_t)(in->end - in->at);
    switch (field->type) {
    case 0: return otlp_answer_varint(in, &field->value);
    case 1: length = 8; break;
    case 5: length = 4; break;
    case 2:
        if (!otlp_answer_varint(in, &length))
            return 0;
        left = (size_t)(in->end - in->at);
        break;
    default: return 0;
    }
    *cut = length > left;
    field->content = (otlp_answer_bytes){in->at, in->at + (*cut ? left : (size_t)length)};
    in->at = field->content.end;
    return field->number != 0;
}

static void otlp_answer_show(const unsigned char *from, size_t length, crest_otlp_answer *answer)
{
    crest_push_text_show((const char *)from, length, answer->words, sizeof answer->words);
}

/* ExportMetricsPartialSuccess, or that of traces; 0 when malformed. */
static int otlp_answer_partial(otlp_answer_bytes in, int may_be_cut, crest_otlp_answer *answer)
{
    otlp_answer_field field;
    int cut = 0;
    while (in.at < in.end && !cut) {
        if (!otlp_answer_next(&in, &field, &cut) || (cut && !may_be_cut))
            return may_be_cut;
        if (field.number == 1 && field.type == 0)
            answer->rejected = field.value > INT64_MAX ? 0 : field.value;
        else if (field.number == 2 && field.type == 2)
            otlp_answer_show(field.content.at, (size_t)(field.content.end - field.content.at),
                             answer);
    }
    return 1;
}

static int otlp_answer_protobuf(otlp_answer_bytes in, int may_be_cut, crest_otlp_answer *answer)
{
    otlp_answer_field field;
    int cut = 0;
    while (in.at < in.end && !cut) {
        if (!otlp_answer_next(&in, &field, &cut) || (cut && !may_be_cut))
            return may_be_cut;
        if (field.number == 1 && field.type == 2 &&
            !otlp_answer_partial(field.content, may_be_cut, answer))
            return 0;
    }
    return 1;
}

/* ---- JSON ---- */

/* Where a reader stands, and how deep. */
typedef struct otlp_answer_json {
    const char *at, *end;
} otlp_answer_json;

static void otlp_answer_blanks(otlp_answer_json *in)
{
    while (in->at < in->end && strchr(" \t\r\n", *in->at) != NULL && *in->at != '\0')
        in->at++;
}

/* Whether this character is next, which is then read. */
static int otlp_answer_takes(otlp_answer_json *in, char c)
{
    otlp_answer_blanks(in);
    if (in->at == in->end || *in->at != c)
        return 0;
    in->at++;
    return 1;
}

/* A string as it stands, without its quotes and with its escapes; 0 when there is none, or it has
 * no end. */
static int otlp_answer_string(otlp_answer_json *in, otlp_answer_json *text)
{
    if (!otlp_answer_takes(in, '"'))
        return 0;
    text->at = in->at;
    while (in->at < in->end && *in->at != '"')
        in->at += *in->at == '\\' && in->end - in->at > 1 ? 2 : 1;
    text->end = in->at;
    return otlp_answer_takes(in, '"');
}

/* Reads over a value of any kind. */
static int otlp_answer_skip(otlp_answer_json *in)
{
    unsigned depth = 0;
    otlp_answer_json ignored;
    do {
        otlp_answer_blanks(in);
        if (in->at == in->end)
            return 0;
        char c = *in->at;
        if (c == '"') {
            if (!otlp_answer_string(in, &ignored))
                return 0;
            continue;
        }
        if ((c == '{' || c == '[') && ++depth > OTLP_ANSWER_DEPTH_MAX)
            return 0;
        if (c == '}' || c == ']') {
            if (depth == 0)
                return 0;
            depth--;
        }
        if ((c == ',' || c == ':') && depth == 0)
            return 0;
        in->at++;
        /* a number or a word goes on */
        while (strchr("{}[],:", c) == NULL && in->at < in->end &&
               strchr("{}[],:\" \t\r\n", *in->at) == NULL)
            in->at++;
    } while (depth > 0);
    return 1;
}

static int otlp_answer_is(const otlp_answer_json *text, const char *camel, const char *snake)
{
    size_t length = (size_t)(text->end - text->at);
    return (length == strlen(camel) && memcmp(text->at, camel, length) == 0) ||
           (length == strlen(snake) && memcmp(text->at, snake, length) == 0);
}

/* A 64-bit number, which JSON has as a string or bare. Negative and wrong ones are 0. */
static int otlp_answer_number(otlp_answer_json *in, uint64_t *value)
{
    otlp_answer_json text;
    otlp_answer_blanks(in);
    const char *from = in->at;
    if (in->at < in->end && *in->at == '"') {
        if (!otlp_answer_string(in, &text))
            return 0;
    } else {
        if (!otlp_answer_skip(in))
            return 0;
        text = (otlp_answer_json){from, in->at};
    }
    *value = 0;
    for (const char *c = text.at; c < text.end; c++) {
        if (*c < '0' || *c > '9' || *value > (uint64_t)INT64_MAX / 10 - 1) {
            *value = 0;
            break;
        }
        *value = *value * 10 + (uint64_t)(*c - '0');
    }
    return 1;
}

/* Shows a string with its commonest escapes read. */
static void otlp_answer_show_json(const otlp_answer_json *text, crest_otlp_answer *answer)
{
    char plain[CREST_OTLP_ANSWER_WORDS_BYTES];
    size_t used = 0;
    for (const char *c = text->at; c < text->end && used < sizeof plain; c++) {
        if (*c == '\\' && c + 1 < text->end)
            c++;
        plain[used++] = c > text->at && c[-1] == '\\' && (*c == 'n' || *c == 't') ? ' ' : *c;
    }
    otlp_answer_show((const unsigned char *)plain, used, answer);
}

/* Walks an object's members; `part` is told of each key, and reads its value, or returns 0. */
static int otlp_answer_object(otlp_answer_json *in,
                              int (*part)(otlp_answer_json *in, const otlp_answer_json *key,
                                          crest_otlp_answer *answer),
                              crest_otlp_answer *answer)
{
    otlp_answer_json key;
    if (!otlp_answer_takes(in, '{'))
        return 0;
    if (otlp_answer_takes(in, '}'))
        return 1;
    do {
        if (!otlp_answer_string(in, &key) || !otlp_answer_takes(in, ':') || !part(in, &key, answer))
            return 0;
    } while (otlp_answer_takes(in, ','));
    return otlp_answer_takes(in, '}');
}

static int otlp_answer_partial_part(otlp_answer_json *in, const otlp_answer_json *key,
                                    crest_otlp_answer *answer)
{
    otlp_answer_json text;
    if (otlp_answer_is(key, "rejectedDataPoints", "rejected_data_points") ||
        otlp_answer_is(key, "rejectedSpans", "rejected_spans"))
        return otlp_answer_number(in, &answer->rejected);
    if (!otlp_answer_is(key, "errorMessage", "error_message"))
        return otlp_answer_skip(in);
    int whole = otlp_answer_string(in, &text);
    if (whole)
        otlp_answer_show_json(&text, answer);
    return whole;
}

static int otlp_answer_response_part(otlp_answer_json *in, const otlp_answer_json *key,
                                     crest_otlp_answer *answer)
{
    otlp_answer_blanks(in);
    if (otlp_answer_is(key, "partialSuccess", "partial_success") && in->at < in->end &&
        *in->at == '{')
        return otlp_answer_object(in, otlp_answer_partial_part, answer);
    return otlp_answer_skip(in);
}

static int otlp_answer_status_part(otlp_answer_json *in, const otlp_answer_json *key,
                                   crest_otlp_answer *answer)
{
    otlp_answer_json text;
    otlp_answer_blanks(in);
    if (!otlp_answer_is(key, "message", "message") || in->at == in->end || *in->at != '"')
        return otlp_answer_skip(in);
    int whole = otlp_answer_string(in, &text);
    if (whole)
        otlp_answer_show_json(&text, answer);
    return whole;
}

/* ---- answers ---- */

int crest_otlp_answer_decode(const void *bytes, size_t length, int cut,
                             crest_otlp_encoding encoding, crest_otlp_answer *answer)
{
    answer->rejected = 0;
    answer->words[0] = '\0';
    const char *from = bytes;
    if (length == 0)
        return 1;
    if (encoding != CREST_OTLP_JSON)
        return otlp_answer_protobuf((otlp_answer_bytes){(const unsigned char *)bytes,
                                                        (const unsigned char *)bytes + length},
                                    cut, answer);
    otlp_answer_json in = {from, from + length};
    int whole = otlp_answer_object(&in, otlp_answer_response_part, answer);
    otlp_answer_blanks(&in);
    return (whole && in.at == in.end) || (cut && in.at == in.end);
}

/* The message of a google.rpc.Status; 0 when these bytes are none. */
static int otlp_answer_status(otlp_answer_bytes in, crest_otlp_answer *answer)
{
    otlp_answer_field field;
    int cut = 0;
    while (in.at < in.end && !cut) {
        if (!otlp_answer_next(&in, &field, &cut) || field.number > 3)
            return 0;
        if (field.number == 2 && field.type == 2)
            otlp_answer_show(field.content.at, (size_t)(field.content.end - field.content.at),
                             answer);
    }
    return answer->words[0] != '\0';
}

void crest_otlp_answer_refusal(const void *bytes, size_t length, crest_otlp_answer *answer)
{
    const unsigned char *from = bytes;
    answer->rejected = 0;
    answer->words[0] = '\0';
    otlp_answer_json in = {bytes, (const char *)bytes + length};
    otlp_answer_object(&in, otlp_answer_status_part, answer);
    if (answer->words[0] == '\0' &&
        !otlp_answer_status((otlp_answer_bytes){from, from + length}, answer))
        otlp_answer_show(from, length, answer);
}
