/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Crest's side of the bench of spans, driven by spans_bench.py, which has fastrace and
 * OpenTelemetry's SDKs for Rust and Go beside it. Reads lines and answers each with nanoseconds of
 * the measuring thread a span, of the whole process a span, spans made, spans that the exporter was
 * given:
 *
 *     alone N     N operations of one span with two attributes, a text and a number
 *     texts N     the same with two texts
 *     tree N      operations of a root and a hundred children with two attributes
 *     plain N     traced timers with no attribute, all kept
 *     dropped N   the same, none kept: not sampled, and nothing can be slow, so dropped at the end
 *     decided N   the same with the default rule of slow spans: dropped after it was collected
 *     timer N     the same timer, not traced
 *     clock N     two readings of the clock in place of a timer
 *
 * The exporter counts and discards. What was recorded is flushed after the thread's time was taken.
 */
#include <crest/crest.h>
#include <crest/span.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CHILDREN 100u

CREST_TIMER(block_time, "casper.block", "A block.");
CREST_TIMER(deploy_time, "casper.deploy", "A deploy of it.");
CREST_SPAN_KEY(peer_key, "peer");
CREST_SPAN_KEY(height_key, "height");

static const char peer[] = "10.0.0.7:40400", height_text[] = "1234567";
static uint64_t taken, last_op;
static volatile uint64_t clock_sink;

static crest_status take(crest_span_exporter *self, const crest_span_batch *batch,
                         crest_error *error)
{
    (void)self;
    (void)error;
    taken += batch->count;
    return CREST_OK;
}

static crest_span_exporter discarded = {"bench", take, NULL};

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void span(crest_timer *timer, crest_op op, const crest_span_context *parent, int64_t height)
{
    crest_span_timing timing;
    crest_timer_start_under(timer, op, parent, &timing);
    crest_span_set_text(&timing, &peer_key, peer, sizeof peer - 1);
    crest_span_set_i64(&timing, &height_key, height);
    crest_span_end(&timing, op, CREST_OUTCOME_OK);
}

static void span_of_texts(crest_op op)
{
    crest_span_timing timing;
    crest_timer_start_under(&block_time, op, NULL, &timing);
    crest_span_set_text(&timing, &peer_key, peer, sizeof peer - 1);
    crest_span_set_text(&timing, &height_key, height_text, sizeof height_text - 1);
    crest_span_end(&timing, op, CREST_OUTCOME_OK);
}

static void tree(crest_op op)
{
    crest_span_timing root;
    crest_timer_start_under(&block_time, op, NULL, &root);
    crest_span_set_text(&root, &peer_key, peer, sizeof peer - 1);
    crest_span_set_i64(&root, &height_key, 0);
    crest_span_context under = crest_span_timing_context(&root);
    for (unsigned i = 0; i < CHILDREN; i++)
        span(&deploy_time, op, &under, i);
    crest_span_end(&root, op, CREST_OUTCOME_OK);
}

static void plain(uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        crest_op op = crest_op_u64(++last_op);
        crest_timing timing = crest_timer_start(&block_time, op);
        crest_timing_stop(&timing, op);
    }
}

static uint64_t made_of(const char *shape, uint64_t count)
{
    if (strcmp(shape, "alone") == 0)
        for (uint64_t i = 0; i < count; i++)
            span(&block_time, crest_op_u64(++last_op), NULL, (int64_t)i);
    else if (strcmp(shape, "texts") == 0)
        for (uint64_t i = 0; i < count; i++)
            span_of_texts(crest_op_u64(++last_op));
    else if (strcmp(shape, "clock") == 0)
        for (uint64_t i = 0; i < count; i++)
            clock_sink = crest_now() - crest_now();
    else if (strcmp(shape, "tree") != 0)
        plain(count);
    else {
        uint64_t traces = (count + CHILDREN) / (CHILDREN + 1);
        for (uint64_t i = 0; i < traces; i++)
            tree(crest_op_u64(++last_op));
        return traces * (CHILDREN + 1);
    }
    return count;
}

/* What is traced and kept in this shape. */
static void settle(const char *shape)
{
    crest_error error;
    crest_spans_settings settings = {
        .spans = "casper.*", .sample = 1, .slow_factor = -1, .rate = UINT32_MAX};
    if (strcmp(shape, "dropped") == 0)
        settings.sample = -1;
    if (strcmp(shape, "decided") == 0)
        settings.sample = -1, settings.slow_factor = 1e9;
    if (strcmp(shape, "timer") == 0 || strcmp(shape, "clock") == 0)
        settings.spans = NULL;
    if (crest_spans_set(&settings, &error) != CREST_OK) {
        fprintf(stderr, "spans_bench: %s\n", error.message);
        exit(1);
    }
}

static void answer(const char *shape, uint64_t count)
{
    taken = 0;
    uint64_t process = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    uint64_t from = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    uint64_t made = made_of(shape, count);
    uint64_t thread = clock_ns(CLOCK_THREAD_CPUTIME_ID) - from;
    crest_spans_flush(1);
    uint64_t whole = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - process;
    printf("%.2f %.2f %llu %llu\n", (double)thread / (double)made, (double)whole / (double)made,
           (unsigned long long)made, (unsigned long long)taken);
    fflush(stdout);
}

int main(void)
{
    char line[64], shape[16], before[16] = "";
    unsigned long long count;
    if (crest_span_exporter_add(&discarded) != CREST_OK)
        return 1;
    while (fgets(line, sizeof line, stdin) != NULL) {
        if (sscanf(line, "%15s %llu", shape, &count) != 2)
            return 2;
        if (strcmp(shape, before) != 0)
            settle(shape);
        memcpy(before, shape, sizeof before);
        answer(shape, count);
    }
    return 0;
}
