/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of series, through the public API, on a clock that is moved by hand. A copy of a handle
 * stands for a thread that loaded its slot before the series was released.
 */
#include "base/arena.h"
#include "base/misuse.h"
#include "cells/cells.h"
#include "metrics/child.h"
#include "metrics/slots.h"
#include "registry/growth.h"
#include "support/core_fixture.h"

#include <crest/testing.h>

#define LIFETIME_SECOND UINT64_C(1000000000)

CREST_COUNTER_FAMILY(lifetime_sent, "lifetime.sent", "", peer, kind);
CREST_GAUGE_FAMILY(lifetime_height, "lifetime.height", "", peer);
CREST_HISTOGRAM_FAMILY(lifetime_size, "lifetime.size", "", peer);
CREST_TIMER_FAMILY(lifetime_ping, "lifetime.ping", "", peer);
CREST_RANGE_SAMPLER_FAMILY(lifetime_queue, "lifetime.queue", "", peer);
CREST_COUNTER(lifetime_plain, "lifetime.plain", "");

static void lifetime_after(unsigned seconds)
{
    for (unsigned i = 0; i < seconds; i++) {
        crest_testing_clock_advance(LIFETIME_SECOND);
        assert_int_equal(crest_testing_tick(NULL), CREST_OK);
    }
}

/* An export, a little after what came before. */
static void lifetime_export(void)
{
    crest_testing_clock_advance(1000000);
    crest_snapshot_free(fixture_snapshot(NULL));
}

static int lifetime_shows(const char *name, const char *first, const char *second,
                          crest_series_view *view)
{
    const char *values[] = {first, second};
    crest_snapshot *snapshot = fixture_snapshot(NULL);
    crest_status found = crest_snapshot_find(snapshot, name, values, 1 + (second != NULL), view);
    crest_snapshot_free(snapshot);
    return found == CREST_OK;
}

/* The value of lifetime.sent for this peer and kind "x"; -1 when it is not shown. */
static int64_t lifetime_sent_value(const char *peer)
{
    crest_series_view view;
    return lifetime_shows("lifetime.sent", peer, "x", &view) ? (int64_t)view.counter : -1;
}

static uint64_t lifetime_late(void)
{
    crest_series_view view;
    crest_snapshot *snapshot = fixture_snapshot(NULL);
    assert_int_equal(crest_snapshot_find(snapshot, "crest.late-records", NULL, 0, &view), CREST_OK);
    crest_snapshot_free(snapshot);
    return view.counter;
}

/* Until what was released is not shown any more, and until its slot is free. */
static void lifetime_until_gone(void)
{
    lifetime_after(1);
    lifetime_export();
    crest_testing_clock_advance(CREST_LINGER_S * LIFETIME_SECOND);
    lifetime_after(2);
}

static void lifetime_until_free(void)
{
    lifetime_until_gone();
    crest_testing_clock_advance(CREST_QUARANTINE_S * LIFETIME_SECOND);
    lifetime_after(CREST_QUARANTINE_LOOKS + 3);
}

static void test_released(void **state)
{
    (void)state;
    crest_counter *sent = lifetime_sent_with("released", "x");
    crest_counter_add(sent, 5);
    uint32_t slot = sent->handle.slot;
    assert_int_equal(crest_counter_release(sent), CREST_OK);
    assert_int_equal(crest_counter_release(sent), CREST_OK);
    assert_int_equal(sent->handle.slot, 0);
    assert_int_equal(crest_counter_value(sent), 5);
    assert_int_equal(lifetime_sent_value("released"), 5);
    /* nobody has taken it along yet */
    lifetime_after(1);
    lifetime_after(CREST_LINGER_S - 2);
    lifetime_export();
    assert_int_equal(lifetime_sent_value("released"), 5);
    lifetime_after(2);
    assert_int_equal(lifetime_sent_value("released"), -1);
    uint64_t free_slots = crest_slots_free();
    lifetime_after(CREST_QUARANTINE_S - 3);
    assert_int_equal(crest_slots_free(), free_slots);
    lifetime_after(5);
    assert_int_equal(crest_slots_free(), free_slots + 1);
    /* the slot serves another, from zero, and so does the handle when it is used again */
    crest_counter *other = lifetime_sent_with("another", "x");
    assert_int_equal(other->handle.slot, slot);
    assert_int_equal(crest_counter_value(other), 0);
    assert_int_equal(lifetime_sent_value("another"), 0);
    crest_counter_inc(sent);
    assert_int_equal(lifetime_sent_value("released"), 1);
    assert_int_equal(lifetime_sent_value("another"), 0);
    assert_ptr_equal(lifetime_sent_with("released", "x"), sent);
    crest_counter_release(other);
    crest_counter_release(sent);
}

