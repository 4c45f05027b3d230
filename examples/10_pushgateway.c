/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pushing: one line of options starts the ticker and a reporter; the environment's CREST_OPTS wins
 * over it, so that an operator decides. The last stop pushes once more, so that nothing is lost.
 *
 *     CREST_OPTS='pushgateway=http://127.0.0.1:9091,interval=10s' ./10_pushgateway 30
 */
#include <crest/crest.h>
#include <crest/pushgateway.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

CREST_COUNTER(events, "demo.events", "Things that happened.");

static void log_message(crest_log_level level, const char *message, void *context)
{
    (void)level, (void)context;
    fprintf(stderr, "%s\n", message);
}

int main(int argc, char **argv)
{
    int seconds = argc > 1 ? atoi(argv[1]) : 0;
    crest_error error;

    crest_log_to(log_message, NULL);
    if (crest_start("service=example,interval=5s", &error) != CREST_OK) {
        fprintf(stderr, "%s\n", error.message); /* the node goes on, without being measured */
    }
    for (int i = 0; i <= seconds * 10; i++) {
        crest_counter_inc(&events);
        if (seconds > 0)
            nanosleep(&(struct timespec){0, 100000000L}, NULL);
    }
    if (crest_stop(5000, &error) != CREST_OK)
        fprintf(stderr, "%s\n", error.message);
    printf("events: %s\n",
           crest_counter_value(&events) == (uint64_t)seconds * 10 + 1 ? "all" : "lost");
    return 0;
}
