/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Out of everything, while each reporter is made, attached, reports, stops and is freed: faults.h.
 * What says CREST_OK has arrived.
 * crest-test: timeout=240 sanitizers=address
 */
#define _GNU_SOURCE
#include "faults.h"

#include <crest/console.h>
#include <crest/hdr.h>
#include <crest/hlog.h>
#include <crest/influxdb.h>
#include <crest/json_lines.h>
#include <crest/otlp_http.h>
#include <crest/prometheus.h>
#include <crest/pushgateway.h>
#include <crest/statsd.h>
#include <crest/textfile.h>
#include <crest/zipkin.h>

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

/* What a thread of the test's own does never fails. */
typedef struct spared_thread {
    void *(*run)(void *context);
    void *context;
} spared_thread;

static void *spared_run(void *argument)
{
    spared_thread thread = *(spared_thread *)argument;
    faults_spare(1);
    free(argument);
    return thread.run(thread.context);
}

static int spared_create(pthread_t *thread, const pthread_attr_t *attributes,
                         void *(*run)(void *context), void *context)
{
    spared_thread *given = malloc(sizeof *given);
    *given = (spared_thread){run, context};
    return pthread_create(thread, attributes, spared_run, given);
}

#define pthread_create spared_create
#include "support/fake_server.h"
#include "support/span_samples.h"
#define HTTP_PATIENCE_S 1
#include "support/http_get.h"
#undef pthread_create

#define DEADLINE_MS 3000u
#define EVENTS 1234567u

static fake_server server;

/* ---- one report, from a reporter's beginning to its end ---- */

static void begin_metrics(fault_run *run)
{
    static const char *const keys[] = {"kind"};
    static const char *const values[] = {"a \"quoted\" kind"};
    crest_metric_options counter = {.name = "r.events", .description = "Events."},
                         gauge = {.name = "r.level", .unit = CREST_BYTES},
                         sizes = {.name = "r.size", .unit = CREST_BYTES}, time = {.name = "r.time"},
                         range = {.name = "r.queue"}, kinds = {.name = "r.kinds"};
    crest_counter_add(crest_counter_get(run->registry, &counter, NULL), EVENTS);
    crest_gauge_set(crest_gauge_get(run->registry, &gauge, NULL), -7.25);
    crest_histogram *histogram = crest_histogram_get(run->registry, &sizes, NULL);
    crest_timer *timer = crest_timer_get(run->registry, &time, NULL);
    for (int i = 0; i < 50; i++) {
        crest_histogram_record(histogram, 1000 + i * 999);
        crest_timer_record(timer, 1000000 + i, i % 9 ? CREST_OUTCOME_OK : CREST_OUTCOME_ERROR);
    }
    crest_range_sampler_add(crest_range_sampler_get(run->registry, &range, NULL), 3);
    crest_counter_family family = crest_counter_family_new(run->registry, &kinds, keys, 1, NULL);
    crest_counter_inc(crest_counter_family_get(&family, values, 1));
}

/* Attaches the reporter, reports once and detaches it; the first failure counts. `made`: why there
 * is no reporter, if there is none. */
static crest_status through(fault_run *run, crest_reporter *reporter, crest_error *error)
{
    unsigned deadline_ms = faults_patience_ms(DEADLINE_MS);
    crest_schedule schedule = {
        .interval_ms = CREST_INTERVAL_MS_MAX, .jitter = -1, .timeout_ms = deadline_ms};
    if (reporter == NULL)
        return error->status;
    crest_status status = crest_reporter_attach(run->registry, reporter, &schedule, error);
    if (status == CREST_OK) {
        status = crest_report_now(reporter, deadline_ms, error);
        crest_error last = {CREST_OK, ""};
        crest_status detached = crest_reporter_detach(reporter, deadline_ms, &last);
        if (status == CREST_OK && detached != CREST_OK)
            *error = last, status = detached;
        FAULT_HOLDS(detached != CREST_NOT_FOUND && detached != CREST_ALREADY);
    }
    crest_reporter_free(reporter);
    return status;
}

/* ---- files ---- */

static int file_has(const char *path, const char *text)
{
    static char page[1 << 18];
    faults_spare(1);
    FILE *file = fopen(path, "r");
    size_t length = file != NULL ? fread(page, 1, sizeof page - 1, file) : 0;
    page[length] = '\0';
    if (file != NULL)
        fclose(file);
    unlink(path);
    faults_spare(0);
    return strstr(page, text) != NULL;
}

