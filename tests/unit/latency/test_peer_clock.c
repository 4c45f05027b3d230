/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Peer clocks by their interface, under clocks that stand: estimates, what is refused, clocks that
 * are set, what is exported, and propagation times that are corrected by them.
 */
#include "base/alloc.h"
#include "support/core_fixture.h"
#include "base/misuse.h"
#include "support/random_numbers.h"
#include "registry/growth.h"

#include <crest/crest.h>
#include <crest/testing.h>
#include <signal.h>

#define PEER_NOW UINT64_C(5000000000000)
#define PEER_WALL UINT64_C(1700000000000000000)
#define PEER_MS UINT64_C(1000000)
#define PEER_S UINT64_C(1000000000)
#define PEER_AHEAD (3 * (int64_t)PEER_S)

CREST_TIMER(peer_propagation, "test.propagation-time", "Origin to receipt.",
            .range = CREST_RANGE_FINE);

static crest_registry *peer_registry;

static int peer_setup(void **state)
{
    (void)state;
    crest_testing_clock_set(PEER_NOW);
    crest_testing_clock_set_wall(PEER_WALL);
    peer_registry = crest_registry_new(NULL);
    return peer_registry == NULL;
}

static int peer_teardown(void **state)
{
    (void)state;
    crest_registry_free(peer_registry);
    crest_testing_clock_real();
    return 0;
}

static crest_peer_clock *peer_new(crest_peer_clock_options options)
{
    crest_error error;
    crest_peer_clock *clock = crest_peer_clock_new(peer_registry, "a", &options, &error);
    if (clock == NULL)
        fail_msg("%s", error.message);
    return clock;
}

/* An exchange with a peer that is ahead by so much; the clocks go on meanwhile. */
static crest_status peer_exchange(crest_peer_clock *clock, int64_t ahead, uint64_t there,
                                  uint64_t held, uint64_t back)
{
    crest_error error;
    uint64_t t1 = crest_wall_now(), t2, t3;
    crest_testing_clock_advance(there);
    t2 = crest_wall_now() + (uint64_t)ahead;
    crest_testing_clock_advance(held);
    t3 = crest_wall_now() + (uint64_t)ahead;
    crest_testing_clock_advance(back);
    crest_status status = crest_peer_clock_add(clock, t1, t2, t3, crest_wall_now(), &error);
    assert_int_equal(error.status, status);
    return status;
}

/* Of a metric that is to be there. */
static crest_testing_reading peer_metric(const char *name, const char *key, const char *value)
{
    crest_testing_reading reading;
    crest_error error;
    if (crest_testing_read(peer_registry, NULL, &reading, &error, name, "peer", "a", key, value,
                           NULL) != CREST_OK)
        fail_msg("%s", error.message);
    return reading;
}

static int peer_shown(const char *name, double *value)
{
    crest_testing_reading reading;
    crest_status status = crest_testing_read(peer_registry, NULL, &reading, NULL, name, NULL);
    *value = reading.gauge;
    return status == CREST_OK;
}

static void peer_wants(double a, double b)
{
    if (a > b + 1e-12 || a < b - 1e-12)
        fail_msg("%.12f is not %.12f", a, b);
}

static void test_estimate(void **state)
{
    (void)state;
    crest_peer_clock *clock = peer_new((crest_peer_clock_options){.drift_ppm = 100});
    crest_peer_clock_state now;
    double value;
    assert_int_equal(crest_peer_clock_read(clock, &now), CREST_NOT_FOUND);
    assert_int_equal(now.samples, 0);
    assert_int_equal(now.error_ns, 0);
    assert_false(peer_shown("peer.clock-offset", &value)); /* no 0 that nobody measured */

    /* 1 ms there, 3 ms back: 1 ms wrong, of 2 ms it may be */
    assert_int_equal(peer_exchange(clock, PEER_AHEAD, PEER_MS, 7 * PEER_MS, 3 * PEER_MS), CREST_OK);
    assert_int_equal(crest_peer_clock_read(clock, &now), CREST_OK);
    assert_int_equal(now.offset_ns, PEER_AHEAD - (int64_t)PEER_MS);
    assert_int_equal(now.delay_ns, 4 * PEER_MS);
    assert_int_equal(now.error_ns, 2 * PEER_MS + 1100 + 1); /* 100 ppm of 11 ms */
    assert_int_equal(now.age_ns, 0);
    assert_int_equal(now.samples, 1);
    assert_int_equal(peer_metric("peer.clock-round-trip-time", "outcome", "ok").sum, 4 * PEER_MS);
    assert_true(peer_shown("peer.clock-offset", &value));
    peer_wants(value, 2.999);
    assert_true(peer_shown("peer.clock-error", &value));
    peer_wants(value, 0.002001101);

    /* a snapshot has the error as it is then */
    crest_testing_clock_advance(10 * PEER_S);
    assert_true(peer_shown("peer.clock-error", &value));
    peer_wants(value, 0.003001101);
    assert_int_equal(crest_peer_clock_read(clock, &now), CREST_OK);
    assert_int_equal(now.error_ns, 3 * PEER_MS + 1101);
    assert_int_equal(now.age_ns, 10 * PEER_S);
    crest_peer_clock_free(clock);
}

