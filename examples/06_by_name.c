/* SPDX-License-Identifier: Apache-2.0 */
/*
 * By name, as RNode records: no declaration, the metric is made at its first use. A literal name is
 * looked up once per call site and then costs what a handle costs; a name made at run time is
 * looked up each time. CREST_SOURCE puts what RNode calls a Metrics.Source before all names of the
 * file.
 */
#include <crest/by_name.h>
#include <crest/crest.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define RSPACE_SOURCE "examples.rspace" /* in a header of the team's */
CREST_SOURCE(RSPACE_SOURCE);            /* another file: CREST_SOURCE_IN(RSPACE_SOURCE, "replay") */

static void say_log(crest_log_level level, const char *message, void *context)
{
    (void)level, (void)context;
    if (strstr(message, "differs from") != NULL)
        printf("%s\n", message);
}

int main(void)
{
    for (int i = 0; i < 1000; i++)
        crest_increment_counter("comm.produce"); /* examples.rspace.comm.produce */
    crest_increment_counter_by("comm.consume", 40);

    char name[64];
    for (int shard = 0; shard < 3; shard++) {
        snprintf(name, sizeof name, "shard-%d.entries", shard);
        crest_set_gauge(name, 100 * shard); /* crest-lint: name examples.rspace.shard-*.entries */
    }
    crest_record("message-size", 512);
    crest_increment_sampler("queue", 1);

    crest_op op = crest_op_text("deploy 17");
    crest_timing timing = crest_timer_start_by_name("replay-time", op);
    crest_timing_stop(&timing, op);

    /* one name, two kinds of metric: the second records nowhere, as its end says */
    /* crest-lint: ignore wrong-instrument it shows the result */
    timing = crest_timer_start_by_name("comm.produce", op);
    printf("a timer of that name: %s\n", crest_status_text(crest_timing_stop(&timing, op)));

    printf("produce: %" PRIu64 "\n", crest_counter_value(crest_counter_by_name("comm.produce")));
    printf("shard 2: %g\n", crest_gauge_value(crest_gauge_by_name("shard-2.entries")));

    /* two spellings of one name go to the log; crest_start("strict=on") refuses the second */
    /* crest-lint: ignore split-spelling it shows the result */
    crest_increment_counter("comm.consumeFailed");
    crest_increment_counter("comm.consume-failed");
    crest_log_to(say_log, NULL);
    crest_start("atexit=off", NULL); /* the log hears of what was found so far */
    crest_stop(1000, NULL);
    return 0;
}
