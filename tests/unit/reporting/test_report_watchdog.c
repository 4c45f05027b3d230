/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reporters that hang or are slow, beside others that are not: who is delayed, who is told, and
 * what the end of the process still gets out.
 *
 * crest-test: waits
 */
#define _GNU_SOURCE
#include "base/error.h"
#include "reporting/attachment.h"
#include "reporting/reporting.h"
#include "support/fake_reporter.h"
#include "support/hastened_reports.h"
#include "windows/ticker.h"

#include <crest/crest.h>
#include <crest/testing.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

CREST_COUNTER(watch_things, "watch.things", "Things that happened.");

static const crest_schedule often = {.interval_ms = 100, .jitter = -1};
/* Reports end by what is done to them, not by their own timeout. */
static const crest_schedule patient = {.interval_ms = 100, .jitter = -1, .timeout_ms = 100000};
static const crest_schedule seldom = {.interval_ms = 3600000, .jitter = -1};

/* What a machine may take to wake who waits; more on a busy one, see in_time. */
#define SLACK_MS 400u
#define TIMES_MOST 16u

/* What only holds when who waits is woken soon is tried with twice the time until it does: a busy
 * machine gets by with some of it, a library that is late by its own fault with none. */
static void in_time(int (*attempt)(unsigned times))
{
    for (unsigned times = 1; times <= TIMES_MOST; times *= 2)
        if (attempt(times))
            return;
    fail_msg("late with %u times the time as well", TIMES_MOST);
}

/* One that takes its time: `report` lasts `wait_ms`, or until it is cancelled if it heeds that. */
typedef struct slow_reporter {
    crest_reporter reporter;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    unsigned wait_ms, final_wait_ms; /* UINT_MAX: for ever */
    int heeds, end;
    int cancelled, inside;
    /* stray: cancelled while no report ran, or while one was returning */
    unsigned cancels, begun, ended, finals, stray;
    uint64_t things; /* in the last report that ended well */
    uint64_t first_cancel_ms;
} slow_reporter;

static crest_status slow_report(crest_reporter *self, const crest_report *report,
                                crest_error *error)
{
    slow_reporter *slow = self->state;
    crest_series_view view;
    crest_snapshot_find(report->snapshot, "watch.things", NULL, 0, &view);
    pthread_mutex_lock(&slow->lock);
    slow->begun++;
    slow->inside = 1;
    slow->cancelled = 0;
    unsigned wait_ms = report->final ? slow->final_wait_ms : slow->wait_ms;
    uint64_t until_ms = hastened_ms() + wait_ms;
    pthread_cond_broadcast(&slow->changed);
    while (!slow->end && !(slow->heeds && slow->cancelled) && hastened_ms() < until_ms) {
        if (wait_ms == UINT32_MAX) {
            pthread_cond_wait(&slow->changed, &slow->lock);
        } else {
            pthread_mutex_unlock(&slow->lock);
            hastened_pause();
            pthread_mutex_lock(&slow->lock);
        }
    }
    int cut = slow->heeds && slow->cancelled;
    slow->inside = 0;
    slow->ended++;
    slow->finals += report->final && !cut;
    if (!cut)
        slow->things = view.counter;
    pthread_mutex_unlock(&slow->lock);
    return cut ? crest_error_set(error, CREST_TIMED_OUT, "cut short") : CREST_OK;
}

static void slow_cancel(crest_reporter *self)
{
    slow_reporter *slow = self->state;
    pthread_mutex_lock(&slow->lock);
    if (slow->cancels++ == 0)
        slow->first_cancel_ms = hastened_ms();
    slow->stray += !slow->inside;
    slow->cancelled = 1;
    pthread_cond_broadcast(&slow->changed);
    pthread_mutex_unlock(&slow->lock);
}

static void slow_init(slow_reporter *slow, const char *name, unsigned wait_ms, int heeds)
{
    memset(slow, 0, sizeof *slow);
    slow->reporter =
        (crest_reporter){.name = name, .report = slow_report, .state = slow, .cancel = slow_cancel};
    slow->wait_ms = wait_ms;
    slow->heeds = heeds;
    pthread_mutex_init(&slow->lock, NULL);
    pthread_cond_init(&slow->changed, NULL);
}

