/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calling a poll back, and what becomes of its value. See poll_value.h.
 */
#include "polls/poll_value.h"
#include "base/alloc.h"
#include "base/misuse.h"

crest_poll_value crest_poll_call(const crest_poll *poll)
{
    crest_poll_value result = {.count = 0};
    switch (poll->kind) {
    case CREST_POLL_GAUGE: result.gauge = poll->fn.gauge(poll->context); break;
    case CREST_POLL_COUNTER: result.count = poll->fn.count(poll->context); break;
    case CREST_POLL_HISTOGRAM:
    case CREST_POLL_RANGE_SAMPLER: result.value = poll->fn.value(poll->context); break;
    case CREST_POLL_EVERY: poll->fn.every(poll->context); break;
    }
    return result;
}

/* A growth that no counter can hold is no growth: the source gave a wrong count once. */
static void poll_value_count(crest_poll *poll, uint64_t count)
{
    if (count == CREST_POLL_NO_COUNT)
        return;
    int reset = poll->counted && count < poll->last;
    uint64_t growth = reset ? count : count - poll->last;
    if (growth > (uint64_t)INT64_MAX) {
        crest_misuse_count(CREST_MISUSE_LIMIT, poll->name);
        return;
    }
    if (reset) {
        poll->state.resets++;
        crest_counter_inc(poll->resets);
    }
    if (poll->counted || !poll->from_now)
        crest_counter_add(poll->handle.counter, (int64_t)growth);
    poll->last = count;
    poll->counted = 1;
}

void crest_poll_apply(crest_poll *poll, crest_poll_value value)
{
    switch (poll->kind) {
    case CREST_POLL_GAUGE: crest_gauge_set(poll->handle.gauge, value.gauge); break;
    case CREST_POLL_COUNTER: poll_value_count(poll, value.count); break;
    case CREST_POLL_HISTOGRAM:
        if (value.value != CREST_POLL_NO_VALUE)
            crest_histogram_record(poll->handle.histogram, value.value);
        break;
    case CREST_POLL_RANGE_SAMPLER:
        if (value.value != CREST_POLL_NO_VALUE)
            crest_range_sampler_set(poll->handle.sampler, value.value);
        break;
    case CREST_POLL_EVERY: break;
    }
}

void crest_poll_free(crest_poll *poll)
{
    crest_alloc_free(poll->name);
    crest_alloc_free(poll);
}
