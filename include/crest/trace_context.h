/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which trace and which span: ids derived from operations, and the texts in which they travel, W3C
 * `traceparent` and `tracestate`.
 *
 * A trace id comes from the operation, so the spans of one block on all nodes are one trace without
 * a word on the wire. A parent in another process needs a `traceparent` or a stamp of version 2.
 *
 *     crest_span_context parent;                                      the receiver
 *     crest_traceparent_read(header, strlen(header), &parent, NULL);  else: a root, all zero
 *
 *     char header[CREST_TRACEPARENT_BYTES];                           the sender
 *     crest_span_context here = crest_span_current();
 *     crest_traceparent_write(&here, header, sizeof header);
 *
 * What a peer sends as a parent is believed, whatever it is: a trace is for looking, not for
 * authenticating. No parent leads to more than a span in a wrong tree.
 *
 * Sources: W3C Trace Context, level 1 (2021) and the `random` flag of level 2; OpenTelemetry's OTEP
 * 4947 for what outside profilers read.
 */
#ifndef CREST_TRACE_CONTEXT_H
#define CREST_TRACE_CONTEXT_H

#include <crest/op.h>
#include <crest/status.h>

/* Which trace: 16 bytes, as on the wire. All zero: none. */
typedef struct crest_trace_id {
    uint8_t bytes[16];
} crest_trace_id;

/* Which span of it; big-endian on the wire. 0: none. */
typedef uint64_t crest_span_id;

/* Flags of a context, as on the wire. */
#define CREST_TRACE_SAMPLED 1u /* the parent is kept, as far as its process knows */
#define CREST_TRACE_RANDOM 2u  /* the trace id's last 7 bytes are uniformly distributed */

/* A place in a trace. All zero: none, and what hangs below it is a root. */
typedef struct crest_span_context {
    crest_trace_id trace;
    crest_span_id span;
    uint8_t flags;  /* CREST_TRACE_ */
    uint8_t remote; /* non-zero: from another process */
} crest_span_context;

/* Bytes of a traceparent, NUL included. */
#define CREST_TRACEPARENT_BYTES 56u
/* Bytes of a tracestate that are passed on, without the NUL. */
#define CREST_TRACESTATE_BYTES 512u
/* Members of a tracestate. */
#define CREST_TRACESTATE_MEMBERS 32u

/* A tracestate: what others' tracers pass along, members of key and value. */
typedef struct crest_tracestate {
    uint32_t length; /* bytes of the text, without the NUL */
    char text[CREST_TRACESTATE_BYTES + 1];
} crest_tracestate;

CREST_BEGIN_C

/* Non-zero when there is a trace. Any thread, any handler. Cost: inline. */
CREST_INLINE int crest_trace_id_valid(const crest_trace_id *trace)
{
    unsigned any = 0;
    for (unsigned i = 0; i < sizeof trace->bytes; i++)
        any |= trace->bytes[i];
    return any != 0;
}

/* Non-zero when there are a trace and a span. Any thread, any handler. Cost: inline. */
CREST_INLINE int crest_span_context_valid(const crest_span_context *context)
{
    return context->span != 0 && crest_trace_id_valid(&context->trace);
}

/*
 * The trace of this operation, the same in every process; all zero of crest_op_none(). Bytes of at
 * least 16: the first 16, so that a trace is found by a block's hash. Anything else, and bytes that
 * begin with 16 zeros: a hash of the kind and the id, SipHash-2-4-128 under the public key of
 * stamps, "crest wire stamp", over one byte of crest_op_kind and the id (numbers as eight bytes
 * each, big-endian). Of a text of more than CREST_OP_EXACT_BYTES other processes have another id:
 * crest_op keeps a hash of it under a key of this process. Never all zero otherwise. Any thread,
 * any handler. Cost: a call and at most a hash.
 */
CREST_API crest_trace_id crest_trace_id_of(crest_op op);

/* The context of span `span` in the trace of this operation, with CREST_TRACE_RANDOM where the
 * trace id is a hash by this library. Bytes as they were given may be anything: a block's hash
 * under proof of work begins with zeros. Any thread, any handler. Cost: as crest_trace_id_of. */
