/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An event's words made values. See event_decode.h.
 */
#include "events/event_decode.h"
#include "base/utf8.h"

#include <string.h>

/* Where decoding stands. */
typedef struct decode_state {
    crest_event_decoded *decoded;
    unsigned at, end; /* words */
    size_t text;      /* bytes of decoded->text in use */
} decode_state;

/* The next so many words; NULL when there are not so many. */
static const uint64_t *decode_words(decode_state *state, uint64_t count)
{
    if (count > state->end - state->at)
        return NULL;
    const uint64_t *words = state->decoded->words + state->at;
    state->at += (unsigned)count;
    return words;
}

static int decode_op(decode_state *state, crest_op *op)
{
    const uint64_t *words = decode_words(state, CREST_EVENT_OP_WORDS);
    if (words == NULL)
        return 0;
    memcpy(op->word, words, sizeof op->word);
    op->length = (uint32_t)words[4];
    op->kind = (uint32_t)(words[4] >> 32);
    if (op->kind > CREST_OP_TEXT)
        memset(op, 0, sizeof *op);
    return 1;
}

static int decode_span(decode_state *state, crest_span_context *span)
{
    const uint64_t *words = decode_words(state, CREST_EVENT_SPAN_WORDS);
    if (words == NULL)
        return 0;
    memcpy(span->trace.bytes, words, sizeof span->trace.bytes);
    span->span = words[2];
    span->flags = (uint8_t)words[3];
    span->remote = (uint8_t)(words[3] >> 8 & 1);
    return 1;
}

/* The length without a character that the cut left without its end. */
static size_t decode_whole(const char *text, size_t length)
{
    for (size_t back = 1; back <= 3 && back <= length; back++) {
        unsigned char byte = (unsigned char)text[length - back];
        if ((byte & 0xc0) == 0x80)
            continue;
        unsigned wants = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
        return wants > back ? length - back : length;
    }
    return length;
}

/* A text of the ring is not NUL-terminated, and may hold a NUL only in a hostile file. */
static void decode_text(decode_state *state, const char *from, size_t length,
                        crest_event_value *value)
{
    char *to = state->decoded->text + state->text;
    char copy[CREST_EVENT_PAYLOAD_BYTES_MAX + 1];
    if (value->as.text.was_length > length)
        length = decode_whole(from, length);
    memcpy(copy, from, length);
    copy[length] = '\0';
    size_t made = crest_utf8_copy(copy, to, sizeof state->decoded->text - state->text, NULL);
    value->as.text.data = to;
    value->as.text.length = (uint32_t)made;
    state->text += made + 1;
}

static int decode_bytes(decode_state *state, const crest_event_field *field,
                        crest_event_value *value)
{
    const uint64_t *head = decode_words(state, 1);
    if (head == NULL || (uint32_t)*head > field->bound)
        return 0;
    uint32_t length = (uint32_t)*head;
    const uint64_t *data = decode_words(state, (length + 7) / 8);
    if (data == NULL)
        return 0;
    value->as.text.data = (const char *)data;
    value->as.text.length = length;
    value->as.text.was_length = (uint32_t)(*head >> 32);
    if (field->type == CREST_EVENT_TEXT)
        decode_text(state, (const char *)data, length, value);
    return 1;
}

static int decode_value(decode_state *state, const crest_event_field *field,
                        crest_event_value *value)
{
    value->type = (crest_event_type)field->type;
    if (field->type == CREST_EVENT_OP)
        return decode_op(state, &value->as.op);
    if (field->type == CREST_EVENT_TEXT || field->type == CREST_EVENT_BYTES)
        return decode_bytes(state, field, value);
    const uint64_t *word = decode_words(state, 1);
    if (word == NULL)
        return 0;
    if (field->type == CREST_EVENT_DOUBLE)
        memcpy(&value->as.d, word, sizeof value->as.d);
    else if (field->type == CREST_EVENT_I64)
        value->as.i = (int64_t)*word;
    else
        value->as.u = field->type == CREST_EVENT_BOOL ? *word != 0 : *word;
    return 1;
}

int crest_event_decode(const crest_event_info *info, crest_event_decoded *decoded,
                       crest_event_view *view)
{
    uint64_t flags = decoded->words[0] >> 48;
    decode_state state = {.decoded = decoded, .at = 2, .end = crest_event_words(decoded->words[0])};
    memset(view, 0, sizeof *view);
    view->info = info;
    view->ns = decoded->words[1];
    view->bytes = 8 * state.end;
    view->values = decoded->values;
    view->value_count = info->field_count;
    if ((flags & CREST_EVENT_HAS_OP) != 0 && !decode_op(&state, &view->op))
        return 0;
    if ((flags & CREST_EVENT_HAS_SPAN) != 0 && !decode_span(&state, &view->span))
        return 0;
    for (unsigned i = 0; i < info->field_count; i++)
        if (!decode_value(&state, &info->fields[i], &decoded->values[i]))
            return 0;
    return state.at == state.end;
}
