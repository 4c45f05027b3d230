/* SPDX-License-Identifier: Apache-2.0 */
/*
 * <crest/in_flight.h>: begin and end by id, the deadline with and without anybody sweeping,
 * tombstones, the bound, and what is exported.
 */
#include "base/misuse.h"
#include "clock/clock_inside.h"
#include "in_flight/in_flight_figures.h"
#include "in_flight/in_flight_table.h"
#include "in_flight/in_flight_walks.h"
#include "instruments/in_flight_gauges.h"
#include "support/core_fixture.h"

#define MS UINT64_C(1000000)
#define START_NS (UINT64_C(1000) * 1000 * MS)

CREST_TIMER(declared_keyed, "test.keyed-time", "Declared.", .deadline_ms = 50);
CREST_TIMER(declared_twice, "test.keyed-time", "The same.");
CREST_TIMER_FAMILY_OPTIONS(by_peer, "test.peer-time", "A family.", (.deadline_ms = 50), peer);

static crest_timer *deadline_timer(crest_registry *registry, const char *name, uint32_t deadline_ms)
{
    crest_metric_options options = {.name = name, .deadline_ms = deadline_ms};
    crest_status status;
    crest_timer *timer = crest_timer_get(registry, &options, &status);
    assert_int_equal(status, CREST_OK);
    return timer;
}

static uint64_t keyed_recorded(crest_registry *registry, const char *name, const char *outcome,
                               uint64_t *sum)
{
    crest_snapshot *snapshot = fixture_snapshot(registry);
    crest_series_view view;
    crest_snapshot_find(snapshot, name, &outcome, 1, &view);
    uint64_t count = crest_distribution_count(view.distribution);
    if (sum != NULL)
        *sum = crest_distribution_sum(view.distribution);
    crest_snapshot_free(snapshot);
    return count;
}

static double keyed_gauge(crest_registry *registry, const char *name)
{
    crest_snapshot *snapshot = fixture_snapshot(registry);
    double value = fixture_series(snapshot, name, NULL).gauge;
    crest_snapshot_free(snapshot);
    return value;
}

static void test_begin_and_end(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    crest_timer *timer = fixture_timer(registry, "t"), *other = fixture_timer(registry, "u");
    uint64_t sum;
    crest_op op = crest_op_u64(1);
    assert_int_equal(crest_timer_end(timer, op, CREST_OUTCOME_OK), CREST_NOT_FOUND);
    crest_clock_fake(START_NS);
    assert_int_equal(crest_timer_begin(timer, op), CREST_OK);
    crest_clock_fake(START_NS + 10);
    assert_int_equal(crest_timer_begin(timer, op), CREST_ALREADY);
    assert_int_equal(crest_timer_begin(timer, crest_op_text("1")), CREST_OK);
    assert_int_equal(crest_timer_begin(other, op), CREST_OK);
    crest_clock_fake(START_NS + 100);
    assert_int_equal(crest_timer_end(timer, op, CREST_OUTCOME_OK), CREST_OK);
    assert_int_equal(crest_timer_end(timer, op, CREST_OUTCOME_OK), CREST_NOT_FOUND);
    assert_int_equal(crest_timer_end(timer, crest_op_text("1"), CREST_OUTCOME_ERROR), CREST_OK);
    assert_int_equal(crest_timer_end(other, op, CREST_OUTCOME_CANCELLED), CREST_OK);
    assert_int_equal(keyed_recorded(registry, "t", "ok", &sum), 1);
    assert_int_equal(sum, 100);
    assert_int_equal(keyed_recorded(registry, "t", "error", &sum), 1);
    assert_int_equal(sum, 90);
    assert_int_equal(keyed_recorded(registry, "u", "cancelled", NULL), 1);
    /* and anew */
    assert_int_equal(crest_timer_begin(timer, op), CREST_OK);
    crest_clock_fake(START_NS + 107);
    assert_int_equal(crest_timer_end(timer, op, CREST_OUTCOME_OK), CREST_OK);
    crest_clock_fake(0);
    assert_int_equal(keyed_recorded(registry, "t", "ok", &sum), 2);
    assert_int_equal(sum, 107);
    crest_registry_free(registry);
}

