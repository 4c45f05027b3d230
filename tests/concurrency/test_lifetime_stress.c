/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads record through handles while these are released, retired, resolved anew and their slots
 * used again. Each record is found again in exactly one place: in what a series had when it went,
 * in what is left at the end, or among the late ones.
 *
 * The minute that a slot rests stands for "longer than a thread needs from loading a slot to
 * writing its cell". Here it is over in no time, on a clock that is moved by hand, so before it is
 * moved all threads are seen to have finished what they were at.
 */
#include "cells/cells.h"
#include "registry/growth.h"
#include "support/core_fixture.h"

#include <crest/testing.h>
#include <sched.h>

#define STRESS_THREADS 3u
#define STRESS_PEERS 6u
#define STRESS_SECOND UINT64_C(1000000000)

CREST_COUNTER_FAMILY(stress_sent, "stress.sent", "", peer);
CREST_HISTOGRAM_FAMILY(stress_size, "stress.size", "", peer);
CREST_TIMER_FAMILY(stress_ping, "stress.ping", "", peer);

static const char *const stress_peers[STRESS_PEERS] = {"a", "b", "c", "d", "e", "f"};
static crest_counter *stress_counters[STRESS_PEERS];
static crest_histogram *stress_histograms[STRESS_PEERS];
static crest_timer *stress_timers[STRESS_PEERS];
static uint32_t stress_stop;
static struct {
    uint64_t turns; /* as often as everything before is done; each comes to the next peer */
    uint64_t records[3];
} stress_threads[STRESS_THREADS];
/* What series had when they went. */
static uint64_t stress_gone[3];

static void *stress_record(void *opaque)
{
    unsigned self = (unsigned)(uintptr_t)opaque;
    for (uint64_t i = 0; !__atomic_load_n(&stress_stop, __ATOMIC_ACQUIRE); i++) {
        unsigned peer = (unsigned)(i * (self + 1) % STRESS_PEERS);
        crest_counter_inc(__atomic_load_n(&stress_counters[peer], __ATOMIC_ACQUIRE));
        crest_histogram_record(__atomic_load_n(&stress_histograms[peer], __ATOMIC_ACQUIRE),
                               (int64_t)(i % 5000));
        crest_timer_record(__atomic_load_n(&stress_timers[peer], __ATOMIC_ACQUIRE),
                           (int64_t)(i % 3000), (crest_outcome)(i % CREST_OUTCOME_COUNT));
        for (unsigned kind = 0; kind < 3; kind++)
            stress_threads[self].records[kind]++;
        __atomic_store_n(&stress_threads[self].turns, i + 1, __ATOMIC_RELEASE);
    }
    return NULL;
}

/* Until each thread has done with what it was at, and has been to each of its peers since: a peer
 * that was released comes back only if someone records. */
static void stress_all_turn(void)
{
    for (unsigned i = 0; i < STRESS_THREADS; i++) {
        uint64_t turns = __atomic_load_n(&stress_threads[i].turns, __ATOMIC_ACQUIRE);
        while (__atomic_load_n(&stress_threads[i].turns, __ATOMIC_ACQUIRE) <
               turns + 1 + STRESS_PEERS)
            fixture_nap();
    }
}

static uint64_t stress_value(const crest_series_view *view)
{
    return view->kind == CREST_KIND_COUNTER ? view->counter
                                            : crest_distribution_count(view->distribution);
}

static int stress_which(const crest_series_view *view)
{
    static const char *const names[] = {"stress.sent", "stress.size", "stress.ping"};
    for (int i = 0; i < 3; i++)
        if (strcmp(view->name, names[i]) == 0)
            return i;
    return -1;
}

static uint64_t stress_late(void)
{
    crest_snapshot *snapshot = fixture_snapshot(NULL);
    uint64_t late = fixture_series(snapshot, "crest.late-records", NULL).counter;
    crest_snapshot_free(snapshot);
    return late;
}

/* What of `before` the other has not any more has gone: its last value is final. How many. */
static unsigned stress_compare(crest_snapshot *before, crest_snapshot *now)
{
    unsigned gone = 0;
    crest_series_view old, new;
    for (size_t i = 0; crest_snapshot_series(before, i, &old) == CREST_OK; i++) {
        int which = stress_which(&old);
        if (which < 0)
            continue;
        if (crest_snapshot_find(now, old.name, old.label_values, old.label_count, &new) ==
            CREST_OK) {
            assert_true(stress_value(&new) >= stress_value(&old));
        } else {
            stress_gone[which] += stress_value(&old);
            gone++;
        }
    }
    return gone;
}

