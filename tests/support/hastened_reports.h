/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports in hastened time: a thread steps the reporters' own clock (reporting/attachment.h), so
 * that schedules, deadlines and the watchdog pass seconds in fractions of one. On a busy machine
 * the stepping thread is late too, so time goes slower there.
 *
 *     hastened_begin();            in main, before the first reporter is attached
 *     uint64_t start_ms = hastened_ms();
 *     crest_reporter_detach(&reporter, 1500, NULL);
 *     assert_true(hastened_ms() - start_ms < 1900);
 */
#ifndef CREST_TESTS_HASTENED_REPORTS_H
#define CREST_TESTS_HASTENED_REPORTS_H

#include "reporting/attachment.h"

#include <pthread.h>
#include <time.h>

/* A step, and how long the thread sleeps between two. */
#define HASTENED_STEP_MS 10u
#define HASTENED_PAUSE_NS 400000

/* As a deadline of a call: nothing takes it on a healthy machine. */
#define HASTENED_PATIENCE_MS UINT64_C(1000000)

static inline uint64_t hastened_ms(void)
{
    return crest_attachment_now_ns() / 1000000;
}

static inline void hastened_pause(void)
{
    nanosleep(&(struct timespec){0, HASTENED_PAUSE_NS}, NULL);
}

static inline void hastened_sleep_ms(unsigned ms)
{
    for (uint64_t until_ms = hastened_ms() + ms; hastened_ms() < until_ms;)
        hastened_pause();
}

static inline void *hastened_run(void *none)
{
    for (;;) {
        hastened_pause();
        crest_attachment_step(HASTENED_STEP_MS * UINT64_C(1000000));
    }
    return none;
}

/* The thread steps until the process ends. Non-zero on success. */
static inline int hastened_begin(void)
{
    pthread_t thread;
    crest_attachments_prepare();
    crest_attachment_step(1);
    return pthread_create(&thread, NULL, hastened_run, NULL) == 0 && pthread_detach(thread) == 0;
}

#endif
