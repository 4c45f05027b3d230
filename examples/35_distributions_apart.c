/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Distributions as HdrHistogram's bytes: two nodes send theirs, and what is made of both has the
 * quantiles of all their values, which no average of quantiles has. A node that keeps a log of such
 * bytes for HdrHistogram's own tools is started with
 *
 *     CREST_OPTS='hlog=latencies.hlog,hlog.interval=10s' ./node
 */
#include <crest/crest.h>
#include <crest/hlog.h>
#include <stdio.h>
#include <string.h>

CREST_REGISTRY(nodes);
#define CREST_REGISTRY_HERE &nodes
CREST_TIMER_FAMILY(replay, "examples.node.replay-time", "Replaying a block.", peer);

/* What a node sends: the distribution of its series, compressed; its length, 0 without one. */
static size_t send(const crest_snapshot *snapshot, const char *node, void *bytes, size_t room)
{
    crest_series_view series;
    size_t length = 0;
    for (size_t i = 0; crest_snapshot_series(snapshot, i, &series) == CREST_OK; i++)
        if (strcmp(series.label_values[0], node) == 0 &&
            strcmp(series.label_values[1], "ok") == 0 &&
            crest_distribution_encode_compressed(series.distribution, bytes, room, &length) !=
                CREST_OK)
            return 0;
    return length;
}

int main(void)
{
    static unsigned char bytes[8192];
    for (int64_t ms = 1; ms <= 1000; ms++) {
        crest_timer_record(replay_with("fast"), ms * 10000, CREST_OUTCOME_OK);
        if (ms % 10 == 0)
            crest_timer_record(replay_with("slow"), ms * 1000000, CREST_OUTCOME_OK);
    }
    crest_snapshot *snapshot = crest_snapshot_take(&nodes);
    crest_error error;
    crest_distribution *all = NULL;
    static const char *const names[] = {"fast", "slow"};
    for (int i = 0; i < 2; i++) {
        size_t length = send(snapshot, names[i], bytes, sizeof bytes);
        crest_distribution *one = crest_distribution_decode_compressed(bytes, length, &error);
        if (one == NULL) {
            fprintf(stderr, "%s\n", error.message);
            return 1;
        }
        printf("%s: %llu values, 99 %% below %.0f ms\n", names[i],
               (unsigned long long)crest_distribution_count(one),
               (double)crest_distribution_quantile(one, 0.99) / 1e6);
        if (all == NULL) {
            all = one;
        } else {
            crest_distribution_add(all, one);
            crest_distribution_free(one);
        }
    }
    printf("both: %llu values, 99 %% below %.0f ms\n",
           (unsigned long long)crest_distribution_count(all),
           (double)crest_distribution_quantile(all, 0.99) / 1e6);
    crest_distribution_free(all);
    crest_snapshot_free(snapshot);
    return 0;
}
