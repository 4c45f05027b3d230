/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that emits events as it is told. Its driver gives a command a line on standard input,
 * and reads one line of answer for each.
 *
 *     event_program OPTIONS     crest_start with them
 *
 *     emit N            N of event.number, counted from where the last one ended, and event.counted
 *     say TEXT          event.text, with some bytes, a double, and an operation
 *     secret TEXT       event.secret, which is confidential
 *     detail N          event.detail of severity debug, N times
 *     threads T N       T threads, each of which emits N of event.number
 *     rules TEXT        crest_events_set
 *     counted           how often event.counted was emitted, as its counter has it
 *     totals            written, written bytes, refused
 *     tick              a tick of the ticker, at once
 *     stop              crest_stop
 */
#include <crest/crest.h>
#include <crest/event.h>
#include <crest/event_control.h>
#include <crest/run.h>
#include <crest/testing.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STOP_MS 3000u
#define THREADS_MAX 64u

CREST_EVENT(number_event, "event.number", CREST_INFO, "A number.", (u64, number), (i64, less));
CREST_EVENT(text_event, "event.text", CREST_WARNING, "A text, with values of each type.",
            (text, said, 40), (bytes, digest, 16), (double, half), (bool, yes), (op, of));
CREST_EVENT_WITH(secret_event, "event.secret", CREST_ERROR, CREST_NORMAL, CREST_CONFIDENTIAL,
                 "A text that stays on the machine.", (text, secret));
CREST_EVENT_WITH(detail_event, "event.detail.step", CREST_DEBUG, CREST_DETAILED, CREST_PUBLIC,
                 "A step, of which there are many.", (u64, step));
CREST_EVENT(counted_event, "event.counted", CREST_INFO, "It is counted, too.");
CREST_COUNTER(counted, "event.counted-times", "Emissions of event.counted.");
CREST_EVENT_COUNTED(counted_event, counted);

static uint64_t next_number;

static void answer(crest_status status, const char *text)
{
#define STATUS_NAME(name, text) #name,
    static const char *const names[] = {CREST_STATUS_TABLE(STATUS_NAME)};
    printf("%s %s\n", names[status], text);
    fflush(stdout);
}

static void *emitter(void *count)
{
    for (uint64_t i = 0; i < (uint64_t)(uintptr_t)count; i++)
        CREST_EMIT(number_event, i, -(int64_t)i);
    return NULL;
}

static void emit_in_threads(unsigned threads, unsigned long count)
{
    pthread_t thread[THREADS_MAX];
    unsigned made = 0;
    while (made < threads && made < THREADS_MAX &&
           pthread_create(&thread[made], NULL, emitter, (void *)count) == 0)
        made++;
    while (made > 0)
        pthread_join(thread[--made], NULL);
}

static int emit_as_told(const char *line)
{
    unsigned long count;
    unsigned threads;
    if (sscanf(line, "emit %lu", &count) == 1) {
        for (unsigned long i = 0; i < count; i++, next_number++) {
            CREST_EMIT(number_event, next_number, -(int64_t)next_number);
            CREST_EMIT(counted_event);
        }
    } else if (strncmp(line, "say ", 4) == 0) {
        CREST_EMIT(text_event, line + 4, crest_bytes("\x01\xab|\"", 4), 0.5, 1,
                   crest_op_text("block 17"));
    } else if (strncmp(line, "secret ", 7) == 0) {
        CREST_EMIT(secret_event, line + 7);
    } else if (sscanf(line, "detail %lu", &count) == 1) {
        for (unsigned long i = 0; i < count; i++)
            CREST_EMIT(detail_event, i);
    } else if (sscanf(line, "threads %u %lu", &threads, &count) == 2) {
        emit_in_threads(threads, count);
    } else {
        return 0;
    }
    answer(CREST_OK, "");
    return 1;
}

static int obey(const char *line)
{
    crest_error error = {0};
    char text[200];
    if (emit_as_told(line))
        return 1;
    if (strncmp(line, "rules ", 6) == 0) {
        crest_status status = crest_events_set(line + 6, &error);
        answer(status, error.message);
    } else if (strcmp(line, "counted") == 0) {
        snprintf(text, sizeof text, "%llu", (unsigned long long)crest_counter_value(&counted));
        answer(CREST_OK, text);
    } else if (strcmp(line, "totals") == 0) {
        crest_event_totals totals;
        crest_event_totals_read(&totals);
        snprintf(text, sizeof text, "%llu %llu %llu", (unsigned long long)totals.written,
                 (unsigned long long)totals.written_bytes, (unsigned long long)totals.refused);
        answer(CREST_OK, text);
    } else if (strcmp(line, "tick") == 0) {
        answer(crest_testing_tick(NULL), "");
    } else if (strcmp(line, "stop") == 0) {
        answer(crest_stop(STOP_MS, &error), error.message);
    } else {
        return 0;
    }
    return 1;
}

static void tell(crest_log_level level, const char *message, void *context)
{
    (void)level, (void)context;
    fprintf(stderr, "%s\n", message);
}

int main(int argc, char **argv)
{
    char line[4096];
    crest_error error = {0};
    crest_log_to(tell, NULL);
    if (argc != 2) {
        fprintf(stderr, "usage: %s OPTIONS\n", argv[0]);
        return 2;
    }
    answer(crest_start(argv[1], &error), error.message);
    while (fgets(line, sizeof line, stdin) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        if (!obey(line)) {
            fprintf(stderr, "no such command: %s\n", line);
            return 2;
        }
    }
    return 0;
}
