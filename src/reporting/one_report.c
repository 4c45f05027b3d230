/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Taking and handing out one report. See one_report.h.
 */
#include "reporting/one_report.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/forked.h"
#include "base/host_name.h"
#include "base/sync.h"
#include "base/utf8.h"
#include "snapshot/confirmed.h"
#include "snapshot/delta_base.h"

#include <crest/family.h>
#include <pthread.h>
#include <string.h>

/* Bytes of a status' word. */
#define ONE_REPORT_CAUSE_BYTES 32

CREST_TIMER_FAMILY(one_report_time, "crest.report-time",
                   "Taking a snapshot and handing it to a reporter.", reporter);
CREST_GAUGE_FAMILY_OPTIONS(one_report_success, "crest.report-last-success-timestamp",
                           "When a reporter last succeeded, since 1970; 0: not yet.",
                           (.unit = CREST_SECONDS), reporter);
CREST_COUNTER_FAMILY(one_report_failed, "crest.report-failures",
                     "Reports that were not delivered, by what came in between.", reporter, cause);
CREST_GAUGE_FAMILY(one_report_streak, "crest.report-consecutive-failures",
                   "Reports of a reporter that failed since the last that succeeded.", reporter);
CREST_GAUGE_FAMILY_OPTIONS(one_report_running, "crest.report-running",
                           "How long the present report has been under way; 0: none is.",
                           (.unit = CREST_SECONDS), reporter);

typedef struct one_report_label {
    char key[CREST_RESOURCE_KEY_BYTES_MAX + 1];
    char value[CREST_RESOURCE_BYTES_MAX + 1];
} one_report_label;

/* The reporting resource (what the process is): immutable, and reference-counted by the process and
 * by each report under way. So a later crest_start cannot change it meanwhile. */
typedef struct one_report_resource {
    unsigned users; /* under the lock */
    int parents;    /* inherited from the parent of a fork */
    char service[CREST_RESOURCE_BYTES_MAX + 1];
    char version[CREST_RESOURCE_BYTES_MAX + 1];
    char instance[CREST_RESOURCE_BYTES_MAX + 1]; /* "": the host's name */
    unsigned label_count;
    crest_page_label views[CREST_RESOURCE_LABELS_MAX];
    one_report_label labels[]; /* the texts of the views */
} one_report_resource;

/* Guards the resource. Nothing is called under it. */
static pthread_mutex_t one_report_lock = PTHREAD_MUTEX_INITIALIZER;
static one_report_resource *one_report_about; /* NULL: none was set */

/* Under the lock. */
static void one_report_drop_locked(one_report_resource *about)
{
    if (about != NULL && --about->users == 0)
        crest_alloc_free(about);
}

static void one_report_drop(one_report_resource *about)
{
    pthread_mutex_lock(&one_report_lock);
    one_report_drop_locked(about);
    pthread_mutex_unlock(&one_report_lock);
}

static one_report_resource *one_report_use(void)
{
    pthread_mutex_lock(&one_report_lock);
    one_report_resource *about = one_report_about;
    if (about != NULL && about->parents)
        about = NULL;
    if (about != NULL)
        about->users++;
    pthread_mutex_unlock(&one_report_lock);
    return about;
}

/* Fork handler: a child is another process, and its resource another. */
static void one_report_forked(void)
{
    crest_mutex_fresh(&one_report_lock);
    if (one_report_about != NULL)
        one_report_about->parents = 1;
}
CREST_FORKED(ONE_REPORT, one_report_forked)

static void one_report_text(const char *from, char *to)
{
    crest_utf8_copy(from, to, CREST_RESOURCE_BYTES_MAX + 1, NULL);
}

crest_status crest_one_report_describe(const crest_resource *resource)
{
    unsigned count = resource->label_count;
    if (count > CREST_RESOURCE_LABELS_MAX)
        count = CREST_RESOURCE_LABELS_MAX;
    one_report_resource *about = crest_alloc(1, sizeof *about + count * sizeof about->labels[0]);
    if (about == NULL)
        return CREST_NO_MEMORY;
    about->users = 1;
    about->label_count = count;
    one_report_text(resource->service, about->service);
    one_report_text(resource->version, about->version);
    one_report_text(resource->instance, about->instance);
    for (unsigned i = 0; i < count; i++) {
        one_report_label *label = &about->labels[i];
        crest_utf8_copy(resource->labels[i].key, label->key, sizeof label->key, NULL);
        one_report_text(resource->labels[i].value, label->value);
        about->views[i] = (crest_page_label){label->key, label->value};
    }
    pthread_mutex_lock(&one_report_lock);
    one_report_drop_locked(one_report_about);
    one_report_about = about;
    pthread_mutex_unlock(&one_report_lock);
    return CREST_OK;
}

/* ---- measuring ---- */

void crest_one_report_measure(crest_one_report *order)
{
    order->measures = (crest_one_report_measures){
        .time = one_report_time_with(order->name),
        .success = one_report_success_with(order->name),
        .streak = one_report_streak_with(order->name),
        .running = one_report_running_with(order->name),
    };
}