/* Ids that differ in one byte, wherever that is, are different operations at one time. */
static void test_ids_of_all_bytes(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    crest_timer *timer = fixture_timer(registry, "t");
    unsigned char id[CREST_OP_EXACT_BYTES];
    for (unsigned round = 0; round < 2; round++)
        for (unsigned at = 0; at < sizeof id; at++) {
            memset(id, 0x5a, sizeof id);
            id[at] ^= 0x81;
            crest_op op = crest_op_bytes(id, sizeof id);
            assert_int_equal(round == 0 ? crest_timer_begin(timer, op)
                                        : crest_timer_end(timer, op, CREST_OUTCOME_OK),
                             CREST_OK);
        }
    assert_int_equal(crest_timer_in_flight(timer).count, 0);
    assert_int_equal(keyed_recorded(registry, "t", "ok", NULL), sizeof id);
    crest_registry_free(registry);
}

static void test_wrong_use(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    crest_timer *timer = fixture_timer(registry, "t");
    uint64_t operations = crest_misuse_value(CREST_MISUSE_OPERATION);
    uint64_t outcomes = crest_misuse_value(CREST_MISUSE_OUTCOME);
    uint64_t late = crest_misuse_value(CREST_MISUSE_LATE);
    crest_op op = crest_op_u64(1);
    assert_int_equal(crest_timer_begin(timer, crest_op_none()), CREST_INVALID_ARGUMENT);
    assert_int_equal(crest_timer_end(timer, crest_op_hex("x"), CREST_OUTCOME_OK),
                     CREST_INVALID_ARGUMENT);
    assert_int_equal(crest_timer_begin(timer, op), CREST_OK);
    assert_int_equal(crest_timer_end(timer, op, CREST_OUTCOME_COUNT), CREST_INVALID_ARGUMENT);
    assert_int_equal(crest_misuse_value(CREST_MISUSE_OPERATION), operations + 2);
    assert_int_equal(crest_misuse_value(CREST_MISUSE_OUTCOME), outcomes + 1);
    assert_int_equal(crest_timer_in_flight(timer).count, 1);
    /* what was in flight goes with its registry */
    crest_registry_free(registry);
    assert_int_equal(crest_timer_begin(timer, op), CREST_NOT_FOUND);
    assert_int_equal(crest_timer_end(timer, op, CREST_OUTCOME_OK), CREST_NOT_FOUND);
    assert_int_equal(crest_misuse_value(CREST_MISUSE_LATE), late + 2);
    assert_int_equal(crest_timer_in_flight(timer).count, 0);
    crest_timer alien = {.handle = {.abi = CREST_ABI + 1}};
    assert_int_equal(crest_timer_begin(&alien, op), CREST_ABI_MISMATCH);
    assert_int_equal(crest_timer_in_flight(&alien).count, 0);
}