/* An hour after the last exchange there is no estimate, and nothing is exported of it. */
static void test_age(void **state)
{
    (void)state;
    crest_peer_clock *clock = peer_new((crest_peer_clock_options){.samples = 0});
    crest_peer_clock_state now;
    assert_int_equal(peer_exchange(clock, PEER_AHEAD, PEER_MS, 0, PEER_MS), CREST_OK);
    crest_testing_clock_advance(CREST_PEER_CLOCK_AGE_S_DEFAULT * PEER_S);
    assert_int_equal(crest_peer_clock_read(clock, &now), CREST_OK);
    crest_testing_clock_advance(1);
    assert_int_equal(crest_peer_clock_read(clock, &now), CREST_NOT_FOUND);
    crest_stamp stamp;
    crest_stamp_view view;
    crest_propagation result;
    crest_stamp_make_at(crest_op_u64(1), crest_wall_now(), 0, &stamp, NULL);
    assert_int_equal(crest_stamp_read(&stamp, sizeof stamp, &view, NULL), CREST_OK);
    assert_int_equal(
        crest_stamp_record(&peer_propagation, &view, clock, CREST_OUTCOME_OK, NULL, &result),
        CREST_NOT_FOUND);
    assert_false(result.corrected);
    assert_true(result.error_ns == CREST_STAMP_UNKNOWN);
    crest_testing_reading reading;
    assert_int_equal(
        crest_testing_read(peer_registry, NULL, &reading, NULL, "peer.stamps-without-offset", NULL),
        CREST_OK);
    assert_int_equal(reading.counter, 1);
    /* released gauges linger for a while, and then go; the next exchange brings them back */
    double value;
    assert_int_equal(crest_testing_tick(peer_registry), CREST_OK);
    for (int i = 0; i < 5; i++) {
        crest_snapshot_free(crest_snapshot_take(peer_registry));
        crest_testing_clock_advance(CREST_LINGER_S * PEER_S);
        assert_int_equal(crest_testing_tick(peer_registry), CREST_OK);
    }
    assert_false(peer_shown("peer.clock-offset", &value));
    assert_false(peer_shown("peer.clock-error", &value));
    assert_int_equal(peer_exchange(clock, PEER_AHEAD, PEER_MS, 0, PEER_MS), CREST_OK);
    assert_true(peer_shown("peer.clock-offset", &value));
    peer_wants(value, 3);
    crest_ticker_detach(peer_registry);
    crest_peer_clock_free(clock);
}

