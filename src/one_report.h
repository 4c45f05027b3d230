/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One report: a snapshot is taken, handed to a reporter, and measured. Knows no schedule and no
 * thread.
 */
#ifndef CREST_ONE_REPORT_H
#define CREST_ONE_REPORT_H

#include <crest/reporter.h>

/* Says who reports, from now on; the texts are copied, cut to CREST_RESOURCE_BYTES_MAX. An empty
 * instance is the host's name. Thread-safe. */
void crest_one_report_describe(const crest_resource *resource);

/* Makes the series that measure a reporter's reports, so that they exist before its first one. */
void crest_one_report_measured(const char *name);

/*
 * Reports; `name` is the reporter's, and stays readable even if the reporter does not. Returns its
 * status, the same as that of *error (not NULL), which has a message unless that is CREST_OK.
 * *duration_ns is how long it took. Not under a lock.
 */
crest_status crest_one_report(crest_registry *registry, crest_reporter *reporter, const char *name,
                              uint64_t timeout_ns, int final, uint64_t *duration_ns,
                              crest_error *error);

#endif