/* Nobody sweeps: the end itself sees that it comes too late, and a begin that it comes anew. */
static void test_deadline_without_sweep(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    crest_timer *timer = deadline_timer(registry, "t", 50);
    crest_op op = crest_op_text("block");
    uint64_t sum;
    crest_clock_fake(START_NS);
    assert_int_equal(crest_timer_begin(timer, op), CREST_OK);
    crest_clock_fake(START_NS + 50 * MS - 1);
    assert_int_equal(crest_timer_end(timer, op, CREST_OUTCOME_OK), CREST_OK);
    crest_clock_fake(START_NS);
    assert_int_equal(crest_timer_begin(timer, op), CREST_OK);
    crest_clock_fake(START_NS + 50 * MS);
    assert_int_equal(crest_timer_end(timer, op, CREST_OUTCOME_OK), CREST_TIMED_OUT);
    assert_int_equal(crest_timer_end(timer, op, CREST_OUTCOME_OK), CREST_TIMED_OUT);
    crest_clock_fake(START_NS + 70 * MS);
    assert_int_equal(crest_timer_begin(timer, op), CREST_OK); /* over the tombstone */
    assert_int_equal(crest_timer_begin(timer, op), CREST_ALREADY);
    crest_clock_fake(START_NS + 130 * MS);
    assert_int_equal(crest_timer_begin(timer, op), CREST_OK); /* the one before is overdue */
    crest_clock_fake(START_NS + 131 * MS);
    assert_int_equal(crest_timer_end(timer, op, CREST_OUTCOME_OK), CREST_OK);
    assert_int_equal(keyed_recorded(registry, "t", "timeout", &sum), 2);
    assert_int_equal(sum, 2 * 50 * MS);
    assert_int_equal(keyed_recorded(registry, "t", "ok", &sum), 2);
    assert_int_equal(sum, 51 * MS - 1);
    crest_clock_fake(0);
    crest_registry_free(registry);
}

/* A sweep expires once what is overdue, by how much ever, and forgets it after a while. */
static void test_sweep(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    crest_timer *timer = deadline_timer(registry, "t", 50), *never = fixture_timer(registry, "u");
    uint64_t sum;
    crest_clock_fake(START_NS);
    for (uint64_t i = 0; i < 100; i++)
        assert_int_equal(crest_timer_begin(timer, crest_op_u64(i)), CREST_OK);
    assert_int_equal(crest_timer_begin(never, crest_op_u64(7)), CREST_OK);
    crest_clock_fake(START_NS + 40 * MS);
    crest_in_flight_sweep();
    assert_int_equal(crest_timer_in_flight(timer).count, 100);
    assert_int_equal(crest_timer_in_flight(timer).oldest_ns, 40 * MS);
    crest_clock_fake(START_NS + 500 * MS);
    crest_in_flight_sweep();
    crest_in_flight_sweep();
    assert_int_equal(crest_timer_in_flight(timer).count, 0);
    assert_int_equal(crest_timer_in_flight(timer).oldest_ns, 0);
    assert_int_equal(keyed_recorded(registry, "t", "timeout", &sum), 100);
    assert_int_equal(sum, 100 * 50 * MS);
    assert_int_equal(crest_timer_end(timer, crest_op_u64(1), CREST_OUTCOME_OK), CREST_TIMED_OUT);
    crest_clock_fake(START_NS + 50 * MS + CREST_TOMBSTONE_S * 1000 * MS - 1);
    crest_in_flight_sweep();
    assert_int_equal(crest_timer_end(timer, crest_op_u64(2), CREST_OUTCOME_OK), CREST_TIMED_OUT);
    crest_clock_fake(START_NS + 50 * MS + CREST_TOMBSTONE_S * 1000 * MS);
    crest_in_flight_sweep();
    assert_int_equal(crest_timer_end(timer, crest_op_u64(3), CREST_OUTCOME_OK), CREST_NOT_FOUND);
    assert_int_equal(keyed_recorded(registry, "t", "timeout", NULL), 100);
    assert_int_equal(crest_timer_end(never, crest_op_u64(7), CREST_OUTCOME_OK), CREST_OK);
    crest_clock_fake(0);
    crest_registry_free(registry);
}

