/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The thread's current span. It is kept in the record that outside profilers read, so showing it
 * costs a pointer. See <crest/trace_context.h> and OTEP 4947.
 *
 * State of a thread: record, `changing`, the pointer otel_thread_ctx_v1.
 *
 * Change (owner thread, or a signal handler on it):
 *   1. changing is set: this call runs in a handler, inside another change. Return, changing
 *      nothing; the put-back of the same handler does the same, as it ends before that change does.
 *   2. changing = 1, valid = 0
 *   3. write the record
 *   4. valid = 1 unless there is no span; changing = 0
 *
 * Invariant: a reader that sees valid == 1 sees the whole record. An outside reader stops the
 * thread, or interrupts it, so fences of the compiler are enough.
 */
#include "spans/current_span.h"
#include "base/atomic.h"

#include <stddef.h>
#include <string.h>

_Static_assert(sizeof(crest_otel_thread_record) == 28 &&
                   offsetof(crest_otel_thread_record, valid) == 24 &&
                   offsetof(crest_otel_thread_record, attributes_bytes) == 26,
               "the record is as OTEP 4947 has it");

__thread crest_otel_thread_record *otel_thread_ctx_v1;

static __thread crest_otel_thread_record current_record;
static __thread uint8_t current_remote;
static __thread volatile uint8_t current_changing;

static uint64_t current_shown; /* atomic */
uint64_t crest_current_span_any;

void crest_current_span_show(int shown)
{
    crest_atomic_store(&current_shown, (uint64_t)shown);
}

crest_span_context crest_span_current(void)
{
    crest_span_context context = {.span = 0};
    CREST_COMPILER_FENCE();
    if (current_record.valid != 1)
        return context;
    memcpy(context.trace.bytes, current_record.trace, sizeof current_record.trace);
    for (size_t i = 0; i < sizeof current_record.span; i++)
        context.span = context.span << 8 | current_record.span[i];
    context.flags = current_record.flags;
    context.remote = current_remote;
    return context;
}

crest_span_context crest_span_current_set(const crest_span_context *context)
{
    crest_span_context before = {.span = 0};
    if (current_changing)
        return before;
    before = crest_span_current();
    int valid = context != NULL && crest_span_context_valid(context);
    current_changing = 1;
    current_record.valid = 0;
    CREST_COMPILER_FENCE();
    if (valid) {
        crest_atomic_store(&crest_current_span_any, 1);
        memcpy(current_record.trace, context->trace.bytes, sizeof current_record.trace);
        for (unsigned i = 0; i < sizeof current_record.span; i++)
            current_record.span[i] = (uint8_t)(context->span >> (56 - 8 * i));
        current_record.flags = context->flags;
        current_remote = context->remote;
    }
    CREST_COMPILER_FENCE();
    current_record.valid = (uint8_t)valid;
    CREST_COMPILER_FENCE();
    current_changing = 0;
    int shown = crest_atomic_load(&current_shown) != 0;
    if (shown != (otel_thread_ctx_v1 == &current_record) && (shown || otel_thread_ctx_v1 != NULL))
        otel_thread_ctx_v1 = shown ? &current_record : NULL;
    return before;
}