static unsigned slow_get(slow_reporter *slow, const unsigned *field)
{
    pthread_mutex_lock(&slow->lock);
    unsigned value = *field;
    pthread_mutex_unlock(&slow->lock);
    return value;
}

/* A moment, in which the ticker looks: its ticks come as fast as the test asks for them. */
static void look(void)
{
    crest_ticker_step(CREST_TICK_MS * UINT64_C(1000000));
    nanosleep(&(struct timespec){0, 1000000}, NULL);
}

static void slow_wait(slow_reporter *slow, const unsigned *field, unsigned least)
{
    uint64_t start_ms = fake_now_ms();
    while (slow_get(slow, field) < least) {
        assert_true(fake_now_ms() - start_ms < FAKE_PATIENCE_MS);
        look();
    }
}

static void slow_release(slow_reporter *slow)
{
    pthread_mutex_lock(&slow->lock);
    slow->end = 1;
    pthread_cond_broadcast(&slow->changed);
    pthread_mutex_unlock(&slow->lock);
    crest_status status = crest_reporter_detach(&slow->reporter, HASTENED_PATIENCE_MS, NULL);
    assert_true(status == CREST_OK || status == CREST_NOT_FOUND);
}

/* ---- the log ---- */

static struct {
    pthread_mutex_t lock;
    unsigned hangs, ended;
    char hung[CREST_ERROR_BYTES];
} logged = {PTHREAD_MUTEX_INITIALIZER, 0, 0, ""};

static void keep_log(crest_log_level level, const char *message, void *context)
{
    (void)level, (void)context;
    pthread_mutex_lock(&logged.lock);
    if (strstr(message, "hangs") != NULL) {
        logged.hangs++;
        snprintf(logged.hung, sizeof logged.hung, "%s", message);
    }
    logged.ended += strstr(message, "the report that hung has ended") != NULL;
    pthread_mutex_unlock(&logged.lock);
}

static unsigned log_get(const unsigned *field)
{
    pthread_mutex_lock(&logged.lock);
    unsigned value = *field;
    pthread_mutex_unlock(&logged.lock);
    return value;
}

static double gauge_of(const char *name, const char *reporter)
{
    crest_testing_reading found;
    crest_error error;
    if (crest_testing_read(NULL, NULL, &found, &error, name, "reporter", reporter, NULL) !=
        CREST_OK)
        fail_msg("%s", error.message);
    return found.gauge;
}

/* ---- one that hangs beside others ---- */

