/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Distributions: how fine a histogram is, what was recorded between two snapshots, and three ways
 * to walk it. And the slowest operation of a timer, by its id.
 */
#include <crest/crest.h>
#include <crest/testing.h>
#include <inttypes.h>
#include <stdio.h>

/* Sizes from 1 KiB to 1 GiB to three digits; a share in percent; one of which the mean will do. */
static const crest_range sizes = {.lowest = 1024, .highest = 1u << 30, .digits = 3};
CREST_HISTOGRAM(message, "comm.message-size", "Sent.", .unit = CREST_BYTES, .range = &sizes);
CREST_HISTOGRAM(load, "memory.load", "In use, in percent.", .range = CREST_RANGE_PERCENTAGE);
CREST_HISTOGRAM(fee, "casper.fee", "Paid.", .range = CREST_RANGE_NONE);
CREST_TIMER(replay, "casper.replay-time", "Replaying a block.");

static crest_series_view series_of(const crest_snapshot *snapshot, const char *name)
{
    crest_series_view series;
    crest_snapshot_find(snapshot, name, NULL, 0, &series);
    return series;
}

static void show(const char *what, const crest_distribution *d)
{
    printf("%s: %" PRIu64 " records from %" PRIu64 " to %" PRIu64 ", median %" PRIu64 "\n", what,
           crest_distribution_count(d), crest_distribution_min(d), crest_distribution_max(d),
           crest_distribution_quantile(d, 0.5));
}

int main(void)
{
    for (int i = 0; i < 1000; i++) {
        crest_histogram_record(&message, 2000 + i);
        crest_histogram_record(&load, i % 101);
        crest_histogram_record(&fee, i);
    }
    crest_snapshot *before = crest_snapshot_take(NULL);
    for (int i = 0; i < 100; i++)
        crest_histogram_record(&message, 500000 + 10000 * i);
    crest_snapshot *now = crest_snapshot_take(NULL);
    show("sizes", series_of(now, "comm.message-size").distribution);
    show("percent", series_of(now, "memory.load").distribution);
    show("fees, unknown but for their extremes", series_of(now, "casper.fee").distribution);

    /* what came between the snapshots */
    crest_distribution *grown =
        crest_distribution_copy(series_of(now, "comm.message-size").distribution);
    crest_distribution_subtract(grown, series_of(before, "comm.message-size").distribution);
    show("since the first snapshot", grown);

    crest_distribution_cursor linear = {0};
    while (crest_distribution_next_linear(grown, 500000, &linear))
        if (linear.count != 0)
            printf("  %7" PRIu64 " to %7" PRIu64 ": %3" PRIu64 "\n", linear.lowest, linear.highest,
                   linear.count);
    crest_distribution_cursor doubling = {0};
    while (crest_distribution_next_logarithmic(grown, 1024, 2, &doubling))
        if (doubling.count != 0)
            printf("  %7" PRIu64 " to %7" PRIu64 ": %3" PRIu64 "\n", doubling.lowest,
                   doubling.highest, doubling.count);
    crest_distribution_cursor tick = {0};
    while (crest_distribution_next_percentile(grown, 1, &tick))
        printf("  %6.2f %% up to %7" PRIu64 "\n", 100 * tick.quantile, tick.highest);
    crest_distribution_free(grown);
    crest_snapshot_free(before);
    crest_snapshot_free(now);

    /* A program starts the ticker with crest_start; here its ticks come from the testing header. */
    crest_testing_tick(NULL);
    for (uint64_t block = 1; block <= 1000; block++) {
        crest_op op = crest_op_u64(block);
        crest_timer_record_op(&replay, block == 617 ? 2345678 : 1000 + (int64_t)block,
                              CREST_OUTCOME_OK, &op);
    }
    crest_testing_tick(NULL);
    crest_window minute = crest_timer_window(&replay, CREST_OUTCOME_OK, CREST_WINDOW_S);
    char text[CREST_OP_TEXT_BYTES];
    crest_op_format(&minute.slowest, text, sizeof text);
    printf("slowest of the last minute: block %s, %.0f ns\n", text, minute.maximum);
    crest_ticker_detach(NULL);
    return 0;
}