static crest_status call_textfile(fault_run *run, crest_error *error)
{
    snprintf(run->text, sizeof run->text, "%s/node.prom", run->folder);
    crest_textfile_options options = {.path = run->text, .sync = 1, .windows = 1};
    crest_status status = through(run, crest_textfile_new(&options, error), error);
    int there = file_has(run->text, "\nr_events_total 1234567\n");
    FAULT_HOLDS(status != CREST_OK || there);
    return status;
}

static crest_status call_textfile_removed(fault_run *run, crest_error *error)
{
    snprintf(run->text, sizeof run->text, "%s/node.prom", run->folder);
    crest_textfile_options options = {.path = run->text, .remove_on_stop = 1};
    crest_status status = through(run, crest_textfile_new(&options, error), error);
    int there = file_has(run->text, "r_events_total");
    FAULT_HOLDS(status != CREST_OK || !there);
    return status;
}

static crest_status call_json(fault_run *run, crest_error *error)
{
    snprintf(run->text, sizeof run->text, "%s/node.jsonl", run->folder);
    crest_json_lines_options options = {.path = run->text, .buckets = CREST_JSON_BUCKETS_ALL};
    crest_status status = through(run, crest_json_lines_new(&options, error), error);
    int there = file_has(run->text, "1234567");
    FAULT_HOLDS(status != CREST_OK || there);
    return status;
}

static crest_status call_hlog(fault_run *run, crest_error *error)
{
    snprintf(run->text, sizeof run->text, "%s/node.hlog", run->folder);
    crest_hlog_options options = {.path = run->text};
    crest_status status = through(run, crest_hlog_new(&options, error), error);
    int there = file_has(run->text, "r.size");
    FAULT_HOLDS(status != CREST_OK || there);
    return status;
}

/* A distribution as bytes, and back; and a line of a log that is none. */
static crest_status call_bytes(fault_run *run, crest_error *error)
{
    static unsigned char bytes[2][65536];
    size_t length[2] = {0, 0};
    crest_distribution *back[2] = {NULL, NULL};
    faults_spare(1);
    crest_distribution *one = crest_distribution_new(CREST_RANGE_DEFAULT);
    FAULT_HOLDS(one != NULL && crest_distribution_record(one, 1000 + run->number, 3) == CREST_OK);
    faults_spare(0);
    crest_status status = crest_distribution_encode(one, bytes[0], sizeof bytes[0], &length[0]);
    if (status == CREST_OK)
        status = crest_distribution_encode_compressed(one, bytes[1], sizeof bytes[1], &length[1]);
    if (status != CREST_OK)
        crest_error_set(error, status, "a distribution was not encoded");
    if (status == CREST_OK && (back[0] = crest_distribution_decode(bytes[0], length[0], error)))
        back[1] = crest_distribution_decode_compressed(bytes[1], length[1], error);
    if (status == CREST_OK && back[1] == NULL)
        status = error->status;
    for (unsigned i = 0; i < 2; i++) {
        FAULT_HOLDS(back[i] == NULL || crest_distribution_count(back[i]) == 3);
        crest_distribution_free(back[i]);
    }
    crest_distribution_free(one);
    return status;
}

/* The lines of a log that others wrote: what was recorded are 1, 2 and 3. */
static crest_status call_lines(fault_run *run, crest_error *error)
{
    static const char *const lines[] = {"#[StartTime: 1700000000.000 (seconds since epoch)]",
                                        "Tag=a,0.1,1.0,2.5,"
                                        "HISTFAAAACJ4nJNpmSzMwMDAwgABTFCakYGB+T8I2H+AyTAxAQCPbweB"};
    (void)run;
    crest_hlog_log log = {0};
    for (unsigned i = 0; i < 2; i++) {
        crest_hlog_interval interval;
        crest_status status = crest_hlog_parse(&log, lines[i], strlen(lines[i]), &interval, error);
        FAULT_HOLDS((status == CREST_OK && i == 1) == (interval.distribution != NULL));
        if (status != CREST_OK)
            return status;
        if (i == 1)
            FAULT_HOLDS(crest_distribution_sum(interval.distribution) == 6);
        crest_distribution_free(interval.distribution);
    }
    return CREST_OK;
}

static crest_status console(fault_run *run, crest_console_format format, crest_error *error)
{
    snprintf(run->text, sizeof run->text, "%s/console", run->folder);
    faults_spare(1);
    FILE *stream = fopen(run->text, "w");
    faults_spare(0);
    crest_console_options options = {.stream = stream, .format = format, .colour = 1};
    crest_status status = through(run, crest_console_new(&options, error), error);
    faults_spare(1);
    fclose(stream);
    faults_spare(0);
    int there = file_has(run->text, format == CREST_CONSOLE_TABLE ? "events" : "1234567");
    FAULT_HOLDS(status != CREST_OK || there);
    return status;
}