static void test_series_apart(void **state)
{
    (void)state;
    crest_op op = crest_op_u64x2(1, 2);
    assert_int_equal(crest_timer_begin(by_peer_with("a"), op), CREST_OK);
    assert_int_equal(crest_timer_begin(by_peer_with("b"), op), CREST_OK);
    assert_int_equal(crest_timer_begin(by_peer_with("a"), op), CREST_ALREADY);
    assert_int_equal(crest_timer_in_flight(by_peer_with("a")).count, 1);
    assert_true(keyed_gauge(NULL, "test.peer-time.in-flight") == 2);
    assert_int_equal(crest_timer_end(by_peer_with("a"), op, CREST_OUTCOME_OK), CREST_OK);
    assert_int_equal(crest_timer_end(by_peer_with("b"), op, CREST_OUTCOME_OK), CREST_OK);
    assert_true(keyed_gauge(NULL, "test.peer-time.in-flight") == 0);
    /* two handles of one series */
    assert_int_equal(crest_timer_begin(&declared_keyed, op), CREST_OK);
    assert_int_equal(crest_timer_in_flight(&declared_twice).count, 1);
    assert_int_equal(crest_timer_begin(&declared_twice, op), CREST_ALREADY);
    assert_int_equal(crest_timer_end(&declared_twice, op, CREST_OUTCOME_OK), CREST_OK);
}

static void test_oldest(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    crest_timer *timer = fixture_timer(registry, "t"), *other = fixture_timer(registry, "u");
    crest_in_flight_op ops[4];
    assert_int_equal(crest_timer_oldest(timer, ops, 4), 0);
    for (uint64_t i = 0; i < 200; i++) {
        crest_clock_fake(START_NS + i * 7 % 200 * MS);
        assert_int_equal(crest_timer_begin(timer, crest_op_u64(i * 7 % 200)), CREST_OK);
        assert_int_equal(crest_timer_begin(other, crest_op_u64(1000 + i)), CREST_OK);
    }
    assert_int_equal(crest_timer_end(timer, crest_op_u64(1), CREST_OUTCOME_OK), CREST_OK);
    crest_clock_fake(START_NS + 1000 * MS);
    assert_int_equal(crest_timer_oldest(timer, ops, 4), 4);
    static const uint64_t expected[] = {0, 2, 3, 4};
    for (unsigned i = 0; i < 4; i++) {
        crest_op op = crest_op_u64(expected[i]);
        assert_true(crest_op_equal(&ops[i].op, &op));
        assert_int_equal(ops[i].age_ns, (1000 - expected[i]) * MS);
        assert_int_equal(ops[i].stage, -1);
    }
    assert_int_equal(crest_timer_oldest(timer, ops, 0), 0);
    assert_int_equal(crest_timer_in_flight(timer).count, 199);
    assert_int_equal(crest_timer_in_flight(timer).oldest_ns, 1000 * MS);
    assert_true(keyed_gauge(registry, "t.in-flight") == 199);
    assert_true(keyed_gauge(registry, "t.oldest") == 1.0);
    crest_clock_fake(0);
    crest_registry_free(registry);
}

/* With a deadline what is exported is there from the start, without one from the first begin; and
 * the names are nobody else's. */
