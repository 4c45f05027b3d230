/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What comes between any two instructions of a walk over what is in flight, of a record, and of a
 * reading: an operation that takes the place of another, a handler that records, a reader, and a
 * writer. What is read is of one moment as far as each protocol promises.
 *
 * Sanitizers hold signals back. crest-test: sanitizers=none
 */
#if !defined(__x86_64__) || defined(__SANITIZE_THREAD__)

#include <stdio.h>

int main(void)
{
    puts("only on x86-64, and without ThreadSanitizer, is it known where an update stops");
    return 77;
}

#else

#define _GNU_SOURCE
#include "cells/range_cell.h"
#include "cells/shards.h"
#include "distributions/distribution_inside.h"
#include "in_flight/in_flight_entries.h"
#include "metrics/series_merge.h"
#include "metrics/slowest_note.h"
#include "snapshot/snapshot_inside.h"
#include "support/trap_fixture.h"

#include <crest/in_flight.h>
#include <crest/lane.h>

#define TRAP_SECOND UINT64_C(1000000000)
#define WALK_AGE_NS (3600 * TRAP_SECOND)

CREST_REGISTRY(trap_registry, .prefix = "trap");

/* ---- a walk ---- */

static struct trap_walk {
    crest_timer *old, *young;
    crest_op old_op, young_op;
    crest_in_flight_op oldest;
    size_t found;
} walk;

static uint64_t walk_entries(const crest_in_flight_stripe *stripe)
{
    return stripe->used;
}

/* The stripe that has an entry. */
static const crest_in_flight_stripe *walk_stripe(void)
{
    const crest_in_flight_stripe *stripe = crest_in_flight_table_seen()->stripe;
    while (walk_entries(stripe) == 0)
        stripe++;
    return stripe;
}

/* One that will lie in the old one's entry once that is free: they are of one shard. */
static crest_op walk_find_young(void)
{
    assert_int_equal(crest_timer_begin(walk.old, walk.old_op), CREST_OK);
    const crest_in_flight_stripe *stripe = walk_stripe();
    uint64_t number = 1;
    for (uint64_t entries = 1; entries == 1; number++) {
        crest_op op = crest_op_u64(number);
        assert_int_equal(crest_timer_begin(walk.young, op), CREST_OK);
        entries = walk_entries(stripe);
        assert_int_equal(crest_timer_end(walk.young, op, CREST_OUTCOME_OK), CREST_OK);
    }
    assert_int_equal(crest_timer_end(walk.old, walk.old_op, CREST_OUTCOME_OK), CREST_OK);
    return crest_op_u64(number - 1);
}

/* An operation ends, and another begins in its entry. */
static void walk_change(void)
{
    crest_timer_end(walk.old, walk.old_op, CREST_OUTCOME_OK);
    crest_timer_begin(walk.young, walk.young_op);
}

static void walk_look_for_old(void)
{
    walk.found = crest_timer_oldest(walk.old, &walk.oldest, 1);
}

static void walk_look_for_young(void)
{
    walk.found = crest_timer_oldest(walk.young, &walk.oldest, 1);
}

/* Of the old one: it with its age, or nothing; of the young one likewise. */
static void walk_check(crest_op op, uint64_t age_ns)
{
    if (walk.found == 0)
        return;
    assert_true(crest_op_equal(&walk.oldest.op, &op));
    assert_int_equal(walk.oldest.age_ns, age_ns);
}

/* An hour after the old one began, and before the other. */
static void walk_begin(void)
{
    crest_testing_clock_set(TRAP_SECOND);
    assert_int_equal(crest_timer_begin(walk.old, walk.old_op), CREST_OK);
    crest_testing_clock_advance(WALK_AGE_NS);
}

static void walk_end(void)
{
    assert_int_equal(crest_timer_in_flight(walk.old).count, 0);
    assert_int_equal(crest_timer_end(walk.young, walk.young_op, CREST_OUTCOME_OK), CREST_OK);
}

/* How often something was found. */
static unsigned walk_through(void (*look)(void), crest_op op, uint64_t age_ns)
{
    unsigned found = 0;
    walk_begin();
    if (look == walk_look_for_young)
        walk_change();
    trap_learn(look);
    if (look == walk_look_for_old)
        walk_change();
    walk_end();
    for (unsigned i = 0; i < trap_count; i++) {
        walk_begin();
        if (trap_between(i, look, walk_change) == 0)
            walk_change();
        walk_check(op, age_ns);
        found += walk.found != 0;
        walk_end();
    }
    print_message("found at %u of %u places\n", found, trap_count);
    return found;
}

static void test_walk(void **state)
{
    (void)state;
    walk.old = fixture_timer(&trap_registry, "old");
    walk.young = fixture_timer(&trap_registry, "young");
    walk.old_op = crest_op_u64(0);
    walk.young_op = walk_find_young();
    /* the one once the walk has passed it, the other when it came before the walk */
    assert_true(walk_through(walk_look_for_old, walk.old_op, WALK_AGE_NS) > 10);
    assert_true(walk_through(walk_look_for_young, walk.young_op, 0) > 10);
    crest_testing_clock_real();
}

