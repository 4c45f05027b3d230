/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One report: takes a snapshot, hands it to a reporter, and measures that. Knows no schedule and no
 * thread.
 */
#ifndef CREST_ONE_REPORT_H
#define CREST_ONE_REPORT_H

#include <crest/reporter.h>

/* Sets the resource of later reports. All is copied; texts are cut to CREST_RESOURCE_BYTES_MAX,
 * labels to CREST_RESOURCE_LABELS_MAX. An empty instance is the host's name. CREST_NO_MEMORY, and
 * nothing has changed. Thread-safe. */
crest_status crest_one_report_describe(const crest_resource *resource);

/* Calls `call` with the resource: what was set, or the host's name alone. Thread-safe; no lock is
 * held. */
void crest_one_report_with_resource(void (*call)(const crest_resource *resource, void *context),
                                    void *context);

/* The series that measure the reports of one reporter. */
typedef struct crest_one_report_measures {
    crest_timer *time;
    crest_gauge *success, *streak, *running;
} crest_one_report_measures;

/* What to report, to which reporter, and how it went. */
typedef struct crest_one_report {
    crest_registry *registry;
    crest_reporter *reporter;
    const char *name; /* the reporter's; stays readable even if the reporter does not */
    const char *include, *exclude;
    uint64_t timeout_ns;
    int final;
    uint64_t failures; /* in a row; counted here */
    crest_one_report_measures measures;
    /* called around the reporter's own function; NULL: none */
    void (*around)(struct crest_one_report *order, int begins);
    int deltas;               /* the reporter wants the previous snapshot */
    int no_snapshot;          /* the reporter wants none */
    crest_snapshot *previous; /* of the last success, or NULL; after a success, this report's */
    uint64_t duration_ns;     /* how long the report took */
    size_t series;            /* how many series it had */
    uint64_t retry_at_ns;     /* when the reporter wants the next try, at the earliest */
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