static void test_clocks_are_set(void **state)
{
    (void)state;
    crest_peer_clock *clock = peer_new((crest_peer_clock_options){.samples = 4});
    crest_peer_clock_state now;
    crest_error error;
    crest_testing_reading reading;
    for (int i = 0; i < 3; i++)
        assert_int_equal(peer_exchange(clock, PEER_AHEAD, PEER_MS, 0, PEER_MS), CREST_OK);
    /* one's own, between exchanges: the estimate follows at once */
    crest_testing_clock_set_wall(crest_wall_now() + 10 * PEER_S);
    assert_int_equal(crest_peer_clock_read(clock, &now), CREST_OK);
    assert_int_equal(now.offset_ns, PEER_AHEAD - 10 * (int64_t)PEER_S);
    assert_int_equal(now.samples, 3);
    /* the next exchange could have begun before that */
    assert_int_equal(peer_exchange(clock, -7 * (int64_t)PEER_S, PEER_MS, 0, PEER_MS),
                     CREST_MISMATCH);
    assert_int_equal(peer_exchange(clock, -7 * (int64_t)PEER_S, PEER_MS, 0, PEER_MS), CREST_OK);
    assert_int_equal(crest_peer_clock_read(clock, &now), CREST_OK);
    assert_int_equal(now.samples, 4); /* those from before are still good */
    assert_int_equal(peer_metric("peer.clock-exchanges-refused", "cause", "clock-set").counter, 1);
    /* in the middle of one, back: t4 < t1 says nothing about the peer */
    uint64_t t1 = crest_wall_now();
    crest_testing_clock_set_wall(t1 - 10 * PEER_S);
    assert_int_equal(crest_peer_clock_add(clock, t1, t1, t1, crest_wall_now(), &error),
                     CREST_MISMATCH);
    /* the peer's */
    assert_int_equal(peer_exchange(clock, PEER_AHEAD, PEER_MS, 0, PEER_MS), CREST_OK);
    assert_int_equal(peer_exchange(clock, -PEER_AHEAD, PEER_MS, 0, PEER_MS), CREST_OK);
    assert_int_equal(crest_peer_clock_read(clock, &now), CREST_OK);
    assert_int_equal(now.offset_ns, -PEER_AHEAD);
    assert_int_equal(now.samples, 1);
    assert_int_equal(
        crest_testing_read(peer_registry, NULL, &reading, NULL, "peer.clock-steps", NULL),
        CREST_OK);
    assert_int_equal(reading.counter, 1);
    crest_peer_clock_free(clock);
}

static void test_impossible(void **state)
{
    (void)state;
    const uint64_t w = PEER_WALL, s = PEER_S;
    const struct {
        uint64_t t1, t2, t3, t4;
        const char *why;
    } bad[] = {
        {w, w, w, w - 1, "before the request was sent"},
        {w - 9, w, w - 1, w, "before the request had come"},
        {w, w, w + 1, w, "took longer"},
        {w - s, w, w + s + 50001, w, "took longer"},
        {w, 0, 0, w, "which the peer sent"},
        {w, w, UINT64_MAX, w, "which the peer sent"},
        {w, w, CREST_WALL_NS_MAX + 1, w, "which the peer sent"},
        {w, CREST_WALL_NS_MIN - 1, w, w, "which the peer sent"},
        {PEER_NOW, w, w, w, "crest_wall_now"},
        {w, w, w, PEER_NOW, "crest_wall_now"},
        {w, w, w, UINT64_MAX, "crest_wall_now"},
        {w, w, w, w + 2000, "yet to come"},
        {w - 3601 * s, w, w, w - 3600 * s, "so long ago"},
    };
    crest_peer_clock *clock = peer_new((crest_peer_clock_options){.samples = 0});
    crest_peer_clock_state now;
    crest_error error;
    uint64_t misuse = crest_misuse_value(CREST_MISUSE_EXCHANGE);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(
            crest_peer_clock_add(clock, bad[i].t1, bad[i].t2, bad[i].t3, bad[i].t4, &error),
            CREST_INVALID_ARGUMENT);
        if (strstr(error.message, bad[i].why) == NULL || strstr(error.message, "'a'") == NULL)
            fail_msg("%zu: %s", i, error.message);
        assert_int_equal(
            crest_peer_clock_add(clock, bad[i].t1, bad[i].t2, bad[i].t3, bad[i].t4, NULL),
            CREST_INVALID_ARGUMENT);
    }
    assert_int_equal(crest_peer_clock_read(clock, &now), CREST_NOT_FOUND);
    uint64_t refused = 2 * sizeof bad / sizeof *bad;
    assert_int_equal(peer_metric("peer.clock-exchanges-refused", "cause", "impossible").counter,
                     refused);
    assert_int_equal(crest_misuse_value(CREST_MISUSE_EXCHANGE) - misuse, refused);
    /* what a liar may say at most, both ways */
    assert_int_equal(crest_peer_clock_add(clock, w, CREST_WALL_NS_MAX, CREST_WALL_NS_MAX, w, NULL),
                     CREST_OK);
    assert_int_equal(crest_peer_clock_read(clock, &now), CREST_OK);
    assert_true(now.offset_ns == (int64_t)(CREST_WALL_NS_MAX - w));
    assert_int_equal(crest_peer_clock_add(clock, w, CREST_WALL_NS_MIN, CREST_WALL_NS_MIN, w, NULL),
                     CREST_OK);
    assert_int_equal(crest_peer_clock_read(clock, &now), CREST_OK);
    assert_true(now.offset_ns == -(int64_t)(w - CREST_WALL_NS_MIN));
    assert_int_equal(crest_peer_clock_add(NULL, w, w, w, w, &error), CREST_INVALID_ARGUMENT);
    crest_peer_clock_free(clock);
}

