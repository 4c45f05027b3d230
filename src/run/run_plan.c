/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading options into a plan, and making its reporters. See run_plan.h; the table of options is in
 * <crest/run.h>.
 */
#define _GNU_SOURCE
#include "run/run_plan.h"
#include "base/alloc.h"
#include "base/error.h"
#include "reporting/reporter_kinds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RUN_PLAN_KEYS_MAX 512u
#define RUN_PLAN_KEY_BYTES (CREST_REPORTER_KIND_BYTES_MAX + 16u)
#define RUN_PLAN_RESOURCE "resource."

static const char *const run_plan_keys[] = {"service",
                                            "version",
                                            "instance",
                                            "interval",
                                            "jitter",
                                            "windows",
                                            "windows.series",
                                            "atexit",
                                            "strict",
                                            "threads",
                                            "otel.context",
                                            "log",
                                            "spans",
                                            "spans.sample",
                                            "spans.slow",
                                            "spans.rate",
                                            "spans.per-op",
                                            "spans.buffer",
                                            "events",
                                            "events.name",
                                            "events.disk",
                                            "events.size",
                                            "events.rules",
                                            "events.rules-file",
                                            "events.rings",
                                            "hiccups",
                                            "hiccups.resolution",
                                            RUN_PLAN_RESOURCE,
                                            "state",
                                            "state.name",
                                            "state.adopt",
                                            "state.disk",
                                            "system",
                                            "system.interval",
                                            "system.slow-interval",
                                            "system.proc",
                                            "system.sys",
                                            "system.mounts.exclude",
                                            "system.interfaces.exclude",
                                            "system.devices.exclude"};

/* The keys that every kind of reporter has, after its name. */
enum { KEY_ITSELF, KEY_INTERVAL, KEY_TIMEOUT, KEY_JITTER, KEY_ALIGN, KEY_INCLUDE, KEY_EXCLUDE };
static const char *const run_plan_kind_keys[] = {
    "", ".interval", ".timeout", ".jitter", ".align", ".include", ".exclude",
};
#define RUN_PLAN_KIND_KEYS (sizeof run_plan_kind_keys / sizeof *run_plan_kind_keys)

/* A kind and its keys. */
typedef struct run_plan_kind {
    const crest_reporter_kind *kind;
    char keys[RUN_PLAN_KIND_KEYS][RUN_PLAN_KEY_BYTES];
} run_plan_kind;

/* All known keys. */
typedef struct run_plan_known {
    run_plan_kind kinds[CREST_REPORTER_KINDS_MAX];
    size_t kind_count;
    const char *keys[RUN_PLAN_KEYS_MAX];
    size_t key_count;
} run_plan_known;

/* ---- which keys there are ---- */

static void run_plan_know(run_plan_known *known, const char *key)
{
    for (size_t i = 0; i < known->key_count; i++)
        if (strcmp(known->keys[i], key) == 0)
            return;
    if (known->key_count < RUN_PLAN_KEYS_MAX)
        known->keys[known->key_count++] = key;
}

/* Collects the keys: the built-in ones, those of names that other libraries read, and each linked
 * kind's. */
static void run_plan_collect(run_plan_known *known)
{
    for (size_t i = 0; i < sizeof run_plan_keys / sizeof *run_plan_keys; i++)
        run_plan_know(known, run_plan_keys[i]);
    const char *keys[2 * CREST_OPTION_NAMES_MAX];
    size_t key_count = crest_option_name_keys(keys);
    for (size_t i = 0; i < key_count; i++)
        run_plan_know(known, keys[i]);
    const crest_reporter_kind *kinds[CREST_REPORTER_KINDS_MAX];
    known->kind_count = crest_reporter_kinds(kinds);
    for (size_t i = 0; i < known->kind_count; i++) {
        run_plan_kind *one = &known->kinds[i];
        one->kind = kinds[i];
        for (size_t k = 0; k < RUN_PLAN_KIND_KEYS; k++) {
            snprintf(one->keys[k], RUN_PLAN_KEY_BYTES, "%s%s", one->kind->name,
                     run_plan_kind_keys[k]);
            run_plan_know(known, one->keys[k]);
        }
        for (const char *const *key = one->kind->keys; key != NULL && *key != NULL; key++)
            run_plan_know(known, *key);
    }
}