static crest_status call_console_table(fault_run *run, crest_error *error)
{
    return console(run, CREST_CONSOLE_TABLE, error);
}

static crest_status call_console_json(fault_run *run, crest_error *error)
{
    return console(run, CREST_CONSOLE_JSON, error);
}

/* ---- StatsD ---- */

static void begin_datagrams(fault_run *run)
{
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof name;
    begin_metrics(run);
    run->fd[0] = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    FAULT_HOLDS(bind(run->fd[0], (struct sockaddr *)&name, length) == 0 &&
                getsockname(run->fd[0], (struct sockaddr *)&name, &length) == 0);
    snprintf(run->text, sizeof run->text, "udp://127.0.0.1:%u", ntohs(name.sin_port));
}

static void begin_unix(fault_run *run)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    begin_metrics(run);
    snprintf(name.sun_path, sizeof name.sun_path, "%s/socket", run->folder);
    run->fd[0] = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    FAULT_HOLDS(bind(run->fd[0], (struct sockaddr *)&name, sizeof name) == 0);
    snprintf(run->text, sizeof run->text, "unix://%s", name.sun_path);
}

static void begin_stream(fault_run *run)
{
    begin_metrics(run);
    unsigned port;
    run->fd[0] = fake_server_listen(&port, 8);
    snprintf(run->text, sizeof run->text, "tcp://127.0.0.1:%u", port);
}

/* Whether one of the datagrams that wait has this text. */
static int datagrams_have(int fd, const char *text)
{
    static char packet[65536];
    int found = 0;
    ssize_t length;
    faults_spare(1);
    while ((length = recv(fd, packet, sizeof packet - 1, 0)) >= 0) {
        packet[length] = '\0';
        found |= strstr(packet, text) != NULL;
    }
    faults_spare(0);
    return found;
}

static void end_datagrams(fault_run *run)
{
    char path[100];
    close(run->fd[0]);
    snprintf(path, sizeof path, "%s/socket", run->folder);
    unlink(path);
}

static crest_status call_datagrams(fault_run *run, crest_error *error)
{
    crest_statsd_options options = {.url = run->text, .rate = CREST_STATSD_RATE_MAX + 1};
    crest_status status = through(run, crest_statsd_new(&options, error), error);
    int there = datagrams_have(run->fd[0], "r.events:1234567|c");
    FAULT_HOLDS(status != CREST_OK || there);
    return status;
}

static crest_status call_datadog(fault_run *run, crest_error *error)
{
    crest_statsd_options options = {.url = run->text, .dialect = CREST_STATSD_DATADOG};
    crest_status status = through(run, crest_statsd_new(&options, error), error);
    int there = datagrams_have(run->fd[0], "r.events:1234567|c");
    FAULT_HOLDS(status != CREST_OK || there);
    return status;
}

static crest_status call_stream(fault_run *run, crest_error *error)
{
    crest_statsd_options options = {.url = run->text};
    crest_status status = through(run, crest_statsd_new(&options, error), error);
    int there = 0;
    faults_spare(1);
    fcntl(run->fd[0], F_SETFL, O_NONBLOCK);
    for (int fd; (fd = accept(run->fd[0], NULL, NULL)) >= 0; close(fd)) {
        faults_spare(1);
        size_t length;
        char *text = http_rest(fd, &length);
        there |= text != NULL && strstr(text, "r.events:1234567|c") != NULL;
        free(text);
    }
    faults_spare(0);
    FAULT_HOLDS(status != CREST_OK || there);
    return status;
}

/* ---- HTTP ---- */

static crest_status push(fault_run *run, crest_pushgateway_options options, crest_error *error)
{
    snprintf(run->text, sizeof run->text, "http://127.0.0.1:%u/", server.port);
    options.url = run->text;
    unsigned before = fake_server_requests(&server);
    crest_status status = through(run, crest_pushgateway_new(&options, error), error);
    FAULT_HOLDS(status != CREST_OK || fake_server_requests(&server) > before);
    return status;
}

static crest_status call_push(fault_run *run, crest_error *error)
{
    crest_status status = push(run, (crest_pushgateway_options){.no_gzip = 1}, error);
    pthread_mutex_lock(&server.lock);
    int there = server.body != NULL &&
                memmem(server.body, server.body_length, "\nr_events_total 1234567\n", 24) != NULL;
    pthread_mutex_unlock(&server.lock);
    FAULT_HOLDS(status != CREST_OK || there);
    return status;
}

