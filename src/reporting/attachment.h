/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attached reporters: what is known of each, their list, and its lock. The inside of reporting.c;
 * what their threads do is in reporter_thread.c, and watching them in report_watchdog.c.
 *
 * Who owns an attachment: the list, until its thread has ended; then whoever detaches it, after
 * joining the thread. When a report hangs and the detaching call gives up, the thread is left
 * behind (abandoned) and owns it instead; all that it then touches is the attachment itself, never
 * the reporter. So nothing is freed that anybody still uses, and nobody waits past a deadline.
 */
#ifndef CREST_ATTACHMENT_H
#define CREST_ATTACHMENT_H

#include "reporting/one_report.h"
#include "reporting/report_schedule.h"
#include "registry/delivered.h"

#include <pthread.h>

/* Somebody waiting in crest_report_now, on the waiter's own stack. */
typedef struct crest_request {
    struct crest_request *next;
    int served;
    crest_status status;
    crest_error *error; /* may be NULL */
} crest_request;

/* A report under way, as report_watchdog.c sees it. */
typedef struct crest_watched {
    uint64_t since_ns;  /* 0: none is */
    uint64_t until_ns;  /* its deadline */
    uint64_t cancel_ns; /* when the reporter is to be told to give up, next */
    uint64_t pause_ns;  /* until it is told again */
    uint64_t tell_ns;   /* when it is told of */
    int told;
    int inside;     /* the reporter's own function is running */
    int cancelling; /* its cancel is being called */
} crest_watched;

typedef struct crest_attachment {
    struct crest_attachment *next;
    crest_one_report order; /* what is reported, and to whom */
    int owned;              /* the reporter is freed with the attachment */
    int server;             /* it serves by itself: there is no thread, and no report is made */
    int loop;               /* the host's loop does it: there is no thread either */
    int cancels;            /* it has a cancel */
    char *name, *include, *exclude;
    crest_pace pace;
    crest_watched watched;
    uint64_t timeout_ns;
    pthread_t thread;
    pthread_cond_t wake;
    uint64_t stop_ns; /* the deadline of stopping */
    int attaching;    /* its start is being called, and there is no thread yet */
    int stopping;
    int discard;   /* stop without a last report */
    int detaching; /* somebody is waiting for its end and will free it */
    int abandoned; /* nobody is any more: the thread frees it */
    int orphaned;  /* this is a forked child: nothing here belongs to it */
    int ended;
    crest_request *waiting;
    crest_request *serving;
    crest_reporter_state state;
    crest_delivery delivery; /* what it has delivered, as the registry sees it */
    crest_status last_status;
} crest_attachment;

/* Guards the list, every attachment in it and every request. No report, log callback, record or
 * snapshot happens under it. */
extern pthread_mutex_t crest_attachments_lock;
extern crest_attachment *crest_attachments;
/* A request was served, or a thread has ended. */
extern pthread_cond_t crest_attachments_changed;

/* To be called before any of these are used. */
void crest_attachments_prepare(void);

/* CLOCK_MONOTONIC, on which all times here are; and with it the wall clock, for schedules. */
uint64_t crest_attachment_now_ns(void);
crest_pace_time crest_attachment_time(void);

/* Waits with the lock given up; non-zero when until_ns has come. */
int crest_attachment_wait(pthread_cond_t *condition, uint64_t until_ns);

/* NULL when there is no memory; neither in the list nor running. `schedule` is valid; all is
 * copied. */
crest_attachment *crest_attachment_new(crest_registry *registry, crest_reporter *reporter,
                                       const char *name, const crest_schedule *schedule);
/* No thread may be running. Frees the reporter too if it is owned. */
void crest_attachment_free(crest_attachment *attachment);

/* Under the lock: takes it off the list. */
void crest_attachment_unlink(const crest_attachment *attachment);


#endif
