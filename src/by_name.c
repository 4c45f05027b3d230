/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recording by name: a lock-free lookup, and creation the first time. See <crest/by_name.h>.
 */
#include <crest/by_name.h>

#include "atomic.h"
#include "handles.h"
#include "misuse.h"

#undef crest_increment_counter
#undef crest_increment_counter_by
#undef crest_set_gauge
#undef crest_increment_gauge
#undef crest_decrement_gauge
#undef crest_record
#undef crest_record_n
#undef crest_increment_sampler
#undef crest_sample
#undef crest_timer_start_by_name

static uint64_t by_name_created;

/* The only child of the metric of this name and kind, or a dead one. */
static crest_child *by_name_child(const char *name, crest_kind kind)
{
    crest_registry_state *state = crest_registry_state_seen(NULL);
    crest_metric *metric = crest_metric_find(state, name);
    if (metric != NULL && metric->kind == kind && metric->label_count == 0)
        return metric->children;
    if (metric == NULL && crest_atomic_load(&by_name_created) >= CREST_BY_NAME_MAX) {
        crest_misuse_count(CREST_MISUSE_LIMIT, name);
        return crest_child_dead(kind, CREST_LIMIT);
    }
    crest_status status;
    crest_metric_options options = {.name = name};
    crest_metric *made = crest_metric_get(NULL, kind, &options, NULL, 0, &status);
    if (made == NULL)
        return crest_child_dead(kind, status);
    if (metric == NULL)
        crest_atomic_add(&by_name_created, 1);
    return made->children;
}

/* crest_counter_by_name and its relatives. */
#define BY_NAME_HANDLE(type, kind)                                                                 \
    crest_##type *crest_##type##_by_name(const char *name)                                         \
    {                                                                                              \
        return &by_name_child(name, kind)->handle.type;                                            \
    }
CREST_INSTRUMENT_TABLE(BY_NAME_HANDLE)

void crest_increment_counter(const char *name)
{
    crest_counter_inc(crest_counter_by_name(name));
}

void crest_increment_counter_by(const char *name, int64_t amount)
{
    crest_counter_add(crest_counter_by_name(name), amount);
}

void crest_set_gauge(const char *name, double value)
{
    crest_gauge_set(crest_gauge_by_name(name), value);
}

void crest_increment_gauge(const char *name, double delta)
{
    crest_gauge_add(crest_gauge_by_name(name), delta);
}

void crest_decrement_gauge(const char *name, double delta)
{
    crest_gauge_add(crest_gauge_by_name(name), -delta);
}

void crest_record(const char *name, int64_t value)
{
    crest_histogram_record(crest_histogram_by_name(name), value);
}

void crest_record_n(const char *name, int64_t value, uint64_t times)
{
    crest_histogram_record_n(crest_histogram_by_name(name), value, times);
}

void crest_increment_sampler(const char *name, int64_t delta)
{
    crest_range_sampler_add(crest_range_sampler_by_name(name), delta);
}

void crest_sample(const char *name)
{
    (void)crest_range_sampler_by_name(name);
}

crest_timing crest_timer_start_by_name(const char *name, crest_op op)
{
    return crest_timer_start(crest_timer_by_name(name), op);
}
