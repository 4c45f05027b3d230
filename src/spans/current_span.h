/* SPDX-License-Identifier: Apache-2.0 */
/* The thread's current span, and whether outside profilers may see it. See current_span.c. */
#ifndef CREST_SPANS_CURRENT_SPAN_H
#define CREST_SPANS_CURRENT_SPAN_H

#include <crest/trace_context.h>

/* What outside profilers read of a thread: OTEP 4947, packed, integers of the host's order. */
typedef struct crest_otel_thread_record {
    uint8_t trace[16];
    uint8_t span[8]; /* big-endian */
    uint8_t valid;   /* 1: the rest may be used */
    uint8_t flags;
    uint16_t attributes_bytes; /* 0: none follow */
} crest_otel_thread_record;

/* The symbol by which they find it: NULL, or the record of this thread. */
extern __thread __attribute__((visibility("default"))) crest_otel_thread_record *otel_thread_ctx_v1;

/* Not 0 once any thread has had a current span. */
extern uint64_t crest_current_span_any;

/* Whether threads show their records, from their next change of span on. Any thread. */
void crest_current_span_show(int shown);

#endif