/* ---- reading values ---- */

static crest_status run_plan_refuse(const crest_options *options, const char *key, const char *what,
                                    crest_error *error)
{
    return crest_error_set(error, CREST_INVALID_OPTIONS, "%s=%s %s is not %s", key,
                           crest_option(options, key), crest_option_origin(options, key), what);
}

/* Reads a duration within bounds that fit a schedule. */
static crest_status run_plan_read_ms(const crest_options *options, const char *key,
                                     uint64_t least_ms, uint64_t *value_ms, crest_error *error)
{
    uint64_t read_ms = *value_ms;
    crest_status status = crest_option_duration_ms(options, key, &read_ms, error);
    if (status != CREST_OK || crest_option(options, key) == NULL)
        return status;
    if (read_ms < least_ms || read_ms > CREST_INTERVAL_MS_MAX) {
        char what[64];
        snprintf(what, sizeof what, "between %llums and %us", (unsigned long long)least_ms,
                 CREST_INTERVAL_MS_MAX / 1000);
        return run_plan_refuse(options, key, what, error);
    }
    *value_ms = read_ms;
    return CREST_OK;
}

/* Reads a jitter. An option's 0 is none; a schedule's 0 is the default, and negative none. */
static crest_status run_plan_read_jitter(const crest_options *options, const char *key,
                                         double *jitter, crest_error *error)
{
    double fraction;
    crest_status status = crest_option_fraction(options, key, &fraction, error);
    if (status == CREST_OK && crest_option(options, key) != NULL)
        *jitter = fraction > 0 ? fraction : -1;
    return status;
}

/* ---- what concerns all ---- */

static crest_status run_plan_read_text(const crest_options *options, const char *key,
                                       const char **value, crest_error *error)
{
    const char *text = crest_option(options, key);
    if (text == NULL)
        return CREST_OK;
    if (strlen(text) > CREST_RESOURCE_BYTES_MAX)
        return crest_error_set(error, CREST_INVALID_OPTIONS,
                               "the value of %s %s is longer than %u bytes", key,
                               crest_option_origin(options, key), CREST_RESOURCE_BYTES_MAX);
    *value = text;
    return CREST_OK;
}

/* Checks a label's name: as Prometheus and DogStatsD take it, and none that has an option of its
 * own. */
static crest_status run_plan_check_label(const crest_options *options, const char *key,
                                         crest_error *error)
{
    static const char *const taken[] = {"service", "version", "instance"};
    const char *name = key + strlen(RUN_PLAN_RESOURCE);
    const char *origin = crest_option_origin(options, key);
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        if (strcmp(name, taken[i]) == 0)
            return crest_error_set(error, CREST_INVALID_OPTIONS, "%s %s: write %s=… instead", key,
                                   origin, name);
    size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    if (name[length] != '\0' || length > CREST_RESOURCE_KEY_BYTES_MAX ||
        (name[0] >= '0' && name[0] <= '9') || strncmp(name, "__", 2) == 0)
        return crest_error_set(error, CREST_INVALID_OPTIONS,
                               "%s %s: what comes after \"" RUN_PLAN_RESOURCE
                               "\" is to be the name of a label, of at most %u letters, digits and "
                               "'_', and does not begin with a digit or with \"__\"",
                               key, origin, CREST_RESOURCE_KEY_BYTES_MAX);
    return CREST_OK;
}

