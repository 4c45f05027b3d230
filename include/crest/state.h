/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading a state file, of a process that lives or is dead: what it counted, and what it was doing.
 * `crest cat` is this library's own reader; docs/black-box.md tells what the files are for.
 *
 *     crest_remains *remains;
 *     if (crest_remains_read("/run/node/node.crest", &remains, &error) == CREST_OK)
 *         crest_remains_write(remains, CREST_FORMAT_PROMETHEUS_TEXT, write, context, &error);
 *     crest_remains_free(remains);
 *
 * A file is read into memory and never mapped; nothing in it is trusted. Of a living process it is
 * a reading of about one moment, as a page of it is. Thread-safe for different remains.
 */
#ifndef CREST_STATE_H
#define CREST_STATE_H

#include <crest/op.h>
#include <crest/page.h>
#include <crest/span.h>

typedef struct crest_remains crest_remains;

/* Whose file it is. Texts are borrowed until crest_remains_free, and "" if not known. */
typedef struct crest_remains_about {
    const char *program, *service, *instance, *version;
    uint64_t pid;              /* in the process's own PID namespace */
    uint64_t opened_wall_ns;   /* since 1970 */
    uint64_t beat_wall_ns;     /* the last heartbeat, which the ticker makes once a second */
    uint64_t farewell_wall_ns; /* when the process said that it stops; 0: it did not */
    uint64_t refused_bytes;    /* of cells that had no room in the file, and are not in it */
    uint64_t damaged;          /* records and extents that could not be read */
    int alive;                 /* the process is there, as far as this machine's /proc tells */
    int adopted;               /* a later run has taken its totals over */
    size_t series, in_flight;
} crest_remains_about;

/* An operation that had begun and not ended. */
typedef struct crest_remains_op {
    const char *timer; /* canonical name; "" if the file does not tell */
    crest_op op;
    uint64_t begun_wall_ns;
    uint64_t age_ns; /* at the last heartbeat */
} crest_remains_op;

CREST_BEGIN_C

/* Reads the file; *remains is NULL after an error. CREST_IO with a sentence: it cannot be opened,
 * is no regular file, no state file, or of another version or layout. CREST_NO_MEMORY. error may be
 * NULL. A symbolic link at the path's end is refused. Allocates as much as the file has; blocks. */
CREST_API crest_status crest_remains_read(const char *path, crest_remains **remains,
                                          crest_error *error);
CREST_API void crest_remains_free(crest_remains *remains);

CREST_API void crest_remains_tell(const crest_remains *remains, crest_remains_about *about);

/* Series `index`, below about.series, as a snapshot would have it; without windows. What it points
 * to is borrowed until crest_remains_free. CREST_INVALID_ARGUMENT past the end. */
CREST_API crest_status crest_remains_series(const crest_remains *remains, size_t index,
                                            crest_series_view *view);

/* Operation `index`, below about.in_flight, the oldest first. CREST_INVALID_ARGUMENT past the end.
 */
CREST_API crest_status crest_remains_in_flight(const crest_remains *remains, size_t index,
                                               crest_remains_op *op);

/* Finished span `index` of those that were kept last, from 0, the earliest first: what
 * crest_timer_start_under and `spans=` made, without links and tracestate. A record holds at most
 * 4 KiB, all of them 64 KiB. What it points to is borrowed until crest_remains_free.
 * CREST_INVALID_ARGUMENT past the end. */
CREST_API crest_status crest_remains_span(const crest_remains *remains, size_t index,
                                          crest_span *span);

/* The page that the process itself would have written, without windows. As crest_snapshot_write. */
CREST_API crest_status crest_remains_write(const crest_remains *remains, crest_format format,
                                           crest_write_fn *write, void *context,
                                           crest_error *error);

CREST_END_C

#ifdef CREST_DISABLE
#include <crest/off/state_off.h>
#endif

#endif