static void test_hangs(void **state)
{
    (void)state;
    slow_reporter hung;
    fake_reporter fakes[3];
    static const char *const names[] = {"one", "two", "three"};
    slow_init(&hung, "hung", UINT32_MAX, 0);
    memset(&logged.hangs, 0, sizeof logged.hangs);
    crest_log_to(keep_log, NULL);
    assert_int_equal(crest_reporter_attach(NULL, &hung.reporter, &often, NULL), CREST_OK);
    slow_wait(&hung, &hung.begun, 1);
    for (unsigned i = 0; i < 3; i++) {
        fake_init(&fakes[i], names[i]);
        assert_int_equal(crest_reporter_attach(NULL, &fakes[i].reporter, &often, NULL), CREST_OK);
    }
    for (unsigned i = 0; i < 3; i++)
        assert_true(fake_wait(&fakes[i], &fakes[i].reports, 12));
    uint64_t start_ms = fake_now_ms();
    while (log_get(&logged.hangs) == 0 && fake_now_ms() - start_ms < FAKE_PATIENCE_MS)
        look();
    assert_int_equal(log_get(&logged.hangs), 1);
    assert_non_null(strstr(logged.hung, "crest: hung: hangs: its report has been under way for "));
    slow_wait(&hung, &hung.cancels, 3);
    crest_reporter_state seen;
    assert_int_equal(crest_reporter_status(&hung.reporter, &seen), CREST_OK);
    assert_true(seen.running_ns > 700000000 && seen.hangs && seen.next_in_ns == 0);
    assert_int_equal(seen.reports, 0);
    assert_true(gauge_of("crest.report-running", "hung") > 0.7);
    /* the others keep their pace, and do not hang */
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(crest_reporter_status(&fakes[i].reporter, &seen), CREST_OK);
        assert_true(seen.reports >= 11 && !seen.hangs && seen.failures == 0);
        assert_true(fakes[i].began_ns[7] - fakes[i].began_ns[1] <
                    FAKE_PATIENCE_MS * UINT64_C(1000000));
    }
    crest_reporter_info infos[8];
    assert_int_equal(crest_reporter_list(infos, 8), 4);
    assert_string_equal(infos[3].name, "hung");
    assert_true(infos[3].state.hangs && !infos[0].state.hangs);
    assert_int_equal(crest_reporter_list(NULL, 0), 4);
    /* it comes back, and the rest is as it was */
    pthread_mutex_lock(&hung.lock);
    hung.wait_ms = 0;
    hung.end = 1;
    pthread_cond_broadcast(&hung.changed);
    pthread_mutex_unlock(&hung.lock);
    slow_wait(&hung, &hung.ended, 4);
    assert_int_equal(crest_reporter_status(&hung.reporter, &seen), CREST_OK);
    assert_true(seen.reports >= 3 && !seen.hangs);
    assert_int_equal(log_get(&logged.hangs), 1);
    assert_int_equal(log_get(&logged.ended), 1);
    assert_int_equal(hung.stray, 0);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(crest_reporter_detach(&fakes[i].reporter, 0, NULL), CREST_OK);
    assert_int_equal(crest_reporter_detach(&hung.reporter, 0, NULL), CREST_OK);
    assert_true(gauge_of("crest.report-running", "hung") == 0);
    crest_log_to(NULL, NULL);
}

/* One that heeds its cancel fails at its deadline, and is tried again. */
static void test_cancelled(void **state)
{
    (void)state;
    slow_reporter slow;
    fake_reporter other;
    slow_init(&slow, "slow", UINT32_MAX, 1);
    fake_init(&other, "other");
    crest_schedule schedule = {.interval_ms = 100, .jitter = -1, .timeout_ms = 200};
    assert_int_equal(crest_reporter_attach(NULL, &other.reporter, &seldom, NULL), CREST_OK);
    uint64_t start_ms = hastened_ms();
    assert_int_equal(crest_reporter_attach(NULL, &slow.reporter, &schedule, NULL), CREST_OK);
    slow_wait(&slow, &slow.ended, 3);
    assert_true(slow.first_cancel_ms - start_ms >= 290);
    crest_reporter_state seen;
    assert_int_equal(crest_reporter_status(&slow.reporter, &seen), CREST_OK);
    assert_true(seen.failures >= 2 && seen.last_error.status == CREST_TIMED_OUT);
    assert_true(gauge_of("crest.report-consecutive-failures", "slow") >= 2);
    crest_testing_reading failed;
    assert_int_equal(crest_testing_read(NULL, NULL, &failed, NULL, "crest.report-failures",
                                        "reporter", "slow", "cause", "timed-out", NULL),
                     CREST_OK);
    assert_true(failed.counter >= 2);
    assert_int_equal(slow.stray, 0);
    /* all the others were idle all the time */
    assert_int_equal(fake_get(&other, &other.reports), 0);
    slow.final_wait_ms = 0;
    assert_int_equal(crest_reporter_detach(&slow.reporter, 5000, NULL), CREST_OK);
    assert_int_equal(crest_reporter_detach(&other.reporter, 0, NULL), CREST_OK);
    assert_true(gauge_of("crest.report-consecutive-failures", "slow") == 0);
}

/* ---- the end ---- */