static crest_status call_push_gzip(fault_run *run, crest_error *error)
{
    faults_spare(1);
    char path[100];
    snprintf(path, sizeof path, "%s/secret", run->folder);
    FILE *file = fopen(path, "w");
    FAULT_HOLDS(file != NULL && fputs("open sesame\n", file) >= 0);
    fclose(file);
    faults_spare(0);
    return push(run,
                (crest_pushgateway_options){
                    .protobuf = 1, .delete_on_stop = 1, .user = "me", .password_file = path},
                error);
}

/* Sends to the test's server by a reporter of its own; OK has reached it. */
static crest_status sent(fault_run *run, crest_reporter *reporter, unsigned before,
                         crest_error *error)
{
    crest_status status = through(run, reporter, error);
    FAULT_HOLDS(status != CREST_OK || fake_server_requests(&server) > before);
    return status;
}

static crest_status call_influxdb(fault_run *run, crest_error *error)
{
    snprintf(run->text, sizeof run->text, "http://127.0.0.1:%u/node", server.port);
    crest_influxdb_options options = {.url = run->text};
    fake_server_say(&server, FAKE_ANSWER, "HTTP/1.1 204 No Content\r\n\r\n");
    unsigned before = fake_server_requests(&server);
    crest_status status = sent(run, crest_influxdb_new(&options, error), before, error);
    fake_server_say(&server, FAKE_ANSWER, FAKE_OK);
    return status;
}

static crest_status call_influxdb_udp(fault_run *run, crest_error *error)
{
    crest_influxdb_options options = {.url = run->text};
    crest_status status = through(run, crest_influxdb_new(&options, error), error);
    int there = datagrams_have(run->fd[0], "r.events");
    FAULT_HOLDS(status != CREST_OK || there);
    return status;
}

static crest_status call_otlp(fault_run *run, crest_error *error)
{
    snprintf(run->text, sizeof run->text, "http://127.0.0.1:%u", server.port);
    crest_otlp_http_options options = {.url = run->text, .gzip = 1};
    unsigned before = fake_server_requests(&server);
    return sent(run, crest_otlp_http_new(&options, error), before, error);
}

/* Exporters of spans: none comes, so nothing is sent. */
static crest_status call_otlp_traces(fault_run *run, crest_error *error)
{
    snprintf(run->text, sizeof run->text, "http://127.0.0.1:%u", server.port);
    crest_otlp_http_options options = {.url = run->text, .gzip = 1, .traces = 1};
    return through(run, crest_otlp_http_new(&options, error), error);
}

static crest_status call_zipkin(fault_run *run, crest_error *error)
{
    snprintf(run->text, sizeof run->text, "http://127.0.0.1:%u", server.port);
    crest_zipkin_options options = {.url = run->text};
    return through(run, crest_zipkin_new(&options, error), error);
}

static crest_status call_span_lines(fault_run *run, crest_error *error)
{
    snprintf(run->text, sizeof run->text, "%s/spans.jsonl", run->folder);
    crest_status status = through(run, crest_span_lines_new(run->text, error), error);
    unlink(run->text);
    return status;
}

static crest_status call_scrape(fault_run *run, crest_error *error)
{
    crest_prometheus_options options = {.listen = "127.0.0.1:0"};
    crest_reporter *reporter = crest_prometheus_new(&options, error);
    if (reporter == NULL)
        return error->status;
    crest_status status = crest_reporter_attach(run->registry, reporter, NULL, error);
    if (status == CREST_OK) {
        unsigned port = crest_prometheus_port(reporter);
        FAULT_HOLDS(port != 0);
        for (unsigned i = 0; i < 2; i++) {
            size_t length;
            faults_spare(1);
            char *page = http_get(port, "/metrics", i ? "Accept-Encoding: gzip\r\n" : "", &length);
            int there = page != NULL && length > (i ? 100 : 500) &&
                        (i || strstr(page, "\nr_events_total 1234567\n") != NULL);
            free(page);
            faults_spare(0);
            if (!there)
                status = crest_error_set(error, CREST_IO, "the page did not come whole");
        }
        crest_error last = {CREST_OK, ""};
        crest_status detached = crest_reporter_detach(reporter, DEADLINE_MS, &last);
        if (status == CREST_OK && detached != CREST_OK)
            *error = last, status = detached;
    }
    crest_reporter_free(reporter);
    return status;
}

/* ---- options ---- */

static crest_reporter_kind never_kind = {.name = "faultskind"};

static crest_reporter *never_create(const char *value, const crest_options *options,
                                    const crest_resource *resource, crest_error *error)
{
    (void)value, (void)options, (void)resource;
    crest_error_set(error, CREST_NO_MEMORY, "never made");
    return NULL;
}