static void test_options(void **state)
{
    (void)state;
    const crest_peer_clock_options bad[] = {
        {.samples = CREST_PEER_CLOCK_SAMPLES_MAX + 1},
        {.drift_ppm = CREST_PEER_CLOCK_DRIFT_PPM_MAX + 1},
        {.age_s = CREST_PEER_CLOCK_AGE_S_MAX + 1},
    };
    crest_error error;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_null(crest_peer_clock_new(peer_registry, "a", &bad[i], &error));
        assert_int_equal(error.status, CREST_INVALID_ARGUMENT);
    }
    assert_null(crest_peer_clock_new(peer_registry, "", NULL, &error));
    assert_null(crest_peer_clock_new(peer_registry, NULL, NULL, NULL));
    crest_peer_clock_free(NULL);
    /* a name that somebody has for something else */
    crest_metric_options taken = {.name = "peer.clock-offset"};
    crest_counter_get(peer_registry, &taken, NULL);
    assert_null(crest_peer_clock_new(peer_registry, "a", NULL, &error));
    assert_int_equal(error.status, CREST_TYPE_CLASH);
    /* which does not matter to one that is not exported */
    crest_peer_clock_options quiet = {.quiet = 1};
    crest_peer_clock *clock = crest_peer_clock_new(peer_registry, "a", &quiet, &error);
    assert_non_null(clock);
    assert_int_equal(peer_exchange(clock, PEER_AHEAD, PEER_MS, 0, PEER_MS), CREST_OK);
    assert_int_equal(peer_exchange(clock, -PEER_AHEAD, PEER_MS, 0, PEER_MS), CREST_OK);
    crest_peer_clock_free(clock);
}

/* Each allocation in turn: nothing is made, and nothing is left behind. */
static void test_no_memory(void **state)
{
    (void)state;
    crest_error error;
    crest_peer_clock *clock = NULL;
    unsigned long after = 1;
    for (; clock == NULL; after++) {
        assert_true(after < 50);
        crest_alloc_fail_after(after);
        clock = crest_peer_clock_new(peer_registry, "a", NULL, &error);
        crest_alloc_fail_after(0);
        assert_true(clock != NULL || error.status == CREST_NO_MEMORY);
    }
    assert_true(after > 3);
    assert_int_equal(peer_exchange(clock, PEER_AHEAD, PEER_MS, 0, PEER_MS), CREST_OK);
    crest_peer_clock_free(clock);
}

static uint64_t peer_random(uint64_t below)
{
    static uint64_t seed = 11;
    seed = random_step(seed);
    return (seed >> 20) % below;
}

/* Over one relay or none: what is recorded is the truth, to within the error that it comes with. */
static void test_propagation(void **state)
{
    (void)state;
    const int64_t ahead[2] = {PEER_AHEAD, -5 * (int64_t)PEER_S}; /* origin, relay */
    crest_peer_clock *of_origin = peer_new((crest_peer_clock_options){.quiet = 1});
    crest_peer_clock *of_relay = peer_new((crest_peer_clock_options){.quiet = 1});
    for (int round = 0; round < 500; round++) {
        crest_stamp stamp;
        crest_stamp_view view;
        crest_propagation measured, uncorrected;
        /* the relay's clock of the origin is as far off as the relay's own is not one's own */
        assert_int_equal(peer_exchange(of_origin, ahead[0] - ahead[1], peer_random(9 * PEER_MS),
                                       peer_random(PEER_MS), peer_random(PEER_MS)),
                         CREST_OK);
        assert_int_equal(peer_exchange(of_relay, ahead[1], peer_random(PEER_MS),
                                       peer_random(PEER_MS), peer_random(9 * PEER_MS)),
                         CREST_OK);
        crest_op op = crest_op_u64((uint64_t)round + 1);
        assert_int_equal(
            crest_stamp_make_at(op, crest_wall_now() + (uint64_t)ahead[0], 0, &stamp, NULL),
            CREST_OK);
        uint64_t first = 10 * PEER_MS + peer_random(100 * PEER_MS);
        uint64_t second = 10 * PEER_MS + peer_random(100 * PEER_MS);
        crest_testing_clock_advance(first);
        assert_int_equal(crest_stamp_read(&stamp, sizeof stamp, &view, NULL), CREST_OK);
        assert_int_equal(crest_stamp_relay(&view, of_origin, &stamp), CREST_OK);
        crest_testing_clock_advance(second);
        assert_int_equal(crest_stamp_read(&stamp, sizeof stamp, &view, NULL), CREST_OK);
        assert_int_equal(view.hops, 1);
        assert_int_equal(crest_stamp_record(&peer_propagation, &view, of_relay, CREST_OUTCOME_OK,
                                            &op, &measured),
                         CREST_OK);
        int64_t off = measured.duration_ns - (int64_t)(first + second);
        assert_true(measured.corrected);
        assert_true((uint64_t)(off < 0 ? -off : off) <= measured.error_ns);
        assert_true(measured.error_ns < 15 * PEER_MS);
        /* without a clock: wrong, and said to be */
        assert_int_equal(
            crest_stamp_record(&peer_propagation, &view, NULL, CREST_OUTCOME_OK, &op, &uncorrected),
            CREST_OK);
        assert_false(uncorrected.corrected);
        assert_true(uncorrected.error_ns == CREST_STAMP_UNKNOWN);
        assert_true(uncorrected.duration_ns > (int64_t)(first + second) + 4 * (int64_t)PEER_S);
    }
    crest_peer_clock_free(of_origin);
    crest_peer_clock_free(of_relay);
}

