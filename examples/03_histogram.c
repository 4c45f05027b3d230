/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A histogram: how large things are. Every value is counted in a bucket less than 1 % wide; count,
 * sum, minimum and maximum are exact, so no peak is missed, however short.
 */
#include <crest/crest.h>
#include <inttypes.h>
#include <stdio.h>

CREST_HISTOGRAM(queue_depth, "comm.inbound-queue", "Messages waiting, seen at each arrival.");

int main(void)
{
    for (int i = 1; i <= 10000; i++)
        crest_histogram_record(&queue_depth, i % 100);
    crest_histogram_record(&queue_depth, 7345);     /* a burst of a few milliseconds */
    crest_histogram_record_n(&queue_depth, 0, 500); /* five hundred arrivals at an empty queue */

    crest_snapshot *snapshot = crest_snapshot_take(NULL);
    crest_series_view series;
    if (crest_snapshot_find(snapshot, "comm.inbound-queue", NULL, 0, &series) != CREST_OK)
        return 1;
    const crest_distribution *depth = series.distribution;
    printf("arrivals: %" PRIu64 ", sum: %" PRIu64 "\n", crest_distribution_count(depth),
           crest_distribution_sum(depth));
    printf("minimum: %" PRIu64 ", maximum: %" PRIu64 "\n", crest_distribution_min(depth),
           crest_distribution_max(depth));
    printf("median: %" PRIu64 ", 99%%: %" PRIu64 "\n", crest_distribution_quantile(depth, 0.5),
           crest_distribution_quantile(depth, 0.99));
    crest_snapshot_free(snapshot);
    return 0;
}
