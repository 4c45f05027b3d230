/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Polls: values that nobody records because somebody has them already: the length of a queue, what
 * the kernel or another library counts. A callback fetches them, with each snapshot or at an
 * interval of its own.
 *
 *     static double queue_length(void *queue) { return (double)queue_size(queue); }
 *
 *     crest_poll *poll = crest_gauge_poll(&length, queue_length, queue, NULL, NULL);
 *     ...
 *     crest_poll_stop(poll);
 *     queue_free(queue);
 *
 * What can be recorded where it happens should be: a poll sees what stands at the moment it looks,
 * and a callback that is slow makes figures late. Callbacks run one after the other on one thread
 * of the library's own, "crest-poller", which blocks all signals. Registering the first poll asks
 * for it; it ends with the last. No lock is held meanwhile: a callback may record, register
 * metrics, take snapshots (whose polled values are those of before), stop itself or others, start
 * and stop reporters. Where no thread can be had, and in the child of a fork until it registers a
 * poll or calls crest_start, callbacks run on the thread that takes a snapshot. Those registered
 * with .loop run on the host's, when that calls crest_loop_run; with threads=off all that have an
 * interval do, see loop.h.
 *
 * Nobody waits long for them. A snapshot, and so a report, a page, or a tick, asks for a round of
 * the polls of its registry and waits for it no longer than CREST_POLL_ROUND_MS. A callback that
 * takes longer than its budget has overrun: it is counted in crest_poll_overruns_total, named once
 * to the log callback, and left out of the next round, then of the next two, four and so on; each
 * call in time halves that. One that does not come back holds up nobody: whoever takes the next
 * snapshot, the ticker each second for one, has another thread take its place, and it is not called
 * again until it has come back.
 *
 * A snapshot contains the values of callbacks that came back by then, and for the others what they
 * gave last. In the child of a fork, a poll whose callback was running in the parent is not called
 * again.
 */
#ifndef CREST_POLL_H
#define CREST_POLL_H

#include <crest/range_sampler.h>
#include <crest/registry.h>

/* Polls at a time. */
#define CREST_POLLS_MAX 1000u
/* Bytes of a poll's name; longer ones are cut. */
#define CREST_POLL_NAME_BYTES_MAX 255u
/* What a callback may take unless its options say otherwise, and what they may say. */
#define CREST_POLL_BUDGET_MS_DEFAULT 10u
#define CREST_POLL_BUDGET_MS_MAX 60000u
/* What a snapshot waits for all of them. */
#define CREST_POLL_ROUND_MS 50u
/* An interval of one's own. */
#define CREST_POLL_INTERVAL_MS_DEFAULT 1000u
#define CREST_POLL_INTERVAL_MS_MIN 10u
#define CREST_POLL_INTERVAL_MS_MAX 86400000u
/* Instead of an interval, for crest_poll_every: with each snapshot, as gauges are polled. */
#define CREST_POLL_EACH_SNAPSHOT UINT32_MAX
/* Rounds that a poll which keeps overrunning is left out of. */
#define CREST_POLL_SKIP_MAX 64u
/* Threads whose callbacks have overrun and not come back; while there are so many, no further one
 * is replaced, and rounds wait in vain. */
#define CREST_POLL_LATE_MAX 4u

/* What a counter's and a value's callback return when there is nothing to tell: nothing changes. */
#define CREST_POLL_NO_COUNT UINT64_MAX
#define CREST_POLL_NO_VALUE INT64_MIN

typedef struct crest_poll crest_poll;

/* Callbacks; `context` is what the poll was registered with. */
/* The value now. NaN is not applied and is counted as misuse. */
typedef double crest_gauge_poll_fn(void *context);
/* What has been counted in all, by the source's own count. */
typedef uint64_t crest_counter_poll_fn(void *context);
/* The value to record, or to set. */
typedef int64_t crest_value_poll_fn(void *context);
/* Does the recording itself. */
typedef void crest_poll_fn(void *context);