/* ---- first values ---- */

#define FIRST_NAME_BYTES 48

static crest_histogram *first_histogram;

static void first_record(void)
{
    crest_histogram_record(first_histogram, 300);
}

static void first_record_twice(void)
{
    crest_histogram_record_n(first_histogram, 300, 2);
}

/* By a handler, through the same handle. */
static void first_record_other(void)
{
    crest_histogram_record(first_histogram, 300);
}

static void first_begin(unsigned before, unsigned acts, unsigned place, char *name)
{
    snprintf(name, FIRST_NAME_BYTES, "first-%u-%u-%u", before, acts, place);
    first_histogram = fixture_histogram(&trap_registry, name);
    for (unsigned i = 0; i < before; i++)
        first_record();
    snprintf(name, FIRST_NAME_BYTES, "trap.first-%u-%u-%u", before, acts, place);
}

/* After so many records, and with a handler amid the next: all are there. */
static void first_check(unsigned before, void (*act)(void), unsigned acts)
{
    char name[FIRST_NAME_BYTES];
    first_begin(before, acts, TRAP_PLACES_MAX, name);
    trap_learn(act);
    for (unsigned i = 0; i < trap_count; i++) {
        first_begin(before, acts, i, name);
        unsigned met = trap_between(i, act, first_record_other);
        assert_int_equal(FIXTURE_READING(&trap_registry, name).count, before + acts + met);
    }
    print_message("handled at %u places\n", trap_count);
}

static void test_first_values(void **state)
{
    (void)state;
    /* so that no lock is taken for a thread's reserve */
    first_histogram = fixture_histogram(&trap_registry, "warm");
    for (unsigned i = 0; i < 10; i++)
        first_record();
    first_check(1, first_record, 1);
    first_check(1, first_record_twice, 2);
}

/* ---- writing and reading a distribution ---- */

#define ORDER_BEFORE 6u
#define ORDER_VALUE 300u

/* The series that is written to and read. */
static struct order {
    crest_histogram *histogram;
    const crest_series *series;
    uint64_t value; /* what is recorded amid the reading, or the other way round */
    crest_distribution *read;
    unsigned without, with, wrong;
} order;

static void order_record(void)
{
    crest_histogram_record(order.histogram, (int64_t)order.value);
}

static void order_record_lane(void)
{
    crest_lane_histogram_record(0, order.histogram, (int64_t)order.value, 1);
}

static void order_record_shared(void)
{
    crest_shared_shard_record(order.series->shared, order.value, 1);
}

static void order_read(void)
{
    order.read = crest_series_merge(order.series);
}

/* The sum covers only what the counts have, and the extremes all of it. */
static void order_check(void)
{
    uint64_t count = crest_distribution_count(order.read);
    uint64_t sum = crest_distribution_sum(order.read), before = ORDER_BEFORE * ORDER_VALUE;
    int more = count == ORDER_BEFORE + 1;
    order.without += !more;
    order.with += more;
    order.wrong += !more && count != ORDER_BEFORE;
    order.wrong += sum != before && (!more || sum != before + order.value);
    order.wrong += more && (crest_distribution_min(order.read) > order.value ||
                            crest_distribution_max(order.read) < order.value);
    crest_distribution_free(order.read);
    order.read = NULL;
}

static void order_look(void)
{
    order_read();
    order_check();
}

/* A histogram with values in the block of the one that is to come. */
static void order_begin(void (*record)(void), uint64_t value)
{
    static unsigned number;
    char name[16];
    snprintf(name, sizeof name, "order-%u", number++);
    order = (struct order){.histogram = fixture_histogram(&trap_registry, name)};
    order.series = order.histogram->handle.series;
    order.value = ORDER_VALUE;
    for (unsigned i = 0; i < ORDER_BEFORE; i++)
        record();
    order.value = value;
}

/* A least, a largest, and one in between, which is inlined; of one block, but for what threads
 * share, which knows only blocks. */
static const uint64_t order_values[] = {260, 500, ORDER_VALUE};
static void (*const order_records[])(void) = {order_record, order_record_lane, order_record_shared};

static void test_read_amid_records(void **state)
{
    (void)state;
    assert_true(crest_lanes_make(1) != 0);
    for (unsigned way = 0; way < LENGTH(order_records); way++)
        for (unsigned i = 0; i < LENGTH(order_values); i++) {
            order_begin(order_records[way], order_values[i]);
            assert_true(trap_at_each(order_records[way], order_look) > 10);
            assert_int_equal(order.wrong, 0);
            assert_true(order.without != 0 && order.with != 0);
        }
}

