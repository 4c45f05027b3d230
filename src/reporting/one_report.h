/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One report: a snapshot is taken, handed to a reporter, and measured. Knows no schedule and no
 * thread.
 */
#ifndef CREST_ONE_REPORT_H
#define CREST_ONE_REPORT_H

#include <crest/reporter.h>

/* Says who reports, from now on; all is copied, texts cut to CREST_RESOURCE_BYTES_MAX, labels to
 * CREST_RESOURCE_LABELS_MAX. An empty instance is the host's name. CREST_NO_MEMORY, and nothing has
 * changed. Thread-safe. */
crest_status crest_one_report_describe(const crest_resource *resource);

/* What measures the reports of one reporter. */
typedef struct crest_one_report_measures {
    crest_timer *time;
    crest_gauge *success, *streak, *running;
} crest_one_report_measures;

/* What to report, to whom, and how it went. */
typedef struct crest_one_report {
    crest_registry *registry;
    crest_reporter *reporter;
    const char *name; /* the reporter's; stays readable even if the reporter does not */
    const char *include, *exclude;
    uint64_t timeout_ns;
    int final;
    uint64_t failures; /* in a row; counted here */
    crest_one_report_measures measures;
    /* called around the reporter's own function; NULL: nobody wants to know */
    void (*around)(struct crest_one_report *order, int begins);
    int deltas;               /* the reporter wants the snapshot before */
    crest_snapshot *previous; /* of the last success, or NULL; then this one's, if it succeeds */
    uint64_t duration_ns;     /* how long it took */
    size_t series;            /* how many it had */
} crest_one_report;

/* Finds the series that measure the reports, so that they exist before the first one. */
void crest_one_report_measure(crest_one_report *order);

/* Counts one that was not even made, as of a reporter that could not be started. Not under a lock.
 */
void crest_one_report_failed(const char *name, crest_status status);

/* Makes the report. Returns the reporter's status, the same as that of *error (not NULL), which has
 * a message unless that is CREST_OK. Not under a lock. */
crest_status crest_one_report_make(crest_one_report *order, crest_error *error);

#endif