/* A report under way is cut short early enough for the last one. */
static int cut_for_the_last(unsigned times)
{
    slow_reporter slow;
    slow_init(&slow, "cut", UINT32_MAX, 1);
    slow.final_wait_ms = 500 * times; /* as long as a real server may take */
    crest_counter_inc(&watch_things);
    assert_int_equal(crest_reporter_attach(NULL, &slow.reporter, &patient, NULL), CREST_OK);
    slow_wait(&slow, &slow.begun, 1);
    crest_counter_inc(&watch_things);
    uint64_t start_ms = hastened_ms();
    crest_status status = crest_reporter_detach(&slow.reporter, UINT64_C(1500) * times, NULL);
    uint64_t took_ms = hastened_ms() - start_ms;
    if (status != CREST_OK)
        slow_release(&slow);
    uint64_t cut_ms = slow.first_cancel_ms - start_ms;
    assert_true(cut_ms >= 500 * times - 10 && took_ms >= 1000 * times - 50);
    if (status != CREST_OK || took_ms > (1500 + SLACK_MS) * times ||
        cut_ms > (500 + SLACK_MS) * times)
        return 0;
    assert_int_equal(slow.finals, 1);
    assert_int_equal(slow.things, crest_counter_value(&watch_things));
    return 1;
}

static void test_cut_for_the_last(void **state)
{
    (void)state;
    in_time(cut_for_the_last);
}

/* Nobody else is there to watch the last report but who waits for it: it fails with its reason. */
static int the_last_is_cut(unsigned times)
{
    slow_reporter slow;
    slow_init(&slow, "last", 0, 1);
    slow.final_wait_ms = UINT32_MAX;
    assert_int_equal(crest_reporter_attach(NULL, &slow.reporter, &seldom, NULL), CREST_OK);
    crest_error error;
    crest_reporter_state seen;
    uint64_t start_ms = hastened_ms();
    crest_status status = crest_reporter_detach(&slow.reporter, UINT64_C(1600) * times, &error);
    uint64_t took_ms = hastened_ms() - start_ms;
    assert_int_equal(status, CREST_TIMED_OUT);
    assert_true(took_ms >= 1390 * times);
    int left_behind = crest_reporter_status(&slow.reporter, &seen) == CREST_OK;
    slow_release(&slow);
    if (left_behind || took_ms > (1600 + SLACK_MS) * times ||
        strstr(error.message, "did not end before the deadline") != NULL)
        return 0;
    assert_string_equal(error.message, "detaching last: cut short");
    return 1;
}

static void test_the_last_is_cut(void **state)
{
    (void)state;
    in_time(the_last_is_cut);
}

/* Likewise one that was asked for, and one that had been left behind. */
static void test_who_waits_watches(void **state)
{
    (void)state;
    slow_reporter slow;
    slow_init(&slow, "watched", UINT32_MAX, 1);
    crest_schedule schedule = {.interval_ms = 3600000, .jitter = -1, .timeout_ms = 200};
    crest_error error;
    assert_int_equal(crest_reporter_attach(NULL, &slow.reporter, &schedule, NULL), CREST_OK);
    assert_int_equal(crest_report_now(&slow.reporter, HASTENED_PATIENCE_MS, &error),
                     CREST_TIMED_OUT);
    assert_string_equal(error.message, "cut short");
    /* deaf until it has been left behind */
    pthread_mutex_lock(&slow.lock);
    slow.heeds = 0;
    pthread_mutex_unlock(&slow.lock);
    slow_wait(&slow, &slow.begun, 2);
    assert_int_equal(crest_reporter_detach(&slow.reporter, 50, &error), CREST_TIMED_OUT);
    pthread_mutex_lock(&slow.lock);
    slow.heeds = 1;
    slow.cancelled = 0;
    pthread_mutex_unlock(&slow.lock);
    crest_status status = crest_reporter_detach(&slow.reporter, HASTENED_PATIENCE_MS, &error);
    assert_int_equal(status, CREST_OK);
    assert_int_equal(slow.stray, 0);
}