static void stress_advance(uint64_t seconds, unsigned ticks)
{
    stress_all_turn();
    crest_testing_clock_advance(seconds * STRESS_SECOND);
    for (unsigned i = 0; i < ticks; i++) {
        crest_testing_clock_advance(STRESS_SECOND);
        assert_int_equal(crest_testing_tick(NULL), CREST_OK);
    }
}

static void stress_resolve(unsigned peer)
{
    __atomic_store_n(&stress_counters[peer], stress_sent_with(stress_peers[peer]),
                     __ATOMIC_RELEASE);
    __atomic_store_n(&stress_histograms[peer], stress_size_with(stress_peers[peer]),
                     __ATOMIC_RELEASE);
    __atomic_store_n(&stress_timers[peer], stress_ping_with(stress_peers[peer]), __ATOMIC_RELEASE);
}

/* One peer is retired: threads go on through its old handles for a while, and what they record then
 * is late. Then it goes, its slots rest, and it comes anew. */
static void stress_retire(unsigned peer)
{
    assert_int_equal(crest_retire(NULL, "peer", stress_peers[peer]), 3);
    stress_all_turn();
    stress_advance(0, 1);
    crest_testing_clock_advance(1000000); /* an export comes after what it exports */
    crest_snapshot *last = fixture_snapshot(NULL);
    stress_advance(CREST_LINGER_S, 2);
    crest_snapshot *without = fixture_snapshot(NULL);
    assert_true(stress_compare(last, without) >= 3);
    crest_snapshot_free(last);
    crest_snapshot_free(without);
    stress_advance(CREST_QUARANTINE_S, CREST_QUARANTINE_LOOKS + 3);
    stress_resolve(peer);
}

/* One peer is released under those who record; it never goes, for each record brings it back. */
static void stress_release(unsigned peer)
{
    crest_snapshot *before = fixture_snapshot(NULL);
    assert_int_equal(crest_counter_release(stress_counters[peer]), CREST_OK);
    assert_int_equal(crest_histogram_release(stress_histograms[peer]), CREST_OK);
    assert_int_equal(crest_timer_release(stress_timers[peer]), CREST_OK);
    stress_advance(CREST_LINGER_S, 2);
    crest_snapshot *after = fixture_snapshot(NULL);
    assert_int_equal(stress_compare(before, after), 0);
    crest_snapshot_free(before);
    crest_snapshot_free(after);
}

static void test_nothing_is_lost(void **state)
{
    (void)state;
    fixture_watchdog(170);
    crest_testing_clock_set(1000 * STRESS_SECOND);
    pthread_t threads[STRESS_THREADS];
    for (unsigned peer = 0; peer < STRESS_PEERS; peer++)
        stress_resolve(peer);
    uint64_t late = stress_late();
    for (unsigned i = 0; i < STRESS_THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, stress_record, (void *)(uintptr_t)i), 0);
    uint64_t slots = 0;
    const unsigned rounds = FIXTURE_TIMES(20) + 10;
    for (unsigned round = 0; round < rounds; round++) {
        if (round % 3 == 2)
            stress_release(round % STRESS_PEERS);
        else
            stress_retire(round * 5 % STRESS_PEERS);
        if (round == 9)
            slots = crest_cells_slot_count();
    }
    assert_int_equal(crest_cells_slot_count(), slots);
    __atomic_store_n(&stress_stop, 1, __ATOMIC_RELEASE);
    uint64_t made = 0, found = 0;
    for (unsigned i = 0; i < STRESS_THREADS; i++) {
        pthread_join(threads[i], NULL);
        for (unsigned kind = 0; kind < 3; kind++)
            made += stress_threads[i].records[kind];
    }
    for (unsigned i = 0; i < 2; i++) { /* a look, so that late growth is counted */
        crest_testing_clock_advance(STRESS_SECOND);
        crest_testing_tick(NULL);
    }
    crest_snapshot *snapshot = fixture_snapshot(NULL);
    crest_series_view view;
    for (size_t i = 0; crest_snapshot_series(snapshot, i, &view) == CREST_OK; i++)
        if (stress_which(&view) >= 0)
            found += stress_value(&view);
    crest_snapshot_free(snapshot);
    found += stress_late() - late;
    for (unsigned kind = 0; kind < 3; kind++)
        found += stress_gone[kind];
    assert_int_equal(found, made);
    assert_true(stress_late() > late && stress_gone[0] != 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_nothing_is_lost)};
    return cmocka_run_group_tests_name("lifetime_stress", tests, NULL, NULL);
}
