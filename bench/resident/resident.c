/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A host that stays at rest, for resident.py to measure: twenty counters and ten timers, two
 * threads' records, and the reporter that it is compiled with, which reports once before the
 * program prints "rest". It ends with its standard input.
 *
 *     cc -DWITH_LIBRARY -DWITH_STATSD resident.c -lcrest-reporters -lcrest -lpthread
 *     ./a.out udp://127.0.0.1:8125
 */
#include <stdio.h>

#if defined(WITH_LIBRARY)
#include <crest/crest.h>
#include <pthread.h>
#if defined(WITH_STATSD)
#include <crest/statsd.h>
#elif defined(WITH_PUSHGATEWAY)
#include <crest/pushgateway.h>
#elif defined(WITH_PROMETHEUS)
#include <crest/prometheus.h>
#endif

CREST_COUNTER_FAMILY(messages, "resident.messages", "Messages.", kind);
CREST_TIMER_FAMILY(requests, "resident.requests", "Requests.", kind);

static void *resident_record(void *nothing)
{
    char kind[16];
    for (int i = 0; i < 20; i++) {
        snprintf(kind, sizeof kind, "kind-%d", i);
        crest_counter_add(messages_with(kind), 3);
        for (int j = 0; i < 10 && j < 100; j++)
            crest_timer_record(requests_with(kind), 1000 * j, CREST_OUTCOME_OK);
    }
    return nothing;
}

static crest_reporter *resident_reporter(const char *to, crest_error *error)
{
#if defined(WITH_STATSD)
    return crest_statsd_new(&(crest_statsd_options){.url = to}, error);
#elif defined(WITH_PUSHGATEWAY)
    return crest_pushgateway_new(&(crest_pushgateway_options){.url = to, .job = "resident"}, error);
#elif defined(WITH_PROMETHEUS)
    return crest_prometheus_new(&(crest_prometheus_options){.listen = to}, error);
#else
    (void)to, (void)error;
    return NULL;
#endif
}

static int resident_begin(const char *to)
{
    crest_error error = {0};
    pthread_t other;
    if (crest_start("", &error) != CREST_OK)
        return fprintf(stderr, "%s\n", error.message), 1;
    if (pthread_create(&other, NULL, resident_record, NULL) == 0)
        pthread_join(other, NULL);
    resident_record(NULL);
    if (to == NULL)
        return 0;
    crest_reporter *reporter = resident_reporter(to, &error);
    if (reporter == NULL || crest_reporter_attach(NULL, reporter, NULL, &error) != CREST_OK)
        return fprintf(stderr, "%s\n", error.message), 1;
#if defined(WITH_PROMETHEUS)
    printf("%u\n", crest_prometheus_port(reporter));
#else
    if (crest_report_now(reporter, 5000, &error) != CREST_OK)
        return fprintf(stderr, "%s\n", error.message), 1;
#endif
    return 0;
}
#else
static int resident_begin(const char *to)
{
    (void)to;
    return 0;
}
#endif

int main(int argc, char **argv)
{
    if (resident_begin(argc > 1 ? argv[1] : NULL) != 0)
        return 1;
    printf("rest\n");
    fflush(stdout);
    (void)getchar();
    return 0;
}
