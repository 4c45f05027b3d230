/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading: a snapshot is an immutable, sorted, self-contained view of a registry. Everything in it
 * is cumulative since the process began; nothing is reset by reading, so readers never disturb each
 * other.
 *
 *     crest_snapshot *snapshot = crest_snapshot_take(NULL);
 *     for (size_t i = 0; i < crest_snapshot_size(snapshot); i++) {
 *         crest_series_view series;
 *         crest_snapshot_series(snapshot, i, &series);
 *         ...
 *     }
 *     crest_snapshot_free(snapshot);
 */
#ifndef CREST_SNAPSHOT_H
#define CREST_SNAPSHOT_H

#include <crest/distribution.h>
#include <crest/registry.h>

typedef struct crest_snapshot crest_snapshot;

/* What happened in a fixed time before the snapshot; see window.h. */
typedef struct crest_window {
    /* how much of the window has been observed; 0: nothing yet, and all else is 0 */
    double covered_s;
    double per_second; /* events per second over the covered time */
    double peak;       /* the highest rate of a single tick in the window */
    double average;    /* distributions: mean of the values recorded, in the metric's unit; 0: none.
                        range samplers: mean of the values that stood, weighted by time */
    double maximum;    /* distributions: the largest value recorded, in the metric's unit; 0: none.
                        range samplers: the highest value that stood */
    uint64_t events;   /* counter: its growth; distribution: values recorded; else 0 */
    double minimum;    /* range samplers: the lowest value that stood */
    crest_op slowest;  /* timers: the operation that took `maximum`; CREST_OP_NONE: it had no id */
    /* distributions: the quantiles that the metric asked for, in its order and unit; 0: no value
       was recorded */
    double quantiles[CREST_QUANTILES_MAX];
} crest_window;

/* Windows of different length that are kept at most. */
#define CREST_WINDOWS_MAX 3u

/* One series of a snapshot. All pointers are borrowed until the snapshot is freed. */
typedef struct crest_series_view {
    const char *name;        /* canonical, prefix included */
    const char *exported;    /* base exported name, before qualifier, unit and _total */
    const char *description; /* "" if none */
    crest_kind kind;
    crest_unit unit;
    unsigned label_count; /* the registry's come first; a timer's includes `outcome`, last */
    const char *const *label_keys;
    const char *const *label_values;
    const crest_buckets
        *buckets;     /* distributions: bounds of the exported buckets, in the base unit */
    uint64_t counter; /* a counter's value, in the metric's unit */
    double gauge;     /* a gauge's value */
    int64_t current;  /* a range sampler's value */
    const crest_distribution *distribution; /* of histograms and timers, else NULL */
    crest_window window;                    /* the 1m window; covered_s 0 if there is no ticker */
    const double *quantiles; /* that the windows give, up to the first 0; NULL: none */
    uint64_t life; /* the same in all snapshots of one life of a series, and in no other: a series
                      that goes and comes back begins at zero, with a new life. Never 0 */
    int open;      /* non-zero: of an open family; a label whose value is "" is absent */
    crest_native_mode native; /* distributions: what the metric asks for, and its factor; 0: none */
    double native_factor;
} crest_series_view;

CREST_BEGIN_C

/* Takes a snapshot; NULL is the default registry. NULL when there is no memory, which the functions
 * below read as a snapshot of nothing. It contains at least what was recorded before the call.
 * Owned by the caller. Thread-safe; allocates; recording goes on undisturbed. Cost: about a load
 * per series and thread table. For a registry with polls (poll.h) it waits, at most
 * CREST_POLL_ROUND_MS. */
CREST_API crest_snapshot *crest_snapshot_take(crest_registry *registry);
/* The same with only the results of windows that a page has (page.h's enumeration).
 * CREST_PAGE_WINDOWS_RANGES: those of range samplers, and of timers, whose slowest operations are
 * exemplars in OpenMetrics. The others then cost nothing. */
CREST_API crest_snapshot *crest_snapshot_take_windows(crest_registry *registry, int windows);
CREST_API void crest_snapshot_free(crest_snapshot *snapshot);

/* Series in it, sorted by exported name, then label values; the series of a metric are adjacent. */
CREST_API size_t crest_snapshot_size(const crest_snapshot *snapshot);
/* When it was taken: crest_now(), and the wall clock in nanoseconds since 1970. */
CREST_API uint64_t crest_snapshot_time_ns(const crest_snapshot *snapshot);
CREST_API uint64_t crest_snapshot_wall_ns(const crest_snapshot *snapshot);

/* Fills *view with series `index`; CREST_INVALID_ARGUMENT past the end. */
CREST_API crest_status crest_snapshot_series(const crest_snapshot *snapshot, size_t index,
                                             crest_series_view *view);

/* The seconds of the windows that the snapshot has, the shortest first, and how many there are: 0
 * while the registry is not observed (window.h). Thread-safe, as all that reads a snapshot. */
CREST_API unsigned crest_snapshot_windows(const crest_snapshot *snapshot,
                                          unsigned window_s[CREST_WINDOWS_MAX]);

/* Fills *window with what the window of so many seconds (60, 300, 900) says of series `index`.
 * CREST_NOT_FOUND, and all zero, if the snapshot does not have that window, or the series has none;
 * CREST_INVALID_ARGUMENT past the end. */
CREST_API crest_status crest_snapshot_window(const crest_snapshot *snapshot, size_t index,
                                             unsigned window_s, crest_window *window);

/* Finds a series by canonical name and label values (`count` of them, in the order of the keys; a
 * timer's include the outcome; the registry's constant ones may be left out; NULL counts as "").
 * CREST_NOT_FOUND if there is none; *view is then zeroed. Cost: a look-up of the name and two
 * binary searches, among the metrics and among the series of this one. */
CREST_API crest_status crest_snapshot_find(const crest_snapshot *snapshot, const char *name,
                                           const char *const *values, unsigned count,
                                           crest_series_view *view);

/*
 * Narrows the caller's own snapshot to the series whose canonical names match a pattern in
 * `include` (NULL or "": all do) and none in `exclude`. Patterns are separated by blanks or ':';
 * '*' stands for any bytes, '?' for one: "comm.* rspace.*:casper.?". Pointers of views made before
 * are no longer good. CREST_OK for NULL too; CREST_NO_MEMORY, and nothing is changed. No other
 * thread may use the snapshot meanwhile; allocates: 9 bytes a series that is left, 32 a metric.
 */
CREST_API crest_status crest_snapshot_select(crest_snapshot *snapshot, const char *include,
                                             const char *exclude);

CREST_END_C

#ifdef CREST_DISABLE
#include <crest/off/snapshot_off.h>
#endif

#endif
