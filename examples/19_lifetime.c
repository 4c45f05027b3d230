/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of series: a peer leaves, and its series should leave the page. The holder of one handle
 * releases it when it is done; code that knows that the peer is gone retires all series with its
 * label.
 */
#include <crest/crest.h>
#include <inttypes.h>
#include <stdio.h>

CREST_COUNTER_FAMILY(sent, "comm.sent", "Messages sent.", kind, peer);
CREST_GAUGE_FAMILY(height, "comm.height", "Height the peer told us.", peer);

/* What a page would show of comm.sent. */
static void show(const char *when)
{
    crest_snapshot *snapshot = crest_snapshot_take(NULL);
    crest_series_view series;
    printf("%s:\n", when);
    for (size_t i = 0; crest_snapshot_series(snapshot, i, &series) == CREST_OK; i++)
        if (series.kind == CREST_KIND_COUNTER && series.label_count == 2)
            printf("    sent{%s, %s} %" PRIu64 "\n", series.label_values[0], series.label_values[1],
                   series.counter);
    crest_snapshot_free(snapshot);
}

int main(void)
{
    crest_counter *pings = sent_with("ping", "10.0.0.7"), *blocks = sent_with("block", "10.0.0.7");
    crest_counter_add(pings, 40);
    crest_counter_add(blocks, 3);
    crest_gauge_set(height_with("10.0.0.7"), 1200);
    crest_counter_inc(sent_with("ping", "10.0.9.1"));

    /* released, it would go in a minute; but a thread still records through the handle */
    crest_counter_release(blocks);
    crest_counter_inc(blocks);
    show("blocks were released, and came back by being used");

    /* the peer is gone: three series of two families */
    size_t retired = crest_retire(NULL, "peer", "10.0.0.7");
    printf("%zu series retired\n", retired);
    crest_counter_inc(pings); /* too late: counted in crest_late_records_total */
    show("retired, they are exported once more");

    /* it connects again, and is counted from zero; the old series is dropped at once */
    crest_counter_inc(sent_with("ping", "10.0.0.7"));
    show("the peer is back");
    return 0;
}
