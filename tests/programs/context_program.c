/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program whose threads are in spans; test_otel_context.py looks at it as an outside profiler
 * does. Its driver gives a command a line on standard input, and reads one line of answer for each.
 *
 *     context_program OPTIONS     crest_start(OPTIONS); answers OK and the status
 *
 *     enter NUMBER                span NUMBER of operation NUMBER, on this thread and on another
 *     leave                       out of it, on both
 *     threads                     ids of these two threads
 *     fork                        the child's id; it waits until it is killed
 *     restart OPTIONS             crest_stop, then crest_start
 *     stop                        crest_stop
 *     exit STATUS
 */
#include <crest/crest.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define DEADLINE_MS 30000u

static pthread_barrier_t asked, done;
static uint64_t wanted;
static pid_t other;

static void be_in(uint64_t number)
{
    crest_span_context context = crest_span_context_of(crest_op_u64(number), number);
    crest_span_current_set(number != 0 ? &context : NULL);
}

static void *other_thread(void *unused)
{
    other = (pid_t)syscall(SYS_gettid);
    pthread_barrier_wait(&done);
    for (;;) {
        pthread_barrier_wait(&asked);
        be_in(wanted == 0 ? 0 : wanted + 1);
        pthread_barrier_wait(&done);
    }
    return unused;
}

static void enter(uint64_t number)
{
    wanted = number;
    be_in(number);
    pthread_barrier_wait(&asked);
    pthread_barrier_wait(&done);
}

static void answer(crest_status status, const char *text)
{
    printf("%s %s\n", status == CREST_OK ? "OK" : "NO", text);
    fflush(stdout);
}

static void start(const char *options)
{
    crest_error error;
    crest_status status = crest_start(options, &error);
    answer(status, status == CREST_OK ? "" : error.message);
}

static void fork_child(void)
{
    char text[20];
    pid_t child = fork();
    if (child == 0)
        for (;;)
            pause();
    snprintf(text, sizeof text, "%d", (int)child);
    answer(child < 0 ? CREST_SYSTEM : CREST_OK, text);
}

int main(int argc, char **argv)
{
    char line[500], text[60];
    pthread_t thread;
    pthread_barrier_init(&asked, NULL, 2);
    pthread_barrier_init(&done, NULL, 2);
    if (argc != 2 || pthread_create(&thread, NULL, other_thread, NULL) != 0)
        return 2;
    pthread_barrier_wait(&done);
    start(argv[1]);
    while (fgets(line, sizeof line, stdin) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, "enter ", 6) == 0) {
            enter(strtoull(line + 6, NULL, 10));
            answer(CREST_OK, "");
        } else if (strcmp(line, "leave") == 0) {
            enter(0);
            answer(CREST_OK, "");
        } else if (strcmp(line, "threads") == 0) {
            snprintf(text, sizeof text, "%d %d", (int)getpid(), (int)other);
            answer(CREST_OK, text);
        } else if (strcmp(line, "fork") == 0) {
            fork_child();
        } else if (strcmp(line, "stop") == 0) {
            answer(crest_stop(DEADLINE_MS, NULL), "");
        } else if (strncmp(line, "restart ", 8) == 0) {
            crest_stop(DEADLINE_MS, NULL);
            start(line + 8);
        } else if (strncmp(line, "exit ", 5) == 0) {
            return atoi(line + 5);
        } else {
            answer(CREST_INVALID_ARGUMENT, "no such command");
        }
    }
    return 0;
}
