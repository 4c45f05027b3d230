/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The thread that runs polls, and rounds of them. The inside of <crest/poll.h>; what a poll does
 * with a value is in polls.c.
 *
 * Who owns a poll: the list, until it is stopped; then whoever runs it, if that is the callback
 * that stopped itself, else whoever stops it, who waits until nobody runs it.
 *
 * One thread is the poller at a time. When its callback overruns while somebody waits, another
 * thread becomes the poller and goes on with the round; the first one is late, and ends when its
 * callback comes back. So a round is of no thread: what is left of it is marked in the polls.
 */
#ifndef CREST_POLLER_H
#define CREST_POLLER_H

#include "registry/metric_inside.h"
#include <crest/poll.h>

#include <pthread.h>

typedef enum crest_poll_kind {
    CREST_POLL_GAUGE,
    CREST_POLL_COUNTER,
    CREST_POLL_HISTOGRAM,
    CREST_POLL_RANGE_SAMPLER,
    CREST_POLL_EVERY
} crest_poll_kind;

typedef union crest_poll_value {
    double gauge;
    uint64_t count;
    int64_t value;
} crest_poll_value;

struct crest_poll {
    struct crest_poll *next;
    struct crest_poll *next_running;
    char *name;
    crest_poll_kind kind;
    union {
        crest_gauge_poll_fn *gauge;
        crest_counter_poll_fn *count;
        crest_value_poll_fn *value;
        crest_poll_fn *every;
    } fn;
    void *context;
    union {
        crest_handle *any;
        crest_gauge *gauge;
        crest_counter *counter;
        crest_histogram *histogram;
        crest_range_sampler *sampler;
    } handle;
    const crest_registry_state *registry; /* the handle's; NULL: none */
    crest_counter *overruns, *resets;     /* what is exported about it */
    uint64_t budget_ns;
    uint64_t interval_ns; /* 0: with each snapshot */
    uint64_t due_ns;
    uint64_t last; /* count of a counter's source */
    int counted;   /* there is a last */
    int from_now;
    int loop; /* called by the host's loop alone */
    /* all below: under the poller's lock */
    crest_poll_state state;
    pthread_t runner; /* while state.running */
    uint64_t began_ns;
    uint32_t penalty; /* rounds to leave out after the next overrun, halved */
    uint32_t skip;    /* rounds to leave out now */
    int wanted;       /* in the round that is under way */
    uint64_t tried;   /* the last round without a poller that tried it */
    int ended;        /* not to be called again */
    int lost;       /* nor is what a call that runs gives of use: the registry was freed, or this is
                         the child of a fork that cut the call off */
    int overran;    /* the call that is running has been counted as one */
    int late;       /* its runner is no longer the poller */
    int own;        /* stopped by its own callback: the runner frees it */
    int told, tell; /* of its overruns, to the log callback */
};

/* polls.c: calls back, without a lock. */
crest_poll_value crest_poll_call(const crest_poll *poll);
/* polls.c: records the value, under the poller's lock. */
void crest_poll_apply(crest_poll *poll, crest_poll_value value);
void crest_poll_free(crest_poll *poll);

/* Takes a poll into the list and sees to the thread. CREST_LIMIT. */
crest_status crest_poller_add(crest_poll *poll);

/* A round of the registry's polls, of which the snapshot that follows shows the results. Waits at
 * most CREST_POLL_ROUND_MS; holds no lock when it calls. Does nothing on the poller's thread and in
 * callbacks. Without any poll: one load. */
void crest_poller_round(const crest_registry_state *registry);

/* A turn of the host's loop (host_loop.h): calls what is due of the polls that are the loop's, and
 * of all that have an interval where there are no threads, for CREST_POLL_ROUND_MS at most. When
 * the next one is due. */
uint64_t crest_poller_turn(void);

/* The registry is being freed: its polls are not called any more. A call that is running is not
 * waited for. */
void crest_poller_forget(const crest_registry_state *registry);

/* In the child of a fork, after the poller's own handler: the poll is not called any more. It is
 * freed by crest_poll_stop as ever, which such a handler may not call. */
void crest_poller_orphan(crest_poll *poll);

/* crest_start: the child of a fork may have a poller again. Where threads are forbidden, the one
 * that there is ends. */
void crest_poller_resume(void);

#endif
