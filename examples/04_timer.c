/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A timer: how long operations take. The token that a start returns travels with its operation, and
 * the end names the operation again: two blocks in flight at once can never be paired wrongly.
 */
#include <crest/crest.h>
#include <stdio.h>
#include <time.h>

CREST_TIMER(add_block_time, "casper.add-block-time", "Received to stored.");

typedef struct block {
    unsigned char hash[32];
    crest_timing timing;
} block;

static void wait_ms(long ms)
{
    struct timespec pause = {0, ms * 1000000L};
    nanosleep(&pause, NULL);
}

int main(void)
{
    block first = {.hash = {1}}, second = {.hash = {2}};
    crest_op first_op = crest_op_bytes(first.hash, sizeof first.hash);
    crest_op second_op = crest_op_bytes(second.hash, sizeof second.hash);

    first.timing = crest_timer_start(&add_block_time, first_op);
    wait_ms(20);
    second.timing = crest_timer_start(&add_block_time, second_op);
    wait_ms(10);

    /* the end of one block is no end for another: nothing is recorded, the timing goes on */
    crest_status status = crest_timing_stop(&first.timing, second_op);
    printf("ended for another block: %s\n", crest_status_text(status));

    crest_timing_end(&second.timing, second_op, CREST_OUTCOME_ERROR); /* 10 ms, and it failed */
    crest_timing_stop(&first.timing, first_op);                       /* 30 ms */
    status = crest_timing_stop(&first.timing, first_op);
    printf("ended twice: %s\n", crest_status_text(status));

    crest_snapshot *snapshot = crest_snapshot_take(NULL);
    for (crest_outcome outcome = CREST_OUTCOME_OK; outcome <= CREST_OUTCOME_ERROR; outcome++) {
        const char *values[] = {crest_outcome_text(outcome)};
        crest_series_view series;
        if (crest_snapshot_find(snapshot, "casper.add-block-time", values, 1, &series) != CREST_OK)
            return 1;
        int whole_ms = (int)(crest_distribution_sum(series.distribution) / 1000000u);
        int expected_ms = outcome == CREST_OUTCOME_OK ? 30 : 10;
        printf("%s: at least %d ms: %s\n", values[0], expected_ms,
               whole_ms >= expected_ms ? "yes" : "no");
    }
    crest_snapshot_free(snapshot);
    return 0;
}
