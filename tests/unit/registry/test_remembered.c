/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is remembered of series that have gone: their label values, with a handle each. A value that
 * comes again finds it, however often it was retired, and takes no new memory; the old life is in
 * nothing of the new one.
 */
#include "base/arena.h"
#include "cells/shards.h"
#include "metrics/child.h"
#include "registry/growth.h"
#include "registry/series_state.h"
#include "support/core_fixture.h"

#include <crest/lifetime.h>
#include <crest/stages.h>

#define REMEMBERED_SECOND UINT64_C(1000000000)

static const char *const remembered_keys[] = {"peer"};

/* A registry with a family of each kind. */
typedef struct remembered {
    crest_registry *registry;
    crest_counter_family sent;
    crest_gauge_family height;
    crest_histogram_family size;
    crest_timer_family ping;
    crest_range_sampler_family queue;
    crest_stages_family block;
} remembered;

#define REMEMBERED_FAMILY(all, type, field, ...)                                                   \
    do {                                                                                           \
        crest_metric_options options = {.name = #field, __VA_ARGS__};                              \
        (all)->field =                                                                             \
            crest_##type##_family_new((all)->registry, &options, remembered_keys, 1, NULL);        \
    } while (0)

static remembered remembered_new(void)
{
    remembered all = {.registry = fixture_registry(NULL)};
    REMEMBERED_FAMILY(&all, counter, sent, .unit = CREST_NONE);
    REMEMBERED_FAMILY(&all, gauge, height, .unit = CREST_NONE);
    REMEMBERED_FAMILY(&all, histogram, size, .unit = CREST_NONE);
    REMEMBERED_FAMILY(&all, timer, ping, .unit = CREST_NONE);
    REMEMBERED_FAMILY(&all, range_sampler, queue, .unit = CREST_NONE);
    REMEMBERED_FAMILY(&all, stages, block, .stages = {"a", "b"});
    crest_testing_clock_set(1000 * REMEMBERED_SECOND);
    assert_int_equal(crest_testing_tick(all.registry), CREST_OK);
    return all;
}

static void remembered_end(remembered *all)
{
    assert_int_equal(crest_ticker_detach(all->registry), CREST_OK);
    crest_registry_free(all->registry);
    crest_testing_clock_real();
}

static void remembered_after(const remembered *all, unsigned seconds)
{
    for (unsigned i = 0; i < seconds; i++) {
        crest_testing_clock_advance(REMEMBERED_SECOND);
        assert_int_equal(crest_testing_tick(all->registry), CREST_OK);
    }
}

/* Exported once more, and until the slots of what went are free. */
static void remembered_until_gone(const remembered *all)
{
    remembered_after(all, 1);
    crest_testing_clock_advance(1000000);
    crest_snapshot_free(fixture_snapshot(all->registry));
    remembered_after(all, CREST_LINGER_S + CREST_QUARANTINE_S + CREST_QUARANTINE_LOOKS + 6);
}

/* A life: everything is recorded into `times`, and found again; nothing of another life is. */
static void remembered_live(remembered *all, const char *peer, uint64_t times)
{
    crest_counter *sent = crest_counter_family_get(&all->sent, &peer, 1);
    crest_gauge *height = crest_gauge_family_get(&all->height, &peer, 1);
    crest_histogram *size = crest_histogram_family_get(&all->size, &peer, 1);
    crest_timer *ping = crest_timer_family_get(&all->ping, &peer, 1);
    crest_range_sampler *queue = crest_range_sampler_family_get(&all->queue, &peer, 1);
    crest_stages *block = crest_stages_family_get(&all->block, &peer, 1);
    for (uint64_t i = 0; i < times; i++) {
        crest_counter_inc(sent);
        crest_gauge_add(height, 1);
        crest_histogram_record(size, 3);
        crest_timer_record(ping, 5, CREST_OUTCOME_OK);
        crest_timer_record(ping, 5, CREST_OUTCOME_TIMEOUT);
        crest_range_sampler_add(queue, 1);
        crest_op op = crest_op_u64(i);
        assert_int_equal(crest_stages_begin(block, op), CREST_OK);
        assert_int_equal(crest_stages_mark(block, op, 1), CREST_OK);
        assert_int_equal(crest_stages_end(block, op, CREST_OUTCOME_OK), CREST_OK);
    }
    crest_registry *registry = all->registry;
    assert_int_equal(FIXTURE_READING(registry, "sent", "peer", peer).counter, times);
    assert_true(FIXTURE_READING(registry, "height", "peer", peer).gauge == (double)times);
    assert_int_equal(FIXTURE_READING(registry, "size", "peer", peer).sum, 3 * times);
    assert_int_equal(FIXTURE_READING(registry, "ping", "peer", peer, "outcome", "ok").count, times);
    assert_int_equal(FIXTURE_READING(registry, "ping", "peer", peer, "outcome", "timeout").count,
                     times);
    assert_int_equal(FIXTURE_READING(registry, "ping", "peer", peer, "outcome", "error").count, 0);
    assert_int_equal(FIXTURE_READING(registry, "queue", "peer", peer).current, times);
    assert_int_equal(FIXTURE_READING(registry, "block", "peer", peer, "outcome", "ok").count,
                     times);
    assert_int_equal(FIXTURE_READING(registry, "block.stage", "peer", peer, "stage", "b").count,
                     times);
    assert_int_equal(FIXTURE_READING(registry, "block.stage", "peer", peer, "stage", "a").count, 0);
}

/* All of a peer comes back where it was, as often as it is retired; children of seven families with
 * four of stages count. */
static void test_finds_its_own(void **state)
{
    (void)state;
    const char *peer = "10.0.0.7";
    remembered all = remembered_new();
    remembered_live(&all, peer, 3);
    crest_counter *sent = crest_counter_family_get(&all.sent, &peer, 1);
    crest_timer *ping = crest_timer_family_get(&all.ping, &peer, 1);
    crest_stages *block = crest_stages_family_get(&all.block, &peer, 1);
    uint64_t used = 0;
    for (unsigned life = 0; life < 5; life++) {
        assert_int_equal(crest_stages_begin(block, crest_op_u64(1000)), CREST_OK);
        assert_int_equal(crest_retire(all.registry, "peer", peer), 6 + 4);
        crest_testing_mark *mark = crest_testing_mark_take(NULL);
        remembered_until_gone(&all);
        crest_counter_inc(sent);
        assert_int_equal(crest_timer_begin(ping, crest_op_u64(1)), CREST_LATE);
        assert_int_equal(crest_stages_begin(block, crest_op_u64(1)), CREST_LATE);
        crest_testing_reading late;
        assert_int_equal(crest_testing_read(NULL, mark, &late, NULL, "crest.late-records", NULL),
                         CREST_OK);
        assert_int_equal(late.counter, 3);
        crest_testing_mark_free(mark);
        assert_int_equal(all.registry->state->gone, 6 + 4);
        remembered_live(&all, peer, life + 1);
        assert_int_equal(all.registry->state->gone, 0);
        assert_ptr_equal(crest_counter_family_get(&all.sent, &peer, 1), sent);
        assert_ptr_equal(crest_timer_family_get(&all.ping, &peer, 1), ping);
        assert_ptr_equal(crest_stages_family_get(&all.block, &peer, 1), block);
        if (life == 1)
            used = crest_arena_used(CREST_ARENA_META);
        if (life > 1)
            assert_int_equal(crest_arena_used(CREST_ARENA_META), used);
    }
    remembered_end(&all);
}

/* Peers come and go faster than what they leave can rest: a few handles for each of them, and no
 * more, however long it goes on. */
static void test_come_and_go(void **state)
{
    (void)state;
    enum { PEERS = 20, ROUNDS = 200, EVERY_S = 11, SETTLED = 60 };
    char text[PEERS][16];
    uint64_t used = 0;
    remembered all = remembered_new();
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (unsigned i = 0; i < PEERS; i++) {
            snprintf(text[i], sizeof text[i], "peer-%u", i);
            const char *peer = text[i];
            crest_counter *sent = crest_counter_family_get(&all.sent, &peer, 1);
            crest_counter_add(sent, round + 1);
            assert_int_equal(crest_counter_value(sent), round + 1);
            assert_int_equal(FIXTURE_READING(all.registry, "sent", "peer", peer).counter,
                             round + 1);
        }
        crest_snapshot_free(fixture_snapshot(all.registry));
        for (unsigned i = 0; i < PEERS; i++)
            assert_int_equal(crest_retire(all.registry, "peer", text[i]), 1);
        remembered_after(&all, EVERY_S);
        /* in the time that they linger and rest they come again a dozen times */
        assert_in_range(all.registry->state->gone, 0, PEERS);
        if (round == SETTLED)
            used = crest_arena_used(CREST_ARENA_META);
    }
    assert_int_equal(crest_arena_used(CREST_ARENA_META), used);
    remembered_end(&all);
}

