/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What polls are made of. What becomes of their values is in poll_value.c, and when they are called
 * in poller.c. See <crest/poll.h>.
 */
#include "base/alloc.h"
#include "base/atomic.h"
#include "base/sync.h"
#include "base/utf8.h"
#include "metrics/handles.h"
#include "polls/poller.h"

#include <string.h>

CREST_COUNTER_FAMILY(polls_overruns, "crest.poll-overruns",
                     "Callbacks of polls that took longer than their budget.", poll);
CREST_COUNTER_FAMILY(polls_resets, "crest.poll-resets",
                     "Sources of polled counters that began again from zero.", poll);

/* ---- making ---- */

/* Finds the registry that the handle records into; otherwise why it records nowhere. */
static crest_status polls_registry(crest_handle *handle, const crest_registry_state **registry)
{
    crest_status status = crest_handle_dead(handle);
    if (status == CREST_OK && crest_handle_series(handle) == NULL)
        status = crest_handle_register(handle);
    if (status != CREST_OK)
        return status;
    const crest_series *series = crest_handle_series(handle);
    if (series == NULL)
        return CREST_INVALID_ARGUMENT;
    *registry = series->metric->state;
    return CREST_OK;
}

static crest_status polls_set_up(crest_poll *poll, const char *name,
                                 const crest_poll_options *options)
{
    uint32_t interval_ms = options->interval_ms, budget_ms = options->budget_ms;
    int with_snapshots = poll->kind == CREST_POLL_GAUGE || poll->kind == CREST_POLL_COUNTER;
    poll->loop = options->loop != 0;
    if (poll->loop && interval_ms == 0)
        interval_ms = CREST_POLL_INTERVAL_MS_DEFAULT;
    if (interval_ms == CREST_POLL_EACH_SNAPSHOT && poll->kind == CREST_POLL_EVERY && !poll->loop) {
        poll->registry = crest_registry_state_of(options->registry);
        if (poll->registry == NULL)
            return CREST_NO_MEMORY;
        if (crest_atomic_load32(&poll->registry->dead))
            return CREST_NOT_FOUND;
        interval_ms = 0;
    } else if (interval_ms == 0 && !with_snapshots) {
        interval_ms = CREST_POLL_INTERVAL_MS_DEFAULT;
    }
    if (budget_ms == 0)
        budget_ms = CREST_POLL_BUDGET_MS_DEFAULT;
    if (name == NULL || budget_ms > CREST_POLL_BUDGET_MS_MAX ||
        (interval_ms != 0 &&
         (interval_ms < CREST_POLL_INTERVAL_MS_MIN || interval_ms > CREST_POLL_INTERVAL_MS_MAX)))
        return CREST_INVALID_ARGUMENT;
    poll->interval_ns = interval_ms * CREST_NS_PER_MS;
    poll->budget_ns = budget_ms * CREST_NS_PER_MS;
    poll->from_now = options->from_now;
    poll->wanted = poll->kind == CREST_POLL_COUNTER && poll->from_now && !poll->loop;
    poll->name = crest_alloc(1, CREST_POLL_NAME_BYTES_MAX + 1);
    if (poll->name == NULL)
        return CREST_NO_MEMORY;
    crest_utf8_copy(name, poll->name, CREST_POLL_NAME_BYTES_MAX + 1, NULL);
    poll->overruns = polls_overruns_with(poll->name);
    if (poll->kind == CREST_POLL_COUNTER)
        poll->resets = polls_resets_with(poll->name);
    return crest_poller_add(poll);
}

/* Makes a poll from a sketch that has the kind, function, context and handle. */
static crest_poll *polls_make(const crest_poll *sketch, const char *name,
                              const crest_poll_options *options, crest_status *status)
{
    static const crest_poll_options defaults = {.name = NULL};
    crest_status unwanted;
    if (status == NULL)
        status = &unwanted;
    if (options == NULL)
        options = &defaults;
    crest_poll *poll = crest_alloc(1, sizeof *poll);
    if (poll == NULL) {
        *status = CREST_NO_MEMORY;
        return NULL;
    }
    *poll = *sketch;
    int handled = poll->kind != CREST_POLL_EVERY;
    /* any of the functions: they share one place (a union) */
    *status = poll->fn.every != NULL ? CREST_OK : CREST_INVALID_ARGUMENT;
    if (handled && poll->handle.any == NULL)
        *status = CREST_INVALID_ARGUMENT;
    if (*status == CREST_OK && handled)
        *status = polls_registry(poll->handle.any, &poll->registry);
    if (*status == CREST_OK && handled)
        name = crest_handle_name(poll->handle.any);
    if (*status == CREST_OK)
        *status = polls_set_up(poll, options->name != NULL ? options->name : name, options);
    if (*status == CREST_OK)
        return poll;
    crest_poll_free(poll);
    return NULL;
}

/* ---- the public functions ---- */

crest_poll *crest_gauge_poll(crest_gauge *gauge, crest_gauge_poll_fn *fn, void *context,
                             const crest_poll_options *options, crest_status *status)
{
    crest_poll sketch = {.kind = CREST_POLL_GAUGE, .fn.gauge = fn, .context = context};
    sketch.handle.gauge = gauge;
    return polls_make(&sketch, NULL, options, status);
}

crest_poll *crest_counter_poll(crest_counter *counter, crest_counter_poll_fn *fn, void *context,
                               const crest_poll_options *options, crest_status *status)
{
    crest_poll sketch = {.kind = CREST_POLL_COUNTER, .fn.count = fn, .context = context};
    sketch.handle.counter = counter;
    return polls_make(&sketch, NULL, options, status);
}

crest_poll *crest_histogram_poll(crest_histogram *histogram, crest_value_poll_fn *fn, void *context,
                                 const crest_poll_options *options, crest_status *status)
{
    crest_poll sketch = {.kind = CREST_POLL_HISTOGRAM, .fn.value = fn, .context = context};
    sketch.handle.histogram = histogram;
    return polls_make(&sketch, NULL, options, status);
}

crest_poll *crest_range_sampler_poll(crest_range_sampler *sampler, crest_value_poll_fn *fn,
                                     void *context, const crest_poll_options *options,
                                     crest_status *status)
{
    crest_poll sketch = {.kind = CREST_POLL_RANGE_SAMPLER, .fn.value = fn, .context = context};
    sketch.handle.sampler = sampler;
    return polls_make(&sketch, NULL, options, status);
}

crest_poll *crest_poll_every(const char *name, crest_poll_fn *fn, void *context,
                             const crest_poll_options *options, crest_status *status)
{
    crest_poll sketch = {.kind = CREST_POLL_EVERY, .fn.every = fn, .context = context};
    return polls_make(&sketch, name, options, status);
}