static crest_status run_plan_read_labels(crest_run_plan *plan, crest_error *error)
{
    const char *key, *text;
    size_t cursor = 0;
    plan->resource.labels = plan->labels;
    while (crest_option_next(plan->options, RUN_PLAN_RESOURCE, &cursor, &key, &text)) {
        crest_status status = run_plan_check_label(plan->options, key, error);
        if (status == CREST_OK)
            status = run_plan_read_text(plan->options, key, &text, error);
        if (status != CREST_OK)
            return status;
        if (text[0] == '\0')
            continue;
        if (plan->resource.label_count == CREST_RESOURCE_LABELS_MAX)
            return crest_error_set(error, CREST_INVALID_OPTIONS,
                                   "%s %s is one too many: there are at most %u labels of the "
                                   "resource",
                                   key, crest_option_origin(plan->options, key),
                                   CREST_RESOURCE_LABELS_MAX);
        plan->labels[plan->resource.label_count++] =
            (crest_page_label){key + strlen(RUN_PLAN_RESOURCE), text};
    }
    return CREST_OK;
}

static crest_status run_plan_read_resource(crest_run_plan *plan, crest_error *error)
{
    crest_host_name(plan->host);
    plan->resource = (crest_resource){.service = "", .version = "", .instance = plan->host};
    crest_status status =
        run_plan_read_text(plan->options, "service", &plan->resource.service, error);
    if (status == CREST_OK)
        status = run_plan_read_text(plan->options, "version", &plan->resource.version, error);
    if (status == CREST_OK)
        status = run_plan_read_text(plan->options, "instance", &plan->resource.instance, error);
    if (plan->resource.instance[0] == '\0')
        plan->resource.instance = plan->host;
    return status == CREST_OK ? run_plan_read_labels(plan, error) : status;
}

/* Splits "1m:5m:15m", the first with or without the others; 0 if it is none of these. */
static int run_plan_split_windows(const char *text, unsigned window_s[CREST_WINDOWS_MAX + 1])
{
    static const struct {
        const char *text;
        unsigned window_s;
    } all[CREST_WINDOWS_MAX] = {{"1m", CREST_WINDOW_S}, {"5m", 300}, {"15m", 900}};
    unsigned count = 0;
    for (unsigned i = 0; i < CREST_WINDOWS_MAX; i++) {
        size_t length = strlen(all[i].text);
        if (strncmp(text, all[i].text, length) != 0 ||
            (text[length] != ':' && text[length] != '\0'))
            continue;
        window_s[count++] = all[i].window_s;
        text += length;
        if (*text == '\0')
            return window_s[0] == CREST_WINDOW_S;
        text++;
    }
    return 0;
}

static int run_plan_whole_number(const char *text, unsigned most, unsigned *value)
{
    *value = 0;
    for (const char *at = text; *at != '\0'; at++) {
        if (*at < '0' || *at > '9' || *value > most)
            return 0;
        *value = *value * 10 + (unsigned)(*at - '0');
    }
    return *value >= 1 && *value <= most;
}

static crest_status run_plan_read_windows(crest_run_plan *plan, crest_error *error)
{
    const char *windows = crest_option(plan->options, "windows");
    const char *series = crest_option(plan->options, "windows.series");
    plan->windows = windows == NULL || strcmp(windows, "off") != 0;
    if (windows != NULL && plan->windows &&
        !run_plan_split_windows(windows, plan->window_options.window_s))
        return run_plan_refuse(plan->options, "windows",
                               "a list of windows: write off, 1m, 1m:5m, 1m:15m or 1m:5m:15m",
                               error);
    if (series != NULL &&
        !run_plan_whole_number(series, CREST_WINDOWED_SERIES_MAX, &plan->window_options.series))
        return run_plan_refuse(plan->options, "windows.series",
                               "a number of series from 1 to 4000000", error);
    return CREST_OK;
}