/* A record, or resolving again, brings it back, at each stage of its going. */
static void test_revived(void **state)
{
    (void)state;
    for (int by_record = 0; by_record < 2; by_record++)
        for (int stage = 0; stage < 3; stage++) {
            char peer[32];
            snprintf(peer, sizeof peer, "revived-%d-%d", by_record, stage);
            crest_counter *sent = lifetime_sent_with(peer, "x");
            crest_counter_add(sent, 7);
            crest_counter_release(sent);
            if (stage == 1)
                lifetime_until_gone();
            if (stage == 2)
                lifetime_until_free();
            assert_int_equal(lifetime_sent_value(peer), stage == 0 ? 7 : -1);
            if (by_record)
                crest_counter_inc(sent);
            else
                assert_ptr_equal(lifetime_sent_with(peer, "x"), sent);
            assert_int_equal(lifetime_sent_value(peer), (stage < 2 ? 7 : 0) + by_record);
            lifetime_until_free(); /* it stays */
            assert_int_equal(lifetime_sent_value(peer), (stage < 2 ? 7 : 0) + by_record);
            crest_counter_release(sent);
        }
}

/* A slow thread's add, made while the series leaves or rests, is exported before it goes. */
static void test_slow_thread(void **state)
{
    (void)state;
    crest_counter *sent = lifetime_sent_with("slow", "x");
    crest_counter_add(sent, 1);
    crest_counter copy = *sent;
    crest_counter_release(sent);
    lifetime_after(1);
    lifetime_export();
    lifetime_after(CREST_LINGER_S - 10);
    crest_counter_inc(&copy);
    lifetime_after(20); /* the minute begins again, and an export is due */
    assert_int_equal(lifetime_sent_value("slow"), 2);
    lifetime_export();
    lifetime_after(CREST_LINGER_S);
    assert_int_equal(lifetime_sent_value("slow"), -1);
    crest_counter_inc(&copy);
    assert_int_equal(lifetime_sent_value("slow"), 3);
    lifetime_until_gone();
    assert_int_equal(lifetime_sent_value("slow"), -1);
    lifetime_after(CREST_QUARANTINE_S + 5);
    assert_int_equal(crest_counter_value(sent), 0);
}

/* A slow thread's peak is growth, though the value is afterwards what it was. */
static void test_slow_peak(void **state)
{
    (void)state;
    crest_range_sampler *queue = lifetime_queue_with("slow-peak");
    crest_range_sampler_add(queue, 3);
    crest_range_sampler copy = *queue;
    crest_range_sampler_release(queue);
    lifetime_until_gone();
    crest_series_view view;
    assert_false(lifetime_shows("lifetime.queue", "slow-peak", NULL, &view));
    crest_range_sampler_add(&copy, 7);
    crest_testing_clock_advance(LIFETIME_SECOND / 100);
    crest_range_sampler_add(&copy, -7);
    lifetime_after(1);
    assert_true(lifetime_shows("lifetime.queue", "slow-peak", NULL, &view));
    lifetime_until_free();
    assert_false(lifetime_shows("lifetime.queue", "slow-peak", NULL, &view));
}