/* A timer whose errors are still written to, by a thread that came late, while nothing but they is
 * left of it: what comes again is another one. */
static void test_not_before_all_has_gone(void **state)
{
    (void)state;
    const char *peer = "10.0.0.9";
    remembered all = remembered_new();
    crest_timer *ping = crest_timer_family_get(&all.ping, &peer, 1);
    for (unsigned i = 0; i < 10; i++) {
        crest_timer_record(ping, 5, CREST_OUTCOME_OK);
        crest_timer_record(ping, 5, CREST_OUTCOME_ERROR);
    }
    crest_child *child = crest_series_child(ping->handle.series);
    const crest_series *errors = crest_child_at(child, CREST_OUTCOME_ERROR);
    crest_shard *late =
        (crest_shard *)(uintptr_t)*crest_cell_of(&ping->outcome[CREST_OUTCOME_ERROR].handle);
    assert_int_equal(crest_retire(all.registry, "peer", peer), 1);
    remembered_after(&all, 1);
    crest_testing_clock_advance(1000000);
    crest_snapshot_free(fixture_snapshot(all.registry));
    remembered_after(&all, CREST_LINGER_S + 2);
    assert_int_equal(crest_series_life(errors), CREST_LIFE_QUARANTINED);
    remembered_after(&all, CREST_QUARANTINE_S / 2);
    assert_int_equal(crest_shard_record_cold(late, 5, 1, 0), 1);
    remembered_after(&all, CREST_QUARANTINE_S / 2 + CREST_QUARANTINE_LOOKS);
    assert_int_equal(crest_series_life(&child->first), CREST_LIFE_GONE);
    assert_int_equal(crest_series_life(errors), CREST_LIFE_QUARANTINED);
    crest_timer *next = crest_timer_family_get(&all.ping, &peer, 1);
    crest_timer_record(next, 5, CREST_OUTCOME_ERROR);
    assert_int_equal(FIXTURE_READING(all.registry, "ping", "peer", peer, "outcome", "error").count,
                     1);
    remembered_end(&all);
}

/* Each allocation fails in turn when a value comes again: it is there with the next try, whole. */
static void test_no_memory(void **state)
{
    (void)state;
    const char *peer = "10.0.0.8";
    remembered all = remembered_new();
    remembered_live(&all, peer, 1);
    unsigned refused = 0;
    for (unsigned long n = 1; n <= 30; n++) {
        assert_int_equal(crest_retire(all.registry, "peer", peer), 6 + 4);
        remembered_until_gone(&all);
        crest_arena_fail_after(n);
        crest_stages *block = crest_stages_family_get(&all.block, &peer, 1);
        refused += block->handle.slot == 0;
        crest_timer_family_get(&all.ping, &peer, 1);
        crest_arena_fail_after(0);
        remembered_live(&all, peer, n);
    }
    assert_true(refused > 1);
    remembered_end(&all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_finds_its_own),
        cmocka_unit_test(test_come_and_go),
        cmocka_unit_test(test_not_before_all_has_gone),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests_name("remembered", tests, NULL, NULL);
}
