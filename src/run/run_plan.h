/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plan of crest_start. All options are read, and all that they ask for is made, before anything
 * is started, so that a bad option leaves nothing behind. The inside of run.c.
 *
 *     crest_run_plan *plan;
 *     if (crest_run_plan_make(text, &plan, &error) == CREST_OK) ...
 *         ... attach its reporters; what is attached is no longer the plan's: NULL there ...
 *     crest_run_plan_free(plan);
 */
#ifndef CREST_RUN_PLAN_H
#define CREST_RUN_PLAN_H

#include "base/host_name.h"
#include "run/options.h"
#include "run/events_run.h"
#include "run/spans_run.h"
#include "run/state_run.h"
#include <crest/hiccups.h>
#include <crest/system.h>
#include <crest/window.h>

typedef struct crest_run_reporter {
    crest_reporter *reporter; /* the plan frees it; NULL: attached, or it could not be made */
    crest_error *refused;     /* why not: the machine lacks what it needs; or NULL */
    const char *kind;
    const char *name; /* KIND@NAME; NULL: the reporter's own */
    crest_schedule schedule;
    crest_options *options; /* its own view of them, which the schedule points into; or NULL */
} crest_run_reporter;

typedef struct crest_run_plan {
    crest_options *options;
    char host[CREST_HOST_BYTES];
    crest_page_label labels[CREST_RESOURCE_LABELS_MAX];
    crest_resource resource;
    uint64_t interval_ms; /* for reporters without an interval of their own */
    double jitter;
    int threads; /* threads may be made */
    int windows;
    crest_windows_options window_options;
    int at_exit;
    int strict;
    int otel_context; /* outside profilers may see spans */
    int log;          /* what Crest has to say goes to standard error */
    crest_state_options state;
    crest_spans_settings spans; /* their text lies in the options */
    crest_events_options events;
    int hiccups;
    crest_hiccups_options hiccups_options;
    int system;                          /* collectors are asked for */
    crest_system_options system_options; /* their texts lie in the options */
    crest_system *collectors;            /* the plan does not stop them */
    crest_run_reporter reporters[CREST_REPORTERS_MAX];
    size_t reporter_count;
} crest_run_plan;

/* Reads `text` (NULL: none) and CREST_OPTS. CREST_INVALID_OPTIONS or CREST_NO_MEMORY, and *plan is
 * NULL, with a message in *error (which may be NULL). */
crest_status crest_run_plan_make(const char *text, crest_run_plan **plan, crest_error *error);

/* Frees the plan, and the reporters that it still owns. NULL does nothing. */
void crest_run_plan_free(crest_run_plan *plan);

#endif
