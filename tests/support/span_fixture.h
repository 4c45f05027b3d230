/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An exporter that keeps copies of the spans it was handed, for tests of what makes spans. Tests
 * make the tracing thread's turns by hand: crest_spans_flush collects and decides.
 */
#ifndef CREST_TESTS_SPAN_FIXTURE_H
#define CREST_TESTS_SPAN_FIXTURE_H

#include "support/core_fixture.h"

#include <crest/span.h>
#include <string.h>

#define SPANS_SEEN_MAX 4096u
#define SPANS_ATTRIBUTES_MAX 12u

/* A span, with its first attributes, event and link; texts are cut. */
typedef struct span_seen {
    crest_span span; /* its pointers are not valid any more */
    char name[96];
    char tracestate[64];
    char message[160];
    crest_span_attribute attributes[SPANS_ATTRIBUTES_MAX];
    char keys[SPANS_ATTRIBUTES_MAX][64];
    char texts[SPANS_ATTRIBUTES_MAX][400];
    char event[64];
    uint64_t event_ns;
    crest_span_context link;
} span_seen;

static span_seen spans_seen[SPANS_SEEN_MAX];
static size_t spans_count; /* all that came; the first ones are kept */
static size_t spans_batches, spans_finals;
static crest_status spans_answer;

static void spans_copy(const crest_span *span, span_seen *seen)
{
    memset(seen, 0, sizeof *seen);
    seen->span = *span;
    snprintf(seen->name, sizeof seen->name, "%s", span->name);
    snprintf(seen->tracestate, sizeof seen->tracestate, "%s", span->tracestate);
    snprintf(seen->message, sizeof seen->message, "%s", span->status_message);
    for (size_t i = 0; i < span->attribute_count && i < SPANS_ATTRIBUTES_MAX; i++) {
        seen->attributes[i] = span->attributes[i];
        snprintf(seen->keys[i], sizeof seen->keys[i], "%s", span->attributes[i].key);
        if (span->attributes[i].type == CREST_SPAN_TEXT)
            snprintf(seen->texts[i], sizeof seen->texts[i], "%s", span->attributes[i].value.s);
    }
    if (span->event_count != 0) {
        snprintf(seen->event, sizeof seen->event, "%s", span->events[0].name);
        seen->event_ns = span->events[0].unix_ns;
    }
    if (span->link_count != 0)
        seen->link = span->links[0].context;
}

static crest_status spans_take(crest_span_exporter *self, const crest_span_batch *batch,
                               crest_error *error)
{
    (void)self, (void)error;
    spans_batches++;
    spans_finals += batch->final != 0;
    if (spans_answer != CREST_OK)
        return spans_answer;
    for (size_t i = 0; i < batch->count; i++, spans_count++)
        if (spans_count < SPANS_SEEN_MAX)
            spans_copy(&batch->spans[i], &spans_seen[spans_count]);
    return CREST_OK;
}

static crest_span_exporter spans_exporter = {.name = "test", .take = spans_take, .state = NULL};

/* Traces what matches, and keeps what comes; nothing has come yet. */
static inline void spans_begin(const crest_spans_settings *settings)
{
    crest_error error;
    spans_count = spans_batches = spans_finals = 0;
    spans_answer = CREST_OK;
    crest_status status = crest_spans_set(settings, &error);
    if (status != CREST_OK)
        fail_msg("%s", error.message);
    status = crest_span_exporter_add(&spans_exporter);
    assert_true(status == CREST_OK || status == CREST_ALREADY);
}

static inline void spans_end(void)
{
    crest_spans_set(&(crest_spans_settings){.spans = NULL}, NULL);
    crest_span_exporter_remove(&spans_exporter);
}

/* The number-th span of this name, from 0. */
static inline const span_seen *spans_find(const char *name, size_t number)
{
    for (size_t i = 0; i < spans_count && i < SPANS_SEEN_MAX; i++)
        if (strcmp(spans_seen[i].name, name) == 0 && number-- == 0)
            return &spans_seen[i];
    return NULL;
}

/* After a flush of all: each offered span has one fate. */
static inline void spans_assert_whole(void)
{
    crest_span_totals t = crest_spans_totals();
    assert_int_equal(t.waiting, 0);
    assert_int_equal(t.offered, t.kept + t.folded + t.dropped_sampled + t.dropped_full +
                                    t.dropped_rate + t.dropped_memory + t.dropped_export);
}

#endif