/* Of a last report that hangs the log says nothing while a caller waits for it and tells. */
static void test_the_end_is_not_told(void **state)
{
    (void)state;
    slow_reporter slow;
    crest_error error;
    slow_init(&slow, "ending", 0, 0);
    slow.final_wait_ms = UINT32_MAX;
    crest_schedule schedule = {.interval_ms = 3600000, .jitter = -1, .timeout_ms = 200};
    logged.hangs = 0;
    crest_log_to(keep_log, NULL);
    assert_int_equal(crest_reporter_attach(NULL, &slow.reporter, &schedule, NULL), CREST_OK);
    assert_int_equal(crest_reporter_detach(&slow.reporter, 400, &error), CREST_TIMED_OUT);
    assert_int_equal(slow_get(&slow, &slow.begun), 1);
    /* nor when a caller waits once more, long after its deadline */
    assert_int_equal(crest_reporter_detach(&slow.reporter, 1000, &error), CREST_TIMED_OUT);
    assert_true(slow_get(&slow, &slow.cancels) >= 1);
    assert_int_equal(log_get(&logged.hangs), 0);
    slow_release(&slow);
    crest_log_to(NULL, NULL);
}

/* What a cancel that takes its time, or comes from the wrong thread, would show. */
static struct {
    pthread_t thread;
    int inside, overlapped, own_thread, cancels;
    fake_reporter *other;
} careful;

static crest_status careful_report(crest_reporter *self, const crest_report *report,
                                   crest_error *error)
{
    (void)self, (void)report;
    __atomic_store_n(&careful.thread, pthread_self(), __ATOMIC_RELEASE);
    if (__atomic_load_n(&careful.inside, __ATOMIC_ACQUIRE))
        __atomic_store_n(&careful.overlapped, 1, __ATOMIC_RELEASE);
    if (careful.other != NULL)
        (void)crest_report_now(&careful.other->reporter, 600, error);
    else
        hastened_sleep_ms(150);
    return crest_error_set(error, CREST_TIMED_OUT, "late");
}

static void careful_cancel(crest_reporter *self)
{
    (void)self;
    __atomic_store_n(&careful.inside, 1, __ATOMIC_RELEASE);
    if (pthread_equal(__atomic_load_n(&careful.thread, __ATOMIC_ACQUIRE), pthread_self()))
        __atomic_store_n(&careful.own_thread, 1, __ATOMIC_RELEASE);
    hastened_sleep_ms(300);
    __atomic_store_n(&careful.inside, 0, __ATOMIC_RELEASE);
    __atomic_add_fetch(&careful.cancels, 1, __ATOMIC_RELEASE);
}

/* So many more cancels have come back. */
static void careful_wait(int more)
{
    int wanted = __atomic_load_n(&careful.cancels, __ATOMIC_ACQUIRE) + more;
    uint64_t start_ms = fake_now_ms();
    while (__atomic_load_n(&careful.cancels, __ATOMIC_ACQUIRE) < wanted) {
        assert_true(fake_now_ms() - start_ms < FAKE_PATIENCE_MS);
        look();
    }
}

/* Once a report has ended, no cancel of it is under way any more: the reporter may be freed. */
static void test_cancel_and_end(void **state)
{
    (void)state;
    crest_reporter reporter = {
        .name = "careful", .report = careful_report, .cancel = careful_cancel};
    crest_schedule schedule = {.interval_ms = 100, .jitter = -1, .timeout_ms = 100};
    fake_reporter other;
    fake_init(&other, "watching");
    assert_int_equal(crest_reporter_attach(NULL, &other.reporter, &seldom, NULL), CREST_OK);
    assert_int_equal(crest_reporter_attach(NULL, &reporter, &schedule, NULL), CREST_OK);
    careful_wait(2);
    assert_int_equal(crest_reporter_detach(&reporter, HASTENED_PATIENCE_MS, NULL), CREST_TIMED_OUT);
    assert_int_equal(__atomic_load_n(&careful.overlapped, __ATOMIC_ACQUIRE), 0);
    /* nor does one that waits for another cancel itself */
    careful.other = &other;
    fake_set(&other, &other.hang, 1);
    assert_int_equal(crest_reporter_attach(NULL, &reporter, &schedule, NULL), CREST_OK);
    careful_wait(1);
    fake_set(&other, &other.hang, 0);
    assert_int_equal(crest_reporter_detach(&reporter, HASTENED_PATIENCE_MS, NULL), CREST_TIMED_OUT);
    assert_int_equal(__atomic_load_n(&careful.own_thread, __ATOMIC_ACQUIRE), 0);
    assert_int_equal(crest_reporter_detach(&other.reporter, 0, NULL), CREST_OK);
}

