/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The contract between the framework (system.c, figures.c, collect_file.c) and a collector.
 *
 * A collector is a constant `crest_collector_kind` in its own file and a line in collectors.h. The
 * framework calls `collect` on the thread of polls, one call at a time. It also sees to everything
 * else: when it is called, what it costs, which readers ask for its metrics, forks, and the end.
 *
 *     enum { LOAD_1M, LOAD_5M, LOAD_15M };
 *     static const crest_figure load_figures[] = {
 *         {CREST_KIND_GAUGE, {.name = "host.load.average", .description = "…"}, {"period", "1m"}},
 *         …
 *     };
 *     static void load_collect(crest_collect *collect)
 *     {
 *         crest_text text;
 *         uint64_t value;
 *         if (!crest_collect_read(collect, CREST_ROOT_PROC, "loadavg", 0, &text))
 *             return;                                   counted and told already
 *         …
 *         crest_figure_gauge(collect->own, LOAD_1M, value);
 *     }
 *     const crest_collector_kind crest_load_collector = {
 *         .name = "load", .group = "load", .collect = load_collect,
 *         .figures = load_figures, .figure_count = CREST_FIGURES(load_figures)};
 *
 * A figure is one series. It is made when it is first given a value. A figure without a value in a
 * collection is withdrawn when that ends: it is in no snapshot until it is given a value again. So
 * a collector gives no value for what it could not read, and need do nothing else.
 */
#ifndef CREST_COLLECTOR_H
#define CREST_COLLECTOR_H

#include "system/parse/proc_text.h"

#include <crest/registry.h>
#include <dirent.h>

#include <stddef.h>

/* Bytes of a file that are read, at most. */
#define CREST_COLLECT_FILE_BYTES_MAX (1u << 20)
/* Devices of a collector (disks, mounts, interfaces), at most; further ones are left out and
 * counted. */
#define CREST_COLLECT_DEVICES_MAX 256u
/* Bytes of a device's name, its NUL included; longer ones are left out and counted. */
#define CREST_COLLECT_DEVICE_BYTES 256u
/* Figures of a collector, and of each of its devices, at most. */
#define CREST_COLLECT_FIGURES_MAX 96u

/* ---- what a collector declares ---- */

/* How wide the kernel keeps a cumulative count. Only a count known to have 32 bits can have wrapped
 * round; any other that goes down has begun again. */
typedef enum crest_figure_width {
    CREST_WIDTH_64 = 0,
    CREST_WIDTH_WORD, /* an unsigned long of the kernel */
    CREST_WIDTH_32
} crest_figure_width;

/* One series of a collector, or of each of its devices. */
typedef struct crest_figure {
    crest_kind kind; /* counter, gauge, histogram or range sampler */
    crest_metric_options options;
    crest_label label;        /* a further label with a constant value; key NULL: none */
    uint32_t scale;           /* counters: the value of one unit of the source; 0: 1 */
    crest_figure_width width; /* counters */
} crest_figure;

#define CREST_FIGURES(array) ((unsigned)(sizeof(array) / sizeof *(array)))

/* When a collector is called. The last two rest for a hundred times the processor time they took,
 * if that is longer than their interval: a walk over much memory takes a hundredth of a processor
 * at most. */
typedef enum crest_cadence {
    CREST_CADENCE_SNAPSHOT = 0, /* with each snapshot */
    CREST_CADENCE_INTERVAL,     /* with those that are `interval_ms` apart */
    CREST_CADENCE_SLOW          /* `slow_interval_ms` */
} crest_cadence;

typedef struct crest_collect crest_collect;

typedef struct crest_collector_kind {
    const char *name;  /* label `collector`; letters and dashes */
    const char *group; /* several collectors may share one */
    crest_cadence cadence;
    void (*collect)(crest_collect *collect);
    size_t state_bytes;          /* zeroed memory of its own, collect->state */
    void (*finish)(void *state); /* frees what the state holds; NULL: it holds nothing */
    const crest_figure *figures;
    unsigned figure_count;
    const char *device_key; /* the label of devices; NULL: no devices */
    const crest_figure *device_figures;
    unsigned device_figure_count;
    size_t device_bytes; /* zeroed memory for each device: crest_place_state */
} crest_collector_kind;

/* ---- what a collector's call gets ---- */

/* A place of series: the collector's own, or a device's. */
typedef struct crest_place crest_place;

typedef struct crest_collect_settings {
    const char *proc, *sys; /* roots, without a slash at the end */
    const char *mounts_exclude, *interfaces_exclude, *devices_exclude;
    uint64_t interval_ns, slow_interval_ns;
} crest_collect_settings;