static void test_retired(void **state)
{
    (void)state;
    crest_counter *sent = lifetime_sent_with("retired", "x");
    crest_counter *other_kind = lifetime_sent_with("retired", "y");
    crest_counter_add(sent, 3);
    crest_counter_add(other_kind, 4);
    crest_gauge_set(lifetime_height_with("retired"), 2);
    uint64_t late = lifetime_late();
    assert_int_equal(crest_retire(NULL, "kind", "retired"), 0);
    assert_int_equal(crest_retire(NULL, "nobody", "retired"), 0);
    assert_int_equal(crest_retire(NULL, "peer", "retired"), 3);
    assert_int_equal(crest_retire(NULL, "peer", "retired"), 0);
    assert_int_equal(lifetime_sent_value("retired"), 3);
    crest_counter_inc(sent);
    crest_counter_add(other_kind, 100);
    assert_int_equal(crest_counter_release(sent), CREST_LATE);
    assert_int_equal(lifetime_late(), late + 2);
    assert_int_equal(lifetime_sent_value("retired"), 3);
    /* a new one drops the old at once */
    crest_counter *new = lifetime_sent_with("retired", "x");
    assert_ptr_not_equal(new, sent);
    assert_int_equal(lifetime_sent_value("retired"), 0);
    crest_counter_add(new, 2);
    crest_counter_inc(sent);
    assert_int_equal(lifetime_sent_value("retired"), 2);
    assert_int_equal(lifetime_late(), late + 3);
    crest_snapshot *snapshot = fixture_snapshot(NULL);
    unsigned shown = 0;
    crest_series_view view;
    for (size_t i = 0; crest_snapshot_series(snapshot, i, &view) == CREST_OK; i++)
        shown +=
            strcmp(view.name, "lifetime.sent") == 0 && strcmp(view.label_values[0], "retired") == 0;
    assert_int_equal(shown, 2); /* x anew and y for the last time */
    crest_snapshot_free(snapshot);
    lifetime_until_free();
    crest_series_view gauge;
    assert_false(lifetime_shows("lifetime.height", "retired", NULL, &gauge));
    assert_false(lifetime_shows("lifetime.sent", "retired", "y", &gauge));
    assert_int_equal(lifetime_sent_value("retired"), 2);
    crest_counter_inc(sent);
    assert_int_equal(lifetime_late(), late + 4);
    crest_retire(NULL, "peer", "retired");
}

/* What a slow thread adds to a retired series that is not shown any more is late. */
static void test_slow_and_retired(void **state)
{
    (void)state;
    crest_counter copy = *lifetime_sent_with("slow-retired", "x");
    crest_retire(NULL, "peer", "slow-retired");
    lifetime_until_gone();
    uint64_t late = lifetime_late();
    crest_counter_add(&copy, 3);
    lifetime_after(1);
    assert_int_equal(lifetime_late(), late + 3);
    assert_int_equal(lifetime_sent_value("slow-retired"), -1);
    lifetime_after(CREST_QUARANTINE_S + 5);
    assert_int_equal(lifetime_late(), late + 3);
}

/* Histograms, timers, gauges, samplers: nothing of an old life is in the next, nor in another's. */
static void test_other_kinds(void **state)
{
    (void)state;
    crest_series_view view;
    for (unsigned life = 0; life < 3; life++) {
        crest_histogram *size = lifetime_size_with("a");
        crest_timer *ping = lifetime_ping_with("a");
        crest_gauge *height = lifetime_height_with("a");
        crest_range_sampler *queue = lifetime_queue_with("a");
        assert_true(lifetime_shows("lifetime.size", "a", NULL, &view));
        assert_int_equal(crest_range_sampler_value(queue), 0);
        assert_true(crest_gauge_value(height) == 0);
        crest_histogram_record(size, 1000 + life);
        crest_histogram_record(size, 5);
        crest_timer_record(ping, 1000000, CREST_OUTCOME_OK);
        crest_timer_record(ping, 3000000, CREST_OUTCOME_TIMEOUT);
        crest_gauge_set(height, -7);
        crest_range_sampler_add(queue, 4);
        crest_snapshot *snapshot = fixture_snapshot(NULL);
        view = fixture_series(snapshot, "lifetime.size", "a");
        assert_int_equal(crest_distribution_count(view.distribution), 2);
        assert_int_equal(crest_distribution_sum(view.distribution), 1005 + life);
        assert_int_equal(crest_distribution_max(view.distribution), 1000 + life);
        assert_int_equal(crest_distribution_min(view.distribution), 5);
        const char *timeout[] = {"a", "timeout"};
        assert_int_equal(crest_snapshot_find(snapshot, "lifetime.ping", timeout, 2, &view),
                         CREST_OK);
        assert_int_equal(crest_distribution_count(view.distribution), 1);
        crest_snapshot_free(snapshot);
        assert_int_equal(crest_histogram_release(size), CREST_OK);
        assert_int_equal(crest_timer_release(ping), CREST_OK);
        assert_int_equal(crest_gauge_release(height), CREST_OK);
        assert_int_equal(crest_range_sampler_release(queue), CREST_OK);
        if (life == 1) { /* back before it has gone: everything is as it was */
            crest_histogram_record(size, 5);
            crest_timer_record(ping, 1000000, CREST_OUTCOME_ERROR);
            crest_gauge_add(height, -1);
            crest_range_sampler_add(queue, 1);
            assert_true(crest_gauge_value(height) == -8);
            assert_int_equal(crest_range_sampler_value(queue), 5);
            assert_true(lifetime_shows("lifetime.ping", "a", "timeout", &view));
            crest_retire(NULL, "peer", "a");
        }
        lifetime_until_free();
        assert_false(lifetime_shows("lifetime.size", "a", NULL, &view));
        assert_false(lifetime_shows("lifetime.ping", "a", "timeout", &view));
        assert_false(lifetime_shows("lifetime.ping", "a", "ok", &view));
        assert_false(lifetime_shows("lifetime.height", "a", NULL, &view));
        assert_false(lifetime_shows("lifetime.queue", "a", NULL, &view));
    }
}

