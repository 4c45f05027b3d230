/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A family: a metric with label keys. Its resolver takes one value a key, so a wrong number does
 * not compile. Resolve once, where the peer connects; record through the handle, where the messages
 * are sent.
 */
#include <crest/crest.h>
#include <inttypes.h>
#include <stdio.h>

CREST_COUNTER_FAMILY(messages, "comm.sent", "Messages sent.", kind, peer);
CREST_TIMER_FAMILY_OPTIONS(ping_time, "comm.ping-time", "Round trip to a neighbour.",
                           (.buckets = CREST_BUCKETS_FAST), peer);

typedef struct peer {
    crest_counter *pings, *blocks;
    crest_timer *ping_time;
} peer;

static peer connect_peer(const char *address)
{
    return (peer){messages_with("ping", address), messages_with("block", address),
                  ping_time_with(address)};
}

int main(void)
{
    peer near = connect_peer("10.0.0.7"), far = connect_peer("10.0.9.1");
    crest_counter_inc(near.pings);
    crest_counter_add(near.blocks, 2);
    crest_counter_inc(far.pings);
    crest_timer_record(near.ping_time, 180000, CREST_OUTCOME_OK);
    crest_timer_record(far.ping_time, 92000000, CREST_OUTCOME_TIMEOUT);

    /* the same values find the same series again */
    crest_counter_inc(messages_with("ping", "10.0.9.1"));

    printf("pings: near %" PRIu64 ", far %" PRIu64 "\n", crest_counter_value(near.pings),
           crest_counter_value(far.pings));
    printf("blocks to near: %" PRIu64 "\n", crest_counter_value(near.blocks));
    return 0;
}