/* Came before it was sent: 0 if the error explains it, else nothing; counted either way. */
/* An offset of now says less of a time long ago. */
static void test_drift_since_the_origin(void **state)
{
    (void)state;
    crest_peer_clock *clock = peer_new((crest_peer_clock_options){.quiet = 1, .drift_ppm = 100});
    crest_stamp stamp;
    crest_stamp_view view;
    crest_peer_clock_state now;
    crest_propagation measured;
    assert_int_equal(crest_stamp_make_at(crest_op_u64(1), crest_wall_now(), 0, &stamp, NULL),
                     CREST_OK);
    assert_int_equal(crest_stamp_read(&stamp, sizeof stamp, &view, NULL), CREST_OK);
    crest_testing_clock_advance(1000 * PEER_S);
    assert_int_equal(peer_exchange(clock, 0, 0, 0, 0), CREST_OK);
    assert_int_equal(crest_peer_clock_read(clock, &now), CREST_OK);
    assert_int_equal(
        crest_stamp_record(&peer_propagation, &view, clock, CREST_OUTCOME_OK, NULL, &measured),
        CREST_OK);
    assert_int_equal(measured.duration_ns, 1000 * PEER_S);
    assert_int_equal(measured.error_ns, now.error_ns + 100 * PEER_MS);
    crest_peer_clock_free(clock);
}

static void test_early(void **state)
{
    (void)state;
    crest_peer_clock *clock = peer_new((crest_peer_clock_options){.samples = 0});
    assert_int_equal(peer_exchange(clock, PEER_AHEAD, PEER_MS, 0, PEER_MS), CREST_OK);
    crest_testing_mark *mark = crest_testing_mark_take(NULL);
    uint64_t misuse = crest_misuse_value(CREST_MISUSE_EARLY);
    const struct {
        uint64_t early_ns;
        crest_status status;
    } cases[] = {{PEER_MS + 101, CREST_OK}, {PEER_MS + 102, CREST_NEGATIVE}};
    for (size_t i = 0; i < 2; i++) {
        crest_stamp stamp;
        crest_stamp_view view;
        crest_propagation result;
        crest_stamp_make_at(crest_op_u64(1),
                            crest_wall_now() + (uint64_t)PEER_AHEAD + cases[i].early_ns, 0, &stamp,
                            NULL);
        assert_int_equal(crest_stamp_read(&stamp, sizeof stamp, &view, NULL), CREST_OK);
        assert_int_equal(
            crest_stamp_record(&peer_propagation, &view, clock, CREST_OUTCOME_OK, NULL, &result),
            cases[i].status);
        assert_int_equal(result.duration_ns, -(int64_t)cases[i].early_ns);
        assert_int_equal(result.error_ns, PEER_MS + 101);
    }
    /* a second under way, in which the clocks may have drifted apart by 50 microseconds */
    crest_stamp stamp;
    crest_stamp_view view;
    crest_propagation late;
    crest_stamp_make_at(crest_op_u64(1), crest_wall_now() + (uint64_t)PEER_AHEAD - PEER_S, 0,
                        &stamp, NULL);
    assert_int_equal(crest_stamp_read(&stamp, sizeof stamp, &view, NULL), CREST_OK);
    assert_int_equal(
        crest_stamp_record(&peer_propagation, &view, clock, CREST_OUTCOME_ERROR, NULL, &late),
        CREST_OK);
    assert_int_equal(late.duration_ns, PEER_S);
    assert_int_equal(late.error_ns, PEER_MS + 101 + 50000);
    assert_int_equal(late.offset_ns, PEER_AHEAD);
    crest_error error;
    crest_testing_reading reading;
    assert_int_equal(crest_testing_read(NULL, mark, &reading, &error, "test.propagation-time",
                                        "outcome", "ok", NULL),
                     CREST_OK);
    assert_int_equal(reading.count, 1);
    assert_int_equal(reading.sum, 0);
    assert_int_equal(crest_misuse_value(CREST_MISUSE_EARLY) - misuse, 1);
    assert_int_equal(peer_metric("peer.stamps-early", "recorded", "yes").counter, 1);
    assert_int_equal(peer_metric("peer.stamps-early", "recorded", "no").counter, 1);
    crest_testing_mark_free(mark);
    crest_peer_clock_free(clock);
}

