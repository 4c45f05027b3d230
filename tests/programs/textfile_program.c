/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program with every instrument; test_textfile.py computes the same totals. Its driver gives a
 * command a line on standard input, and reads one line of answer for each.
 *
 *     textfile_program OPTIONS        crest_start(OPTIONS)
 *
 *     record THREADS TIMES    from so many threads
 *     log                     what the log callback was told since the last time, in one line
 *     stop                    crest_stop
 *     exit STATUS
 */
#include <crest/crest.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEADLINE_MS 30000u
#define THREADS_MAX 64
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

CREST_COUNTER_FAMILY(kinds, "file.kinds-seen", "Caf\xc3\xa9 \\ \"quoted\"\nsecond line.", kind);
CREST_GAUGE(depth, "file.level", "Below zero.");
CREST_RANGE_SAMPLER(queue, "file.queue-length", "Rises and falls.");
CREST_HISTOGRAM(sizes, "file.message-size", "Sizes.", .unit = CREST_BYTES);
CREST_TIMER(work, "file.work-time", "Work.", .buckets = CREST_BUCKETS_FAST);
/* node_exporter has a family of this exported name */
CREST_COUNTER(processor, "process.cpu", "Not node_exporter's.", .unit = CREST_SECONDS);
CREST_STAGES(way, "file.way", "On the way.", .stages = {"read", "kept"});

static const char *const kind_values[] = {"plain", "a\"b\\c\nd", "caf\xc3\xa9 \xe2\x98\x83"};

static int times;

static void *record_totals(void *context)
{
    int thread = (int)(intptr_t)context;
    for (int i = 0; i < times; i++) {
        crest_counter_add(kinds_with(kind_values[(thread + i) % 3]), 2);
        crest_range_sampler_add(&queue, i % 2 ? -1 : 1);
        crest_histogram_record(&sizes, i % 100 * 1000);
        /* 1 to 1000 microseconds, each as often as the next */
        crest_timer_record(&work, (int64_t)(i % 1000 + 1) * 1000,
                           i % 10 ? CREST_OUTCOME_OK : CREST_OUTCOME_ERROR);
        crest_op op = crest_op_u64x2((uint64_t)thread, (uint64_t)i);
        crest_stages_begin(&way, op);
        crest_stages_mark(&way, op, 0);
        crest_stages_end(&way, op, CREST_OUTCOME_OK);
    }
    return NULL;
}

static void record(int threads)
{
    pthread_t ids[THREADS_MAX];
    if (threads > THREADS_MAX)
        threads = THREADS_MAX;
    for (int i = 0; i < threads; i++)
        if (pthread_create(&ids[i], NULL, record_totals, (void *)(intptr_t)i) != 0)
            abort();
    for (int i = 0; i < threads; i++)
        pthread_join(ids[i], NULL);
    crest_gauge_set(&depth, -7.25);
    crest_counter_add(&processor, 1000000);
}

static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static char log_text[8192];

static void log_keep(crest_log_level level, const char *message, void *context)
{
    (void)level;
    (void)context;
    pthread_mutex_lock(&log_lock);
    size_t used = strlen(log_text);
    snprintf(log_text + used, sizeof log_text - used, "%s; ", message);
    pthread_mutex_unlock(&log_lock);
}

static void log_show(void)
{
    pthread_mutex_lock(&log_lock);
    printf("OK %s\n", log_text);
    log_text[0] = '\0';
    pthread_mutex_unlock(&log_lock);
    fflush(stdout);
}

static void answer(crest_status status, const crest_error *error)
{
    printf("%s %s\n", status == CREST_OK ? "OK" : "ERROR",
           status == CREST_OK ? "" : error->message);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    crest_error error = {0};
    if (argc != 2) {
        fprintf(stderr, "usage: see the top of tests/programs/textfile_program.c\n");
        return 2;
    }
    crest_log_to(log_keep, NULL);
    answer(crest_start(argv[1], &error), &error);
    char line[256];
    while (fgets(line, sizeof line, stdin) != NULL) {
        int threads, status;
        if (sscanf(line, "record %d %d", &threads, &times) == 2) {
            record(threads);
            answer(CREST_OK, &error);
        } else if (strcmp(line, "log\n") == 0) {
            log_show();
        } else if (strcmp(line, "stop\n") == 0) {
            answer(crest_stop(DEADLINE_MS, &error), &error);
        } else if (sscanf(line, "exit %d", &status) == 1) {
            return status;
        } else {
            printf("ERROR no such command: %s", line);
            fflush(stdout);
        }
    }
    return 0;
}
