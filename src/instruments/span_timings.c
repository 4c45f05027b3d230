/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Span timings: the public calls of <crest/span.h> that run in the operation's own thread. A timing
 * whose timer is not traced carries no details, and is otherwise a timing like any other.
 */
#include "base/hash.h"
#include "base/lock.h"
#include "base/utf8.h"
#include "instruments/record_slow.h"
#include "instruments/resolve.h"
#include "metrics/child.h"
#include "metrics/handles.h"
#include "spans/span_details.h"
#include "spans/span_instance.h"
#include "spans/traced_metrics.h"

#include <string.h>

/* The series of a timer that may be declared only; NULL if it records nowhere. */
static const crest_series *span_timings_series(crest_timer *timer)
{
    const crest_series *series = crest_handle_series(&timer->handle);
    crest_lock_saved saved;
    crest_status why;
    if (series == NULL && crest_handle_dead(&timer->handle) == CREST_OK &&
        crest_lock_take_unless_forking(&saved)) {
        crest_timer_resolve(timer, CREST_OUTCOME_OK, &why);
        crest_lock_drop(&saved);
        series = crest_handle_series(&timer->handle);
    }
    return series == NULL || crest_series_is_dead(series, &why) ? NULL : series;
}

/* The metric of a traced timer, or NULL. */
static const crest_metric *span_timings_metric(crest_timer *timer)
{
    const crest_series *series = crest_traced_any() ? span_timings_series(timer) : NULL;
    return series != NULL && crest_traced(series->metric) ? series->metric : NULL;
}

void crest_timer_start_under(crest_timer *timer, crest_op op, const crest_span_context *parent,
                             crest_span_timing *timing)
{
    /* not the whole: its details are long, and nothing reads beyond `used` */
    memset(&timing->id, 0, offsetof(crest_span_timing, detail) - offsetof(crest_span_timing, id));
    timing->traced = span_timings_metric(timer) != NULL;
    if (parent != NULL)
        timing->parent = *parent;
    else
        memset(&timing->parent, 0, sizeof timing->parent);
    timing->timing = crest_timer_start(timer, op);
}

/* The id of a child: unlike any other's; no other process computes it. */
static crest_span_id span_timings_child_id(const crest_span_timing *timing)
{
    static uint64_t number;
    crest_atomic_add(&number, 1);
    uint64_t id = crest_hash_mix(crest_hash_seed() ^ timing->timing.start_ns,
                                 crest_atomic_load(&number) ^ (uint64_t)(uintptr_t)timing);
    id = crest_hash_mix(id, timing->parent.span);
    return id != 0 ? id : 1;
}

crest_span_context crest_span_timing_context(crest_span_timing *timing)
{
    crest_span_context context;
    memset(&context, 0, sizeof context);
    crest_timer *timer = timing->timing.timer;
    const crest_metric *metric =
        timer != NULL && timing->traced ? span_timings_metric(timer) : NULL;
    if (metric == NULL)
        return context;
    int under = crest_span_context_valid(&timing->parent);
    if (timing->id == 0)
        timing->id = under
                         ? span_timings_child_id(timing)
                         : crest_span_id_of(timing->timing.op, metric->name, crest_span_instance());
    if (!under)
        return crest_span_context_of(timing->timing.op, timing->id);
    context.trace = timing->parent.trace;
    context.span = timing->id;
    context.flags = timing->parent.flags;
    return context;
}

/* ---- details ---- */

/* Appends a detail that has a key; `most` of its sort are allowed, *count are there. */
static crest_status span_timings_add(crest_span_timing *timing, unsigned type, crest_span_key *key,
                                     unsigned length, int32_t small, const void *bytes)
{
    if (timing->timing.timer == NULL)
        return crest_timing_refuse(NULL, CREST_NOT_RUNNING);
    if (!timing->traced)
        return CREST_OK;
    crest_status why = CREST_LIMIT;
    unsigned id = crest_span_key_id(key, &why);
    if (id == 0 && why != CREST_LIMIT)
        return why;
    if (id != 0 && timing->attributes < CREST_SPAN_ATTRIBUTES_MAX &&
        crest_span_detail_add(timing, type, id, length, small, bytes)) {
        timing->attributes++;
        return CREST_OK;
    }
    if (timing->dropped_attributes < UINT16_MAX)
        timing->dropped_attributes++;
    return CREST_LIMIT;
}