static void test_exported_names(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry("app");
    crest_series_view view;
    crest_status status;
    deadline_timer(registry, "t", 50);
    crest_timer *plain = fixture_timer(registry, "u");
    crest_snapshot *snapshot = fixture_snapshot(registry);
    assert_true(fixture_series(snapshot, "app.t.in-flight", NULL).gauge == 0);
    view = fixture_series(snapshot, "app.t.oldest", NULL);
    assert_int_equal(view.unit, CREST_SECONDS);
    assert_int_equal(crest_snapshot_find(snapshot, "app.u.in-flight", NULL, 0, &view),
                     CREST_NOT_FOUND);
    crest_snapshot_free(snapshot);
    crest_metric_options options = {.name = "t.in-flight"};
    crest_gauge_get(registry, &options, &status);
    assert_int_equal(status, CREST_NAME_CLASH);
    options.name = "t-in.flight";
    crest_gauge_get(registry, &options, &status);
    assert_int_equal(status, CREST_NAME_CLASH);
    assert_int_equal(crest_timer_end(plain, crest_op_u64(1), CREST_OUTCOME_OK), CREST_NOT_FOUND);
    snapshot = fixture_snapshot(registry);
    assert_int_equal(crest_snapshot_find(snapshot, "app.u.in-flight", NULL, 0, &view),
                     CREST_NOT_FOUND);
    crest_snapshot_free(snapshot);
    /* a name that is taken: refused where it is declared, and timed without figures where not */
    fixture_gauge(registry, "v.oldest");
    options = (crest_metric_options){.name = "v", .deadline_ms = 10};
    crest_timer_get(registry, &options, &status);
    assert_int_equal(status, CREST_NAME_CLASH);
    options.deadline_ms = 0;
    crest_timer *without = crest_timer_get(registry, &options, &status);
    assert_int_equal(status, CREST_OK);
    uint64_t clashes = crest_misuse_value(CREST_MISUSE_NAME_CLASH);
    assert_int_equal(crest_timer_begin(without, crest_op_u64(1)), CREST_OK);
    assert_int_equal(crest_misuse_value(CREST_MISUSE_NAME_CLASH), clashes + 1);
    assert_int_equal(crest_timer_in_flight(without).count, 1);
    snapshot = fixture_snapshot(registry);
    assert_int_equal(crest_snapshot_find(snapshot, "app.v.in-flight", NULL, 0, &view),
                     CREST_NOT_FOUND);
    crest_snapshot_free(snapshot);
    assert_int_equal(crest_timer_end(without, crest_op_u64(1), CREST_OUTCOME_OK), CREST_OK);
    assert_int_equal(crest_timer_begin(plain, crest_op_u64(1)), CREST_OK);
    assert_true(keyed_gauge(registry, "app.u.in-flight") == 1);
    crest_registry_free(registry);
}

static double stuck_age(const crest_snapshot *snapshot, const char *op)
{
    crest_series_view view;
    return crest_snapshot_find(snapshot, "t.stuck", &op, 1, &view) == CREST_OK ? view.gauge : -1;
}

/* The three oldest of those past half the deadline, by id; one that is no longer stuck is gone. */
static void test_stuck(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    crest_timer *timer = deadline_timer(registry, "t", 1000);
    crest_clock_fake(START_NS);
    for (uint64_t i = 0; i < 5; i++) {
        crest_clock_fake(START_NS + i * 10 * MS);
        assert_int_equal(crest_timer_begin(timer, crest_op_u64(i)), CREST_OK);
    }
    assert_int_equal(crest_timer_begin(timer, crest_op_text("\xff")), CREST_OK);
    crest_clock_fake(START_NS + 499 * MS);
    crest_snapshot *snapshot = fixture_snapshot(registry);
    assert_true(stuck_age(snapshot, "0") == -1);
    crest_snapshot_free(snapshot);
    crest_clock_fake(START_NS + 600 * MS);
    snapshot = fixture_snapshot(registry);
    assert_true(fabs(stuck_age(snapshot, "0") - 0.6) < 1e-9);
    assert_true(fabs(stuck_age(snapshot, "2") - 0.58) < 1e-9);
    assert_true(stuck_age(snapshot, "3") == -1);
    crest_snapshot_free(snapshot);
    assert_int_equal(crest_timer_end(timer, crest_op_u64(0), CREST_OUTCOME_OK), CREST_OK);
    snapshot = fixture_snapshot(registry);
    assert_true(stuck_age(snapshot, "0") == -1); /* at once */
    assert_true(fabs(stuck_age(snapshot, "3") - 0.57) < 1e-9);
    crest_snapshot_free(snapshot);
    for (uint64_t i = 1; i < 5; i++)
        assert_int_equal(crest_timer_end(timer, crest_op_u64(i), CREST_OUTCOME_OK), CREST_OK);
    snapshot = fixture_snapshot(registry);
    assert_true(fabs(stuck_age(snapshot, "\xef\xbf\xbd") - 0.56) < 1e-9);
    crest_snapshot_free(snapshot);
    crest_clock_fake(0);
    crest_registry_free(registry);
}

