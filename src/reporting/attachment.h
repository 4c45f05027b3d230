/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attached reporters: what is known of each, their list, and its lock. The inside of reporting.c.
 * What their threads do is in reporter_thread.c; watching them is in report_watchdog.c.
 *
 * Ownership of an attachment:
 *
 *   list        until its thread, its server or its turns in the host's loop have ended
 *   detacher    the caller that detaches it: joins the thread, then frees it (`detaching`)
 *   thread      a report hung and the detaching caller gave up: the thread frees it (`abandoned`)
 *
 * An abandoned thread touches the attachment alone, never the reporter. Invariants: nothing is
 * freed that a thread still uses, and no caller waits past its deadline. No model: all is under one
 * lock.
 */
#ifndef CREST_ATTACHMENT_H
#define CREST_ATTACHMENT_H

#include "metrics/delivered.h"
#include "reporting/one_report.h"
#include "reporting/report_schedule.h"

#include <pthread.h>

/* A request of a caller that waits in crest_report_now, on the caller's stack. */
typedef struct crest_request {
    struct crest_request *next;
    int served;
    crest_status status;
    crest_error *error; /* may be NULL */
} crest_request;

/* A report under way, as report_watchdog.c sees it. */
typedef struct crest_watched {
    uint64_t since_ns;  /* 0: no report is under way */
    uint64_t until_ns;  /* its deadline */
    uint64_t cancel_ns; /* when cancel is called next */
    uint64_t pause_ns;  /* pause before the next call of cancel */
    uint64_t tell_ns;   /* when the log is told */
    int told;
    int inside;     /* the reporter's own function is running */
    int cancelling; /* the reporter's cancel is being called */
} crest_watched;

typedef struct crest_attachment {
    struct crest_attachment *next;
    crest_one_report order; /* what is reported, and to which reporter */
    int owned;              /* the reporter is freed with the attachment */
    int server;             /* the reporter serves by itself: no thread, and no reports */
    int loop;               /* the host's loop takes its turns: no thread either */
    int cancels;            /* the reporter has a cancel */
    char *name, *include, *exclude;
    crest_pace pace;
    crest_watched watched;
    uint64_t timeout_ns;
    pthread_t thread;
    pthread_cond_t wake;
    uint64_t stop_ns; /* the deadline of stopping */
    int attaching;    /* the reporter's start is being called; there is no thread yet */
    int stopping;
    int discard;   /* stop without a last report */
    int detaching; /* a caller waits for its end and will free it */
    int abandoned; /* that caller gave up: the thread frees it */
    int orphaned;  /* this is a forked child: nothing here belongs to it */
    int ended;
    crest_request *waiting;
    crest_request *serving;
    crest_reporter_state state;
    crest_delivery delivery; /* what was delivered, as the registry sees it */
    crest_status last_status;
} crest_attachment;

/* Guards the list, every attachment in it and every request. No report, log callback, record or
 * snapshot happens under it. */
extern pthread_mutex_t crest_attachments_lock;
extern crest_attachment *crest_attachments;
/* A request was served, or a thread has ended. */
extern pthread_cond_t crest_attachments_changed;

/* Call it before any of these are used. */
void crest_attachments_prepare(void);

/* The clock of all times here: CLOCK_MONOTONIC, until a test steps it. With the wall clock beside
 * it, for schedules. */
uint64_t crest_attachment_now_ns(void);
crest_pace_time crest_attachment_time(void);

/* Under the lock, given up meanwhile: waits for a signal or until then. */
void crest_attachment_wait(pthread_cond_t *condition, uint64_t until_ns);

/* For tests: stops that clock and steps it by `ns`, which wakes all that wait. Takes the lock. */
void crest_attachment_step(uint64_t ns);

/* A new attachment, neither in the list nor running; NULL without memory. `schedule` is valid; all
 * is copied. */
crest_attachment *crest_attachment_new(crest_registry *registry, crest_reporter *reporter,
                                       const char *name, const crest_schedule *schedule);
/* No thread may be running. Frees the reporter too if the attachment owns it. */
void crest_attachment_free(crest_attachment *attachment);

/* Under the lock: takes it off the list. */
void crest_attachment_unlink(const crest_attachment *attachment);

#endif
