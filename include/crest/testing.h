/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For tests of instrumented programs: values by name and labels, growth since a mark, a frozen
 * clock, ticks without waiting, and a reporter that keeps what it was given.
 *
 *     crest_testing_mark *before = crest_testing_mark_take(NULL);
 *     send_ping();
 *     crest_error error;
 *     if (crest_testing_grew(before, 1, &error, "comm.messages", "kind", "ping", NULL) != CREST_OK)
 *         fail_msg("%s", error.message);
 *     crest_testing_mark_free(before);
 *
 * Values are cumulative and a process has one default registry, so tests that run one after the
 * other see each other's records: assert growth since a mark, or give each test a registry of its
 * own (crest_registry_new).
 *
 * Effects on the process: reading has none. The clock and the ticks change what every thread of the
 * process measures, so use them in tests only. It is in libcrest itself, a few KiB that only run
 * when called, so that a test links what the program links.
 */
#ifndef CREST_TESTING_H
#define CREST_TESTING_H

#include <crest/reporter.h>
#include <crest/window.h>

/* Label pairs of one call. */
#define CREST_TESTING_LABELS_MAX 16u
/* Reports that a capturing reporter keeps; of more, the latest. */
#define CREST_TESTING_REPORTS_MAX 64u

/* The names or series that a CREST_NOT_FOUND lists at most. */
#define CREST_TESTING_NEAR_MAX 4u

/* One series as it is now, or as it grew; what its kind does not have is 0. */
typedef struct crest_testing_reading {
    crest_kind kind;
    uint64_t counter;          /* since the mark, if there is one */
    double gauge;              /* now */
    int64_t current;           /* of a range sampler, now */
    uint64_t count, sum;       /* of a distribution, since the mark, if there is one */
    uint64_t minimum, maximum; /* likewise; since a mark to the bucket's precision */
    crest_window window;       /* now; see crest_testing_tick */
} crest_testing_reading;

/* Where a registry stood when the mark was taken. */
typedef struct crest_testing_mark crest_testing_mark;

CREST_BEGIN_C

/*
 * ---- values ----
 *
 * In all of these: `registry` NULL is the default one; `name` is the canonical name, prefix
 * included; after it come label keys and values by turns, in any order, and a final NULL:
 *     "comm.messages", "peer", "10.0.0.7", "kind", "ping", NULL
 *     "comm.connect-time", "outcome", "ok", NULL
 * Labels that are not named may have any value, as long as one series matches. `error` may be NULL.
 * They take a snapshot: callbacks of polls run (poll.h). Thread-safe; allocate; not for signal
 * handlers.
 *
 * CREST_NOT_FOUND when no series matches: the message lists names, or label values, that are close.
 * CREST_MISMATCH when several match, and the message lists some. CREST_INVALID_ARGUMENT for a key
 * without a value or too many labels, CREST_NO_MEMORY.
 */

/* A mark at the registry as it is now, owned by the caller; NULL without memory, which the
 * functions below read as "from the beginning". Free it before the registry. */
CREST_API crest_testing_mark *crest_testing_mark_take(crest_registry *registry);
CREST_API void crest_testing_mark_free(crest_testing_mark *mark);

/* Fills *reading; all zero on failure. With a mark `since`, counter, count and sum are what was
 * added after it; the registry is then the mark's and `registry` is not looked at. A series that
 * came into being after the mark grew from 0. */
CREST_API crest_status crest_testing_read(crest_registry *registry, const crest_testing_mark *since,
                                          crest_testing_reading *reading, crest_error *error,
                                          const char *name, ...) __attribute__((sentinel));

/* The value at or below which the fraction q (0 to 1) of a distribution's records lies, of those
 * after the mark if there is one; within the metric's precision; 0 when there are none.
 * CREST_TYPE_CLASH for a series that is no distribution. */
CREST_API crest_status crest_testing_quantile(crest_registry *registry,
                                              const crest_testing_mark *since, double q,
                                              uint64_t *value, crest_error *error, const char *name,
                                              ...) __attribute__((sentinel));

/* CREST_OK when the counter, or the count of the histogram or timer, has grown by exactly `by`
 * since the mark. Otherwise CREST_MISMATCH, with both numbers in the message; CREST_TYPE_CLASH for
 * gauges and range samplers, CREST_INVALID_ARGUMENT without a mark. */
CREST_API crest_status crest_testing_grew(const crest_testing_mark *since, uint64_t by,
                                          crest_error *error, const char *name, ...)
    __attribute__((sentinel));

/*
 * ---- time ----
 */

/* Freezes crest_now() at `ns` (1 or more; 0 counts as 1), for all threads. Timings that run across
 * this call, or across crest_testing_clock_real, measure nothing of use. Until the next tick a
 * measured mutex that was locked before is held in real time. Waiting threads, as for the schedules
 * of reporters, wait in real time. Thread-safe. */
