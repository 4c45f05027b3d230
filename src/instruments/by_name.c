/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recording by name: a lock-free lookup, and creation the first time. See <crest/by_name.h>.
 */
#include <crest/by_name.h>

#include "base/atomic.h"
#include "base/misuse.h"
#include "instruments/metric_get.h"
#include "instruments/name_table.h"
#include "metrics/handles.h"

#include <string.h>

#undef crest_counter_by_name
#undef crest_gauge_by_name
#undef crest_histogram_by_name
#undef crest_timer_by_name
#undef crest_stages_by_name
#undef crest_range_sampler_by_name
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

static void *by_name_dead(crest_kind kind, crest_status status)
{
    return crest_handle_dead_of(kind, status);
}

static void *by_name_refuse(crest_kind kind, crest_status status, const char *what)
{
    crest_misuse_count(crest_misuse_of(status), what);
    return by_name_dead(kind, status);
}

/* Source, dot and name. A name that is too long stays too long, for the registry to refuse. */
static const char *by_name_whole(const crest_by_name_key *key, char whole[])
{
    size_t before = key->source->length, length = key->length;
    if (before == 0)
        return key->name;
    if (before + 1 + length > CREST_NAME_BYTES_MAX)
        length = CREST_NAME_BYTES_MAX - before;
    memcpy(whole, key->source->text, before);
    whole[before] = '.';
    memcpy(whole + before + 1, key->name, length);
    whole[before + 1 + length] = '\0';
    return whole;
}

/* The handle at the first use of a name, or at each use of a name that has none. */
static void *by_name_make(const crest_by_name_key *key)
{
    char text[CREST_NAME_BYTES_MAX + 2];
    const char *name = by_name_whole(key, text);
    crest_metric *metric = crest_metric_find(crest_registry_state_seen(NULL), name);
    if (metric == NULL && crest_atomic_load(&by_name_created) >= CREST_BY_NAME_MAX)
        return by_name_refuse(key->kind, CREST_LIMIT, name);
    if (metric == NULL || !crest_metric_is(metric, key->kind) || metric->label_count != 0) {
        crest_status status;
        crest_metric_options options = {.name = name};
        crest_metric *made = crest_metric_get(NULL, key->kind, &options, NULL, 0, &status);
        if (made == NULL)
            return by_name_dead(key->kind, status);
        if (metric == NULL)
            crest_atomic_add(&by_name_created, 1);
        metric = made;
    }
    crest_by_name_keep(key, metric->children->own);
    return metric->children->own;
}

/* A name that the table does not have: its first use, or a mistake. */
__attribute__((noinline)) static void *by_name_slow(crest_source *source, const char *name,
                                                    crest_kind kind)
{
    crest_status status;
    const crest_source_state *state = crest_source_resolve(source, &status);
    if (status != CREST_OK)
        return by_name_refuse(kind, status, source->name);
    if (name == NULL)
        return by_name_refuse(kind, CREST_INVALID_NAME, NULL);
    crest_by_name_key key = {state, name, strnlen(name, CREST_NAME_BYTES_MAX + 1), kind};
    return by_name_make(&key);
}

/* The handle of this kind, or a dead one. */
static void *by_name_handle(crest_source *source, const char *name, crest_kind kind)
{
    const crest_source_state *state = crest_source_seen(source);
    if (CREST_UNLIKELY(state == NULL || name == NULL))
        return by_name_slow(source, name, kind);
    size_t length = strnlen(name, CREST_NAME_BYTES_MAX + 1);
    void *handle = crest_by_name_find((crest_by_name_key){state, name, length, kind});
    return CREST_LIKELY(handle != NULL) ? handle : by_name_slow(source, name, kind);
}

void crest_counter_site_slow(crest_counter *site, crest_source *source, const char *name,
                             int64_t amount)
{
    crest_counter *counter = by_name_handle(source, name, CREST_KIND_COUNTER);
    /* acquire: partner of the release store in series.c, so that the series is visible */
    uint32_t slot = crest_atomic_load32_acquire(&counter->handle.slot);
    /* a dead handle is not kept: the next call may succeed */
    if (slot != 0) {
        crest_atomic_store_ptr_release(CREST_PTR(&site->handle.series), counter->handle.series);
        crest_atomic_store32_release(&site->handle.slot, slot); /* partner: as in series.c */
    }
    crest_counter_add(counter, amount);
}