/* Series of t.stuck in the snapshot; each of an operation that is stuck. */
static unsigned stuck_shown(const crest_snapshot *snapshot)
{
    crest_series_view view;
    unsigned shown = 0;
    for (size_t i = 0; crest_snapshot_series(snapshot, i, &view) == CREST_OK; i++) {
        if (strcmp(view.name, "t.stuck") != 0)
            continue;
        assert_true(view.gauge >= 0.5);
        shown++;
    }
    return shown;
}

/* Ever others are the three oldest: no more than three are shown, at any time. */
static void test_stuck_come_and_go(void **state)
{
    (void)state;
    enum { AT_ONCE = 9, TURNS = 200 };
    crest_registry *registry = fixture_registry(NULL);
    crest_timer *timer = deadline_timer(registry, "t", 1000);
    for (uint64_t i = 0; i < TURNS; i++) {
        crest_clock_fake(START_NS + i * 100 * MS);
        assert_int_equal(crest_timer_begin(timer, crest_op_u64(i)), CREST_OK);
        if (i >= AT_ONCE)
            assert_int_equal(crest_timer_end(timer, crest_op_u64(i - AT_ONCE), CREST_OUTCOME_OK),
                             CREST_OK);
        crest_snapshot *snapshot = fixture_snapshot(registry);
        assert_int_equal(stuck_shown(snapshot), i < 5 ? 0 : i < 7 ? i - 4 : 3);
        crest_snapshot_free(snapshot);
    }
    /* and one that is stuck again is shown again */
    crest_clock_fake(START_NS + TURNS * 100 * MS);
    assert_int_equal(crest_timer_begin(timer, crest_op_u64(TURNS / 2)), CREST_OK);
    crest_clock_fake(START_NS + TURNS * 100 * MS + 900 * MS);
    crest_snapshot *snapshot = fixture_snapshot(registry);
    char id[16];
    snprintf(id, sizeof id, "%d", TURNS / 2);
    assert_int_equal(stuck_shown(snapshot), 1);
    assert_true(fabs(stuck_age(snapshot, id) - 0.9) < 1e-9);
    crest_snapshot_free(snapshot);
    crest_clock_fake(0);
    crest_registry_free(registry);
}

/* Ids come and go: after many of them the next ones are one. */
static void test_stuck_ids_bounded(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    crest_timer *timer = deadline_timer(registry, "t", 1000);
    for (uint64_t i = 0; i < CREST_STUCK_IDS_MAX + 50; i++) {
        crest_clock_fake(START_NS + i * 1000 * MS);
        assert_int_equal(crest_timer_begin(timer, crest_op_u64(i)), CREST_OK);
        crest_clock_fake(START_NS + i * 1000 * MS + 700 * MS);
        crest_in_flight_refresh();
        assert_int_equal(crest_timer_end(timer, crest_op_u64(i), CREST_OUTCOME_OK), CREST_OK);
    }
    assert_int_equal(crest_timer_begin(timer, crest_op_u64(0)), CREST_OK);
    assert_int_equal(crest_timer_begin(timer, crest_op_text("new")), CREST_OK);
    crest_clock_fake(START_NS + (CREST_STUCK_IDS_MAX + 50) * 1000 * MS + 600 * MS);
    crest_snapshot *snapshot = fixture_snapshot(registry);
    assert_int_equal(stuck_shown(snapshot), 2);
    assert_true(stuck_age(snapshot, "overflow") > 0.5);
    assert_true(stuck_age(snapshot, "0") > 0.5); /* it has been shown before */
    crest_snapshot_free(snapshot);
    crest_clock_fake(0);
    crest_registry_free(registry);
}

/* A metric that has its share is refused more, which is counted, and may begin again what there is
 * room for; abandoned operations and tombstones give way. */