typedef struct crest_poll_options {
    /* in messages and the label `poll`; copied; NULL: the metric's name */
    const char *name CREST_DEFAULT_(NULL);
    /* CREST_POLL_INTERVAL_MS_MIN to _MAX; 0: with each snapshot for gauges and counters, else
       CREST_POLL_INTERVAL_MS_DEFAULT. A point of time that passes unused is left out, never made
       up for. crest_poll_every takes CREST_POLL_EACH_SNAPSHOT too */
    uint32_t interval_ms CREST_DEFAULT_(0);
    /* 0: CREST_POLL_BUDGET_MS_DEFAULT; up to CREST_POLL_BUDGET_MS_MAX */
    uint32_t budget_ms CREST_DEFAULT_(0);
    /* counters: non-zero: the first count is where to begin, not something to add */
    int from_now CREST_DEFAULT_(0);
    /* crest_poll_every with CREST_POLL_EACH_SNAPSHOT: of which registry; NULL: the default one.
       Borrowed while the call lasts */
    struct crest_registry *registry CREST_DEFAULT_(NULL);
    /* non-zero: called by crest_loop_run (loop.h) alone, on the host's own thread, and shown by
       snapshots as of then; interval_ms 0 is CREST_POLL_INTERVAL_MS_DEFAULT for all kinds, and
       CREST_POLL_EACH_SNAPSHOT is refused. What is late is not replaced by another thread */
    int loop CREST_DEFAULT_(0);
} crest_poll_options;

/* How a poll is doing. */
typedef struct crest_poll_state {
    uint64_t calls;            /* that came back */
    uint64_t overruns;         /* that took longer than the budget, or still do */
    uint64_t skipped;          /* rounds, or points of time, left out because of overruns */
    uint64_t resets;           /* of a counter's source */
    uint64_t last_duration_ns; /* of the last call that came back */
    int running;               /* a call is under way */
} crest_poll_state;

CREST_BEGIN_C

/*
 * In all of these: the handle is borrowed until the poll is stopped or the handle's registry freed,
 * whichever is first; freeing a registry ends the calls of its polls, but each still needs its
 * crest_poll_stop. `context` is the caller's, until crest_poll_stop has returned. options NULL for
 * defaults. status: NULL if not wanted. The poll is owned by the caller and ended by
 * crest_poll_stop. NULL, which crest_poll_stop takes, and *status on failure:
 * CREST_INVALID_ARGUMENT, CREST_LIMIT, CREST_NO_MEMORY, or why the handle records nowhere.
 * Thread-safe, from callbacks too; not for signal handlers. Cost: locks, allocates; the first
 * starts the thread, one with .loop none.
 */

/* Sets the gauge to what the callback returns. */
CREST_API crest_poll *crest_gauge_poll(crest_gauge *gauge, crest_gauge_poll_fn *fn, void *context,
                                       const crest_poll_options *options, crest_status *status);

/*
 * Adds to the counter what the source has counted since the last call. The first call's count is
 * added as it is, so that the counter shows the source's own total; with .from_now it is only where
 * to begin, as Kamon's Counter.delta does, and the callback is called soon to learn it. A count
 * below the last one means that the source began again from zero: it is added as it is, and counted
 * in crest_poll_resets_total. One counter needs one source: other adds come on top.
 */
CREST_API crest_poll *crest_counter_poll(crest_counter *counter, crest_counter_poll_fn *fn,
                                         void *context, const crest_poll_options *options,
                                         crest_status *status);

/* Records what the callback returns, at its interval: the distribution of what stood there. */
CREST_API crest_poll *crest_histogram_poll(crest_histogram *histogram, crest_value_poll_fn *fn,
                                           void *context, const crest_poll_options *options,
                                           crest_status *status);

/* Sets the range sampler to what the callback returns, at its interval. The extremes are then of
 * what was seen: a peak between two calls is missed. Where the program knows of each change, it had
 * better call crest_range_sampler_add. */
CREST_API crest_poll *crest_range_sampler_poll(crest_range_sampler *sampler,
                                               crest_value_poll_fn *fn, void *context,
                                               const crest_poll_options *options,
                                               crest_status *status);

/*
 * Calls `fn` at its interval, to record whatever it wants; the name is required. With
 * CREST_POLL_EACH_SNAPSHOT it is called for each snapshot of the registry that its options name,
 * which shows what it recorded if it came back in time; when that registry is freed it is called
 * no more.
 */
CREST_API crest_poll *crest_poll_every(const char *name, crest_poll_fn *fn, void *context,
                                       const crest_poll_options *options, crest_status *status);

/*
 * Ends a poll, which is gone afterwards. A call that is running still counts, and is waited for:
 * when this returns, none is running, and what the callback uses may be freed. For a callback that
 * does not come back it waits for ever. From the callback itself it returns at once, and that call
 * is the last. CREST_NOT_FOUND for one that was stopped before. Two callbacks that stop each other
 * wait for ever. Thread-safe; blocks. NULL does nothing.
 */
CREST_API crest_status crest_poll_stop(crest_poll *poll);

/* Fills *state; CREST_NOT_FOUND, and zeros, for one that was stopped. Thread-safe; locks. */
CREST_API crest_status crest_poll_read(const crest_poll *poll, crest_poll_state *state);

CREST_END_C

#ifdef CREST_DISABLE
#include <crest/off/poll_off.h>
#endif

#endif
