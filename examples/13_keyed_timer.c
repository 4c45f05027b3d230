/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A keyed timer: begun where a block is asked for and ended where it arrives, two places that share
 * nothing but its hash. A block that never arrives times out, and until then its timing can be
 * queried. Requests to a peer end when the peer leaves.
 */
#include <crest/crest.h>
#include <stdio.h>
#include <time.h>

CREST_TIMER(fetch_time, "comm.fetch-time", "Asked for until stored.", .deadline_ms = 900);

static void wait_ms(long ms)
{
    struct timespec pause = {0, ms * 1000000L};
    nanosleep(&pause, NULL);
}

static void ask_for(const char *hash)
{
    printf("ask for %s: %s\n", hash,
           crest_status_text(crest_timer_begin(&fetch_time, crest_op_hex(hash))));
}

static void arrived(const char *hash)
{
    printf("%s arrived: %s\n", hash,
           crest_status_text(crest_timer_end(&fetch_time, crest_op_hex(hash), CREST_OUTCOME_OK)));
}

static void ask_peer_for(unsigned peer, const char *hash)
{
    printf("ask peer %u for %s: %s\n", peer, hash,
           crest_status_text(
               crest_timer_begin_owned(&fetch_time, crest_op_hex(hash), crest_op_u64(peer))));
}

static void left(unsigned peer)
{
    printf("peer %u has left, with %zu under way\n", peer,
           crest_owner_end(crest_op_u64(peer), CREST_OUTCOME_CANCELLED));
}

static void show(const char *outcome)
{
    crest_snapshot *snapshot = crest_snapshot_take(NULL);
    crest_series_view series;
    if (crest_snapshot_find(snapshot, "comm.fetch-time", &outcome, 1, &series) == CREST_OK)
        printf("%s: %d\n", outcome, (int)crest_distribution_count(series.distribution));
    crest_snapshot_free(snapshot);
}

int main(void)
{
    ask_for("0a");
    ask_for("0b");
    ask_for("0a"); /* announced by a second peer: the first begin stays */
    arrived("0a");
    arrived("0c"); /* asked for before a restart */

    wait_ms(5);
    crest_in_flight_op oldest;
    char text[CREST_OP_TEXT_BYTES];
    if (crest_timer_oldest(&fetch_time, &oldest, 1) == 1) {
        crest_op_format(&oldest.op, text, sizeof text);
        printf("in flight: %d, the oldest is %s\n", (int)crest_timer_in_flight(&fetch_time).count,
               text);
    }
    wait_ms(900);
    arrived("0b"); /* too late: found without a thread that watches the clock */
    ask_for("0b");
    arrived("0b");
    ask_peer_for(7, "0d");
    ask_peer_for(7, "0e");
    arrived("0d");
    left(7);
    show("ok");
    show("timeout");
    show("cancelled");
    return 0;
}
