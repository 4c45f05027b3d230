/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program as somebody else would write it: check_install.py compiles it as C and as C++ against
 * the installed libraries and runs it. Built with WITH_REPORTERS, it also asks crest_start for the
 * Pushgateway, which only works when the linker kept the reporters that nothing here names.
 */
#include <crest/by_name.h>
#include <crest/crest.h>

#include <stdio.h>

#define REQUIRE(condition)                                                                         \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                        \
            failures++;                                                                            \
        }                                                                                          \
    } while (0)

CREST_COUNTER(deploys, "consumer.deploys", "Deploys taken.");
CREST_GAUGE(peers, "consumer.peers", "Peers connected now.");
CREST_HISTOGRAM(block_size, "consumer.block-size", "Serialised block.", .unit = CREST_BYTES);
CREST_TIMER(replay_time, "consumer.replay-time", "One replay.", .buckets = CREST_BUCKETS_FAST);
CREST_COUNTER_FAMILY(messages, "consumer.messages", "Messages sent.", kind, peer);

static int failures;

int main(void)
{
    crest_error error;
    crest_op op = crest_op_u64(7);
    crest_timing timing = crest_timer_start(&replay_time, op);
    crest_counter_inc(&deploys);
    crest_counter_add(&deploys, 41);
    crest_gauge_set(&peers, 12);
    crest_histogram_record(&block_size, 1000);
    crest_counter_inc(messages_with("ping", "10.0.0.7"));
    crest_increment_counter("consumer.events");
    REQUIRE(crest_timing_stop(&timing, op) == CREST_OK);
    REQUIRE(crest_counter_value(&deploys) == 42);
    REQUIRE(crest_gauge_value(&peers) == 12.0);
    REQUIRE(crest_counter_value(messages_with("ping", "10.0.0.7")) == 1);
#ifdef WITH_REPORTERS
    /* Nothing listens there, so the last push fails; that the option is known is what matters. */
    crest_status started = crest_start("pushgateway=http://127.0.0.1:1", &error);
    if (started != CREST_OK)
        fprintf(stderr, "crest_start: %s\n", error.message);
    REQUIRE(started == CREST_OK);
    REQUIRE(crest_stop(1000, &error) != CREST_OK);
#else
    REQUIRE(crest_start("pushgateway=http://127.0.0.1:1", &error) == CREST_INVALID_OPTIONS);
#endif
    return failures != 0;
}
