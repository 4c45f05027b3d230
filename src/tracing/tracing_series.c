/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Self-metrics of tracing. See tracing_series.h.
 */
#include "tracing/tracing_series.h"
#include "metrics/child.h"
#include "metrics/slowest_note.h"
#include "registry/children.h"
#include "spans/traced_metrics.h"

#include <crest/counter.h>
#include <crest/family.h>
#include <crest/registry.h>
#include <crest/span.h>
#include <string.h>

CREST_COUNTER_FAMILY(tracing_series_spans, "crest.spans",
                     "Spans of traced timers, by what became of them.", fate);
/* Made when tracing is: a process without has no such series. */
static crest_counter *tracing_series_late;
static crest_gauge *tracing_series_waiting;

/* The labels, and the word of the totals that each shows. */
static const struct {
    const char *fate;
    size_t offset;
} tracing_series_fates[] = {
    {"kept", offsetof(crest_span_totals, kept)},
    {"folded", offsetof(crest_span_totals, folded)},
    {"not-sampled", offsetof(crest_span_totals, dropped_sampled)},
    {"ring-full", offsetof(crest_span_totals, dropped_full)},
    {"over-rate", offsetof(crest_span_totals, dropped_rate)},
    {"no-memory", offsetof(crest_span_totals, dropped_memory)},
    {"not-exported", offsetof(crest_span_totals, dropped_export)},
};
#define TRACING_SERIES_FATES (sizeof tracing_series_fates / sizeof *tracing_series_fates)

static crest_counter *tracing_series_of[TRACING_SERIES_FATES];
static crest_span_totals tracing_series_shown;

void crest_tracing_series_make(void)
{
    crest_status status;
    for (size_t i = 0; i < TRACING_SERIES_FATES; i++)
        tracing_series_of[i] = tracing_series_spans_with(tracing_series_fates[i].fate);
    tracing_series_late = crest_counter_get(
        NULL,
        &(crest_metric_options){.name = "crest.spans-late",
                                .description = "Spans that came after their operation was "
                                               "decided; crest.spans has them too."},
        &status);
    tracing_series_waiting = crest_gauge_get(
        NULL,
        &(crest_metric_options){.name = "crest.spans-waiting",
                                .description = "Spans whose operation is not decided, or that are "
                                               "not handed out yet."},
        &status);
}

static uint64_t tracing_series_word(const crest_span_totals *totals, size_t offset)
{
    return *(const uint64_t *)(const void *)((const char *)totals + offset);
}

void crest_tracing_series_set(const crest_span_totals *totals)
{
    if (tracing_series_late == NULL)
        return;
    for (size_t i = 0; i < TRACING_SERIES_FATES; i++) {
        size_t offset = tracing_series_fates[i].offset;
        uint64_t passed = tracing_series_word(totals, offset) -
                          tracing_series_word(&tracing_series_shown, offset);
        if (passed != 0)
            crest_counter_add(tracing_series_of[i], (int64_t)passed);
    }
    if (totals->late != tracing_series_shown.late)
        crest_counter_add(tracing_series_late, (int64_t)(totals->late - tracing_series_shown.late));
    crest_gauge_set(tracing_series_waiting, (double)totals->waiting);
    tracing_series_shown = *totals;
}

/* In a forked child the counts begin anew, and so do the series. */
void crest_tracing_series_forked(void)
{
    memset(&tracing_series_shown, 0, sizeof tracing_series_shown);
    tracing_series_late = NULL;
}

static void tracing_series_forget(const crest_metric *metric)
{
    crest_children_cursor at = {NULL, 0, NULL};
    for (const crest_child *child; (child = crest_children_next(metric, &at)) != NULL;)
        for (unsigned outcome = 0; outcome < CREST_OUTCOME_COUNT; outcome++) {
            const crest_series *series = crest_child_at(child, outcome);
            if (series != NULL)
                crest_slowest_forget(series);
        }
}

void crest_tracing_series_forget_noted(void)
{
    const crest_registry_state *state = crest_registry_state_seen(NULL);
    if (state == NULL)
        return;
    /* acquire: partner of the release store in metric_make.c */
    const crest_metric *metric = crest_atomic_load_ptr_acquire(CREST_PTR(&state->metrics));
    for (; metric != NULL; metric = metric->next)
        if (metric->kind == CREST_KIND_TIMER && crest_traced(metric))
            tracing_series_forget(metric);
}
