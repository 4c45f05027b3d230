/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Polls: values that the program does not record, because they are already kept elsewhere: the
 * length of a queue, what the kernel or another library counts. A callback fetches them, with each
 * snapshot or at an interval of its own.
 *
 *     static double queue_length(void *queue) { return (double)queue_size(queue); }
 *
 *     crest_poll *poll = crest_gauge_poll(&length, queue_length, queue, NULL, NULL);
 *     ...
 *     crest_poll_stop(poll);
 *     queue_free(queue);
 *
 * Record where it happens if you can: a poll sees only what stands at the moment it looks, and a
 * slow callback makes figures late.
 *
 * Threads. Callbacks run one after the other on one thread of the library's own, "crest-poller",
 * which blocks all signals. The first poll starts it; it ends with the last. No lock is held
 * meanwhile: a callback may record, register metrics, take snapshots (with the polled values of the
 * round before), stop itself or others, start and stop reporters. Without a thread, callbacks run
 * on the thread that takes a snapshot. That is so where none can be had, and in the child of a fork
 * until it registers a poll or calls crest_start. Polls registered with .loop run on the host's
 * thread, in crest_loop_run. With threads=off all polls that have an interval do, see loop.h.
 *
 * Waiting is bounded. A snapshot (so also a report, a page, or a tick) asks for a round of its
 * registry's polls. It waits for that no longer than CREST_POLL_ROUND_MS. A callback that takes
 * longer than its budget has overrun:
 *
 * 1. It is counted in crest_poll_overruns_total, and named once to the log callback.
 * 2. It is left out of the next round, then of the next two, four and so on; each call in time
 *    halves that.
 * 3. If it does not come back, the next thread that takes a snapshot (the ticker does each second)
 *    starts a replacement for the poller thread. The callback is not called again until it has come
 *    back.
 *
 * A snapshot contains the values of callbacks that came back by then, and the previous values of
 * the others. In the child of a fork, a poll whose callback was running in the parent is not called
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
/* A callback's budget unless its options say otherwise, and the most that they may say. */
#define CREST_POLL_BUDGET_MS_DEFAULT 10u
#define CREST_POLL_BUDGET_MS_MAX 60000u
/* How long a snapshot waits for all callbacks of its round. */
#define CREST_POLL_ROUND_MS 50u
/* A poll's own interval. */
#define CREST_POLL_INTERVAL_MS_DEFAULT 1000u
#define CREST_POLL_INTERVAL_MS_MIN 10u
#define CREST_POLL_INTERVAL_MS_MAX 86400000u
/* Instead of an interval, for crest_poll_every: with each snapshot, as gauges are polled. */
#define CREST_POLL_EACH_SNAPSHOT UINT32_MAX
/* Rounds that a poll which keeps overrunning is left out of. */
#define CREST_POLL_SKIP_MAX 64u
/* Threads whose callbacks have overrun and not come back. While there are so many, no further
 * thread is replaced, and rounds wait until their bound. */
#define CREST_POLL_LATE_MAX 4u

/* What a counter's or a value's callback returns when there is nothing to tell: nothing changes. */
#define CREST_POLL_NO_COUNT UINT64_MAX
#define CREST_POLL_NO_VALUE INT64_MIN

typedef struct crest_poll crest_poll;

/* Callbacks; `context` is what the poll was registered with. */
/* The value now. NaN is not applied and is counted as misuse. */
typedef double crest_gauge_poll_fn(void *context);
/* The source's total so far. */
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
    /* counters: non-zero: the first count is only the starting point, and is not added */
    int from_now CREST_DEFAULT_(0);
    /* crest_poll_every with CREST_POLL_EACH_SNAPSHOT: of which registry; NULL: the default one.
       Borrowed while the call lasts */
    struct crest_registry *registry CREST_DEFAULT_(NULL);
    /* non-zero: only crest_loop_run (loop.h) calls it, on the host's own thread, and snapshots show
       its last value; interval_ms 0 is CREST_POLL_INTERVAL_MS_DEFAULT for all kinds, and
       CREST_POLL_EACH_SNAPSHOT is refused. A late callback's thread is not replaced */
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
 * All of these: the handle is borrowed until the poll is stopped or the handle's registry freed,
 * whichever is first. Freeing a registry ends the calls of its polls, but each still needs its
 * crest_poll_stop. `context` is the caller's, and must live until crest_poll_stop has returned.
 * options NULL for defaults. status: NULL if not wanted. The poll is owned by the caller and ended
 * by crest_poll_stop. NULL, which crest_poll_stop takes, and *status on failure:
 * CREST_INVALID_ARGUMENT, CREST_LIMIT, CREST_NO_MEMORY, or why the handle records nowhere.
 * Thread-safe, from callbacks too; not for signal handlers. Cost: locks, allocates; the first
 * starts the thread, a poll with .loop none.
 */

/* Sets the gauge to what the callback returns. */
CREST_API crest_poll *crest_gauge_poll(crest_gauge *gauge, crest_gauge_poll_fn *fn, void *context,
                                       const crest_poll_options *options, crest_status *status);

/*
 * Adds to the counter what the source has counted since the last call. The first call's count is
 * added whole, so that the counter shows the source's own total. With .from_now it is only the
 * starting point, as in Kamon's Counter.delta, and the callback is called soon to learn it. A count
 * below the last one means that the source began again from zero: it is added whole, and counted in
 * crest_poll_resets_total. One counter needs one source: other adds come on top.
 */
CREST_API crest_poll *crest_counter_poll(crest_counter *counter, crest_counter_poll_fn *fn,
                                         void *context, const crest_poll_options *options,
                                         crest_status *status);

/* Records what the callback returns, at its interval: the distribution of what stood there. */
CREST_API crest_poll *crest_histogram_poll(crest_histogram *histogram, crest_value_poll_fn *fn,
                                           void *context, const crest_poll_options *options,
                                           crest_status *status);

/* Sets the range sampler to what the callback returns, at its interval. The extremes are then of
 * the values seen: a peak between two calls is missed. A program that knows of each change should
 * call crest_range_sampler_add instead. */
CREST_API crest_poll *crest_range_sampler_poll(crest_range_sampler *sampler,
                                               crest_value_poll_fn *fn, void *context,
                                               const crest_poll_options *options,
                                               crest_status *status);

/*
 * Calls `fn` at its interval, to record whatever it wants; the name is required. With
 * CREST_POLL_EACH_SNAPSHOT it is called for each snapshot of the registry that its options name.
 * The snapshot shows what `fn` recorded if it came back in time. When that registry is freed, `fn`
 * is called no more.
 */
CREST_API crest_poll *crest_poll_every(const char *name, crest_poll_fn *fn, void *context,
                                       const crest_poll_options *options, crest_status *status);

/*
 * Ends a poll, which is gone afterwards. A running call still counts, and is waited for: when this
 * returns, no call is running, and what the callback uses may be freed. For a callback that does
 * not come back it waits for ever. Called from the callback itself it returns at once, and that
 * call is the last. CREST_NOT_FOUND for a poll that was stopped before. Two callbacks that stop
 * each other wait for ever. Thread-safe; blocks. NULL does nothing.
 */
CREST_API crest_status crest_poll_stop(crest_poll *poll);

/* Fills *state; CREST_NOT_FOUND, and zeros, for a poll that was stopped. Thread-safe; locks. */
CREST_API crest_status crest_poll_read(const crest_poll *poll, crest_poll_state *state);

CREST_END_C

#ifdef CREST_DISABLE
#include <crest/off/poll_off.h>
#endif

#endif
