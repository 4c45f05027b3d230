/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Contexts from any bytes: the first two lines of the input are a traceparent and a tracestate, the
 * rest the id of an operation. What is read can be written and is read again as it was; what is no
 * context leaves nothing behind.
 */
#include "fuzz_input.h"

#include <crest/crest.h>

static int same(const crest_span_context *a, const crest_span_context *b)
{
    return memcmp(&a->trace, &b->trace, sizeof a->trace) == 0 && a->span == b->span &&
           a->flags == b->flags && a->remote == b->remote;
}

static void check_parent(const char *text, size_t length)
{
    crest_span_context context, again, none = {.span = 0};
    char written[CREST_TRACEPARENT_BYTES];
    crest_error error;
    if (crest_traceparent_read(text, length, &context, &error) != CREST_OK) {
        FUZZ_WANTS(same(&context, &none) && error.message[0] != '\0');
        FUZZ_WANTS(crest_traceparent_write(&context, written, sizeof written) == 0);
        return;
    }
    FUZZ_WANTS(crest_span_context_valid(&context) && context.remote);
    FUZZ_WANTS(length >= 55 && (length == 55 || memcmp(text, "00", 2) != 0));
    FUZZ_WANTS(crest_traceparent_write(&context, written, sizeof written) == 55);
    FUZZ_WANTS(memcmp(written + 3, text + 3, 50) == 0);
    FUZZ_WANTS(crest_traceparent_read(written, 55, &again, NULL) == CREST_OK);
    FUZZ_WANTS(same(&context, &again));
    crest_span_context before = crest_span_current_set(&context), now = crest_span_current();
    FUZZ_WANTS(same(&now, &context));
    crest_span_current_set(&before);
}

static void check_state(const char *text, size_t length)
{
    crest_tracestate state, again;
    size_t found;
    if (crest_tracestate_read(text, length, &state, NULL) != CREST_OK)
        FUZZ_WANTS(state.length == 0);
    FUZZ_WANTS(state.length <= CREST_TRACESTATE_BYTES && strlen(state.text) == state.length);
    FUZZ_WANTS(crest_tracestate_read(state.text, state.length, &again, NULL) == CREST_OK);
    FUZZ_WANTS(strcmp(state.text, again.text) == 0);
    FUZZ_WANTS(crest_tracestate_put(&state, "ot", "th:8") == CREST_OK);
    FUZZ_WANTS(crest_tracestate_read(state.text, state.length, &again, NULL) == CREST_OK);
    FUZZ_WANTS(strcmp(state.text, again.text) == 0);
    const char *value = crest_tracestate_find(&again, "ot", &found);
    FUZZ_WANTS(value == again.text + 3 && found == 4 && memcmp(value, "th:8", 4) == 0);
}

static void check_operation(const uint8_t *bytes, size_t length)
{
    crest_op op = crest_op_bytes(bytes, length);
    crest_trace_id trace = crest_trace_id_of(op);
    FUZZ_WANTS(crest_trace_id_valid(&trace) == (op.kind != CREST_OP_NONE));
    FUZZ_WANTS((crest_span_id_of(op, "fuzz", NULL) != 0) == (op.kind != CREST_OP_NONE));
    crest_span_context context = crest_span_context_of(op, 1);
    FUZZ_WANTS(memcmp(&context.trace, &trace, sizeof trace) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_input input = {data, data + size};
    const uint8_t *line[2], *end[2];
    for (int i = 0; i < 2; i++) {
        const uint8_t *stop =
            input.at < input.end ? memchr(input.at, '\n', (size_t)(input.end - input.at)) : NULL;
        line[i] = input.at;
        end[i] = stop != NULL ? stop : input.end;
        input.at = stop != NULL ? stop + 1 : input.end;
    }
    check_parent((const char *)line[0], (size_t)(end[0] - line[0]));
    check_state((const char *)line[1], (size_t)(end[1] - line[1]));
    check_operation(input.at, (size_t)(input.end - input.at));
    return 0;
}