/* First of all: later there are spare waits, and a release needs no memory. */
static void test_refused(void **state)
{
    (void)state;
    assert_int_equal(crest_counter_release(NULL), CREST_INVALID_ARGUMENT);
    assert_int_equal(crest_counter_release(&lifetime_plain), CREST_INVALID_ARGUMENT);
    assert_int_equal(crest_gauge_release((crest_gauge *)lifetime_sent_with("a", "b")),
                     CREST_INVALID_ARGUMENT);
    assert_int_equal(crest_retire(NULL, NULL, "a"), 0);
    crest_registry *registry = fixture_registry(NULL);
    static const char *const keys[] = {"k"};
    crest_metric_options options = {.name = "f"};
    crest_counter_family family = crest_counter_family_new(registry, &options, keys, 1, NULL);
    const char *value = "v";
    crest_counter *counter = crest_counter_family_get(&family, &value, 1);
    crest_arena_fail_after(1);
    assert_int_equal(crest_counter_release(counter), CREST_NO_MEMORY);
    crest_arena_fail_after(0);
    assert_int_not_equal(counter->handle.slot, 0);
    crest_registry_free(registry);
    assert_int_equal(crest_counter_release(counter), CREST_NOT_FOUND);
}

/* A thousand peers come and go: slots and memory for values stay exactly as after the first two
 * hundred, so that what one peer left behind would be seen. */
static void test_churn(void **state)
{
    (void)state;
    const unsigned rounds = 5, peers = 200;
    uint64_t slots = 0, cells = 0;
    for (unsigned round = 0; round < rounds; round++) {
        for (unsigned i = 0; i < peers; i++) {
            char peer[32];
            snprintf(peer, sizeof peer, "churn-%u", round * peers + i);
            crest_counter_inc(lifetime_sent_with(peer, "x"));
            crest_histogram_record(lifetime_size_with(peer), i);
            crest_timer_record(lifetime_ping_with(peer), i, CREST_OUTCOME_OK);
            assert_int_equal(crest_counter_value(lifetime_sent_with(peer, "x")), 1);
        }
        crest_snapshot *snapshot = fixture_snapshot(NULL);
        for (size_t i = 0; i < crest_snapshot_size(snapshot); i++) {
            crest_series_view view;
            crest_snapshot_series(snapshot, i, &view);
            if (strcmp(view.name, "lifetime.size") == 0)
                assert_int_equal(crest_distribution_count(view.distribution), 1);
        }
        crest_snapshot_free(snapshot);
        for (unsigned i = 0; i < peers; i++) {
            char peer[32];
            snprintf(peer, sizeof peer, "churn-%u", round * peers + i);
            assert_int_equal(crest_retire(NULL, "peer", peer), 3);
        }
        lifetime_until_free();
        if (round == 0) {
            slots = crest_cells_slot_count();
            cells = crest_arena_used(CREST_ARENA_CELLS);
        }
    }
    assert_int_equal(crest_cells_slot_count(), slots);
    assert_int_equal(crest_arena_used(CREST_ARENA_CELLS), cells);
}