struct crest_collect {
    const crest_collector_kind *kind;
    const crest_collect_settings *settings;
    void *state;
    crest_place *own;
    uint64_t now_ns; /* when this collection began, by crest_now() */
    /* Non-zero when this collection is one of those whose differences are recorded as consumption.
     * Then so much time has passed since the last such collection; 0 at the very first. */
    int consume;
    uint64_t elapsed_ns;
};

/* ---- reading ---- */

typedef enum crest_root { CREST_ROOT_PROC, CREST_ROOT_SYS } crest_root;

/* Why something is not exported: the label `cause`. */
#define CREST_COLLECT_CAUSES(X)                                                                    \
    X(MISSING, "missing")                                                                          \
    X(DENIED, "denied")                                                                            \
    X(UNREADABLE, "unreadable")                                                                    \
    X(TRUNCATED, "truncated")                                                                      \
    X(GARBAGE, "garbage")                                                                          \
    X(LIMIT, "limit")                                                                              \
    X(NO_MEMORY, "no-memory")
#define CREST_COLLECT_ENUM_(name, text) CREST_CAUSE_##name,
typedef enum crest_cause {
    CREST_COLLECT_CAUSES(CREST_COLLECT_ENUM_) CREST_CAUSE_COUNT
} crest_cause;
#undef CREST_COLLECT_ENUM_

/* Flags of crest_collect_read. */
#define CREST_READ_OPTIONAL 1u /* that it is missing is no failure: nothing is counted */

/*
 * Reads ROOT/path whole into the collector's buffer, which the next read reuses. Non-zero when all
 * of it was read. 0 after a failure, counted and told: missing, denied, unreadable (a directory, an
 * error of the disk), truncated (longer than CREST_COLLECT_FILE_BYTES_MAX: a part is never taken
 * for the whole). An empty file is an empty text. `path` does not begin with a slash.
 */
int crest_collect_read(crest_collect *collect, crest_root root, const char *path, unsigned flags,
                       crest_text *text);

/* Puts together a path below a root; 0 when it is too long. */
int crest_collect_path(const crest_collect *collect, crest_root root, const char *path, char *whole,
                       size_t room);

/* opendir, with a descriptor above 2; NULL with errno. */
DIR *crest_collect_folder(const char *path);

/* Counts a failure, and tells the log of the first of each cause. `what`: a path, or a path and a
 * field; then what came back. */
void crest_collect_fail(crest_collect *collect, crest_cause cause, const char *what,
                        const char *came_back);
/* The same by errno, after a system call. */
void crest_collect_fail_errno(crest_collect *collect, const char *what, int error);
/* The same for a malformed text of the file read last. `what` is its path below the root, with a
 * field if need be. The shown text is cut. */
void crest_collect_garbage(crest_collect *collect, const char *what, crest_text text);

/* Counts a source that began again ("reset") or wrapped round ("wrap"), for collectors that make
 * totals themselves; crest_figure_total counts its own. */
void crest_collect_reset(crest_collect *collect, const char *kind);

/* This collection's values come from another source from now on, as when the process was moved to
 * another control group. Counters go on from where the new source stands. Counted as a reset. */
void crest_collect_moved(crest_collect *collect);

/* ---- giving values ---- */

/* For all: `figure` is the index in figures, or in device_figures for a device's place, and of the
 * kind that the function sets. Cost: a record; the first of each series locks. */
void crest_figure_gauge(crest_place *place, unsigned figure, double value);
/* A cumulative count in the source's units, by the rules of crest_figure_width. The first count is
 * added in full, so that the counter shows the kernel's own total. */
void crest_figure_total(crest_place *place, unsigned figure, uint64_t count);
/* Histograms: usually only when collect->consume. */
void crest_figure_record(crest_place *place, unsigned figure, int64_t value);
/* Range samplers. */
void crest_figure_sample(crest_place *place, unsigned figure, int64_t value);
/* Nothing new, but the source is still there: as when a histogram has nothing to record this
 * time. */
void crest_figure_keep(crest_place *place, unsigned figure);

/* `part` of `whole` in percent, rounded, for histograms of CREST_RANGE_PERCENTAGE: 0 to 100. */
int64_t crest_figure_percent(uint64_t part, uint64_t whole);

/* ---- devices ---- */

/*
 * The place of a device of this collection. NULL, counted: a device too many, or a name too long or
 * empty. A device that a collection does not ask for has vanished: its series are withdrawn. If it
 * comes back its counters go on, so that nothing is counted twice.
 */
crest_place *crest_collect_device(crest_collect *collect, const char *name);
/* The device's own device_bytes of memory, zeroed when the device is new or has come back. */
void *crest_place_state(crest_place *place);

#endif