/* Reads whole microseconds, or a duration as elsewhere. */
static crest_status run_plan_read_hiccups(crest_run_plan *plan, crest_error *error)
{
    const char *key = "hiccups.resolution", *text = crest_option(plan->options, key);
    crest_status status = crest_option_switch(plan->options, "hiccups", &plan->hiccups, error);
    if (status != CREST_OK || text == NULL)
        return status;
    size_t digits = strspn(text, "0123456789");
    uint64_t resolution_us = 0;
    if (digits > 0 && digits < 10 && strcmp(text + digits, "us") == 0)
        resolution_us = strtoull(text, NULL, 10);
    else if (crest_option_duration_ms(plan->options, key, &resolution_us, NULL) == CREST_OK)
        resolution_us *= 1000;
    if (resolution_us < CREST_HICCUPS_RESOLUTION_US_MIN ||
        resolution_us > CREST_HICCUPS_RESOLUTION_US_MAX)
        return run_plan_refuse(plan->options, key,
                               "a resolution: write 100us to 1s, such as 250us or 1ms", error);
    plan->hiccups_options.resolution_us = (uint32_t)resolution_us;
    return CREST_OK;
}

/* Reads a duration in milliseconds that fits 32 bits; a longer one is beyond any bound. */
static crest_status run_plan_read_short(const crest_options *options, const char *key, uint32_t *ms,
                                        crest_error *error)
{
    uint64_t read_ms = 0;
    crest_status status =
        run_plan_read_ms(options, key, CREST_SYSTEM_INTERVAL_MS_MIN, &read_ms, error);
    *ms = (uint32_t)read_ms;
    return status;
}

/* Reads the options of collectors. Errors are theirs, with the place of the option that asks for
 * them. */
static crest_status run_plan_read_system(crest_run_plan *plan, crest_error *error)
{
    const crest_options *options = plan->options;
    crest_system_options *system = &plan->system_options;
    const char *groups = crest_option(options, "system");
    crest_error reason;
    *system = (crest_system_options){
        .groups = groups,
        .proc = crest_option(options, "system.proc"),
        .sys = crest_option(options, "system.sys"),
        .mounts_exclude = crest_option(options, "system.mounts.exclude"),
        .interfaces_exclude = crest_option(options, "system.interfaces.exclude"),
        .devices_exclude = crest_option(options, "system.devices.exclude")};
    plan->system = groups != NULL && strcmp(groups, "off") != 0;
    if (!plan->system)
        system->groups = NULL;
    crest_status status =
        run_plan_read_short(options, "system.interval", &system->interval_ms, error);
    if (status == CREST_OK)
        status =
            run_plan_read_short(options, "system.slow-interval", &system->slow_interval_ms, error);
    if (status != CREST_OK || crest_system_check(system, &reason) == CREST_OK)
        return status;
    if (groups == NULL)
        return crest_error_set(error, CREST_INVALID_OPTIONS, "%s", reason.message);
    return crest_error_set(error, CREST_INVALID_OPTIONS, "system=%s %s: %s", groups,
                           crest_option_origin(options, "system"), reason.message);
}

/* Where standard error is a terminal, by default. */
static crest_status run_plan_read_log(crest_run_plan *plan, crest_error *error)
{
    const char *log = crest_option(plan->options, "log");
    plan->log = log == NULL ? isatty(STDERR_FILENO) : strcmp(log, "stderr") == 0;
    if (log == NULL || plan->log || strcmp(log, "off") == 0)
        return CREST_OK;
    return run_plan_refuse(plan->options, "log",
                           "a place for messages: write log=stderr or log=off; crest_log_to takes "
                           "them anywhere else",
                           error);
}

