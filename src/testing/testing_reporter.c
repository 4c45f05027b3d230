/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reporter for tests: keeps the page of each report, and fails as often as the test says. See
 * <crest/testing.h>. Uses the public interface of reporters only.
 */
#define _GNU_SOURCE
#include <crest/testing.h>

#include "base/alloc.h"
#include "base/sync.h"
#include "base/uncancelled.h"

#include <errno.h>
#include <locale.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TESTING_REASON_BYTES 256
#define TESTING_PAGE_BYTES_FIRST 4096u

typedef struct testing_page {
    char *bytes;
    size_t used, room;
} testing_page;

/* A kept report. The resource's texts lie behind the page, in memory of their own. */
typedef struct testing_kept {
    crest_testing_report report;
    testing_page page;
    char *service, *version, *instance;
} testing_kept;

typedef struct testing_reporter {
    crest_reporter reporter;
    crest_testing_reporter_options options;
    char *name;
    pthread_mutex_t lock; /* guards all that follows; not held while the test's functions run */
    pthread_cond_t changed;
    size_t count, stops;
    unsigned fail_times;
    crest_status fail_status;
    char fail_reason[TESTING_REASON_BYTES];
    testing_kept kept[CREST_TESTING_REPORTS_MAX]; /* report i at i modulo the size */
} testing_reporter;

/* ---- keeping ---- */

static int testing_page_write(void *context, const void *bytes, size_t length)
{
    testing_page *page = context;
    if (page->room - page->used <= length) {
        size_t room = page->room ? page->room : TESTING_PAGE_BYTES_FIRST;
        while (room - page->used <= length)
            room *= 2;
        char *grown = crest_alloc_resize(page->bytes, room, 1);
        if (grown == NULL)
            return -1;
        page->bytes = grown;
        page->room = room;
    }
    memcpy(page->bytes + page->used, bytes, length);
    page->used += length;
    page->bytes[page->used] = '\0';
    return 0;
}

static void testing_kept_fini(testing_kept *kept)
{
    crest_alloc_free(kept->page.bytes);
    crest_alloc_free(kept->service);
    crest_alloc_free(kept->version);
    crest_alloc_free(kept->instance);
    memset(kept, 0, sizeof *kept);
}

/* Copies the report; CREST_NO_MEMORY leaves nothing behind. */
static crest_status testing_keep(testing_kept *kept, const crest_report *report, crest_error *error)
{
    memset(kept, 0, sizeof *kept);
    kept->service = crest_alloc_text(report->resource->service);
    kept->version = crest_alloc_text(report->resource->version);
    kept->instance = crest_alloc_text(report->resource->instance);
    crest_page_options options = {.windows = report->final ? CREST_PAGE_WINDOWS_NONE
                                                           : CREST_PAGE_WINDOWS_ALL};
    crest_status status = CREST_NO_MEMORY;
    if (kept->service != NULL && kept->version != NULL && kept->instance != NULL &&
        testing_page_write(&kept->page, "", 0) == 0)
        status = crest_snapshot_write(report->snapshot, CREST_FORMAT_PROMETHEUS_TEXT, &options,
                                      testing_page_write, &kept->page, error);
    if (status != CREST_OK) {
        testing_kept_fini(kept);
        return crest_error_set(error, CREST_NO_MEMORY, "there is no memory to keep the report");
    }
    uint64_t now_ns = crest_now();
    kept->report = (crest_testing_report){
        .page = kept->page.bytes,
        .final = report->final,
        .time_ns = now_ns,
        .left_ns = report->deadline_ns > now_ns ? report->deadline_ns - now_ns : 0,
        .service = kept->service,
        .version = kept->version,
        .instance = kept->instance,
    };
    return CREST_OK;
}

static crest_status testing_reporter_report(crest_reporter *self, const crest_report *report,
                                            crest_error *error)
{
    testing_reporter *mine = self->state;
    testing_kept kept, old;
    crest_status status = CREST_OK;
    if (mine->options.inspect != NULL)
        status = mine->options.inspect(report, mine->options.context, error);
    crest_error lacked;
    crest_status keeping = testing_keep(&kept, report, &lacked);
    pthread_mutex_lock(&mine->lock);
    if (mine->fail_times > 0) {
        mine->fail_times--;
        status = crest_error_set(error, mine->fail_status, "%s", mine->fail_reason);
    } else if (status == CREST_OK && keeping != CREST_OK) {
        status = crest_error_set(error, keeping, "%s", lacked.message);
    }
    kept.report.answer = status;
    testing_kept *place = &mine->kept[mine->count++ % CREST_TESTING_REPORTS_MAX];
    old = *place;
    *place = kept;
    pthread_cond_broadcast(&mine->changed);
    pthread_mutex_unlock(&mine->lock);
    testing_kept_fini(&old);
    return status;
}