/* The name of a status as label values are written: TIMED_OUT is "timed-out". */
static void one_report_cause(crest_status status, char word[ONE_REPORT_CAUSE_BYTES])
{
#define ONE_REPORT_NAME(name, text) #name,
    static const char *const names[] = {CREST_STATUS_TABLE(ONE_REPORT_NAME)};
#undef ONE_REPORT_NAME
    const char *name = (unsigned)status < CREST_STATUS_COUNT ? names[status] : "UNKNOWN";
    size_t length = 0;
    for (; name[length] != '\0' && length < ONE_REPORT_CAUSE_BYTES - 1; length++)
        word[length] = (char)(name[length] == '_' ? '-' : name[length] + ('a' - 'A'));
    word[length] = '\0';
}

void crest_one_report_failed(const char *name, crest_status status)
{
    char cause[ONE_REPORT_CAUSE_BYTES];
    one_report_cause(status, cause);
    crest_counter_inc(one_report_failed_with(name, cause));
}

static void one_report_record(crest_one_report *order, crest_status status)
{
    const crest_one_report_measures *measures = &order->measures;
    crest_timer_record(measures->time, (int64_t)order->duration_ns,
                       status == CREST_OK ? CREST_OUTCOME_OK : CREST_OUTCOME_ERROR);
    if (status == CREST_OK) {
        order->failures = 0;
        crest_gauge_set_to_now(measures->success);
    } else {
        order->failures++;
        crest_one_report_failed(order->name, status);
    }
    crest_gauge_set(measures->streak, (double)order->failures);
}

/* ---- reporting ---- */

/* Calls with the resource, which stays as it is for the call. */
void crest_one_report_with_resource(void (*call)(const crest_resource *resource, void *context),
                                    void *context)
{
    one_report_resource *about = one_report_use();
    char host[CREST_HOST_BYTES];
    crest_host_name(host);
    crest_resource resource = {.service = "", .version = "", .instance = host};
    if (about != NULL) {
        resource.service = about->service;
        resource.version = about->version;
        if (about->instance[0] != '\0')
            resource.instance = about->instance;
        resource.labels = about->views;
        resource.label_count = about->label_count;
    }
    call(&resource, context);
    one_report_drop(about);
}

/* What is handed out, and how that ended. */
typedef struct one_report_handing {
    crest_one_report *order;
    crest_report report;
    crest_error *error;
    crest_status status;
} one_report_handing;

static void one_report_call(const crest_resource *resource, void *context)
{
    one_report_handing *handing = context;
    crest_one_report *order = handing->order;
    handing->report.resource = resource;
    handing->status = order->reporter->report(order->reporter, &handing->report, handing->error);
}

/* Hands a snapshot to the reporter; *error says how that ended, with the same status. */
static crest_status one_report_hand_out(crest_one_report *order, const crest_snapshot *snapshot,
                                        uint64_t deadline_ns, crest_error *error)
{
    one_report_handing handing = {.order = order,
                                  .report = {.snapshot = snapshot,
                                             .deadline_ns = deadline_ns,
                                             .final = order->final,
                                             .previous = order->previous},
                                  .error = error};
    crest_error_clear(error);
    if (order->around != NULL)
        order->around(order, 1);
    crest_one_report_with_resource(one_report_call, &handing);
    crest_status status = handing.status;
    order->retry_at_ns = order->reporter->retry_at_ns;
    if (order->around != NULL)
        order->around(order, 0);
    if (status == CREST_OK)
        crest_error_clear(error);
    else if (error->message[0] == '\0')
        crest_error_set(error, status, "the reporter gave no reason but: %s",
                        crest_status_text(status));
    error->status = status;
    return status;
}

/* Takes the snapshot, hands it over, and keeps it if reports are deltas. */
static crest_status one_report_take(crest_one_report *order, crest_error *error)
{
    uint64_t deadline_ns = crest_now() + order->timeout_ns;
    if (order->no_snapshot) {
        order->series = 0;
        return one_report_hand_out(order, NULL, deadline_ns, error);
    }
    crest_snapshot *snapshot = crest_snapshot_take(order->registry);
    if (snapshot == NULL ||
        crest_snapshot_select(snapshot, order->include, order->exclude) != CREST_OK ||
        crest_previous_prepare(snapshot, order->previous) != CREST_OK) {
        crest_snapshot_free(snapshot);
        return crest_error_set(error, CREST_NO_MEMORY, "no memory for a snapshot to report");
    }
    order->series = crest_snapshot_size(snapshot);
    crest_status status = one_report_hand_out(order, snapshot, deadline_ns, error);
    if (status == CREST_OK && order->deltas) {
        crest_confirmed_all(snapshot);
        crest_previous_commit(snapshot, order->previous);
        crest_snapshot_free(order->previous);
        order->previous = snapshot;
    } else {
        crest_snapshot_free(snapshot);
    }
    return status;
}

crest_status crest_one_report_make(crest_one_report *order, crest_error *error)
{
    uint64_t start_ns = crest_now();
    crest_status status = one_report_take(order, error);
    order->duration_ns = crest_now() - start_ns;
    one_report_record(order, status);
    return status;
}