static crest_status run_plan_read_common(crest_run_plan *plan, crest_error *error)
{
    plan->interval_ms = CREST_INTERVAL_MS_DEFAULT;
    plan->at_exit = 1;
    plan->threads = 1;
    crest_status status = run_plan_read_resource(plan, error);
    if (status == CREST_OK)
        status = run_plan_read_ms(plan->options, "interval", CREST_INTERVAL_MS_MIN,
                                  &plan->interval_ms, error);
    if (status == CREST_OK)
        status = run_plan_read_jitter(plan->options, "jitter", &plan->jitter, error);
    if (status == CREST_OK)
        status = crest_option_switch(plan->options, "atexit", &plan->at_exit, error);
    if (status == CREST_OK)
        status = crest_option_switch(plan->options, "strict", &plan->strict, error);
    if (status == CREST_OK)
        status = crest_option_switch(plan->options, "threads", &plan->threads, error);
    if (status == CREST_OK)
        status = crest_option_switch(plan->options, "otel.context", &plan->otel_context, error);
    if (status == CREST_OK)
        status = run_plan_read_log(plan, error);
    if (status == CREST_OK)
        status = run_plan_read_hiccups(plan, error);
    if (status == CREST_OK && plan->hiccups && !plan->threads)
        status = run_plan_refuse(plan->options, "hiccups",
                                 "possible with threads=off: it measures how late a thread of its "
                                 "own wakes up",
                                 error);
    if (status == CREST_OK)
        status = run_plan_read_system(plan, error);
    if (status == CREST_OK)
        status = crest_state_options_read(plan->options, &plan->state, error);
    if (status == CREST_OK)
        status = crest_spans_options_read(plan->options, &plan->spans, error);
    if (status == CREST_OK)
        status = crest_events_options_read(plan->options, &plan->events, error);
    return status == CREST_OK ? run_plan_read_windows(plan, error) : status;
}

/* ---- reporters ---- */

/* Whether KIND@NAME is well formed and a reporter. Options of a reporter that no option starts are
 * taken for a typing error. */
static crest_status run_plan_check_name(const crest_run_plan *plan, const run_plan_known *known,
                                        const char *key, crest_error *error)
{
    const char *at = strchr(key, '@'), *origin = crest_option_origin(plan->options, key);
    size_t kind_length = (size_t)(at - key), length = strcspn(at + 1, ".");
    int found = 0;
    for (size_t i = 0; i < known->kind_count; i++)
        found |= strlen(known->kinds[i].kind->name) == kind_length &&
                 strncmp(known->kinds[i].kind->name, key, kind_length) == 0;
    if (!found)
        return crest_error_set(error, CREST_INVALID_OPTIONS,
                               "%s %s: only reporters can be several, each with a name after the @",
                               key, origin);
    if (length == 0 || length > CREST_REPORTER_KIND_BYTES_MAX || strchr(at + 1, '@') != NULL)
        return crest_error_set(error, CREST_INVALID_OPTIONS,
                               "%s %s: after the @ comes a name of 1 to %u letters, digits, '-' "
                               "and '_'",
                               key, origin, CREST_REPORTER_KIND_BYTES_MAX);
    char reporter[2 * CREST_REPORTER_KIND_BYTES_MAX + 2];
    snprintf(reporter, sizeof reporter, "%.*s", (int)(kind_length + 1 + length), key);
    if (crest_option(plan->options, reporter) == NULL)
        return crest_error_set(error, CREST_INVALID_OPTIONS,
                               "%s %s belongs to no reporter: there is no %s=…", key, origin,
                               reporter);
    return CREST_OK;
}

static crest_status run_plan_check_names(const crest_run_plan *plan, const run_plan_known *known,
                                         crest_error *error)
{
    const char *key, *value;
    size_t cursor = 0;
    crest_status status = CREST_OK;
    while (status == CREST_OK && crest_option_next(plan->options, "", &cursor, &key, &value))
        if (strchr(key, '@') != NULL)
            status = run_plan_check_name(plan, known, key, error);
    return status;
}

