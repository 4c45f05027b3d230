/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One side of the bench of OTLP: times a snapshot's encoding, and for comparison the pages of the
 * same snapshot. Driven by otlp_bench.py, which has another side in Go.
 *
 *     otlp_bench counters 2000     a family of so many series
 *     otlp_bench short 500         histograms of 5 to 20 ms
 *     otlp_bench long 500          histograms of 1 ms to 1 s
 *
 * Reads lines, and answers each with nanoseconds a point, or bytes: `otlp`, `json`, `explicit`,
 * `text`, `native`, `only`, `bytes`. Ends at the end of its input.
 */
#include <crest/crest.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

CREST_COUNTER_FAMILY(messages, "bench.messages", "Messages sent.", peer, kind);
CREST_HISTOGRAM_FAMILY_OPTIONS(latency, "bench.latency", "From question to answer.",
                               (.unit = CREST_NANOSECONDS), peer, kind);

static const char *const peer_kinds[] = {"block", "deploy", "ping", "vote"};
static uint64_t taken;

static int take_body(void *context, const crest_otlp_body *body)
{
    (void)context;
    taken += body->length;
    return 0;
}

static int take_piece(void *context, const void *bytes, size_t length)
{
    (void)context;
    (void)bytes;
    taken += length;
    return 0;
}

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void fill(const char *shape, unsigned count)
{
    int counters = strcmp(shape, "counters") == 0, longer = strcmp(shape, "long") == 0;
    uint64_t random = 88172645463325252u;
    for (unsigned i = 0; i < count; i++) {
        char peer[40];
        snprintf(peer, sizeof peer, "10.%u.%u.%u:40400", i >> 16 & 255, i >> 8 & 255, i & 255);
        if (counters) {
            crest_counter_add(messages_with(peer, peer_kinds[i % 4]), (i * 7919u) % 100003u + 1);
            continue;
        }
        crest_histogram *histogram = latency_with(peer, peer_kinds[i % 4]);
        for (unsigned k = 0; k < 2000; k++) {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            int64_t low = longer ? 1000000 : 5000000, high = longer ? 1000000000 : 20000000;
            crest_histogram_record(histogram, low + (int64_t)(random % (uint64_t)(high - low)));
        }
    }
}

static void encode(const crest_snapshot *snapshot, const char *what)
{
    crest_otlp_options otlp = {
        .encoding = strcmp(what, "json") == 0 ? CREST_OTLP_JSON : CREST_OTLP_PROTOBUF,
        .histograms = strcmp(what, "explicit") == 0 ? CREST_OTLP_EXPLICIT : CREST_OTLP_EXPONENTIAL};
    crest_page_options page = {.native = strcmp(what, "only") == 0 ? CREST_PAGE_NATIVE_ONLY
                                                                   : CREST_PAGE_NATIVE_ON};
    if (strcmp(what, "text") == 0)
        crest_snapshot_write(snapshot, CREST_FORMAT_PROMETHEUS_TEXT, &page, take_piece, NULL, NULL);
    else if (strcmp(what, "native") == 0 || strcmp(what, "only") == 0)
        crest_snapshot_write(snapshot, CREST_FORMAT_PROMETHEUS_PROTOBUF, &page, take_piece, NULL,
                             NULL);
    else
        crest_otlp_write(snapshot, &otlp, take_body, NULL, NULL);
}

/* Nanoseconds of processor time a series: the quickest of some. */
static double timed(const crest_snapshot *snapshot, const char *what, unsigned count)
{
    uint64_t best = UINT64_MAX;
    for (unsigned i = 0; i < 7; i++) {
        uint64_t from = now_ns();
        encode(snapshot, what);
        uint64_t took = now_ns() - from;
        best = took < best ? took : best;
    }
    return (double)best / count;
}

int main(int argc, char **argv)
{
    char line[64];
    if (argc != 3)
        return 2;
    unsigned count = (unsigned)atoi(argv[2]);
    if (count == 0 || count > CREST_FAMILY_SERIES_MAX)
        return 2;
    fill(argv[1], count);
    crest_snapshot *snapshot = crest_snapshot_take(NULL);
    crest_snapshot_select(
        snapshot, strcmp(argv[1], "counters") == 0 ? "bench.messages" : "bench.latency", NULL);
    while (fgets(line, sizeof line, stdin) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        if (strcmp(line, "bytes") == 0) {
            taken = 0;
            encode(snapshot, "otlp");
            printf("%.1f\n", (double)taken / count);
        } else {
            printf("%.1f\n", timed(snapshot, line, count));
        }
        fflush(stdout);
    }
    crest_snapshot_free(snapshot);
    return 0;
}