static crest_status testing_reporter_stop(crest_reporter *self, uint64_t deadline_ns,
                                          crest_error *error)
{
    testing_reporter *mine = self->state;
    (void)deadline_ns;
    crest_status status =
        mine->options.stop != NULL ? mine->options.stop(mine->options.context, error) : CREST_OK;
    pthread_mutex_lock(&mine->lock);
    mine->stops++;
    pthread_cond_broadcast(&mine->changed);
    pthread_mutex_unlock(&mine->lock);
    return status;
}

static void testing_reporter_free(crest_reporter *self)
{
    testing_reporter *mine = self->state;
    for (unsigned i = 0; i < CREST_TESTING_REPORTS_MAX; i++)
        testing_kept_fini(&mine->kept[i]);
    pthread_cond_destroy(&mine->changed);
    pthread_mutex_destroy(&mine->lock);
    crest_alloc_free(mine->name);
    crest_alloc_free(mine);
}

/* ---- the public functions ---- */

crest_reporter *crest_testing_reporter_new(const crest_testing_reporter_options *options)
{
    testing_reporter *mine = crest_alloc(1, sizeof *mine);
    if (mine == NULL)
        return NULL;
    if (options != NULL)
        mine->options = *options;
    mine->name = crest_alloc_text(mine->options.name != NULL ? mine->options.name : "testing");
    if (mine->name == NULL) {
        crest_alloc_free(mine);
        return NULL;
    }
    pthread_mutex_init(&mine->lock, NULL);
    crest_monotonic_condition(&mine->changed);
    mine->reporter = (crest_reporter){
        .name = mine->name,
        .report = testing_reporter_report,
        .stop = testing_reporter_stop,
        .free = testing_reporter_free,
        .state = mine,
        .deltas = mine->options.deltas,
    };
    return &mine->reporter;
}

void crest_testing_reporter_fail(crest_reporter *reporter, unsigned times, crest_status status,
                                 const char *reason)
{
    testing_reporter *mine = reporter->state;
    pthread_mutex_lock(&mine->lock);
    mine->fail_times = times;
    mine->fail_status = status;
    snprintf(mine->fail_reason, sizeof mine->fail_reason, "%s",
             reason != NULL ? reason : crest_status_text(status));
    pthread_mutex_unlock(&mine->lock);
}

size_t crest_testing_reporter_count(const crest_reporter *reporter)
{
    testing_reporter *mine = reporter->state;
    pthread_mutex_lock(&mine->lock);
    size_t count = mine->count;
    pthread_mutex_unlock(&mine->lock);
    return count;
}

size_t crest_testing_reporter_stops(const crest_reporter *reporter)
{
    testing_reporter *mine = reporter->state;
    pthread_mutex_lock(&mine->lock);
    size_t stops = mine->stops;
    pthread_mutex_unlock(&mine->lock);
    return stops;
}

crest_status crest_testing_reporter_wait(const crest_reporter *reporter, size_t reports,
                                         uint64_t deadline_ms)
{
    CREST_UNCANCELLED;
    testing_reporter *mine = reporter->state;
    if (deadline_ms > CREST_INTERVAL_MS_MAX)
        deadline_ms = CREST_INTERVAL_MS_MAX;
    struct timespec until =
        crest_monotonic_timespec(crest_monotonic_ns() + deadline_ms * CREST_NS_PER_MS);
    pthread_mutex_lock(&mine->lock);
    int over = 0;
    while (mine->count < reports && !over)
        over = pthread_cond_timedwait(&mine->changed, &mine->lock, &until) == ETIMEDOUT;
    crest_status status = mine->count < reports ? CREST_TIMED_OUT : CREST_OK;
    pthread_mutex_unlock(&mine->lock);
    return status;
}

crest_status crest_testing_reporter_get(const crest_reporter *reporter, size_t index,
                                        crest_testing_report *report)
{
    testing_reporter *mine = reporter->state;
    memset(report, 0, sizeof *report);
    pthread_mutex_lock(&mine->lock);
    int there = index < mine->count && mine->count - index <= CREST_TESTING_REPORTS_MAX;
    if (there)
        *report = mine->kept[index % CREST_TESTING_REPORTS_MAX].report;
    pthread_mutex_unlock(&mine->lock);
    return there ? CREST_OK : CREST_NOT_FOUND;
}

crest_status crest_testing_page_value(const char *page, const char *series, double *value)
{
    *value = 0;
    size_t length = page != NULL && series != NULL ? strlen(series) : 0;
    for (const char *line = page; length != 0 && line != NULL && *line != '\0';) {
        const char *end = strchr(line, '\n');
        if (strncmp(line, series, length) == 0 && line[length] == ' ') {
            /* a page's decimal point is a dot, whatever the locale says */
            locale_t plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
            if (plain == (locale_t)0)
                return CREST_NOT_FOUND;
            *value = strtod_l(line + length + 1, NULL, plain);
            freelocale(plain);
            return CREST_OK;
        }
        line = end != NULL ? end + 1 : NULL;
    }
    return CREST_NOT_FOUND;
}
