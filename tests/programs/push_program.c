/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that records known totals from several threads and reports them. Its driver gives a
 * command a line on standard input, and reads one line of answer for each.
 *
 *     push_program start OPTIONS                     crest_start(OPTIONS)
 *     push_program attach URL JOB INSTANCE [KEY=VALUE...]    a reporter that pushes when told
 *
 *     record THREADS TIMES    totals that pushlib.py computes too (Totals there)
 *     push                    crest_report_now
 *     storm THREADS TIMES     that in several threads, each several times; how many went well
 *     fork URL JOB INSTANCE   the same records and a push of them in a child; its answer
 *     once                    crest_report_once, with the reporter detached for it
 *     state                   reports, failures and the last error
 *     stop                    detach or crest_stop
 *     exit STATUS             returns from main without any of that
 *
 * In the environment: CA_FILE, DELETE_ON_STOP and others (see make) are the options of those names;
 * INTERVAL_MS makes it push on its own, and TIMEOUT_MS is how long a push may take: long, where it
 * is not the question, for a machine that is busy. LOG=1 writes what the log is told to standard
 * error;
 * AT_END=push or AT_END=state is done in the very last atexit handler, behind those of all
 * libraries.
 */
#include <crest/crest.h>
#include <crest/pushgateway.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS_MAX 64
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

CREST_COUNTER(events, "push.events-done",
              "Events, caf\xc3\xa9 \xe2\x98\x83 \\ \"quoted\"\nsecond line.");
CREST_COUNTER_FAMILY(kinds, "push.kinds-seen", "Events by kind.", kind);
CREST_GAUGE(level, "push.level", "Below zero.");
CREST_GAUGE(balance, "push.balance", "Added to by all threads.");
CREST_HISTOGRAM(sizes, "push.message-size", "Sizes.", .unit = CREST_BYTES);
CREST_TIMER(work, "push.work-time", "Work.");
CREST_RANGE_SAMPLER(queue, "push.queue", "Waiting.");
CREST_TIMER(fetch, "push.fetch-time", "By the operation's id.", .deadline_ms = 3600000);
CREST_STAGES(steps, "push.block", "On the way.", .stages = {"stored", "sent"},
             .deadline_ms = 3600000);
CREST_MUTEX(table_lock, "push.table");
CREST_COUNTER(fetched, "push.packets-dropped", "Fetched by a poll.");
CREST_GAUGE(fetched_level, "push.fetched-level", "Fetched by a poll.");

static const char *const kind_values[] = {"plain", "a\"b\\c\nd", "slash/space x", "..",
                                          "caf\xc3\xa9 \xe2\x98\x83"};
/* No value is near a bucket's bound, so that the expected buckets are plain to compute. */
static const int64_t size_values[] = {1, 100, 700, 3000, 50000, 1000000, 20000000};
static const int64_t work_values_ns[] = {1000000, 7000000, 300000000, 4000000000, 20000000000};

static int times;
static unsigned timeout_ms = 15000;
static uint64_t rounds, polled; /* of records; events counted outside Crest, for polls */

static uint64_t read_polled(void *context)
{
    return __atomic_load_n((uint64_t *)context, __ATOMIC_RELAXED);
}

static double read_level(void *context)
{
    return (double)__atomic_load_n((uint64_t *)context, __ATOMIC_RELAXED) / 4;
}

static void poll_others(void)
{
    const crest_poll_options patient = {.budget_ms = CREST_POLL_BUDGET_MS_MAX};
    if (crest_counter_poll(&fetched, read_polled, &polled, &patient, NULL) == NULL ||
        crest_gauge_poll(&fetched_level, read_level, &polled, &patient, NULL) == NULL)
        abort();
}

/* Records with instruments that are given operations' ids, for one event in ten. */
static void record_operation(int thread, int i)
{
    crest_op op = crest_op_u64x2(rounds, (uint64_t)thread << 32 | (uint64_t)i);
    crest_timer_begin(&fetch, op);
    crest_stages_begin(&steps, op);
    crest_stages_mark(&steps, op, 0);
    if (i % 20 == 0)
        crest_stages_mark(&steps, op, 1);
    crest_stages_end(&steps, op, CREST_OUTCOME_OK);
    crest_timer_end(&fetch, op, i % 20 == 0 ? CREST_OUTCOME_OK : CREST_OUTCOME_CANCELLED);
    CREST_MUTEX_SCOPE(&table_lock);
}

