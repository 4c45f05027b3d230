/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crest-test: timeout=240
 *
 * Reporters under stress: threads attach, detach, ask, look and hang on the same few reporters,
 * starts race stops, and recording goes on meanwhile. What has to hold: a reporter is in one report
 * at a time, each detach that says it is done leaves nobody inside, totals are never less than what
 * was seen before, and the last report has everything.
 */
#define _GNU_SOURCE
#include <crest/crest.h>

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "support/random_numbers.h"

#define REPORTERS 4
#define WORKERS 4
#define RECORDERS 2
/* As many milliseconds, and as often again until there were so many reports. */
#define DURATION_MS 2500
#define REPORTS 20
/* A detach or a stop has as long; none takes it. */
#define PATIENCE_MS 60000

CREST_COUNTER(stressed, "test.stressed", "Recorded while reporters come and go.");

typedef struct stress_reporter {
    crest_reporter reporter;
    int inside;        /* reports under way */
    int overlapped;    /* two were, at some time */
    uint64_t backward; /* a total was less than the one before */
    uint64_t seen;
    uint64_t reports;
    uint64_t finals;
    uint64_t stops;
} stress_reporter;

static stress_reporter reporters[REPORTERS];
static uint64_t reported; /* by all of them */
static int stopping;

static int stress_load(const int *value)
{
    return __atomic_load_n(value, __ATOMIC_ACQUIRE);
}

static uint64_t stress_draw(uint64_t *seed)
{
    return random_next(seed);
}

static void stress_pause_us(uint64_t us)
{
    nanosleep(&(struct timespec){(time_t)(us / 1000000), (long)(us % 1000000) * 1000}, NULL);
}

static uint64_t stress_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Sometimes slow, sometimes failing; never two at a time, or `seen` would be a data race too. */
static crest_status stress_report(crest_reporter *self, const crest_report *report,
                                  crest_error *error)
{
    stress_reporter *stress = self->state;
    if (__atomic_add_fetch(&stress->inside, 1, __ATOMIC_ACQ_REL) != 1)
        __atomic_store_n(&stress->overlapped, 1, __ATOMIC_RELEASE);
    crest_series_view view;
    crest_snapshot_find(report->snapshot, "test.stressed", NULL, 0, &view);
    stress->backward += view.counter < stress->seen;
    stress->seen = view.counter;
    stress->reports++;
    __atomic_add_fetch(&reported, 1, __ATOMIC_RELAXED);
    stress->finals += report->final != 0;
    crest_status status = CREST_OK;
    if (stress->reports % 5 == 0)
        stress_pause_us(3000);
    if (stress->reports % 7 == 0)
        status = crest_error_set(error, CREST_UNREACHABLE, "the seventh always fails");
    __atomic_sub_fetch(&stress->inside, 1, __ATOMIC_ACQ_REL);
    return status;
}

static crest_status stress_stop(crest_reporter *self, uint64_t deadline_ns, crest_error *error)
{
    stress_reporter *stress = self->state;
    (void)deadline_ns, (void)error;
    stress->stops++;
    return CREST_OK;
}

static void stress_init(stress_reporter *stress, const char *name)
{
    memset(stress, 0, sizeof *stress);
    stress->reporter.name = name;
    stress->reporter.report = stress_report;
    stress->reporter.stop = stress_stop;
    stress->reporter.state = stress;
}

/* Counts calls that said something they may not say. */
static uint64_t stress_step(stress_reporter *stress, uint64_t draw)
{
    static const crest_schedule schedule = {.interval_ms = 100, .jitter = 0.5};
    crest_reporter *reporter = &stress->reporter;
    crest_error error;
    crest_status status;
    switch (draw % 8) {
    case 0:
    case 1:
        status = crest_reporter_attach(NULL, reporter, &schedule, &error);
        return status != CREST_OK && status != CREST_ALREADY;
    case 2:
        /* one millisecond is often too little, and the thread is left behind */
        status = crest_reporter_detach(reporter, draw % 16 < 8 ? 1 : 1000, &error);
        return status != CREST_OK && status != CREST_UNREACHABLE && status != CREST_ALREADY &&
               status != CREST_NOT_FOUND && status != CREST_TIMED_OUT;
    case 3:
    case 4:
        status = crest_report_now(reporter, draw % 16 < 8 ? 1 : 1000, &error);
        return status != CREST_OK && status != CREST_UNREACHABLE && status != CREST_NOT_FOUND &&
               status != CREST_TIMED_OUT;
    case 5: stress_pause_us(draw % 2000); return 0;
    default: {
        crest_reporter_state state;
        status = crest_reporter_status(reporter, &state);
        return (status != CREST_OK && status != CREST_NOT_FOUND) ||
               state.failures > state.reports || state.consecutive_failures > state.failures;
    }
    }
}