/* What a nearly full counter leaves has no room for another one. */
static void test_full_slot(void **state)
{
    (void)state;
    crest_counter *sent = lifetime_sent_with("full", "x");
    crest_counter_add(sent, INT64_MAX);
    crest_counter_add(sent, INT64_MAX);
    assert_int_equal(crest_retire(NULL, "peer", "full"), 1);
    lifetime_until_free();
    uint64_t slots = crest_slots_free();
    assert_true(slots != 0);
    for (uint64_t i = 0; i < slots; i++) {
        char peer[32];
        snprintf(peer, sizeof peer, "after-full-%u", (unsigned)i);
        crest_counter_add(lifetime_sent_with(peer, "x"), 5);
        assert_int_equal(crest_counter_value(lifetime_sent_with(peer, "x")), 5);
    }
}

/* A freed registry's slots are used again, and its handles do nothing. */
static void test_freed(void **state)
{
    (void)state;
    uint64_t slots = 0;
    crest_counter *first = NULL;
    for (unsigned round = 0; round < 5; round++) {
        crest_registry *registry = fixture_registry(NULL);
        for (unsigned i = 0; i < 100; i++) {
            char name[16];
            snprintf(name, sizeof name, "c%u", i);
            crest_counter *counter = fixture_counter(registry, name);
            assert_int_equal(crest_counter_value(counter), 0);
            crest_counter_inc(counter);
            first = first ? first : counter;
        }
        crest_registry_free(registry);
        uint64_t late = lifetime_late();
        crest_counter_inc(first);
        assert_int_equal(lifetime_late(), late + 1);
        assert_int_equal(crest_counter_value(first), 0);
        lifetime_after(CREST_QUARANTINE_S + 5);
        if (round == 0)
            slots = crest_cells_slot_count();
    }
    assert_int_equal(crest_cells_slot_count(), slots);
}

CREST_COUNTER_FAMILY_OPTIONS(lifetime_idle, "lifetime.idle", "", (.idle_s = 10), peer);
CREST_TIMER_FAMILY_OPTIONS(lifetime_calm, "lifetime.calm", "", (.idle_s = 10), peer);

/* Idle series are hidden once they have been exported; the next record shows them as they were. */
static void test_idle(void **state)
{
    (void)state;
    crest_series_view view;
    crest_counter *counter = lifetime_idle_with("a");
    crest_timer *timer = lifetime_calm_with("a");
    crest_counter_add(counter, 5);
    crest_timer_record(timer, 7, CREST_OUTCOME_OK);
    uint32_t slot = counter->handle.slot;
    lifetime_after(20); /* nobody has seen it yet */
    assert_true(lifetime_shows("lifetime.idle", "a", NULL, &view));
    lifetime_export();
    lifetime_after(5);
    crest_counter_inc(counter);
    lifetime_after(5);
    lifetime_export();
    assert_true(lifetime_shows("lifetime.idle", "a", NULL, &view));
    assert_false(lifetime_shows("lifetime.calm", "a", "ok", &view));
    lifetime_after(10);
    assert_false(lifetime_shows("lifetime.idle", "a", NULL, &view));
    lifetime_after(200);
    assert_int_equal(counter->handle.slot, slot);
    /* a snapshot has what was recorded before it, without a tick */
    crest_counter_inc(counter);
    crest_timer_record(timer, 9, CREST_OUTCOME_OK);
    assert_true(lifetime_shows("lifetime.idle", "a", NULL, &view));
    assert_int_equal(view.counter, 7);
    crest_snapshot *snapshot = fixture_snapshot(NULL);
    const char *ok[] = {"a", "ok"};
    assert_int_equal(crest_snapshot_find(snapshot, "lifetime.calm", ok, 2, &view), CREST_OK);
    assert_int_equal(crest_distribution_count(view.distribution), 2);
    assert_int_equal(crest_distribution_sum(view.distribution), 16);
    crest_snapshot_free(snapshot);
    /* and its rate is that of one record, not of seven */
    lifetime_after(1);
    assert_true(fabs(crest_counter_rate(counter, CREST_WINDOW_S).per_second * 60 - 1) < 0.1);
    assert_true(crest_counter_rate(counter, CREST_WINDOW_S).peak <= 1.001);
    assert_true(crest_timer_window(timer, CREST_OUTCOME_OK, CREST_WINDOW_S).maximum == 9);
    /* hidden and released, it goes all the same */
    lifetime_after(15);
    lifetime_export();
    lifetime_after(15);
    assert_int_equal(crest_counter_release(counter), CREST_OK);
    lifetime_until_free();
    assert_int_equal(crest_counter_value(counter), 0);
    assert_false(lifetime_shows("lifetime.idle", "a", NULL, &view));
}