static crest_status call_kind(fault_run *run, crest_error *error)
{
    (void)run;
    never_kind.create = never_create;
    crest_status status = crest_reporter_kind_add(&never_kind);
    return status == CREST_ALREADY || status == CREST_OK
               ? CREST_OK
               : crest_error_set(error, status, "a kind was not added");
}

/* The endpoint writes to its eventfd only, and with that it wakes itself: a count that 2^64 - 2
 * wakings overflow. */
#define SCRAPE_NEVER " write "
#define REPORTS (FAULT_TELLS | FAULT_SLOW)

static crest_status count_spans(crest_span_exporter *self, const crest_span_batch *batch,
                                crest_error *error)
{
    (void)error;
    *(size_t *)self->state += batch->count;
    return CREST_OK;
}

/* One for all runs: tracing keeps what it knows of a timer's durations. */
CREST_TIMER(traced_time, "faults.traced", "Traced while calls fail.");

/* Tracing begins, a span is recorded, collected and handed out, and tracing ends. What is not kept
 * for want of memory is counted, and no call says that. */
static crest_status call_spans(fault_run *run, crest_error *error)
{
    (void)run;
    size_t taken = 0;
    crest_span_exporter exporter = {.name = "faults", .take = count_spans, .state = &taken};
    crest_spans_settings settings = {.spans = "faults.traced", .sample = 1};
    crest_status status = crest_span_exporter_add(&exporter);
    if (status != CREST_OK)
        return crest_error_set(error, status, "no exporter of spans");
    status = crest_spans_set(&settings, error);
    if (status == CREST_OK) {
        crest_span_batch samples = span_samples();
        crest_span_timing timing;
        crest_timer_start_under(&traced_time, crest_op_u64(7), NULL, &timing);
        crest_span_end(&timing, crest_op_u64(7), CREST_OUTCOME_OK);
        crest_spans_flush(1);
        crest_spans_give(samples.spans, 1);
        settings.spans = "";
        FAULT_HOLDS(crest_spans_set(&settings, NULL) == CREST_OK);
    }
    FAULT_HOLDS(crest_span_exporter_remove(&exporter) == CREST_OK);
    return status;
}

static const fault_scenario scenarios[] = {
    {"textfile", begin_metrics, call_textfile, NULL, REPORTS, NULL},
    {"textfile-removed", begin_metrics, call_textfile_removed, NULL, REPORTS, NULL},
    {"json", begin_metrics, call_json, NULL, REPORTS, NULL},
    {"hlog", begin_metrics, call_hlog, NULL, REPORTS, NULL},
    {"bytes", NULL, call_bytes, NULL, FAULT_TELLS, NULL},
    {"lines", NULL, call_lines, NULL, FAULT_TELLS, NULL},
    {"console-table", begin_metrics, call_console_table, NULL, REPORTS, NULL},
    {"console-json", begin_metrics, call_console_json, NULL, REPORTS, NULL},
    {"statsd-udp", begin_datagrams, call_datagrams, end_datagrams, REPORTS, NULL},
    {"statsd-unix", begin_unix, call_datadog, end_datagrams, REPORTS, NULL},
    {"statsd-tcp", begin_stream, call_stream, end_datagrams, REPORTS, NULL},
    {"push", begin_metrics, call_push, NULL, REPORTS, NULL},
    {"push-gzip", begin_metrics, call_push_gzip, NULL, REPORTS, NULL},
    {"influxdb", begin_metrics, call_influxdb, NULL, REPORTS, NULL},
    {"influxdb-udp", begin_datagrams, call_influxdb_udp, end_datagrams, REPORTS, NULL},
    {"otlp", begin_metrics, call_otlp, NULL, REPORTS, NULL},
    {"otlp-traces", NULL, call_otlp_traces, NULL, REPORTS, NULL},
    {"zipkin", NULL, call_zipkin, NULL, REPORTS, NULL},
    {"span-lines", NULL, call_span_lines, NULL, REPORTS, NULL},
    {"spans", NULL, call_spans, NULL, FAULT_TELLS, NULL},
    {"scrape", begin_metrics, call_scrape, NULL, REPORTS, SCRAPE_NEVER},
    {"kind", NULL, call_kind, NULL, FAULT_TELLS, NULL},
};

int main(int argc, char **argv)
{
    fake_server_start(&server);
    int failed = faults_main(argc, argv, scenarios, sizeof scenarios / sizeof scenarios[0]);
    fake_server_stop(&server);
    return failed;
}