/* ---- a reader that is interrupted anywhere, while estimates change ---- */

static crest_peer_clock *interrupted_clock;
static uint32_t interrupted_over;
static uint64_t interruptions;
static pthread_t interrupted_reader;

/* Each exchange has a delay of its own, and an offset that follows from it. */
static void interrupted_exchange(uint64_t delay)
{
    uint64_t t4 = crest_wall_now(), t1 = t4 - delay, t2 = t1 + delay / 2 + 7 * delay;
    crest_peer_clock_add(interrupted_clock, t1, t2, t2, t4, NULL);
}

/* Twice: the copy that is being read is then written again. */
static void interrupt(int number)
{
    static uint64_t delay = 2;
    (void)number;
    for (int i = 0; i < 2; i++)
        interrupted_exchange(delay = delay % 1000000 + 2);
    __atomic_add_fetch(&interruptions, 1, __ATOMIC_RELEASE);
}

static void *interrupt_often(void *times)
{
    for (uint64_t i = 0; i < (uint64_t)(uintptr_t)times; i++) {
        pthread_kill(interrupted_reader, SIGUSR1);
        FIXTURE_AWAIT(__atomic_load_n(&interruptions, __ATOMIC_ACQUIRE) > i);
    }
    __atomic_store_n(&interrupted_over, 1, __ATOMIC_RELEASE);
    return NULL;
}

static void test_interrupted_reader(void **state)
{
    (void)state;
    pthread_t thread;
    uint64_t torn = 0;
#ifdef CREST_THREAD_SANITIZER
    print_message("ThreadSanitizer keeps signals back until a thread waits\n");
    skip();
#endif
    interrupted_clock = peer_new((crest_peer_clock_options){.samples = 1, .quiet = 1});
    interrupted_exchange(2);
    interrupted_reader = pthread_self();
    signal(SIGUSR1, interrupt);
    void *times = (void *)(uintptr_t)5000;
    assert_int_equal(pthread_create(&thread, NULL, interrupt_often, times), 0);
    while (!__atomic_load_n(&interrupted_over, __ATOMIC_ACQUIRE)) {
        crest_peer_clock_state now;
        crest_peer_clock_read(interrupted_clock, &now);
        torn += now.offset_ns != 7 * (int64_t)now.delay_ns;
    }
    assert_int_equal(pthread_join(thread, NULL), 0);
    signal(SIGUSR1, SIG_DFL);
    assert_int_equal(torn, 0);
    crest_peer_clock_free(interrupted_clock);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_estimate, peer_setup, peer_teardown),
        cmocka_unit_test_setup_teardown(test_age, peer_setup, peer_teardown),
        cmocka_unit_test_setup_teardown(test_clocks_are_set, peer_setup, peer_teardown),
        cmocka_unit_test_setup_teardown(test_impossible, peer_setup, peer_teardown),
        cmocka_unit_test_setup_teardown(test_options, peer_setup, peer_teardown),
        cmocka_unit_test_setup_teardown(test_no_memory, peer_setup, peer_teardown),
        cmocka_unit_test_setup_teardown(test_propagation, peer_setup, peer_teardown),
        cmocka_unit_test_setup_teardown(test_drift_since_the_origin, peer_setup, peer_teardown),
        cmocka_unit_test_setup_teardown(test_early, peer_setup, peer_teardown),
        cmocka_unit_test_setup_teardown(test_interrupted_reader, peer_setup, peer_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