crest_status crest_span_set_i64(crest_span_timing *timing, crest_span_key *key, int64_t value)
{
    uint64_t id = crest_atomic_load32(&key->id);
    if (CREST_LIKELY(id != 0 && value == (int32_t)value && timing->traced &&
                     timing->timing.timer != NULL &&
                     timing->attributes < CREST_SPAN_ATTRIBUTES_MAX &&
                     timing->used < CREST_SPAN_DETAIL_BYTES)) {
        timing->detail[timing->used / 8] =
            CREST_SPAN_DETAIL_SMALL | id << 8 | (uint64_t)(uint32_t)value << 32;
        timing->used += 8;
        timing->attributes++;
        return CREST_OK;
    }
    if (value == (int32_t)value)
        return span_timings_add(timing, CREST_SPAN_DETAIL_SMALL, key, 0, (int32_t)value, NULL);
    return span_timings_add(timing, CREST_SPAN_DETAIL_I64, key, 0, 0, &value);
}

crest_status crest_span_set_double(crest_span_timing *timing, crest_span_key *key, double value)
{
    return span_timings_add(timing, CREST_SPAN_DETAIL_DOUBLE, key, 0, 0, &value);
}

crest_status crest_span_set_bool(crest_span_timing *timing, crest_span_key *key, int value)
{
    return span_timings_add(timing, CREST_SPAN_DETAIL_BOOL, key, 0, value != 0, NULL);
}

/* The length at which a text is cut: between characters, where it has any. */
static unsigned span_timings_cut(const char *text, size_t length)
{
    if (length <= CREST_SPAN_TEXT_BYTES_MAX)
        return (unsigned)length;
    size_t cut = CREST_SPAN_TEXT_BYTES_MAX;
    while (cut > CREST_SPAN_TEXT_BYTES_MAX - 3 && ((unsigned char)text[cut] & 0xc0) == 0x80)
        cut--;
    return (unsigned)cut;
}

crest_status crest_span_set_text(crest_span_timing *timing, crest_span_key *key, const char *text,
                                 size_t length)
{
    if (text == NULL && length != 0)
        return CREST_INVALID_ARGUMENT;
    return span_timings_add(timing, CREST_SPAN_DETAIL_TEXT, key,
                            length != 0 ? span_timings_cut(text, length) : 0, 0, text);
}

crest_status crest_span_add_event(crest_span_timing *timing, crest_span_key *name)
{
    if (timing->timing.timer == NULL)
        return crest_timing_refuse(NULL, CREST_NOT_RUNNING);
    if (!timing->traced)
        return CREST_OK;
    crest_status why;
    unsigned id = crest_span_key_id(name, &why);
    uint64_t now_ns = crest_now();
    if (id == 0)
        return why;
    if (timing->events == CREST_SPAN_EVENTS_MAX ||
        !crest_span_detail_add(timing, CREST_SPAN_DETAIL_EVENT, id, 0, 0, &now_ns))
        return CREST_LIMIT;
    timing->events++;
    return CREST_OK;
}

crest_status crest_span_add_link(crest_span_timing *timing, const crest_span_context *context)
{
    if (timing->timing.timer == NULL)
        return crest_timing_refuse(NULL, CREST_NOT_RUNNING);
    if (context == NULL || !crest_span_context_valid(context))
        return CREST_INVALID_ARGUMENT;
    if (!timing->traced)
        return CREST_OK;
    if (timing->links == CREST_SPAN_LINKS_MAX ||
        !crest_span_detail_add(timing, CREST_SPAN_DETAIL_LINK, 0, sizeof *context, 0, context))
        return CREST_LIMIT;
    timing->links++;
    return CREST_OK;
}