static void *record_totals(void *context)
{
    int thread = (int)(intptr_t)context;
    for (int i = 0; i < times; i++) {
        crest_counter_inc(&events);
        crest_counter_add(kinds_with(kind_values[(size_t)(thread + i) % COUNT(kind_values)]), 2);
        crest_gauge_add(&balance, i % 2 ? 0.5 : -0.75);
        crest_histogram_record(&sizes, size_values[(size_t)i % COUNT(size_values)]);
        crest_timer_record(&work, work_values_ns[(size_t)i % COUNT(work_values_ns)],
                           i % 10 ? CREST_OUTCOME_OK : CREST_OUTCOME_ERROR);
        crest_range_sampler_add(&queue, i % 3 == 0 ? 2 : -1);
        __atomic_fetch_add(&polled, 3, __ATOMIC_RELAXED);
        if (i % 10 == 0)
            record_operation(thread, i);
    }
    return NULL;
}

static void record(int threads)
{
    pthread_t ids[THREADS_MAX];
    if (threads > THREADS_MAX)
        threads = THREADS_MAX;
    rounds++;
    for (int i = 0; i < threads; i++)
        if (pthread_create(&ids[i], NULL, record_totals, (void *)(intptr_t)i) != 0)
            abort();
    for (int i = 0; i < threads; i++)
        pthread_join(ids[i], NULL);
    crest_gauge_set(&level, -7.25);
}

static void answer(crest_status status, const crest_error *error)
{
#define STATUS_NAME(name, text) #name,
    static const char *const names[] = {CREST_STATUS_TABLE(STATUS_NAME)};
    printf("%s %s\n", names[status], status == CREST_OK ? "" : error->message);
    fflush(stdout);
}

static void log_to_stderr(crest_log_level severity, const char *message, void *context)
{
    (void)context;
    fprintf(stderr, "log %d: %s\n", (int)severity, message);
}

static crest_schedule when_told = {.interval_ms = CREST_INTERVAL_MS_MAX, .jitter = -1};

static crest_reporter *make(int argc, char **argv, crest_error *error)
{
    static crest_page_label labels[CREST_PUSHGATEWAY_LABELS_MAX];
    crest_pushgateway_options options = {.url = argv[2],
                                         .job = argv[3],
                                         .instance = argv[4],
                                         .labels = labels,
                                         .post = getenv("POST") != NULL,
                                         .user = getenv("PUSH_USER"),
                                         .password_file = getenv("PASSWORD_FILE"),
                                         .password_env = getenv("PASSWORD_ENV"),
                                         .bearer_file = getenv("BEARER_FILE"),
                                         .bearer_env = getenv("BEARER_ENV"),
                                         .ca_file = getenv("CA_FILE"),
                                         .cert_file = getenv("CERT_FILE"),
                                         .key_file = getenv("KEY_FILE"),
                                         .key_password_file = getenv("KEY_PASSWORD_FILE"),
                                         .proxy = getenv("PROXY")};
    for (int i = 5; i < argc && options.label_count < COUNT(labels); i++) {
        char *equals = strchr(argv[i], '=');
        if (equals == NULL)
            abort();
        *equals = '\0';
        labels[options.label_count++] = (crest_page_label){argv[i], equals + 1};
    }
    options.delete_on_stop = getenv("DELETE_ON_STOP") != NULL;
    return crest_pushgateway_new(&options, error);
}

static crest_status once(crest_reporter *reporter, crest_error *error)
{
    crest_status status = crest_reporter_detach(reporter, timeout_ms, error);
    if (status == CREST_OK)
        status = crest_report_once(NULL, reporter, timeout_ms, error);
    crest_error ignored;
    crest_status again = crest_reporter_attach(NULL, reporter, &when_told, &ignored);
    return status != CREST_OK ? status : again;
}

static crest_reporter *stormed;
static unsigned storm_well;

static void *push_often(void *context)
{
    (void)context;
    crest_error error;
    for (int i = 0; i < times; i++)
        if (crest_report_now(stormed, 4 * timeout_ms, &error) == CREST_OK)
            __atomic_fetch_add(&storm_well, 1, __ATOMIC_RELAXED);
    return NULL;
}

static void storm(crest_reporter *reporter, int threads)
{
    pthread_t ids[THREADS_MAX];
    stormed = reporter;
    storm_well = 0;
    for (int i = 0; i < threads && i < THREADS_MAX; i++)
        if (pthread_create(&ids[i], NULL, push_often, NULL) != 0)
            abort();
    for (int i = 0; i < threads && i < THREADS_MAX; i++)
        pthread_join(ids[i], NULL);
    printf("OK %u\n", storm_well);
    fflush(stdout);
}

/* Records and pushes in a child with a reporter of its own, which answers on the parent's
 * output. */
