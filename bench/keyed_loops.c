/* SPDX-License-Identifier: Apache-2.0 */
/* See keyed_loops.h. */
#include "keyed_loops.h"

#include <crest/crest.h>

#define OTHERS 1000u
#define OWN_IDS (UINT64_C(1) << 32)

CREST_TIMER(keyed_timer, "bench.keyed-time", "Begun and ended by id.");
CREST_TIMER(keyed_late_timer, "bench.keyed-late-time", "With a deadline.", .deadline_ms = 3600000);
CREST_TIMER(keyed_scope_timer, "bench.scope-time", "Blocks.");
CREST_MUTEX(keyed_lock, "bench.keyed");

static pthread_mutex_t keyed_plain_lock = PTHREAD_MUTEX_INITIALIZER;

void keyed_begin_end(unsigned thread, uint64_t times)
{
    for (uint64_t i = 0; i < times; i++) {
        crest_op op = crest_op_u64(thread * OWN_IDS + i);
        crest_timer_begin(&keyed_timer, op);
        crest_timer_end(&keyed_timer, op, CREST_OUTCOME_OK);
    }
}

void keyed_among_others(unsigned thread, uint64_t times)
{
    for (uint64_t i = 0; i < OTHERS; i++)
        crest_timer_begin(&keyed_late_timer, crest_op_u64x2(1, i));
    for (uint64_t i = 0; i < times; i++) {
        crest_op op = crest_op_u64(thread * OWN_IDS + i);
        crest_timer_begin(&keyed_late_timer, op);
        crest_timer_end(&keyed_late_timer, op, CREST_OUTCOME_OK);
    }
}

static uint64_t keyed_recorded(const char *name)
{
    const char *ok = "ok";
    crest_snapshot *snapshot = crest_snapshot_take(NULL);
    crest_series_view view;
    crest_snapshot_find(snapshot, name, &ok, 1, &view);
    uint64_t count = crest_distribution_count(view.distribution);
    crest_snapshot_free(snapshot);
    return count;
}

uint64_t keyed_total(void)
{
    return keyed_recorded("bench.keyed-time") + keyed_recorded("bench.keyed-late-time");
}

void keyed_scope(unsigned which, uint64_t times)
{
    (void)which;
    for (uint64_t i = 0; i < times; i++) {
        CREST_TIME_SCOPE(&keyed_scope_timer, crest_op_u64(i), NULL);
        __asm__ volatile("" ::: "memory");
    }
}

uint64_t keyed_scope_total(void)
{
    return keyed_recorded("bench.scope-time");
}

void keyed_mutex(unsigned which, uint64_t times)
{
    (void)which;
    for (uint64_t i = 0; i < times; i++) {
        crest_mutex_lock(&keyed_lock);
        crest_mutex_unlock(&keyed_lock);
    }
}

void keyed_plain_mutex(unsigned which, uint64_t times)
{
    (void)which;
    for (uint64_t i = 0; i < times; i++) {
        pthread_mutex_lock(&keyed_plain_lock);
        pthread_mutex_unlock(&keyed_plain_lock);
    }
}
