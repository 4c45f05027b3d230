/* SPDX-License-Identifier: Apache-2.0 */
/* The metrics themselves, one file of each variant of a daemon. */
#include "daemon_hooks.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>

#if VARIANT == VARIANT_ATOMICS
#define METRICS_COUNTER(variable, name, text) hook_counter hook_##variable;
#define METRICS_HISTOGRAM(variable, name, text) hook_histogram hook_##variable;
METRICS(METRICS_COUNTER, METRICS_HISTOGRAM, METRICS_HISTOGRAM, METRICS_COUNTER)

const hook_mutex *hook_the_mutex;

static uint64_t metrics_count(const hook_histogram *histogram)
{
    uint64_t count = 0;
    for (unsigned i = 0; i < 64; i++)
        count += histogram->bucket[i];
    return count;
}

void hook_end_all(void)
{
    const char *path = getenv("DAEMON_TOTALS");
    FILE *file = path != NULL ? fopen(path, "w") : NULL;
    if (file == NULL)
        return;
#define METRICS_PRINT_VALUE(variable, name, text)                                                  \
    fprintf(file, "%s %llu\n", name, (unsigned long long)hook_##variable.value);
#define METRICS_PRINT_COUNT(variable, name, text)                                                  \
    fprintf(file, "%s %llu\n", name, (unsigned long long)metrics_count(&hook_##variable));
    METRICS(METRICS_PRINT_VALUE, METRICS_PRINT_COUNT, METRICS_PRINT_COUNT, METRICS_PRINT_VALUE)
    if (hook_the_mutex != NULL)
        fprintf(file, "lock %llu\n", (unsigned long long)hook_the_mutex->taken.value);
    fclose(file);
}

#elif VARIANT != VARIANT_EMPTY
#define METRICS_COUNTER(variable, name, text) CREST_COUNTER_DEFINE(hook_##variable, name, text);
#define METRICS_HISTOGRAM(variable, name, text)                                                    \
    CREST_HISTOGRAM_DEFINE(hook_##variable, name, text, .unit = CREST_BYTES);
#define METRICS_TIMER(variable, name, text)                                                        \
    CREST_TIMER_DEFINE(hook_##variable, name, text, .buckets = CREST_BUCKETS_FAST);
#define METRICS_SAMPLER(variable, name, text)                                                      \
    CREST_RANGE_SAMPLER_DEFINE(hook_##variable, name, text);
METRICS(METRICS_COUNTER, METRICS_HISTOGRAM, METRICS_TIMER, METRICS_SAMPLER)

void hook_begin_all(void)
{
    crest_error error;
    const char *options = getenv("DAEMON_CREST");
    if (options != NULL && crest_start(options, &error) != CREST_OK) {
        fprintf(stderr, "%s\n", error.message);
        exit(1);
    }
}

void hook_end_all(void)
{
    crest_stop(1000, NULL);
}

#if VARIANT == VARIANT_ALONE || VARIANT == VARIANT_STAMPS
static const int hook_mark = -1; /* where the daemon's events say what they are */

void hook_join(int epoll)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = (void *)(uintptr_t)&hook_mark};
    epoll_ctl(epoll, EPOLL_CTL_ADD, crest_loop_fd(NULL), &event);
}

int hook_turn(const void *event)
{
    if (event != &hook_mark)
        return 0;
    crest_loop_run(NULL);
    return 1;
}
#endif
#endif