crest_source *crest_source_get(const char *name)
{
    /* no metric can have this name; the cause is told each time */
    static const char invalid[] = "-";
    static crest_source nowhere = {invalid, NULL, CREST_ABI};
    crest_source asked = {name, NULL, CREST_ABI};
    crest_status status;
    const crest_source_state *state = crest_source_resolve(&asked, &status);
    if (status != CREST_OK)
        crest_misuse_count(crest_misuse_of(status), name);
    return state ? (crest_source *)(uintptr_t)&state->source : &nowhere;
}

/* crest_counter_by_name and its relatives. */
#define BY_NAME_HANDLE(type, kind)                                                                 \
    crest_##type *crest_##type##_by_name_in(crest_source *source, const char *name)                \
    {                                                                                              \
        return by_name_handle(source, name, kind);                                                 \
    }                                                                                              \
    crest_##type *crest_##type##_by_name(const char *name)                                         \
    {                                                                                              \
        return by_name_handle(NULL, name, kind);                                                   \
    }
CREST_INSTRUMENT_TABLE(BY_NAME_HANDLE)

void crest_increment_counter_in(crest_source *source, const char *name)
{
    crest_counter_inc(crest_counter_by_name_in(source, name));
}

void crest_increment_counter(const char *name)
{
    crest_increment_counter_in(NULL, name);
}

void crest_increment_counter_by_in(crest_source *source, const char *name, int64_t amount)
{
    crest_counter_add(crest_counter_by_name_in(source, name), amount);
}

void crest_increment_counter_by(const char *name, int64_t amount)
{
    crest_increment_counter_by_in(NULL, name, amount);
}

void crest_set_gauge_in(crest_source *source, const char *name, double value)
{
    crest_gauge_set(crest_gauge_by_name_in(source, name), value);
}

void crest_set_gauge(const char *name, double value)
{
    crest_set_gauge_in(NULL, name, value);
}

void crest_increment_gauge_in(crest_source *source, const char *name, double delta)
{
    crest_gauge_add(crest_gauge_by_name_in(source, name), delta);
}

void crest_increment_gauge(const char *name, double delta)
{
    crest_increment_gauge_in(NULL, name, delta);
}

void crest_decrement_gauge_in(crest_source *source, const char *name, double delta)
{
    crest_gauge_add(crest_gauge_by_name_in(source, name), -delta);
}

void crest_decrement_gauge(const char *name, double delta)
{
    crest_decrement_gauge_in(NULL, name, delta);
}

void crest_record_in(crest_source *source, const char *name, int64_t value)
{
    crest_histogram_record(crest_histogram_by_name_in(source, name), value);
}

void crest_record(const char *name, int64_t value)
{
    crest_record_in(NULL, name, value);
}

void crest_record_n_in(crest_source *source, const char *name, int64_t value, uint64_t times)
{
    crest_histogram_record_n(crest_histogram_by_name_in(source, name), value, times);
}

void crest_record_n(const char *name, int64_t value, uint64_t times)
{
    crest_record_n_in(NULL, name, value, times);
}

void crest_increment_sampler_in(crest_source *source, const char *name, int64_t delta)
{
    crest_range_sampler_add(crest_range_sampler_by_name_in(source, name), delta);
}

void crest_increment_sampler(const char *name, int64_t delta)
{
    crest_increment_sampler_in(NULL, name, delta);
}

void crest_sample_in(crest_source *source, const char *name)
{
    (void)crest_range_sampler_by_name_in(source, name);
}

void crest_sample(const char *name)
{
    crest_sample_in(NULL, name);
}

crest_timing crest_timer_start_by_name_in(crest_source *source, const char *name, crest_op op)
{
    return crest_timer_start(crest_timer_by_name_in(source, name), op);
}

crest_timing crest_timer_start_by_name(const char *name, crest_op op)
{
    return crest_timer_start_by_name_in(NULL, name, op);
}