static crest_status run_plan_read_schedule(const crest_run_plan *plan, const run_plan_kind *one,
                                           const crest_options *options, crest_schedule *schedule,
                                           crest_error *error)
{
    const char *value = crest_option(options, one->kind->name);
    *schedule = (crest_schedule){.interval_ms = plan->interval_ms, .jitter = plan->jitter};
    if (one->kind->schedule != NULL)
        one->kind->schedule(options, schedule);
    crest_status status = CREST_OK;
    if (one->kind->value_is_interval && strcmp(value, "on") != 0)
        status = run_plan_read_ms(options, one->kind->name, CREST_INTERVAL_MS_MIN,
                                  &schedule->interval_ms, error);
    if (status == CREST_OK)
        status = run_plan_read_ms(options, one->keys[KEY_INTERVAL], CREST_INTERVAL_MS_MIN,
                                  &schedule->interval_ms, error);
    if (status == CREST_OK)
        status = run_plan_read_ms(options, one->keys[KEY_TIMEOUT], 1, &schedule->timeout_ms, error);
    if (status == CREST_OK)
        status = run_plan_read_jitter(options, one->keys[KEY_JITTER], &schedule->jitter, error);
    if (status == CREST_OK)
        status = crest_option_switch(options, one->keys[KEY_ALIGN], &schedule->align, error);
    schedule->include = crest_option(options, one->keys[KEY_INCLUDE]);
    schedule->exclude = crest_option(options, one->keys[KEY_EXCLUDE]);
    return status;
}

/* Whether the option is good but the machine lacks what it needs: the other reporters then go
 * on. */
static int run_plan_only_here(crest_status status)
{
    return status == CREST_IO || status == CREST_SYSTEM;
}

/* The kind's own error message, and the option's place if that does not say it. */
static crest_status run_plan_explain(const crest_options *options, const char *kind,
                                     const crest_error *reason, crest_error *error)
{
    const char *origin = crest_option_origin(options, kind);
    crest_status status = reason->status == CREST_NO_MEMORY || run_plan_only_here(reason->status)
                              ? reason->status
                              : CREST_INVALID_OPTIONS;
    if (reason->message[0] == '\0')
        return crest_error_set(error, status, "%s %s: no such reporter could be made", kind,
                               origin);
    if (strstr(reason->message, origin) != NULL)
        return crest_error_set(error, status, "%s", reason->message);
    return crest_error_set(error, status, "%s %s: %s", kind, origin, reason->message);
}

/* A kind made no reporter: decides whether only this reporter fails, or the start. */
static crest_status run_plan_unmade(crest_run_reporter *made, const crest_options *options,
                                    const crest_error *reason, crest_error *error)
{
    if (!run_plan_only_here(reason->status))
        return run_plan_explain(options, made->kind, reason, error);
    made->refused = crest_alloc(1, sizeof *made->refused);
    if (made->refused == NULL)
        return crest_error_set(error, CREST_NO_MEMORY, "no memory to start");
    run_plan_explain(options, made->kind, reason, made->refused);
    return CREST_OK;
}

static crest_status run_plan_check_room(const crest_run_plan *plan, const char *key,
                                        crest_error *error)
{
    if (plan->reporter_count < CREST_REPORTERS_MAX)
        return CREST_OK;
    return crest_error_set(error, CREST_INVALID_OPTIONS,
                           "more than %u reporters; the one too many is %s %s", CREST_REPORTERS_MAX,
                           key, crest_option_origin(plan->options, key));
}

/* Makes the other reporter of an option, if its kind has one. */
static crest_status run_plan_make_also(crest_run_plan *plan, const crest_reporter_kind *kind,
                                       const char *key, const crest_options *options,
                                       crest_error *error)
{
    if (kind->also == NULL)
        return CREST_OK;
    crest_status status = run_plan_check_room(plan, key, error);
    if (status != CREST_OK)
        return status;
    crest_run_reporter *made = &plan->reporters[plan->reporter_count];
    crest_error reason;
    crest_error_clear(&reason);
    made->kind = kind->name;
    made->schedule = (crest_schedule){.jitter = plan->jitter};
    made->reporter =
        kind->also(crest_option(plan->options, key), options, &made->schedule, &reason);
    if (made->reporter == NULL && reason.status != CREST_OK)
        return run_plan_explain(options, kind->name, &reason, error);
    plan->reporter_count += made->reporter != NULL;
    return CREST_OK;
}

/* Makes the reporters of an option, unless it is off. Its options are the plan's own, or, if it has
 * a name, a view of them. */
