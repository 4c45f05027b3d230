/* SPDX-License-Identifier: Apache-2.0 */
/*
 * By name, as RNode records: no declaration, the metric is made at its first use. A literal name is
 * looked up once per call site and then costs what a handle costs; a name made at run time is
 * looked up each time.
 */
#include <crest/by_name.h>
#include <crest/crest.h>
#include <inttypes.h>
#include <stdio.h>

int main(void)
{
    for (int i = 0; i < 1000; i++)
        crest_increment_counter("rchain.rspace.comm.produce");
    crest_increment_counter_by("rchain.rspace.comm.consume", 40);

    char name[64];
    for (int shard = 0; shard < 3; shard++) {
        snprintf(name, sizeof name, "rchain.rspace.shard-%d.entries", shard);
        crest_set_gauge(name, 100 * shard);
    }
    crest_record("rchain.comm.message-size", 512);

    crest_op op = crest_op_text("deploy 17");
    crest_timing timing = crest_timer_start_by_name("rchain.casper.replay-time", op);
    crest_timing_stop(&timing, op);

    /* one name, two kinds of metric: the second records nowhere, and that is counted */
    crest_set_gauge("rchain.rspace.comm.produce", 1);

    printf("produce: %" PRIu64 "\n",
           crest_counter_value(crest_counter_by_name("rchain.rspace.comm.produce")));
    printf("shard 2: %g\n",
           crest_gauge_value(crest_gauge_by_name("rchain.rspace.shard-2.entries")));
    return 0;
}