/* A series that begins anew has the rate of its own records, whatever the slot held before. */
static void test_rates(void **state)
{
    (void)state;
    crest_counter *counter = lifetime_sent_with("rate", "x");
    crest_histogram *size = lifetime_size_with("rate");
    for (unsigned life = 0; life < 4; life++) {
        for (unsigned i = 0; i < 10; i++) {
            crest_counter_add(counter, life == 0 ? 1000000 : 1);
            crest_histogram_record(size, life == 0 ? 1000000 : 3);
            lifetime_after(1);
            crest_rate rate = crest_counter_rate(counter, CREST_WINDOW_S);
            crest_window window = crest_histogram_window(size, CREST_WINDOW_S);
            assert_true(rate.per_second >= 0 && window.per_second >= 0);
            if (life != 0) {
                assert_true(rate.peak <= 1.001 && window.peak <= 1.001);
                assert_int_equal(window.events, i + 1);
                assert_true(window.maximum == 3 && window.average == 3);
            }
        }
        if (life % 2 == 0) {
            crest_counter_release(counter);
            crest_histogram_release(size);
        } else {
            crest_retire(NULL, "peer", "rate");
        }
        lifetime_until_free();
        counter = lifetime_sent_with("rate", "x");
        size = lifetime_size_with("rate");
    }
    /* coming back while its slot rests, it goes on: what was before is not an event of now */
    crest_counter_add(counter, 1000000);
    lifetime_after(70);
    crest_counter_release(counter);
    lifetime_until_gone();
    crest_counter_inc(counter);
    lifetime_after(1);
    assert_int_equal(crest_counter_value(counter), 1000001);
    assert_true(crest_counter_rate(counter, CREST_WINDOW_S).peak <= 1.001);
    crest_counter_release(counter);
}

/* Past the limit records go to the overflow series; what has gone makes room. */
static void test_room(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    static const char *const keys[] = {"k"};
    crest_metric_options options = {.name = "f"};
    crest_counter_family family = crest_counter_family_new(registry, &options, keys, 1, NULL);
    char text[CREST_FAMILY_SERIES_MAX][8];
    const char *value;
    for (unsigned i = 0; i < CREST_FAMILY_SERIES_MAX; i++) {
        snprintf(text[i], sizeof text[i], "%u", i);
        value = text[i];
        crest_counter_family_get(&family, &value, 1);
    }
    value = "more";
    crest_counter *overflow = crest_counter_family_get(&family, &value, 1);
    assert_string_equal(crest_series_values(overflow->handle.series)[0], "overflow");
    assert_int_equal(crest_retire(registry, "k", "7"), 1);
    assert_ptr_equal(crest_counter_family_get(&family, &value, 1), overflow);
    lifetime_after(1);
    crest_testing_clock_advance(1000000);
    crest_snapshot_free(fixture_snapshot(registry));
    crest_testing_clock_advance(CREST_LINGER_S * LIFETIME_SECOND);
    lifetime_after(2);
    crest_counter *own = crest_counter_family_get(&family, &value, 1);
    assert_string_equal(crest_series_values(own->handle.series)[0], "more");
    value = "still more";
    assert_ptr_equal(crest_counter_family_get(&family, &value, 1), overflow);
    crest_registry_free(registry);
}