static crest_status run_plan_make_one(crest_run_plan *plan, const run_plan_kind *one,
                                      const char *name, crest_error *error)
{
    const char *key = name != NULL ? name : one->kind->name;
    const char *value = crest_option(plan->options, key);
    if (value == NULL || strcmp(value, "off") == 0)
        return CREST_OK;
    crest_status status = run_plan_check_room(plan, key, error);
    if (status != CREST_OK)
        return status;
    crest_run_reporter *made = &plan->reporters[plan->reporter_count];
    const crest_options *options = plan->options;
    if (name != NULL) {
        options = made->options = crest_options_view(plan->options, name);
        made->name = name;
        if (options == NULL)
            return crest_error_set(error, CREST_NO_MEMORY, "no memory to read the options");
    }
    crest_error reason;
    crest_error_clear(&reason);
    status = run_plan_read_schedule(plan, one, options, &made->schedule, error);
    if (status == CREST_OK) {
        made->kind = one->kind->name;
        made->reporter = one->kind->create(value, options, &plan->resource, &reason);
        if (made->reporter == NULL)
            status = run_plan_unmade(made, options, &reason, error);
        else if (made->reporter->waits && !plan->threads)
            status = run_plan_refuse(options, one->kind->name,
                                     "possible with threads=off, for it waits for its server: take "
                                     "prometheus=, textfile=, json= or statsd= instead",
                                     error);
    }
    if (status == CREST_OK) {
        plan->reporter_count++;
        return run_plan_make_also(plan, one->kind, key, options, error);
    }
    crest_reporter_free(made->reporter);
    made->reporter = NULL;
    crest_options_free(made->options);
    return status;
}

/* Makes all reporters of a kind: KIND=… and each KIND@NAME=… */
static crest_status run_plan_make_kind(crest_run_plan *plan, const run_plan_kind *one,
                                       crest_error *error)
{
    crest_status status = run_plan_make_one(plan, one, NULL, error);
    char prefix[RUN_PLAN_KEY_BYTES];
    const char *key, *value;
    size_t cursor = 0;
    snprintf(prefix, sizeof prefix, "%s@", one->kind->name);
    while (status == CREST_OK && crest_option_next(plan->options, prefix, &cursor, &key, &value))
        if (strchr(key, '.') == NULL)
            status = run_plan_make_one(plan, one, key, error);
    return status;
}

/* ---- the whole ---- */

static crest_status run_plan_read(crest_run_plan *plan, run_plan_known *known, const char *text,
                                  crest_error *error)
{
    run_plan_collect(known);
    crest_status status = crest_options_read(text, &plan->options, error);
    if (status == CREST_OK)
        status = crest_options_check_keys(plan->options, known->keys, known->key_count, error);
    if (status == CREST_OK)
        status = run_plan_check_names(plan, known, error);
    if (status == CREST_OK)
        status = run_plan_read_common(plan, error);
    for (size_t i = 0; status == CREST_OK && i < known->kind_count; i++)
        status = run_plan_make_kind(plan, &known->kinds[i], error);
    return status;
}

crest_status crest_run_plan_make(const char *text, crest_run_plan **made, crest_error *error)
{
    crest_run_plan *plan = crest_alloc(1, sizeof *plan);
    run_plan_known *known = crest_alloc(1, sizeof *known);
    crest_status status = CREST_NO_MEMORY;
    *made = NULL;
    if (plan != NULL && known != NULL)
        status = run_plan_read(plan, known, text, error);
    else
        crest_error_set(error, CREST_NO_MEMORY, "no memory to start");
    crest_alloc_free(known);
    if (status == CREST_OK)
        *made = plan;
    else
        crest_run_plan_free(plan);
    return status;
}

void crest_run_plan_free(crest_run_plan *plan)
{
    if (plan == NULL)
        return;
    for (size_t i = 0; i < plan->reporter_count; i++) {
        crest_reporter_free(plan->reporters[i].reporter);
        crest_options_free(plan->reporters[i].options);
        crest_alloc_free(plan->reporters[i].refused);
    }
    crest_options_free(plan->options);
    crest_alloc_free(plan);
}