static void test_record_amid_readings(void **state)
{
    (void)state;
    for (unsigned way = 0; way < LENGTH(order_records); way++)
        for (unsigned i = 0; i < LENGTH(order_values); i++) {
            unsigned without = 0, with = 0;
            order_begin(order_records[way], order_values[i]);
            trap_learn(order_read);
            crest_distribution_free(order.read);
            for (unsigned place = 0; place < trap_count; place++) {
                order_begin(order_records[way], order_values[i]);
                if (trap_between(place, order_read, order_records[way]) == 0)
                    order_records[way](); /* which the reading then lacks */
                order_check();
                assert_int_equal(order.wrong, 0);
                without += order.without;
                with += order.with;
            }
            assert_true(without != 0 && with != 0);
        }
}

/* ---- the slowest of a tick ---- */

static struct slowest {
    crest_registry *registry;
    crest_timer *timer;
    crest_note note;
    uint64_t count;
} slowest;

static void slowest_record(void)
{
    crest_op op = crest_op_u64(500);
    crest_timer_record_op(slowest.timer, 500, CREST_OUTCOME_OK, &op);
}

/* As the ticker does. */
static void slowest_tick(void)
{
    crest_snapshot *snapshot = crest_snapshot_read_notes(slowest.registry->state);
    const char *ok = "ok";
    crest_series_view view;
    if (snapshot == NULL || crest_snapshot_find(snapshot, "t", &ok, 1, &view) != CREST_OK)
        abort();
    slowest.note = view.distribution->note;
    slowest.count = crest_distribution_count(view.distribution);
    crest_snapshot_free(snapshot);
}

static void slowest_begin(void)
{
    slowest.registry = fixture_registry(NULL);
    slowest.timer = fixture_timer(slowest.registry, "t");
    for (unsigned i = 0; i < ORDER_BEFORE; i++)
        crest_timer_record(slowest.timer, ORDER_VALUE, CREST_OUTCOME_OK);
    slowest_tick();
    assert_int_equal(slowest.count, ORDER_BEFORE);
}

/* It is noted in the tick that counts it. */
static void slowest_check(void)
{
    crest_op op = crest_op_u64(500);
    assert_int_equal(slowest.count, ORDER_BEFORE + 1);
    assert_int_equal(slowest.note.value, 500);
    assert_true(crest_op_equal(&slowest.note.op, &op));
}

static void test_tick_amid_slowest(void **state)
{
    (void)state;
    unsigned counted = 0;
    slowest_begin();
    trap_learn(slowest_record);
    slowest_tick();
    slowest_check();
    crest_registry_free(slowest.registry);
    for (unsigned i = 0; i < trap_count; i++) {
        slowest_begin();
        unsigned met = trap_between(i, slowest_record, slowest_tick);
        if (met == 0 || slowest.count == ORDER_BEFORE)
            slowest_tick();
        else
            counted++;
        slowest_check();
        crest_registry_free(slowest.registry);
    }
    assert_in_range(counted, 1, trap_count - 1);
}

/* ---- range samplers ---- */

static struct range {
    crest_range_sampler *sampler;
    crest_range_reading reading;
} range;

static void range_set(void)
{
    crest_range_sampler_set(range.sampler, 50);
}

static void range_set_slowly(void)
{
    crest_range_sampler_set_slow(range.sampler, 50);
}

static void range_add(void)
{
    crest_range_sampler_add(range.sampler, 7);
}

static void range_rotate(void)
{
    crest_range_rotate(range.sampler->cell, &range.reading);
}

static void range_begin(void)
{
    static unsigned number;
    char name[16];
    snprintf(name, sizeof name, "range-%u", number++);
    range.sampler = fixture_range_sampler(&trap_registry, name);
    crest_range_sampler_set(range.sampler, 10);
}

/* On a clock that stands still a moment is its value times the time. */
static void range_check(uint64_t value, uint64_t moment)
{
    assert_true(value * crest_range_time() == moment);
}

static void test_range(void **state)
{
    (void)state;
    static void (*const acts[])(void) = {range_set, range_set_slowly, range_add, range_rotate};
    crest_testing_clock_set(1000 * TRAP_SECOND);
    for (unsigned act = 0; act < LENGTH(acts); act++) {
        range_begin();
        trap_learn(acts[act]);
        for (unsigned i = 0; i < trap_count; i++) {
            range_begin();
            unsigned met = trap_between(i, acts[act], range_add);
            crest_range_state seen = crest_range_seen(range.sampler->cell);
            range_check(seen.value, seen.moment);
            if (acts[act] == range_set || acts[act] == range_set_slowly)
                assert_true(seen.value == 50 || (met && seen.value == 57));
            else
                assert_int_equal(seen.value, 10 + 7 * (met + (acts[act] == range_add)));
            if (acts[act] == range_rotate)
                range_check((uint64_t)range.reading.value, range.reading.moment);
        }
    }
    crest_testing_clock_real();
}

int main(void)
{
    fixture_watchdog(170);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_walk),
        cmocka_unit_test(test_first_values),
        cmocka_unit_test(test_read_amid_records),
        cmocka_unit_test(test_record_amid_readings),
        cmocka_unit_test(test_tick_amid_slowest),
        cmocka_unit_test(test_range),
    };
    return cmocka_run_group_tests_name("traps", tests, NULL, NULL);
}

#endif
