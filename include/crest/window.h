/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Windows: what happened over the last minute, and the last five and fifteen. The ticker, one
 * thread that crest_start or crest_ticker_attach starts, reads the cumulative values once a second.
 * A window is a difference of two such readings over the measured time between them, never a count
 * of samples.
 *
 * The 1m window has at most 60 ticks. The longer ones are made of bins of half a minute, and follow
 * each tick at once; they cover up to half a minute more than their length, and covered_s says how
 * much. After a late tick, or a suspension of the machine, that tick is as long as it was, and the
 * windows that hold it cover that much.
 *
 * Quantiles (crest_metric_options.quantiles) are of the records in the window and up to a tenth of
 * it before; they cost 33 copies of the series' counts, some 50 to 200 KiB.
 *
 *     crest_rate rate = crest_counter_rate(&events, 60);
 *     printf("%.1f/s, peak %.1f/s over %.0f s\n", rate.per_second, rate.peak, rate.covered_s);
 */
#ifndef CREST_WINDOW_H
#define CREST_WINDOW_H

#include <crest/snapshot.h>

/* Seconds of the shortest window, which is always kept; and milliseconds of a tick. */
#define CREST_WINDOW_S 60u
#define CREST_TICK_MS 1000u
/* Series of the process that windows are kept of, unless crest_windows_configure says otherwise. */
#define CREST_WINDOWED_SERIES_DEFAULT 20000u
#define CREST_WINDOWED_SERIES_MAX 4000000u

/* Which windows are kept, and of how many series. */
typedef struct crest_windows_options {
    /* seconds, up to the first 0: 60 and, if wanted, 300 and 900, ascending; none: as they are */
    unsigned window_s[CREST_WINDOWS_MAX + 1] CREST_DEFAULT_({});
    /* at most CREST_WINDOWED_SERIES_MAX; 0: as it is */
    unsigned series CREST_DEFAULT_(0);
} crest_windows_options;

typedef struct crest_rate {
    double per_second;
    double peak;
    double covered_s;
} crest_rate;

/* Bytes of a qualifier, the NUL included, and of a meaning. */
#define CREST_WINDOW_QUALIFIER_BYTES 24u
#define CREST_WINDOW_MEANING_BYTES 80u
/* Results of all windows of one metric: rate, peak, average, maximum and quantiles of each. */
#define CREST_WINDOW_RESULTS_MAX (CREST_WINDOWS_MAX * (4u + CREST_QUANTILES_MAX))

/*
 * A result of a window as it is exported: a gauge whose name is
 *     crest_exported_name(series.name, series.kind, series.unit, result.qualifier, …)
 * and whose value is the double at result.offset in the crest_window that crest_snapshot_window
 * fills for result.window_s.
 */
typedef struct crest_window_result {
    char qualifier[CREST_WINDOW_QUALIFIER_BYTES]; /* "rate1m", "max15m", "p99_9_5m" */
    char meaning[CREST_WINDOW_MEANING_BYTES]; /* "Per second, over the last minute": the begin of
                                                 its help */
    unsigned window_s;
    unsigned offset;
    /* distributions: non-zero: the result is about values, in the metric's unit, and there is none
       while the window has no event; 0: it counts events. Counters' rates are in the metric's unit
       too. */
    int of_values;
} crest_window_result;

CREST_BEGIN_C

/* Fills `results` with the results that windows of these seconds (as from crest_snapshot_windows)
 * have for a series of this metric, the shortest window's first. Returns how many: none for gauges.
 * A metric without windows has them on this list, but none in crest_snapshot_window. A pure
 * function of its arguments. */
CREST_API unsigned crest_window_results(const crest_series_view *series, const unsigned *window_s,
                                        unsigned windows,
                                        crest_window_result results[CREST_WINDOW_RESULTS_MAX]);

/*
 * Sets which windows registries have that are observed from now on, and at once how many series of
 * the process have them. Each tick gives free places, in the order of snapshots, to series that
 * have none. A series that has a place keeps it until it is gone, also when fewer are allowed.
 * Series without a place are counted in crest.windows-refused. crest_start's option `windows` does
 * this too. CREST_INVALID_ARGUMENT, and nothing is changed. Thread-safe.
 */
CREST_API crest_status crest_windows_configure(const crest_windows_options *options);

/* Makes the ticker observe the registry (NULL: the default one), starting it if needed; a reading
 * is taken before the call returns. Reference-counted by registry. crest_start does it for the
 * default registry. CREST_NO_MEMORY, CREST_SYSTEM (no thread). Thread-safe; locks; allocates. */
CREST_API crest_status crest_ticker_attach(crest_registry *registry);
/* Undoes one attach; the last one of all ends the thread. CREST_NOT_FOUND if it is not attached. */
CREST_API crest_status crest_ticker_detach(crest_registry *registry);

/* The counter's rate over the window; window_s is 60, 300 or 900. All zero while the counter's
 * registry is not observed, or that window is not kept, or not for this series. Thread-safe;
 * locks. */
CREST_API crest_rate crest_counter_rate(const crest_counter *counter, unsigned window_s);

/* The window of a histogram, or of a timer's outcome: as crest_counter_rate, and with the window's
 * exact maximum and, where the timer knew one, the id of the operation that took so long. A record
 * made while the ticker read is known to its bucket for one tick, and has no id for that tick. */
CREST_API crest_window crest_histogram_window(const crest_histogram *histogram, unsigned window_s);
CREST_API crest_window crest_timer_window(const crest_timer *timer, crest_outcome outcome,
                                          unsigned window_s);

/*
 * The range sampler's minimum, maximum and average, weighted by time, from one tick to another; the
 * value that stood at either end counts. A window without updates has the standing value in all
 * three. An update whose thread was preempted inside it may show one tick late. What was before the
 * ticker observed the registry is in no window; of a sampler made later all is, from its creation
 * on. All zero while the registry is not observed, or has no window of window_s. Thread-safe;
 * locks.
 */
CREST_API crest_window crest_range_sampler_window(const crest_range_sampler *sampler,
                                                  unsigned window_s);

CREST_END_C

#ifdef CREST_DISABLE
#include <crest/off/window_off.h>
#endif

#endif