CREST_API void crest_testing_clock_set(uint64_t ns);
/* Moves the frozen clock on by `ns`; a running clock is frozen first, where it is. */
CREST_API void crest_testing_clock_advance(uint64_t ns);
/* Freezes the wall clock (crest_gauge_set_to_now, the times of snapshots) at `ns` since 1970;
 * crest_testing_clock_advance moves it too. 0: it runs. */
CREST_API void crest_testing_clock_set_wall(uint64_t ns);
/* Lets the wall clock run `ns` ahead of the real one (negative: behind) and from now on so many
 * parts per billion too fast, as on another machine: for tests of stamps and peer clocks. Twice 0
 * ends that; a wall clock frozen by crest_testing_clock_set_wall stays frozen. */
CREST_API void crest_testing_clock_shift_wall(int64_t ns, int64_t parts_per_billion);
/* Gives the real clocks back. */
CREST_API void crest_testing_clock_real(void);

/*
 * Ticks at once: takes a reading of the registry into its windows, as the ticker does once a
 * second, at the time that crest_now() says. So rates and windows can be tested without sleeping.
 * The first call makes the registry observed, without starting a thread, and its windows begin
 * there. From then on the ticker's thread, if there is one, leaves the registry alone until
 * crest_ticker_detach; call that once afterwards unless the registry had been attached before.
 * CREST_LIMIT, CREST_NO_MEMORY. Thread-safe; locks; allocates.
 */
CREST_API crest_status crest_testing_tick(crest_registry *registry);

/*
 * ---- reports ----
 *
 * A reporter that keeps the page of each report, and fails as often as it is told. It is an
 * ordinary reporter: attach it, or hand it to crest_report_once, and free it with
 * crest_reporter_free after detaching.
 */

typedef struct crest_testing_reporter_options {
    /* copied; NULL: "testing" */
    const char *name CREST_DEFAULT_(NULL);
    /* looks at each report, on the reporter's thread, before it is kept; a status other than
       CREST_OK is the report's, which is kept all the same. NULL: none */
    crest_status (*inspect)(const crest_report *report, void *context, crest_error *error)
        CREST_DEFAULT_(NULL);
    /* called by the reporter's stop; its status is stop's. NULL: none */
    crest_status (*stop)(void *context, crest_error *error) CREST_DEFAULT_(NULL);
    void *context CREST_DEFAULT_(NULL);
    /* non-zero: reports have the previous snapshot, for `inspect` to look at with
       crest_report_previous */
    int deltas CREST_DEFAULT_(0);
} crest_testing_reporter_options;

/* One report that was kept. */
typedef struct crest_testing_report {
    /* text format 0.0.4, windows included unless it was the final one; NUL-terminated */
    const char *page;
    crest_status answer;                      /* what the reporter answered */
    int final;                                /* it was the last one before stop */
    uint64_t time_ns;                         /* crest_now() when it was made */
    uint64_t left_ns;                         /* to its deadline, from then */
    const char *service, *version, *instance; /* the resource that reports */
} crest_testing_report;

/* NULL when there is no memory; options NULL for defaults. Owned by the caller. */
CREST_API crest_reporter *crest_testing_reporter_new(const crest_testing_reporter_options *options);

/* The next `times` reports fail with `status` and this reason (copied; NULL: the status' text); 0
 * ends that. Thread-safe, as all of these. */
CREST_API void crest_testing_reporter_fail(crest_reporter *reporter, unsigned times,
                                           crest_status status, const char *reason);

/* How many reports it got, failed ones included, and how often it was stopped. */
CREST_API size_t crest_testing_reporter_count(const crest_reporter *reporter);
CREST_API size_t crest_testing_reporter_stops(const crest_reporter *reporter);

/* Waits until it got this many `reports`; CREST_TIMED_OUT after deadline_ms. */
CREST_API crest_status crest_testing_reporter_wait(const crest_reporter *reporter, size_t reports,
                                                   uint64_t deadline_ms);

/* Fills *report with the index-th report, from 0; borrowed until the reporter is freed or
 * CREST_TESTING_REPORTS_MAX more have come. CREST_NOT_FOUND, and all zero, for a report that has
 * not come or is no longer kept. */
CREST_API crest_status crest_testing_reporter_get(const crest_reporter *reporter, size_t index,
                                                  crest_testing_report *report);

/* The value in a page of the line that begins with `series`, name and labels as they are exported:
 * "comm_messages_total{kind=\"ping\",peer=\"10.0.0.7\"}". CREST_NOT_FOUND, and 0. A pure function
 * of its arguments. */
CREST_API crest_status crest_testing_page_value(const char *page, const char *series,
                                                double *value);

CREST_END_C

#ifdef CREST_DISABLE
#include <crest/off/testing_off.h>
#endif

#endif