CREST_API crest_span_context crest_span_context_of(crest_op op, crest_span_id span);

/*
 * The id of the span that this metric makes of this operation on this node: first eight bytes of
 * the SipHash above, over the trace id, the metric's name, a zero byte and the instance (NULL:
 * empty). Children name it as their parent without asking for it. 0 of crest_op_none(), otherwise
 * never. Any thread, any handler. Cost: a call and two hashes.
 */
CREST_API crest_span_id crest_span_id_of(crest_op op, const char *metric, const char *instance);

/* The same, of a trace id that is there already. */
CREST_API crest_span_id crest_span_id_in(const crest_trace_id *trace, const char *metric,
                                         const char *instance);

/*
 * Reads a traceparent of `length` bytes, strictly: `00-`, 32 digits, `-`, 16 digits, `-`, two
 * digits, lower case, nothing else. Of a later version than 00 (ff is none) more may follow behind
 * a `-`. Flags that level 2 does not know are dropped. CREST_OK, with remote set.
 * CREST_INVALID_ARGUMENT, counted as misuse (`invalid-context`), with *context all zero, which
 * makes a root; `error` says what was wrong (NULL if not wanted). Any thread, any handler. Cost: a
 * call.
 */
CREST_API crest_status crest_traceparent_read(const char *text, size_t length,
                                              crest_span_context *context, crest_error *error);

/* Writes `00-…` and a NUL; returns 55. Returns 0, with an empty text where there is room for one,
 * for a context without trace or span, or less than CREST_TRACEPARENT_BYTES. Any thread, any
 * handler. Cost: a call. */
CREST_API size_t crest_traceparent_write(const crest_span_context *context, char *text,
                                         size_t size);

/*
 * Reads a tracestate of `length` bytes (several headers: joined by commas). Members are passed on
 * as they are, in their order; empty ones and blanks around them are left out. Of more than
 * CREST_TRACESTATE_BYTES, members of over 128 bytes go first, then the last ones; each whole.
 * CREST_OK. CREST_INVALID_ARGUMENT, counted as misuse (`invalid-context`), with *state empty, for
 * anything that W3C's grammar does not have: a bad key or value, a key twice, more than
 * CREST_TRACESTATE_MEMBERS. A bad tracestate says nothing against its traceparent. Any thread, any
 * handler. Cost: a call, linear in length and members.
 */
CREST_API crest_status crest_tracestate_read(const char *text, size_t length,
                                             crest_tracestate *state, crest_error *error);

/* Puts `key=value` in front and takes another member of this key out; where there is no room, the
 * last members go. CREST_OK, or CREST_INVALID_ARGUMENT, with *state as it was, for a key or value
 * that W3C's grammar does not have. Any thread, any handler. Cost: a call. */
CREST_API crest_status crest_tracestate_put(crest_tracestate *state, const char *key,
                                            const char *value);

/* The value of this member, `*length` bytes, not NUL-terminated; NULL without one. Borrowed from
 * *state. Any thread, any handler. Cost: a call. */
CREST_API const char *crest_tracestate_find(const crest_tracestate *state, const char *key,
                                            size_t *length);

/*
 * This thread's current span: that of the innermost scope; all zero outside of any. Scopes set it
 * and put back what was there. Only a thread's own calls change it: a task that moves on to another
 * thread takes its context along as a value.
 *
 * With the option `otel.context=on`, outside profilers see it too: docs/tracing.md. Any thread, any
 * handler. Cost: a call.
 */
CREST_API crest_span_context crest_span_current(void);

/* Makes this the thread's current span (NULL or all zero: none) and returns what was current
 * before, which the caller puts back in the same way. Any thread, any handler that puts it back.
 * Cost: a call. */
CREST_API crest_span_context crest_span_current_set(const crest_span_context *context);

CREST_END_C

#ifdef CREST_DISABLE
#include <crest/off/trace_context_off.h>
#endif

#endif