/* So many handles of gone series are remembered, and no more. */
static void test_remembered(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    static const char *const keys[] = {"k"};
    crest_metric_options options = {.name = "f"};
    crest_counter_family family = crest_counter_family_new(registry, &options, keys, 1, NULL);
    const char *value = "a";
    crest_counter *a = crest_counter_family_get(&family, &value, 1);
    crest_counter_release(a);
    lifetime_after(1);
    crest_testing_clock_advance(1000000);
    crest_snapshot_free(fixture_snapshot(registry));
    crest_testing_clock_advance(CREST_LINGER_S * LIFETIME_SECOND);
    lifetime_after(2);
    crest_testing_clock_advance(CREST_QUARANTINE_S * LIFETIME_SECOND);
    lifetime_after(CREST_QUARANTINE_LOOKS + 3);
    assert_int_equal(registry->state->gone, 1);
    registry->state->gone = CREST_GONE_SERIES_MAX; /* as if */
    uint64_t limit = crest_misuse_value(CREST_MISUSE_LIMIT);
    value = "b";
    crest_counter *overflow = crest_counter_family_get(&family, &value, 1);
    assert_string_equal(crest_series_values(overflow->handle.series)[0], "overflow");
    assert_int_equal(crest_misuse_value(CREST_MISUSE_LIMIT), limit + 1);
    value = "a"; /* what is remembered is found */
    assert_ptr_equal(crest_counter_family_get(&family, &value, 1), a);
    assert_int_equal(registry->state->gone, CREST_GONE_SERIES_MAX - 1);
    value = "b";
    assert_ptr_not_equal(crest_counter_family_get(&family, &value, 1), overflow);
    crest_registry_free(registry);
}

/* A reporter that does not succeed is waited for, an hour at most. */
static crest_status lifetime_fails(crest_reporter *reporter, const crest_report *report,
                                   crest_error *error)
{
    (void)report, (void)error;
    return *(int *)reporter->state ? CREST_OK : CREST_UNREACHABLE;
}

static void test_waits_for_reporters(void **state)
{
    (void)state;
    int works = 0;
    crest_reporter reporter = {.name = "slow", .report = lifetime_fails, .state = &works};
    crest_schedule schedule = {.interval_ms = 3600000, .jitter = -1};
    assert_int_equal(crest_reporter_attach(NULL, &reporter, &schedule, NULL), CREST_OK);
    for (works = 0; works < 2; works++) {
        crest_counter *sent = lifetime_sent_with(works ? "delivered" : "not delivered", "x");
        crest_counter_inc(sent);
        crest_counter_release(sent);
        lifetime_after(1);
        crest_testing_clock_advance(1000000);
        assert_int_equal(crest_report_now(&reporter, 5000, NULL),
                         works ? CREST_OK : CREST_UNREACHABLE);
        crest_testing_clock_advance(3600 * LIFETIME_SECOND);
        lifetime_after(2); /* its interval is an hour, so twice that is the least */
        assert_int_equal(lifetime_sent_value(works ? "delivered" : "not delivered"), 1);
        crest_testing_clock_advance(3600 * LIFETIME_SECOND);
        lifetime_after(2);
        assert_int_equal(lifetime_sent_value(works ? "delivered" : "not delivered"), -1);
    }
    assert_int_equal(crest_reporter_detach(&reporter, 5000, NULL), CREST_OK);
}

static int lifetime_setup(void **state)
{
    (void)state;
    crest_testing_clock_set(1000 * LIFETIME_SECOND);
    return crest_testing_tick(NULL) != CREST_OK;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_released),
        cmocka_unit_test(test_revived),
        cmocka_unit_test(test_slow_thread),
        cmocka_unit_test(test_slow_peak),
        cmocka_unit_test(test_retired),
        cmocka_unit_test(test_slow_and_retired),
        cmocka_unit_test(test_other_kinds),
        cmocka_unit_test(test_full_slot),
        cmocka_unit_test(test_churn),
        cmocka_unit_test(test_freed),
        cmocka_unit_test(test_idle),
        cmocka_unit_test(test_rates),
        cmocka_unit_test(test_room),
        cmocka_unit_test(test_remembered),
        cmocka_unit_test(test_waits_for_reporters),
    };
    return cmocka_run_group_tests_name("lifetime", tests, lifetime_setup, NULL);
}