/* One that was told as running is not for ever, when it ends after it was left behind. */
static void test_runs_no_more(void **state)
{
    (void)state;
    slow_reporter slow;
    slow_init(&slow, "gone", UINT32_MAX, 0);
    assert_int_equal(crest_reporter_attach(NULL, &slow.reporter, &often, NULL), CREST_OK);
    slow_wait(&slow, &slow.begun, 1);
    hastened_sleep_ms(20);
    assert_int_equal(crest_reporter_detach(&slow.reporter, 20, NULL), CREST_TIMED_OUT);
    assert_true(gauge_of("crest.report-running", "gone") > 0.02);
    slow_release(&slow);
    uint64_t start_ms = fake_now_ms();
    while (gauge_of("crest.report-running", "gone") > 0)
        assert_true(fake_now_ms() - start_ms < FAKE_PATIENCE_MS);
}

static crest_status serve(crest_reporter *self, crest_registry *registry, crest_error *error)
{
    (void)error;
    assert_ptr_equal(registry, crest_default_registry());
    *(unsigned *)self->state |= 1;
    return CREST_OK;
}

static crest_status serve_no_more(crest_reporter *self, uint64_t deadline_ns, crest_error *error)
{
    (void)error;
    *(unsigned *)self->state |= deadline_ns > crest_now() ? 2 : 4;
    return CREST_OK;
}

/* A mixed lot that is to end at once. */
typedef struct mixed_lot {
    unsigned served;
    crest_reporter server;
    slow_reporter hung[2], deaf, slow[4];
    fake_reporter quick[4];
    char names[4][2][16];
} mixed_lot;

static void mixed_attach(mixed_lot *lot, unsigned deadline_ms)
{
    lot->served = 0;
    lot->server = (crest_reporter){
        .name = "server", .start = serve, .stop = serve_no_more, .state = &lot->served};
    assert_int_equal(crest_reporter_attach(NULL, &lot->server, NULL, NULL), CREST_OK);
    slow_init(&lot->hung[0], "hung-0", UINT32_MAX, 0);
    slow_init(&lot->hung[1], "hung-1", UINT32_MAX, 0);
    lot->hung[1].reporter.cancel = NULL;
    slow_init(&lot->deaf, "deaf", 0, 0); /* hangs in its last report only */
    lot->deaf.final_wait_ms = UINT32_MAX;
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(crest_reporter_attach(NULL, &lot->hung[i].reporter, &often, NULL),
                         CREST_OK);
    assert_int_equal(crest_reporter_attach(NULL, &lot->deaf.reporter, &seldom, NULL), CREST_OK);
    for (unsigned i = 0; i < 4; i++) {
        snprintf(lot->names[i][0], sizeof lot->names[i][0], "slow-%u", i);
        snprintf(lot->names[i][1], sizeof lot->names[i][1], "quick-%u", i);
        slow_init(&lot->slow[i], lot->names[i][0], UINT32_MAX, 1);
        lot->slow[i].final_wait_ms = deadline_ms / 3;
        fake_init(&lot->quick[i], lot->names[i][1]);
        lot->quick[i].counter = "watch.things";
        assert_int_equal(crest_reporter_attach(NULL, &lot->slow[i].reporter, &patient, NULL),
                         CREST_OK);
        assert_int_equal(crest_reporter_attach(NULL, &lot->quick[i].reporter, &seldom, NULL),
                         CREST_OK);
    }
    for (unsigned i = 0; i < 4; i++)
        slow_wait(&lot->slow[i], &lot->slow[i].begun, 1);
    for (unsigned i = 0; i < 2; i++)
        slow_wait(&lot->hung[i], &lot->hung[i].begun, 1);
}

/* What was left behind ends, too. */
static void mixed_release(mixed_lot *lot)
{
    for (unsigned i = 0; i < 4; i++) {
        slow_release(&lot->slow[i]);
        crest_status status =
            crest_reporter_detach(&lot->quick[i].reporter, HASTENED_PATIENCE_MS, NULL);
        assert_true(status == CREST_OK || status == CREST_NOT_FOUND);
    }
    for (unsigned i = 0; i < 2; i++)
        slow_release(&lot->hung[i]);
    slow_release(&lot->deaf);
}

