/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A gauge: the value something has now. What happens between two readings of it is not seen, so it
 * is the last choice; 03_histogram.c and 12_range_sampler.c describe a quantity without that blind
 * spot.
 */
#include <crest/crest.h>
#include <math.h>
#include <stdio.h>

CREST_GAUGE(peers, "comm.rp.connect.peers", "Peers connected now.");
CREST_GAUGE(clock_offset, "comm.peer.clock-offset", "Our clock less the peer's.",
            .unit = CREST_SECONDS);
CREST_GAUGE(last_block, "casper.last-block", "When the last block was added.",
            .unit = CREST_SECONDS);

int main(void)
{
    crest_gauge_set(&peers, 12);
    crest_gauge_add(&peers, -1); /* adds by several threads are all applied */

    crest_gauge_set(&clock_offset, -0.0025); /* negative values are values */
    crest_gauge_set(&clock_offset, NAN);     /* what is not a number is refused, and counted */

    /* "how long ago" is the reader's subtraction; the gauge says when */
    crest_gauge_set_to_now(&last_block);

    printf("peers: %g\n", crest_gauge_value(&peers));
    printf("clock offset: %g s\n", crest_gauge_value(&clock_offset));
    printf("last block after 2020: %s\n",
           crest_gauge_value(&last_block) > 1577836800 ? "yes" : "no");
    return 0;
}