crest_status crest_span_set_kind(crest_span_timing *timing, crest_span_kind kind)
{
    if (timing->timing.timer == NULL)
        return crest_timing_refuse(NULL, CREST_NOT_RUNNING);
    if ((unsigned)kind >= CREST_SPAN_KIND_COUNT)
        return CREST_INVALID_ARGUMENT;
    timing->kind = (uint8_t)kind;
    return CREST_OK;
}

crest_status crest_span_set_message(crest_span_timing *timing, const char *text, size_t length)
{
    if (timing->timing.timer == NULL)
        return crest_timing_refuse(NULL, CREST_NOT_RUNNING);
    if (text == NULL)
        return CREST_INVALID_ARGUMENT;
    if (!timing->traced)
        return CREST_OK;
    return crest_span_detail_add(timing, CREST_SPAN_DETAIL_MESSAGE, 0,
                                 span_timings_cut(text, length), 0, text)
               ? CREST_OK
               : CREST_LIMIT;
}

/* ---- ends ---- */

/* At the end of a scope: the thread's current span is again what it was before. */
static void span_timings_put_back(crest_span_timing *timing)
{
    if (CREST_LIKELY(!timing->scope))
        return;
    timing->scope = 0;
    crest_span_current_set(&timing->before);
}

crest_status crest_span_end_in(crest_span_timing *timing, crest_op op, crest_outcome outcome,
                               crest_timer *series)
{
    crest_timing *plain = &timing->timing;
    if (!timing->traced)
        return crest_timing_end_in(plain, op, outcome, series);
    uint64_t now_ns = crest_now();
    crest_timer *timer = plain->timer;
    if (timer == NULL)
        return crest_timing_refuse(NULL, CREST_NOT_RUNNING);
    if (!crest_op_equal(&plain->op, &op) || op.kind == CREST_OP_NONE)
        return crest_timing_refuse(timer, CREST_MISMATCH);
    if ((unsigned)outcome >= CREST_OUTCOME_COUNT)
        return crest_timing_refuse(timer, CREST_INVALID_ARGUMENT);
    plain->timer = NULL;
    span_timings_put_back(timing);
    const crest_span_more more = {.end_ns = now_ns, .timing = timing};
    return crest_record_span(series != NULL ? series : timer, (int64_t)(now_ns - plain->start_ns),
                             outcome, &op, &more);
}

crest_status crest_span_end(crest_span_timing *timing, crest_op op, crest_outcome outcome)
{
    return crest_span_end_in(timing, op, outcome, NULL);
}

/* ---- scopes ---- */

void crest_span_enter(crest_timer *timer, crest_op op, crest_span_timing *timing)
{
    crest_span_context parent = {0};
    if (crest_traced_any())
        parent = crest_span_current();
    crest_timer_start_under(timer, op, &parent, timing);
    if (!timing->traced)
        return;
    crest_span_context here = crest_span_timing_context(timing);
    timing->scope = crest_span_context_valid(&here) != 0;
    if (timing->scope)
        timing->before = crest_span_current_set(&here);
}

crest_status crest_span_leave(crest_span_timing *timing, crest_outcome outcome)
{
    span_timings_put_back(timing);
    crest_timer *timer = timing->timing.timer;
    if (timer == NULL)
        return crest_timing_refuse(NULL, CREST_NOT_RUNNING);
    if ((unsigned)outcome >= CREST_OUTCOME_COUNT)
        return crest_timing_refuse(timer, CREST_INVALID_ARGUMENT);
    timing->timing.timer = NULL;
    uint64_t now_ns = crest_now();
    const crest_span_more more = {.end_ns = now_ns, .timing = timing};
    int64_t duration_ns = (int64_t)(now_ns - timing->timing.start_ns);
    if (!timing->traced)
        return crest_timer_record_op(timer, duration_ns, outcome, &timing->timing.op);
    return crest_record_span(timer, duration_ns, outcome, &timing->timing.op, &more);
}