static void push_in_child(char *url, char *job, char *instance)
{
    char *arguments[] = {"", "", url, job, instance};
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        crest_error error = {0};
        times = 10;
        record(2);
        crest_reporter *own = make(5, arguments, &error);
        answer(own == NULL ? error.status : crest_report_once(NULL, own, timeout_ms, &error),
               &error);
        crest_reporter_free(own);
        _exit(0);
    }
    int status;
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
        printf("SYSTEM the child ended badly\n");
        fflush(stdout);
    }
}

static void show_state(const crest_reporter *reporter)
{
    crest_reporter_state state;
    crest_status status = crest_reporter_status(reporter, &state);
    if (status != CREST_OK) {
        printf("NOT_FOUND it is not attached\n");
    } else {
        printf("OK %llu %llu %llu %s\n", (unsigned long long)state.reports,
               (unsigned long long)state.failures, (unsigned long long)state.consecutive_failures,
               state.last_error.message);
    }
    fflush(stdout);
}

static crest_reporter *at_end_reporter;

/* Registered first, called last: reports when the libraries that a reporter needs have gone. */
static void at_end(void)
{
    const char *what = getenv("AT_END");
    if (what == NULL || at_end_reporter == NULL)
        return;
    if (strcmp(what, "push") == 0) {
        crest_error error = {0};
        crest_resource resource = {.service = "", .version = "", .instance = "end"};
        crest_snapshot *snapshot = crest_snapshot_take(NULL);
        crest_report report = {.snapshot = snapshot,
                               .resource = &resource,
                               .deadline_ns = crest_now() + timeout_ms * 1000000ull,
                               .final = 1};
        answer(at_end_reporter->report(at_end_reporter, &report, &error), &error);
        crest_snapshot_free(snapshot);
        return;
    }
    crest_reporter_state state = {0};
    for (int i = 0; i < 400 && state.failures == 0; i++) {
        crest_reporter_status(at_end_reporter, &state);
        usleep(5000);
    }
    show_state(at_end_reporter);
}

static int obey(const char *line, crest_reporter *reporter)
{
    crest_error error = {0};
    int threads, status;
    char words[3][128];
    if (sscanf(line, "record %d %d", &threads, &times) == 2) {
        record(threads);
        answer(CREST_OK, &error);
    } else if (strcmp(line, "push") == 0) {
        answer(crest_report_now(reporter, 2 * timeout_ms, &error), &error);
    } else if (sscanf(line, "storm %d %d", &threads, &times) == 2) {
        storm(reporter, threads);
    } else if (sscanf(line, "fork %127s %127s %127s", words[0], words[1], words[2]) == 3) {
        push_in_child(words[0], words[1], words[2]);
    } else if (strcmp(line, "once") == 0) {
        answer(once(reporter, &error), &error);
    } else if (strcmp(line, "state") == 0) {
        show_state(reporter);
    } else if (strcmp(line, "stop") == 0) {
        answer(reporter ? crest_reporter_detach(reporter, timeout_ms, &error)
                        : crest_stop(timeout_ms, &error),
               &error);
    } else if (sscanf(line, "exit %d", &status) == 1) {
        return status;
    } else {
        printf("INVALID_ARGUMENT no such command: %s\n", line);
        fflush(stdout);
    }
    return -1;
}

int main(int argc, char **argv)
{
    crest_error error = {0};
    crest_reporter *reporter = NULL;
    if (atexit(at_end) != 0)
        abort();
    if (getenv("LOG") != NULL)
        crest_log_to(log_to_stderr, NULL);
    poll_others();
    if (getenv("INTERVAL_MS") != NULL)
        when_told.interval_ms = strtoull(getenv("INTERVAL_MS"), NULL, 10);
    if (getenv("TIMEOUT_MS") != NULL)
        timeout_ms = (unsigned)strtoul(getenv("TIMEOUT_MS"), NULL, 10);
    when_told.timeout_ms = timeout_ms;
    if (argc == 3 && strcmp(argv[1], "start") == 0) {
        answer(crest_start(argv[2], &error), &error);
    } else if (argc >= 5 && strcmp(argv[1], "attach") == 0) {
        crest_status status = CREST_OK;
        at_end_reporter = reporter = make(argc, argv, &error);
        if (reporter == NULL)
            status = error.status;
        else if ((status = crest_ticker_attach(NULL)) == CREST_OK)
            status = crest_reporter_attach(NULL, reporter, &when_told, &error);
        answer(status, &error);
    } else {
        fprintf(stderr, "usage: see the top of tests/programs/push_program.c\n");
        return 2;
    }
    int status = -1;
    char line[256];
    while (status < 0 && fgets(line, sizeof line, stdin) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        status = obey(line, reporter);
    }
    return status < 0 ? 0 : status;
}
