/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a reporter of differences is told: whatever series come, go, hide, rest, come back and begin
 * anew, and however often a report fails, the differences of the reports that succeeded add up to
 * what was recorded.
 */
#include "base/alloc.h"
#include "support/core_fixture.h"
#include "reporting/one_report.h"
#include "snapshot/delta_base.h"
#include "registry/growth.h"

#include <crest/lifetime.h>

#define PREVIOUS_SECOND UINT64_C(1000000000)

CREST_COUNTER_FAMILY(previous_sent, "previous.sent", "", peer);
CREST_COUNTER_FAMILY_OPTIONS(previous_idle, "previous.idle", "", (.idle_s = 10), peer);
CREST_HISTOGRAM_FAMILY_OPTIONS(previous_size, "previous.size", "", (.idle_s = 10), peer);
CREST_TIMER_FAMILY(previous_ping, "previous.ping", "", peer);
CREST_GAUGE(previous_height, "previous.height", "");
CREST_RANGE_SAMPLER(previous_queue, "previous.queue", "");

/* All that reports have handed out, by instrument. */
typedef struct ledger_book {
    uint64_t sent, idle, sizes, size_sum, pings;
    unsigned unknown;
    int fail;
} ledger_book;
static ledger_book ledger;

/* 0 without memory. */
static int previous_book(const crest_report *report, size_t index)
{
    crest_series_view now, then;
    assert_int_equal(crest_snapshot_series(report->snapshot, index, &now), CREST_OK);
    crest_status known = crest_report_previous(report, index, &then);
    if (known == CREST_OK) {
        assert_string_equal(then.name, now.name);
        assert_int_equal(then.label_count, now.label_count);
        for (unsigned i = 0; i < now.label_count; i++)
            assert_string_equal(then.label_values[i], now.label_values[i]);
        assert_true(then.counter <= now.counter);
    } else {
        assert_int_equal(known, CREST_NOT_FOUND);
        assert_null(then.name);
        ledger.unknown += strncmp(now.name, "previous.", 9) == 0;
    }
    uint64_t grown = now.counter - then.counter;
    if (strcmp(now.name, "previous.sent") == 0)
        ledger.sent += grown;
    if (strcmp(now.name, "previous.idle") == 0)
        ledger.idle += grown;
    if (now.distribution == NULL)
        return 1;
    crest_distribution *since = crest_distribution_copy(now.distribution);
    if (since == NULL)
        return 0;
    assert_int_equal(crest_distribution_subtract(since, then.distribution), CREST_OK);
    uint64_t count = crest_distribution_count(since), sum = crest_distribution_sum(since);
    crest_distribution_free(since);
    if (strcmp(now.name, "previous.size") == 0) {
        ledger.sizes += count;
        ledger.size_sum += sum;
    }
    if (strcmp(now.name, "previous.ping") == 0)
        ledger.pings += count;
    return 1;
}

static crest_status previous_report(crest_reporter *self, const crest_report *report,
                                    crest_error *error)
{
    (void)self;
    if (ledger.fail)
        return crest_error_set(error, CREST_UNREACHABLE, "not now");
    ledger_book before = ledger;
    ledger.unknown = 0;
    for (size_t i = 0; i < crest_snapshot_size(report->snapshot); i++) {
        if (previous_book(report, i))
            continue;
        ledger = before;
        return CREST_NO_MEMORY;
    }
    return CREST_OK;
}

static crest_reporter reporter = {.name = "ledger", .report = previous_report, .deltas = 1};
static crest_one_report order = {
    .reporter = &reporter, .name = "ledger", .timeout_ns = PREVIOUS_SECOND, .deltas = 1};

/* A report, tried once in vain before. */
static void previous_make(void)
{
    crest_error error;
    crest_testing_clock_advance(1000000);
    ledger.fail = 1;
    assert_int_equal(crest_one_report_make(&order, &error), CREST_UNREACHABLE);
    ledger.fail = 0;
    assert_int_equal(crest_one_report_make(&order, &error), CREST_OK);
}

static void previous_after(unsigned seconds)
{
    for (unsigned i = 0; i < seconds; i++) {
        crest_testing_clock_advance(PREVIOUS_SECOND);
        assert_int_equal(crest_testing_tick(NULL), CREST_OK);
    }
}

static int previous_begin(void **state)
{
    (void)state;
    crest_testing_clock_set(1000 * PREVIOUS_SECOND);
    crest_snapshot_free(order.previous);
    order.previous = NULL;
    crest_one_report_measure(&order);
    previous_make(); /* from here on it is about what is new */
    memset(&ledger, 0, sizeof ledger);
    return 0;
}

static int previous_end(void **state)
{
    (void)state;
    crest_snapshot_free(order.previous);
    order.previous = NULL;
    return 0;
}

