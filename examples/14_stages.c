/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stages: the latency to consensus, from the proposal of a block until none, a third and all of the
 * other nodes support it, as one declaration. Marks may be skipped, come late and come twice.
 */
#include <crest/crest.h>
#include <stdio.h>
#include <time.h>

CREST_STAGES(consensus, "casper.consensus", "From the proposal of a block on.",
             .stages = {"0", "1/3", "1"}, .deadline_ms = 60000);

enum { SUPPORT_NONE, SUPPORT_THIRD, SUPPORT_ALL };

static void wait_ms(long ms)
{
    struct timespec pause = {0, ms * 1000000L};
    nanosleep(&pause, NULL);
}

/* What a stage's histogram holds, and whether its duration is as long as it must be. */
static void show(const char *name, const char *stage, int least_ms)
{
    crest_snapshot *snapshot = crest_snapshot_take(NULL);
    crest_series_view series;
    if (crest_snapshot_find(snapshot, name, &stage, 1, &series) == CREST_OK)
        printf("%s{stage=\"%s\"}: %d, at least %d ms: %s\n", name, stage,
               (int)crest_distribution_count(series.distribution), least_ms,
               crest_distribution_sum(series.distribution) >= least_ms * 1000000u ? "yes" : "no");
    crest_snapshot_free(snapshot);
}

int main(void)
{
    crest_op block = crest_op_text("block 1"), orphan = crest_op_text("block 2");
    crest_stages_begin(&consensus, block);
    crest_stages_begin(&consensus, orphan);
    wait_ms(2);
    crest_stages_mark(&consensus, block, SUPPORT_NONE); /* stored and sent to the others */
    wait_ms(10);
    crest_stages_mark(&consensus, block, SUPPORT_THIRD);
    wait_ms(20);
    crest_stages_mark(&consensus, block, SUPPORT_ALL);
    crest_stages_end(&consensus, block, CREST_OUTCOME_OK);
    crest_stages_end(&consensus, orphan, CREST_OUTCOME_CANCELLED);

    crest_status status = crest_stages_mark(&consensus, block, SUPPORT_ALL);
    printf("a vote after the end: %s\n", crest_status_text(status));
    show("casper.consensus.stage", "0", 2);
    show("casper.consensus.stage", "1/3", 10);
    show("casper.consensus.stage", "1", 20);
    show("casper.consensus.since-start", "1/3", 12);
    show("casper.consensus.since-start", "1", 32);
    return 0;
}