/* Of a mixed lot the end takes its deadline and no more, and what can be delivered is. */
static int stop_within(unsigned deadline_ms, unsigned slack_ms)
{
    mixed_lot lot;
    mixed_attach(&lot, deadline_ms);
    crest_counter_inc(&watch_things);
    crest_error error;
    uint64_t start_ms = hastened_ms();
    assert_int_equal(crest_reporting_stop_all(CREST_REPORTING_FLUSH, deadline_ms, &error),
                     CREST_TIMED_OUT);
    uint64_t took_ms = hastened_ms() - start_ms;
    assert_true(took_ms >= deadline_ms - 5);
    mixed_release(&lot);
    int all = lot.served == 3;
    for (unsigned i = 0; i < 4; i++)
        all &= lot.slow[i].finals == 1 && lot.quick[i].finals == 1 && lot.slow[i].stray == 0;
    if (!all || took_ms > deadline_ms + slack_ms ||
        strstr(error.message, "3 of 12 reporters failed at the end: ") == NULL)
        return 0;
    assert_non_null(strstr(error.message, "hung-0: "));
    assert_non_null(strstr(error.message, "hung-1: "));
    assert_non_null(strstr(error.message, "deaf: "));
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(lot.slow[i].things, crest_counter_value(&watch_things));
        assert_int_equal(lot.quick[i].value, crest_counter_value(&watch_things));
    }
    return 1;
}

static int stop_within_200_ms(unsigned times)
{
    return stop_within(200 * times, SLACK_MS * times);
}

static int stop_within_1000_ms(unsigned times)
{
    return stop_within(1000 * times, SLACK_MS * times);
}

static int stop_within_2000_ms(unsigned times)
{
    return stop_within(2000 * times, SLACK_MS * times);
}

static void test_stop_within_its_deadline(void **state)
{
    (void)state;
    in_time(stop_within_200_ms);
    in_time(stop_within_1000_ms);
    in_time(stop_within_2000_ms);
}

/* The ticker watches with crest_start too, and crest_stop cuts what hangs. */
static int stop_alone(unsigned times)
{
    slow_reporter slow;
    slow_init(&slow, "alone", UINT32_MAX, 0);
    crest_error error;
    logged.hangs = 0;
    crest_log_to(keep_log, NULL);
    assert_int_equal(crest_start("interval=1h", &error), CREST_OK);
    assert_int_equal(crest_reporter_attach(NULL, &slow.reporter, &often, NULL), CREST_OK);
    slow_wait(&slow, &slow.cancels, 1);
    uint64_t start_ms = fake_now_ms();
    while (log_get(&logged.hangs) == 0 && fake_now_ms() - start_ms < FAKE_PATIENCE_MS)
        look();
    assert_int_equal(log_get(&logged.hangs), 1);
    start_ms = hastened_ms();
    assert_int_equal(crest_stop(UINT64_C(300) * times, &error), CREST_TIMED_OUT);
    uint64_t took_ms = hastened_ms() - start_ms;
    assert_true(took_ms >= 300 * times - 5);
    assert_non_null(strstr(error.message, "alone"));
    slow_release(&slow);
    crest_log_to(NULL, NULL);
    return took_ms <= (300 + SLACK_MS) * times;
}

static void test_alone(void **state)
{
    (void)state;
    in_time(stop_alone);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hangs),
        cmocka_unit_test(test_cancelled),
        cmocka_unit_test(test_cut_for_the_last),
        cmocka_unit_test(test_the_last_is_cut),
        cmocka_unit_test(test_who_waits_watches),
        cmocka_unit_test(test_the_end_is_not_told),
        cmocka_unit_test(test_cancel_and_end),
        cmocka_unit_test(test_runs_no_more),
        cmocka_unit_test(test_stop_within_its_deadline),
        cmocka_unit_test(test_alone),
    };
    if (!hastened_begin())
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
