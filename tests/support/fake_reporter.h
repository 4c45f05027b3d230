/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A reporter for tests: keeps what it was given, answers as the test says, hangs when asked.
 *
 *     fake_reporter fake;
 *     fake_init(&fake, "fake");
 *     crest_reporter_attach(NULL, &fake.reporter, &schedule, NULL);
 *     fake_wait_reports(&fake, 3);
 */
#ifndef FAKE_REPORTER_H
#define FAKE_REPORTER_H

#include <crest/reporter.h>

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* A test that waits longer has failed; nothing takes it on a healthy machine. */
#define FAKE_PATIENCE_MS 20000u

typedef struct fake_reporter {
    crest_reporter reporter;
    pthread_mutex_t lock; /* guards all that follows */
    pthread_cond_t changed;
    unsigned reports, finals, stops, frees;
    int hang;            /* report does not return while this is set */
    crest_status answer; /* what report returns, with `reason` */
    char reason[128];
    crest_status stop_answer;
    const char *counter;  /* a counter to look up in each snapshot; NULL: none */
    uint64_t value;       /* its value in the last report */
    uint64_t left_ns;     /* time to the deadline, when the last report began */
    uint64_t began_ns[8]; /* of the first reports */
    char service[64], version[64], instance[300];
    char thread_name[16];
    int signals_open; /* signals that were not blocked */
} fake_reporter;

static inline uint64_t fake_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static inline void fake_note(fake_reporter *fake, const crest_report *report)
{
    uint64_t now_ns = crest_now();
    if (fake->reports < 8)
        fake->began_ns[fake->reports] = now_ns;
    fake->reports++;
    fake->finals += report->final != 0;
    fake->left_ns = report->deadline_ns > now_ns ? report->deadline_ns - now_ns : 0;
    snprintf(fake->service, sizeof fake->service, "%s", report->resource->service);
    snprintf(fake->version, sizeof fake->version, "%s", report->resource->version);
    snprintf(fake->instance, sizeof fake->instance, "%s", report->resource->instance);
    pthread_getname_np(pthread_self(), fake->thread_name, sizeof fake->thread_name);
    sigset_t blocked;
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    fake->signals_open = 0;
    for (int number = 1; number <= SIGRTMAX; number++) {
        int kept_by_libc =
            number == SIGKILL || number == SIGSTOP || (number > SIGSYS && number < SIGRTMIN);
        fake->signals_open += !kept_by_libc && sigismember(&blocked, number) == 0;
    }
    crest_series_view view;
    if (fake->counter != NULL &&
        crest_snapshot_find(report->snapshot, fake->counter, NULL, 0, &view) == CREST_OK)
        fake->value = view.counter;
}

static inline crest_status fake_report(crest_reporter *self, const crest_report *report,
                                       crest_error *error)
{
    fake_reporter *fake = self->state;
    pthread_mutex_lock(&fake->lock);
    fake_note(fake, report);
    pthread_cond_broadcast(&fake->changed);
    while (fake->hang)
        pthread_cond_wait(&fake->changed, &fake->lock);
    crest_status answer = fake->answer;
    if (answer != CREST_OK)
        crest_error_set(error, answer, "%s", fake->reason);
    pthread_mutex_unlock(&fake->lock);
    return answer;
}

static inline crest_status fake_stop(crest_reporter *self, uint64_t deadline_ns, crest_error *error)
{
    fake_reporter *fake = self->state;
    (void)deadline_ns;
    pthread_mutex_lock(&fake->lock);
    fake->stops++;
    crest_status answer = fake->stop_answer;
    if (answer != CREST_OK)
        crest_error_set(error, answer, "its stop failed");
    pthread_cond_broadcast(&fake->changed);
    pthread_mutex_unlock(&fake->lock);
    return answer;
}

static inline void fake_free(crest_reporter *self)
{
    fake_reporter *fake = self->state;
    pthread_mutex_lock(&fake->lock);
    fake->frees++;
    pthread_cond_broadcast(&fake->changed);
    pthread_mutex_unlock(&fake->lock);
}

static inline void fake_init(fake_reporter *fake, const char *name)
{
    memset(fake, 0, sizeof *fake);
    fake->reporter.name = name;
    fake->reporter.report = fake_report;
    fake->reporter.stop = fake_stop;
    fake->reporter.free = fake_free;
    fake->reporter.state = fake;
    pthread_mutex_init(&fake->lock, NULL);
    pthread_cond_init(&fake->changed, NULL);
}

/* Sets one of the reporter's numbers under its lock. */
static inline void fake_set(fake_reporter *fake, int *field, int value)
{
    pthread_mutex_lock(&fake->lock);
    *field = value;
    pthread_cond_broadcast(&fake->changed);
    pthread_mutex_unlock(&fake->lock);
}

static inline void fake_answer(fake_reporter *fake, crest_status answer, const char *reason)
{
    pthread_mutex_lock(&fake->lock);
    fake->answer = answer;
    snprintf(fake->reason, sizeof fake->reason, "%s", reason);
    pthread_mutex_unlock(&fake->lock);
}

static inline unsigned fake_get(fake_reporter *fake, const unsigned *field)
{
    pthread_mutex_lock(&fake->lock);
    unsigned value = *field;
    pthread_mutex_unlock(&fake->lock);
    return value;
}

/* Waits until one of its numbers is at least `least`; 0 when that takes too long. */
static inline int fake_wait(fake_reporter *fake, const unsigned *field, unsigned least)
{
    uint64_t start_ms = fake_now_ms();
    while (fake_get(fake, field) < least) {
        if (fake_now_ms() - start_ms > FAKE_PATIENCE_MS)
            return 0;
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
    return 1;
}

#endif
