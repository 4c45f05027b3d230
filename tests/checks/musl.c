/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What check_musl.py runs on musl: exact totals of several threads, a child of a fork that counts
 * anew, the ticker, the collectors and the hiccup meter, and a page. It says what is wrong.
 */
#include <crest/crest.h>

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 4
#define ROUNDS 100000

CREST_COUNTER(things, "musl.things", "Things that happened.");
CREST_TIMER(took, "musl.took", "How long they took.");

static char page[1 << 20];
static size_t page_length;

static int put(void *context, const void *bytes, size_t length)
{
    (void)context;
    if (length > sizeof page - 1 - page_length)
        return 1;
    memcpy(page + page_length, bytes, length);
    page_length += length;
    return 0;
}

static void *record(void *context)
{
    for (int i = 1; i <= ROUNDS; i++) {
        crest_counter_inc(&things);
        crest_timer_record(&took, i, CREST_OUTCOME_OK);
    }
    return context;
}

static int child_counts_anew(void)
{
    pid_t child = fork();
    if (child == 0) {
        crest_counter_inc(&things);
        _exit(crest_counter_value(&things) != 1);
    }
    int status;
    return waitpid(child, &status, 0) == child && status == 0;
}

static int page_has(const char *line)
{
    if (strstr(page, line) != NULL)
        return 1;
    printf("the page lacks: %s", line);
    return 0;
}

int main(void)
{
    crest_error error;
    pthread_t threads[THREADS];
    if (crest_start("windows=1m,system=on,hiccups=on", &error) != CREST_OK)
        return printf("starting: %s\n", error.message), 1;
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, record, NULL) != 0)
            return printf("no thread\n"), 1;
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    if (!child_counts_anew())
        return printf("the child of a fork did not count anew\n"), 1;
    crest_snapshot *snapshot = crest_snapshot_take(NULL);
    crest_status status =
        crest_snapshot_write(snapshot, CREST_FORMAT_PROMETHEUS_TEXT, NULL, put, NULL, &error);
    crest_snapshot_free(snapshot);
    if (status != CREST_OK)
        return printf("writing: %s\n", error.message), 1;
    int right = page_has("\nmusl_things_total 400000\n") &
                page_has("\nmusl_took_seconds_count{outcome=\"ok\"} 400000\n") &
                page_has("\nprocess_open_fds ") & page_has("\nhost_memory_total_bytes ") &
                page_has("\nprocess_hiccups_seconds_count{outcome=\"ok\"} ");
    if (crest_start("prometheus=27378", &error) != CREST_ALREADY)
        return printf("a second start with options was not refused\n"), 1;
    status = crest_stop(2000, &error) | crest_stop(2000, &error);
    if (status != CREST_OK)
        printf("stopping: %s\n", error.message);
    return !right || status != CREST_OK;
}