static void test_bound(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    crest_timer *timer = deadline_timer(registry, "t", 50), *next = fixture_timer(registry, "u");
    uint64_t limits = crest_misuse_value(CREST_MISUSE_LIMIT), begun = 0, refused = 0, late = 0;
    crest_clock_fake(START_NS);
    for (uint64_t i = 0; i < CREST_IN_FLIGHT_MAX; i++)
        switch (crest_timer_begin(timer, crest_op_u64(i))) {
        case CREST_OK: begun++; break;
        case CREST_LIMIT: refused++; break;
        default: fail();
        }
    assert_int_equal(begun, CREST_IN_FLIGHT_MAX / 2);
    assert_int_equal(begun + refused, CREST_IN_FLIGHT_MAX);
    assert_int_equal(crest_misuse_value(CREST_MISUSE_LIMIT), limits + refused);
    assert_int_equal(crest_timer_in_flight(timer).count, begun);
    assert_int_equal(crest_timer_end(timer, crest_op_u64(5), CREST_OUTCOME_OK), CREST_OK);
    assert_int_equal(crest_timer_begin(timer, crest_op_u64(5)), CREST_OK);
    for (uint64_t i = 0; i < 1000; i++)
        assert_int_equal(crest_timer_begin(next, crest_op_u64(i)), CREST_OK);
    /* nobody sweeps, and all of them are overdue */
    crest_clock_fake(START_NS + 1000 * MS);
    for (uint64_t i = 0; i < 1000; i++)
        assert_int_equal(crest_timer_begin(timer, crest_op_u64(2 * CREST_IN_FLIGHT_MAX + i)),
                         CREST_OK);
    assert_int_equal(keyed_recorded(registry, "t", "timeout", NULL), begun);
    assert_int_equal(keyed_recorded(registry, "t", "ok", NULL), 1);
    for (uint64_t i = 0; i < 1000; i++)
        assert_int_equal(crest_timer_end(next, crest_op_u64(i), CREST_OUTCOME_OK), CREST_OK);
    for (uint64_t i = 0; i < CREST_IN_FLIGHT_MAX; i++)
        late += crest_timer_end(timer, crest_op_u64(i), CREST_OUTCOME_OK) != CREST_NOT_FOUND;
    assert_int_equal(late, 0); /* their tombstones gave way */
    crest_clock_fake(0);
    crest_registry_free(registry);
}

/* An operation that began by a processor's clock that is ahead of this one's. */
static void test_begun_later(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    crest_timer *timer = fixture_timer(registry, "t");
    crest_op op = crest_op_u64(1);
    crest_in_flight_op oldest;
    crest_clock_fake(START_NS + 10);
    assert_int_equal(crest_timer_begin(timer, op), CREST_OK);
    crest_clock_fake(START_NS);
    assert_int_equal(crest_timer_in_flight(timer).count, 1);
    assert_int_equal(crest_timer_in_flight(timer).oldest_ns, 0);
    assert_int_equal(crest_timer_oldest(timer, &oldest, 1), 1);
    assert_int_equal(oldest.age_ns, 0);
    assert_int_equal(crest_timer_end(timer, op, CREST_OUTCOME_OK), CREST_OK);
    crest_clock_fake(0);
    crest_registry_free(registry);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_begin_and_end),
        cmocka_unit_test(test_ids_of_all_bytes),
        cmocka_unit_test(test_wrong_use),
        cmocka_unit_test(test_deadline_without_sweep),
        cmocka_unit_test(test_sweep),
        cmocka_unit_test(test_series_apart),
        cmocka_unit_test(test_oldest),
        cmocka_unit_test(test_begun_later),
        cmocka_unit_test(test_exported_names),
        cmocka_unit_test(test_stuck),
        cmocka_unit_test(test_stuck_come_and_go),
        cmocka_unit_test(test_stuck_ids_bounded),
        cmocka_unit_test(test_bound),
    };
    return cmocka_run_group_tests_name("in_flight", tests, NULL, NULL);
}
