/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Taking and handing out one report. See one_report.h.
 */
#include "one_report.h"
#include "error.h"
#include "options.h"
#include "utf8.h"

#include <crest/family.h>
#include <pthread.h>
#include <string.h>

CREST_TIMER_FAMILY(one_report_time, "crest.report-time",
                   "Taking a snapshot and handing it to a reporter.", reporter);
CREST_GAUGE_FAMILY_OPTIONS(one_report_success, "crest.report-last-success-timestamp",
                           "When a reporter last succeeded, since 1970; 0: not yet.",
                           (.unit = CREST_SECONDS), reporter);

typedef struct one_report_resource {
    char service[CREST_RESOURCE_BYTES_MAX + 1];
    char version[CREST_RESOURCE_BYTES_MAX + 1];
    char instance[CREST_RESOURCE_BYTES_MAX + 1]; /* "": the host's name */
} one_report_resource;

/* Guards who reports. Nothing is called under it. */
static pthread_mutex_t one_report_lock = PTHREAD_MUTEX_INITIALIZER;
static one_report_resource one_report_about;

/* A forked child is somebody else. */
static void one_report_forked(void)
{
    static const pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;
    one_report_lock = fresh;
    memset(&one_report_about, 0, sizeof one_report_about);
}

__attribute__((constructor)) static void one_report_constructor(void)
{
    pthread_atfork(NULL, NULL, one_report_forked);
}

void crest_one_report_describe(const crest_resource *resource)
{
    pthread_mutex_lock(&one_report_lock);
    crest_utf8_copy(resource->service, one_report_about.service, CREST_RESOURCE_BYTES_MAX + 1,
                    NULL);
    crest_utf8_copy(resource->version, one_report_about.version, CREST_RESOURCE_BYTES_MAX + 1,
                    NULL);
    crest_utf8_copy(resource->instance, one_report_about.instance, CREST_RESOURCE_BYTES_MAX + 1,
                    NULL);
    pthread_mutex_unlock(&one_report_lock);
}

/* A copy for one report, so that a later crest_start cannot change it meanwhile. */
static void one_report_copy(one_report_resource *copy)
{
    pthread_mutex_lock(&one_report_lock);
    *copy = one_report_about;
    pthread_mutex_unlock(&one_report_lock);
    if (copy->instance[0] == '\0')
        crest_host_name(copy->instance);
}

void crest_one_report_measured(const char *name)
{
    (void)one_report_time_with(name);
    (void)one_report_success_with(name);
}

/* Takes a snapshot and hands it out; *error says how that ended, the same as the status. */
static crest_status one_report_hand_out(crest_registry *registry, crest_reporter *reporter,
                                        uint64_t timeout_ns, int final, crest_error *error)
{
    one_report_resource copy;
    one_report_copy(&copy);
    crest_resource resource = {
        .service = copy.service, .version = copy.version, .instance = copy.instance};
    crest_error_clear(error);
    uint64_t deadline_ns = crest_now() + timeout_ns;
    crest_snapshot *snapshot = crest_snapshot_take(registry);
    if (snapshot == NULL)
        return crest_error_set(error, CREST_NO_MEMORY, "no memory for a snapshot to report");
    crest_report report = {
        .snapshot = snapshot, .resource = &resource, .deadline_ns = deadline_ns, .final = final};
    crest_status status = reporter->report(reporter, &report, error);
    crest_snapshot_free(snapshot);
    if (status == CREST_OK)
        crest_error_clear(error);
    else if (error->message[0] == '\0')
        crest_error_set(error, status, "the reporter gave no reason but: %s",
                        crest_status_text(status));
    error->status = status;
    return status;
}

crest_status crest_one_report(crest_registry *registry, crest_reporter *reporter, const char *name,
                              uint64_t timeout_ns, int final, uint64_t *duration_ns,
                              crest_error *error)
{
    uint64_t start_ns = crest_now();
    crest_status status = one_report_hand_out(registry, reporter, timeout_ns, final, error);
    *duration_ns = crest_now() - start_ns;
    crest_timer_record(one_report_time_with(name), (int64_t)*duration_ns,
                       status == CREST_OK ? CREST_OUTCOME_OK : CREST_OUTCOME_ERROR);
    if (status == CREST_OK)
        crest_gauge_set_to_now(one_report_success_with(name));
    return status;
}
