/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A poll: what it calls, what becomes of the value, and its state, which is the poller's.
 */
#ifndef CREST_POLL_VALUE_H
#define CREST_POLL_VALUE_H

#include "metrics/metric_inside.h"
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
    uint64_t last; /* previous count of a counter's source */
    int counted;   /* `last` holds a count */
    int from_now;
    int loop; /* only the host's loop calls it */
    /* all below: under the poller's lock */
    crest_poll_state state;
    pthread_t runner; /* while state.running */
    uint64_t began_ns;
    uint32_t penalty; /* rounds to leave out after the next overrun, halved */
    uint32_t skip;    /* rounds to leave out now */
    int wanted;       /* the round under way still has to call it */
    uint64_t tried;   /* the last inline round that tried it */
    int ended;        /* the poller does not call it again */
    int lost;         /* its running call's value is dropped: registry freed, or cut off by fork */
    int overran;      /* the running call has been counted as an overrun */
    int late;         /* its runner was replaced as poller */
    int own;          /* stopped by its own callback: the runner frees it */
    int told, tell;   /* of its overruns, to the log callback */
};

/* Calls the poll's callback, without a lock; blocks as long as the callback does. */
crest_poll_value crest_poll_call(const crest_poll *poll);
/* Records the value. The caller holds the poller's lock. */
void crest_poll_apply(crest_poll *poll, crest_poll_value value);
/* The poll must be in no list, and its callback must not be running. */
void crest_poll_free(crest_poll *poll);

#endif