/* Series that come in front, in the middle and behind. */
static void test_growing(void **state)
{
    (void)state;
    static const char *const peers[] = {"m", "a", "z", "c", "b", "y", "n", "0", "zz", "mm"};
    uint64_t sent = 0;
    for (unsigned round = 0; round < 40; round++) {
        for (unsigned i = 0; i <= round && i < LENGTH(peers); i++) {
            crest_counter_add(previous_sent_with(peers[i]), i + 1);
            sent += i + 1;
        }
        crest_gauge_add(&previous_height, 1);
        crest_range_sampler_add(&previous_queue, 1);
        previous_make();
        assert_int_equal(ledger.sent, sent);
        assert_int_equal(ledger.unknown, round < LENGTH(peers) ? 1 : 0);
    }
}

/* Asked for in any order, the answers are the same. */
static void test_any_order(void **state)
{
    (void)state;
    char peer[16];
    for (unsigned i = 0; i < 300; i += 2) {
        snprintf(peer, sizeof peer, "p%u", i);
        crest_counter_add(previous_sent_with(peer), i);
    }
    crest_snapshot *before = fixture_snapshot(NULL);
    for (unsigned i = 0; i < 300; i++) {
        snprintf(peer, sizeof peer, "p%u", i);
        crest_counter_add(previous_sent_with(peer), 1000);
    }
    crest_report report = {.snapshot = fixture_snapshot(NULL), .previous = before};
    size_t count = crest_snapshot_size(report.snapshot);
    uint64_t sum[3] = {0, 0, 0}, found[3] = {0, 0, 0};
    crest_series_view now, then;
    for (size_t k = 0; k < count; k++) {
        const size_t orders[] = {k, count - 1 - k, k * 7919 % count};
        for (unsigned i = 0; i < 3; i++) {
            crest_snapshot_series(report.snapshot, orders[i], &now);
            crest_status status = crest_report_previous(&report, orders[i], &then);
            found[i] += status == CREST_OK;
            sum[i] += now.counter - then.counter;
        }
    }
    assert_true(count % 7919 != 0 && 7919 % count != 0);
    assert_int_equal(found[0], crest_snapshot_size(before));
    assert_int_equal(found[1], found[0]);
    assert_int_equal(found[2], found[0]);
    assert_int_equal(sum[1], sum[0]);
    assert_int_equal(sum[2], sum[0]);
    assert_int_equal(crest_report_previous(&report, count, &then), CREST_INVALID_ARGUMENT);
    assert_int_equal(crest_report_previous(NULL, 0, &then), CREST_INVALID_ARGUMENT);
    /* the other way round: the later one has more */
    crest_report backwards = {.snapshot = before, .previous = report.snapshot};
    for (size_t i = 0; i < crest_snapshot_size(before); i++)
        assert_int_equal(crest_report_previous(&backwards, i, &then), CREST_OK);
    report.previous = NULL;
    assert_int_equal(crest_report_previous(&report, 0, &then), CREST_NOT_FOUND);
    crest_snapshot_free((crest_snapshot *)(uintptr_t)report.snapshot);
    crest_snapshot_free(before);
}

/* A series that hides is delivered once, however often it comes back. */
static void test_idle(void **state)
{
    (void)state;
    uint64_t idle = 0, sizes = 0;
    for (unsigned round = 1; round <= 4; round++) {
        for (unsigned i = 0; i < 5; i++) {
            char peer[2] = {(char)('a' + i), '\0'};
            crest_counter_add(previous_idle_with(peer), round);
            crest_histogram_record(previous_size_with(peer), 100 * round);
            idle += round;
            sizes++;
        }
        previous_after(1);
        previous_make();
        assert_int_equal(ledger.idle, idle);
        assert_int_equal(ledger.sizes, sizes);
        previous_after(30);
        previous_make();
        assert_non_null(order.previous->carried);
        assert_int_equal(order.previous->carried->count, 10);
        /* one of them comes back, the others wait on */
        crest_counter_inc(previous_idle_with("c"));
        crest_histogram_record(previous_size_with("c"), 7);
        idle++;
        sizes++;
        previous_after(1);
        previous_make();
        assert_int_equal(order.previous->carried->count, 8);
        assert_int_equal(ledger.idle, idle);
        previous_after(30);
        previous_make();
        assert_int_equal(order.previous->carried->count, 10);
    }
    assert_int_equal(ledger.sizes, sizes);
    assert_int_equal(ledger.size_sum, 5 * (100 + 200 + 300 + 400) + 4 * 7);
}

/* A life after the other: released, rested out, and begun anew at zero; the slot was another's in
 * between. */