static void *stress_work(void *argument)
{
    uint64_t seed = (uintptr_t)argument * UINT64_C(0x9e3779b97f4a7c15) + 1, wrong = 0;
    while (!stress_load(&stopping)) {
        uint64_t draw = stress_draw(&seed);
        wrong += stress_step(&reporters[draw >> 32 & (REPORTERS - 1)], draw);
    }
    return (void *)(uintptr_t)wrong;
}

static void *stress_record(void *argument)
{
    uint64_t count = 0;
    (void)argument;
    for (; !stress_load(&stopping); count += 100) {
        for (int i = 0; i < 100; i++)
            crest_counter_inc(&stressed);
        stress_pause_us(50);
    }
    return (void *)(uintptr_t)count;
}

static void test_attach_and_detach(void **state)
{
    (void)state;
    static const char *const names[REPORTERS] = {"a", "b", "c", "d"};
    pthread_t workers[WORKERS], recorders[RECORDERS];
    for (unsigned i = 0; i < REPORTERS; i++)
        stress_init(&reporters[i], names[i]);
    for (uintptr_t i = 0; i < WORKERS; i++)
        assert_int_equal(pthread_create(&workers[i], NULL, stress_work, (void *)(i + 1)), 0);
    for (unsigned i = 0; i < RECORDERS; i++)
        assert_int_equal(pthread_create(&recorders[i], NULL, stress_record, NULL), 0);
    do
        stress_pause_us(DURATION_MS * 1000);
    while (__atomic_load_n(&reported, __ATOMIC_RELAXED) <= REPORTS);
    __atomic_store_n(&stopping, 1, __ATOMIC_RELEASE);
    uint64_t wrong = 0, recorded = 0;
    void *result;
    for (unsigned i = 0; i < WORKERS; i++) {
        pthread_join(workers[i], &result);
        wrong += (uintptr_t)result;
    }
    for (unsigned i = 0; i < RECORDERS; i++) {
        pthread_join(recorders[i], &result);
        recorded += (uintptr_t)result;
    }
    assert_int_equal(wrong, 0);
    assert_int_equal(crest_counter_value(&stressed), recorded);
    for (unsigned i = 0; i < REPORTERS; i++) {
        stress_reporter *stress = &reporters[i];
        crest_status status = crest_reporter_detach(&stress->reporter, PATIENCE_MS, NULL);
        assert_true(status == CREST_OK || status == CREST_UNREACHABLE || status == CREST_NOT_FOUND);
        assert_int_equal(crest_reporter_detach(&stress->reporter, 0, NULL), CREST_NOT_FOUND);
        assert_int_equal(stress_load(&stress->inside), 0);
        assert_int_equal(stress_load(&stress->overlapped), 0);
        assert_int_equal(stress->backward, 0);
        assert_true(stress->stops <= stress->finals);
        /* and each of them can still give a last report that has everything */
        assert_int_equal(crest_reporter_attach(NULL, &stress->reporter, NULL, NULL), CREST_OK);
        status = crest_reporter_detach(&stress->reporter, PATIENCE_MS, NULL);
        assert_true(status == CREST_OK || status == CREST_UNREACHABLE);
        assert_int_equal(stress->seen, recorded);
    }
}

/* ---- starts and stops ---- */

static crest_reporter *stress_create(const char *value, const crest_options *options,
                                     const crest_resource *resource, crest_error *error)
{
    static stress_reporter started;
    (void)value, (void)options, (void)resource, (void)error;
    stress_init(&started, "started");
    return &started.reporter;
}

/* A user of Crest among others: a start, some time, a stop. */
static void *stress_use(void *argument)
{
    uint64_t wrong = 0, seed = (uintptr_t)argument;
    for (unsigned round = 0; round < 60; round++) {
        crest_error error;
        crest_status status =
            crest_start(round % 2 ? NULL : "stress=on,stress.interval=100ms", &error);
        wrong += status != CREST_OK && status != CREST_ALREADY;
        stress_pause_us(stress_draw(&seed) % 3000);
        status = crest_stop(PATIENCE_MS, &error);
        wrong += status != CREST_OK;
    }
    return (void *)(uintptr_t)wrong;
}

static void test_start_and_stop(void **state)
{
    (void)state;
    static const crest_reporter_kind kind = {.name = "stress", .create = stress_create};
    assert_int_equal(crest_reporter_kind_add(&kind), CREST_OK);
    uint64_t start_ms = stress_now_ms(), wrong = 0;
    pthread_t users[WORKERS];
    for (uintptr_t i = 0; i < WORKERS; i++)
        assert_int_equal(pthread_create(&users[i], NULL, stress_use, (void *)(i + 1)), 0);
    for (unsigned i = 0; i < WORKERS; i++) {
        void *result;
        pthread_join(users[i], &result);
        wrong += (uintptr_t)result;
    }
    assert_int_equal(wrong, 0);
    assert_int_equal(crest_stop(1000, NULL), CREST_NOT_RUNNING);
    assert_true(stress_now_ms() - start_ms < PATIENCE_MS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_attach_and_detach),
        cmocka_unit_test(test_start_and_stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