static void test_lives(void **state)
{
    (void)state;
    uint64_t sent = 0, pings = 0;
    for (unsigned life = 1; life <= 5; life++) {
        crest_counter *counter = previous_sent_with("mortal");
        crest_timer *timer = previous_ping_with("mortal");
        crest_counter_add(counter, 1000 / life);
        crest_timer_record(timer, 10, CREST_OUTCOME_OK);
        sent += 1000 / life;
        pings++;
        previous_make();
        crest_counter_add(counter, life);
        sent += life;
        assert_int_equal(crest_counter_release(counter), CREST_OK);
        assert_int_equal(crest_timer_release(timer), CREST_OK);
        previous_after(2);
        previous_make();
        crest_testing_clock_advance((CREST_LINGER_S + 1) * PREVIOUS_SECOND);
        previous_after(2);
        /* half of the lives: it has left the snapshots, but not its slot, when it is seen again */
        if (life % 2 == 0) {
            previous_make();
            assert_non_null(order.previous->carried);
            continue;
        }
        crest_testing_clock_advance((CREST_QUARANTINE_S + 1) * PREVIOUS_SECOND);
        previous_after(CREST_QUARANTINE_LOOKS + 3);
        if (life == 3)
            previous_make(); /* its absence is seen, or not */
        crest_counter_inc(previous_sent_with(life == 1 ? "heir" : "another"));
        sent++;
    }
    previous_make();
    assert_int_equal(ledger.sent, sent);
    assert_int_equal(ledger.pings, pings);
}

/* A write through a handle that was loaded before the release brings the series back. */
static void test_late_growth(void **state)
{
    (void)state;
    crest_counter *counter = previous_sent_with("late"), stale = *counter;
    crest_counter_add(counter, 40);
    previous_make();
    assert_int_equal(crest_counter_release(counter), CREST_OK);
    previous_after(2);
    previous_make();
    crest_testing_clock_advance((CREST_LINGER_S + 1) * PREVIOUS_SECOND);
    previous_after(2);
    previous_make();
    assert_int_equal(ledger.sent, 40);
    crest_counter_add(&stale, 2);
    previous_make();
    assert_int_equal(ledger.sent, 42);
}

/* A retired series and the one that takes its place at once are two. */
static void test_replaced(void **state)
{
    (void)state;
    crest_counter_add(previous_sent_with("gone"), 100);
    previous_make();
    crest_counter_add(previous_sent_with("gone"), 11);
    previous_make();
    assert_true(crest_retire(NULL, "peer", "gone") > 0);
    previous_make();
    crest_counter_add(previous_sent_with("gone"), 103);
    previous_make();
    assert_int_equal(ledger.sent, 100 + 11 + 103);
    assert_null(order.previous->carried); /* what was retired never comes back */
}

/* It rests at one report, and has begun anew at the next. */
static void test_anew_after_a_rest(void **state)
{
    (void)state;
    crest_counter *counter = previous_sent_with("rested");
    crest_counter_add(counter, 70);
    previous_make();
    assert_int_equal(crest_counter_release(counter), CREST_OK);
    previous_after(2);
    previous_make();
    crest_testing_clock_advance((CREST_LINGER_S + 1) * PREVIOUS_SECOND);
    previous_after(2);
    previous_make();
    assert_non_null(order.previous->carried);
    crest_testing_clock_advance((CREST_QUARANTINE_S + 1) * PREVIOUS_SECOND);
    previous_after(CREST_QUARANTINE_LOOKS + 3);
    crest_counter_add(previous_sent_with("rested"), 71);
    previous_make();
    assert_int_equal(ledger.sent, 70 + 71);
}

/* Without memory a report fails, and the next one makes up for it. */
static void test_no_memory(void **state)
{
    (void)state;
    crest_error error;
    unsigned failed = 0;
    uint64_t idle = 0;
    for (unsigned long fail = 1; fail < 400; fail++) {
        char peer[2] = {(char)('A' + fail % 7), '\0'};
        crest_counter_inc(previous_idle_with(peer));
        crest_histogram_record(previous_size_with(peer), 1);
        idle++;
        if (fail % 5 == 0)
            previous_after(20);
        crest_testing_clock_advance(1000000);
        crest_alloc_fail_after(fail);
        crest_status status = crest_one_report_make(&order, &error);
        crest_alloc_fail_after(0);
        assert_true(status == CREST_OK || status == CREST_NO_MEMORY);
        failed += status != CREST_OK;
    }
    previous_make();
    assert_in_range(failed, 20, 398);
    assert_int_equal(ledger.idle, idle);
    assert_int_equal(ledger.sizes, idle);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_growing, previous_begin, previous_end),
        cmocka_unit_test_setup_teardown(test_any_order, previous_begin, previous_end),
        cmocka_unit_test_setup_teardown(test_idle, previous_begin, previous_end),
        cmocka_unit_test_setup_teardown(test_lives, previous_begin, previous_end),
        cmocka_unit_test_setup_teardown(test_late_growth, previous_begin, previous_end),
        cmocka_unit_test_setup_teardown(test_replaced, previous_begin, previous_end),
        cmocka_unit_test_setup_teardown(test_anew_after_a_rest, previous_begin, previous_end),
        cmocka_unit_test_setup_teardown(test_no_memory, previous_begin, previous_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
