/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exporters of spans against a server of the test's own, with batches made by hand: what each
 * answer does to a body, that none is sent twice, and that each span is sent, lost by a cause, or
 * waiting.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <crest/crest.h>
#include <crest/json_lines.h>
#include <crest/otlp_http.h>
#include <crest/zipkin.h>

#include "otlp/otlp_reporter.h"
#include "support/fake_server.h"
#include "support/span_samples.h"

#define MS UINT64_C(1000000)
#define ACCEPTED "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n"
#define LATER "HTTP/1.1 503 Later\r\nRetry-After: 30\r\nContent-Length: 0\r\n\r\n"
#define BAD "HTTP/1.1 400 Bad\r\nContent-Length: 3\r\n\r\nbad"
#define LARGE "HTTP/1.1 413 Large\r\nContent-Length: 0\r\n\r\n"
#define NOT_FOUND "HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n"
#define MOVED "HTTP/1.1 302 Go\r\nLocation: http://127.0.0.2/\r\nContent-Length: 0\r\n\r\n"
/* ExportTraceServiceResponse: 2 spans rejected, "half" */
#define PARTIAL                                                                                    \
    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 62\r\n\r\n"              \
    "{\"partialSuccess\":{\"rejectedSpans\":\"2\",\"errorMessage\":\"half\"}}"

static fake_server server;
static char server_url[64];
static crest_error error;
static crest_resource resource = {.service = "rnode", .version = "1", .instance = "n-1"};

static int set_up(void **state)
{
    (void)state;
    fake_server_start(&server);
    snprintf(server_url, sizeof server_url, "http://127.0.0.1:%u", server.port);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    fake_server_stop(&server);
    return 0;
}

/* Both exporters over HTTP, by what they are found by in what is counted. */
enum { ZIPKIN, OTLP, EXPORTERS };
static const char *const names[] = {"zipkin", "otlp-traces"};
static const char *const good[] = {ACCEPTED, FAKE_OK};

static crest_reporter *make(int which)
{
    const crest_zipkin_options zipkin = {.url = server_url, .no_gzip = 1};
    const crest_otlp_http_options otlp = {.url = server_url, .traces = 1};
    crest_reporter *made =
        which == ZIPKIN ? crest_zipkin_new(&zipkin, &error) : crest_otlp_http_new(&otlp, &error);
    if (made == NULL)
        fail_msg("%s", error.message);
    assert_true(made->no_snapshot);
    return made;
}

/* Its queue, which tracing would hand batches to. */
static crest_span_queue *queue_of(crest_reporter *reporter, int which)
{
    if (which == OTLP)
        return &((otlp_reporter *)reporter->state)->queue;
    /* behind the reporter and its process, as in zipkin.c */
    typedef struct head {
        crest_reporter reporter;
        pid_t process;
        crest_span_queue queue;
    } head;
    return &((head *)reporter->state)->queue;
}

/* A batch of all sample spans, as the tracing thread hands it over. */
static void take_batch(crest_span_queue *queue)
{
    crest_span_batch batch = span_samples();
    batch.resource = &resource;
    assert_int_equal(queue->exporter.take(&queue->exporter, &batch, &error), CREST_OK);
}

static crest_status report_now(crest_reporter *reporter)
{
    crest_report report = {.resource = &resource, .deadline_ns = crest_now() + FAKE_SERVER_MS * MS};
    memset(&error, 0, sizeof error);
    return reporter->report(reporter, &report, &error);
}

static void check_says(const char *says)
{
    if (strstr(error.message, says) == NULL)
        fail_msg("\"%s\" is not in: %s", says, error.message);
}

/* A counter of the default registry; `cause` NULL: it has none. */
static double counted(const char *metric, const char *exporter, const char *cause)
{
    double found = 0;
    crest_snapshot *snapshot = crest_snapshot_take(NULL);
    assert_non_null(snapshot);
    for (size_t i = 0; i < crest_snapshot_size(snapshot); i++) {
        crest_series_view view;
        crest_snapshot_series(snapshot, i, &view);
        if (strcmp(view.name, metric) == 0 && strcmp(view.label_values[0], exporter) == 0 &&
            (cause == NULL || strcmp(view.label_values[1], cause) == 0))
            found += (double)view.counter;
    }
    crest_snapshot_free(snapshot);
    return found;
}

static double sent(int which)
{
    return counted("crest.spans-sent", names[which], NULL);
}

static double lost(int which, const char *cause)
{
    return counted("crest.spans-lost", names[which], cause);
}

/* ---- what is sent ---- */

static void spans_go_to_the_servers_path(void **state)
{
    static const char *const asked[] = {"POST /api/v2/spans HTTP", "POST /v1/traces HTTP"};
    static const char *const type[] = {"Content-Type: application/json",
                                       "Content-Type: application/x-protobuf"};
    (void)state;
    for (int which = 0; which < EXPORTERS; which++) {
        fake_server_say(&server, FAKE_ANSWER, good[which]);
        crest_reporter *reporter = make(which);
        double before = sent(which);
        unsigned requests = server.requests;
        assert_int_equal(report_now(reporter), CREST_OK); /* nothing waits: no request */
        assert_int_equal(server.requests, requests);
        take_batch(queue_of(reporter, which));
        assert_int_equal(report_now(reporter), CREST_OK);
        assert_true(fake_server_got(&server, asked[which]));
        assert_true(fake_server_got(&server, type[which]));
        assert_non_null(memmem(server.body, server.body_length, "casper.add-block-time", 21));
        assert_non_null(memmem(server.body, server.body_length, "rnode", 5));
        assert_true(sent(which) - before == 5);
        assert_true(counted("crest.spans-sent-size", names[which], NULL) > 0);
        crest_reporter_free(reporter);
    }
}

static void a_url_of_metrics_is_one_of_traces_too(void **state)
{
    static const struct {
        const char *path, *asked;
    } cases[] = {{"/v1/metrics", "POST /v1/traces HTTP"},
                 {"/api/otlp/v1/metrics/", "POST /api/otlp/v1/traces HTTP"},
                 {"/v1/traces", "POST /v1/traces HTTP"},
                 {"/x/", "POST /x/v1/traces HTTP"}};
    (void)state;
    fake_server_say(&server, FAKE_ANSWER, FAKE_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char url[128];
        snprintf(url, sizeof url, "%s%s", server_url, cases[i].path);
        crest_reporter *reporter =
            crest_otlp_http_new(&(crest_otlp_http_options){.url = url, .traces = 1}, &error);
        assert_non_null(reporter);
        take_batch(queue_of(reporter, OTLP));
        assert_int_equal(report_now(reporter), CREST_OK);
        if (!fake_server_got(&server, cases[i].asked))
            fail_msg("%s: %s", cases[i].path, server.head);
        crest_reporter_free(reporter);
    }
}

static void gzip_makes_spans_small(void **state)
{
    (void)state;
    fake_server_say(&server, FAKE_ANSWER, FAKE_OK);
    crest_reporter *reporter = crest_otlp_http_new(
        &(crest_otlp_http_options){.url = server_url, .traces = 1, .gzip = 1}, &error);
    static crest_span spans[CREST_SPAN_BATCH_MAX];
    static const crest_span_attribute two[] = {
        {.key = "peer", .type = CREST_SPAN_TEXT, .value.s = "validator-17", .length = 12},
        {.key = "height", .type = CREST_SPAN_I64, .value.i = 8123456},
    };
    uint64_t random = 1;
    for (unsigned i = 0; i < CREST_SPAN_BATCH_MAX; i++) {
        random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        spans[i] = span_samples().spans[3];
        spans[i].outcome = CREST_OUTCOME_OK;
        spans[i].id ^= random ^ random >> 29;
        spans[i].start_unix_ns += random >> 40;
        spans[i].end_unix_ns = spans[i].start_unix_ns + (random >> 42);
        spans[i].attributes = two;
        spans[i].attribute_count = 2;
    }
    crest_span_batch batch = {.spans = spans, .count = CREST_SPAN_BATCH_MAX, .resource = &resource};
    crest_span_queue *queue = queue_of(reporter, OTLP);
    assert_int_equal(queue->exporter.take(&queue->exporter, &batch, &error), CREST_OK);
    assert_int_equal(report_now(reporter), CREST_OK);
    assert_true(fake_server_got(&server, "Content-Encoding: gzip"));
    print_message("%.1f bytes a span\n", (double)server.body_length / CREST_SPAN_BATCH_MAX);
    assert_in_range(server.body_length / CREST_SPAN_BATCH_MAX, 10, 70);
    crest_reporter_free(reporter);
}

/* ---- what answers do ---- */

typedef struct answer_case {
    const char *words, *cause; /* cause NULL: the body stays */
    crest_status status;
    const char *says;
} answer_case;

static void each_answer_has_its_end(void **state)
{
    static const answer_case cases[] = {{LATER, NULL, CREST_UNREACHABLE, "503"},
                                        {BAD, "refused", CREST_REFUSED, "bad"},
                                        {LARGE, "too-large", CREST_REFUSED, "413"},
                                        {NOT_FOUND, "refused", CREST_REFUSED, "404"},
                                        {MOVED, "refused", CREST_REFUSED, "redirect"}};
    (void)state;
    for (int which = 0; which < EXPORTERS; which++)
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            const answer_case *one = &cases[i];
            crest_reporter *reporter = make(which);
            crest_span_queue *queue = queue_of(reporter, which);
            double before = one->cause != NULL ? lost(which, one->cause) : 0;
            double sent_before = sent(which);
            fake_server_say(&server, FAKE_ANSWER, one->words);
            take_batch(queue);
            assert_int_equal(report_now(reporter), one->status);
            check_says(one->says);
            assert_true(sent(which) == sent_before);
            if (one->cause != NULL) {
                assert_true(lost(which, one->cause) - before == 5);
                assert_null(crest_span_queue_first(queue));
            } else {
                assert_true(reporter->retry_at_ns > crest_now());
                assert_non_null(crest_span_queue_first(queue));
                before = lost(which, "stopped");
            }
            crest_reporter_free(reporter);
            if (one->cause == NULL) /* what waits when it ends is counted */
                assert_true(lost(which, "stopped") - before == 5);
        }
}

static void what_was_put_off_comes_later(void **state)
{
    (void)state;
    for (int which = 0; which < EXPORTERS; which++) {
        crest_reporter *reporter = make(which);
        double before = sent(which);
        unsigned connections = fake_server_connections(&server);
        fake_server_say(&server, FAKE_ANSWER, LATER);
        take_batch(queue_of(reporter, which));
        take_batch(queue_of(reporter, which));
        assert_int_equal(report_now(reporter), CREST_UNREACHABLE);
        fake_server_say(&server, FAKE_ANSWER, good[which]);
        reporter->retry_at_ns = 0;
        assert_int_equal(report_now(reporter), CREST_OK);
        assert_true(sent(which) - before == 10);
        /* a kept one could have a request sent again, once it turns out to be closed */
        assert_int_equal(fake_server_connections(&server) - connections, 3);
        crest_reporter_free(reporter);
    }
}

static void a_partial_success_is_counted_and_not_sent_again(void **state)
{
    (void)state;
    crest_reporter *reporter = make(OTLP);
    double sent_before = sent(OTLP), lost_before = lost(OTLP, "rejected");
    fake_server_say(&server, FAKE_ANSWER, PARTIAL);
    take_batch(queue_of(reporter, OTLP));
    assert_int_equal(report_now(reporter), CREST_OK);
    assert_true(sent(OTLP) - sent_before == 3);
    assert_true(lost(OTLP, "rejected") - lost_before == 2);
    assert_null(crest_span_queue_first(queue_of(reporter, OTLP)));
    crest_reporter_free(reporter);
}

/* A server that took the body and died before it answered would have the spans twice. */
static void without_an_answer_spans_are_not_sent_again(void **state)
{
    (void)state;
    for (int which = 0; which < EXPORTERS; which++) {
        crest_reporter *reporter = make(which);
        crest_span_queue *queue = queue_of(reporter, which);
        double before = lost(which, "no-answer"), sent_before = sent(which);
        /* the first is answered, and the connection closed at the second: had it been kept, curl
           would send the second again */
        fake_server_say(&server, FAKE_ANSWER_ONCE, good[which]);
        take_batch(queue);
        assert_int_equal(report_now(reporter), CREST_OK);
        fake_server_say(&server, FAKE_CLOSE_AT_ONCE, "");
        take_batch(queue);
        take_batch(queue);
        assert_int_not_equal(report_now(reporter), CREST_OK);
        check_says("not sent again");
        assert_true(lost(which, "no-answer") - before == 5);
        assert_non_null(crest_span_queue_first(queue));
        fake_server_say(&server, FAKE_ANSWER, good[which]);
        assert_int_equal(report_now(reporter), CREST_OK);
        assert_true(sent(which) - sent_before == 10);
        crest_reporter_free(reporter);
    }
}

static void without_a_server_spans_wait(void **state)
{
    (void)state;
    fake_server_stop(&server);
    for (int which = 0; which < EXPORTERS; which++) {
        crest_reporter *reporter = make(which);
        take_batch(queue_of(reporter, which));
        assert_int_equal(report_now(reporter), CREST_UNREACHABLE);
        assert_non_null(crest_span_queue_first(queue_of(reporter, which)));
        crest_reporter_free(reporter);
    }
    fake_server_start(&server);
}

/* ---- the queue ---- */

static void a_full_queue_loses_the_newest_and_counts_them(void **state)
{
    static char bytes[CREST_SPAN_QUEUE_BYTES_MAX / 4];
    crest_reporter *reporter = make(ZIPKIN);
    crest_span_queue *queue = queue_of(reporter, ZIPKIN);
    double before = lost(ZIPKIN, "queue-full");
    (void)state;
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(crest_span_queue_put(queue, bytes, sizeof bytes, 7), CREST_OK);
    assert_true(lost(ZIPKIN, "queue-full") - before == 7);
    assert_int_equal(crest_span_queue_first(queue)->length, sizeof bytes);
    crest_span_queue_lost(queue, "refused");
    assert_int_equal(crest_span_queue_put(queue, bytes, sizeof bytes, 7), CREST_OK);
    assert_true(lost(ZIPKIN, "queue-full") - before == 7);
    crest_reporter_free(reporter);
}

static void lines_are_written_whole(void **state)
{
    char path[] = "/tmp/crest-spans-XXXXXX", text[16384];
    (void)state;
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    crest_reporter *reporter = crest_span_lines_new(path, &error);
    assert_non_null(reporter);
    typedef struct head {
        crest_reporter reporter;
        crest_span_queue queue;
    } head;
    take_batch(&((head *)reporter->state)->queue);
    take_batch(&((head *)reporter->state)->queue);
    assert_int_equal(report_now(reporter), CREST_OK);
    crest_reporter_free(reporter);
    FILE *written = fopen(path, "r");
    size_t length = fread(text, 1, sizeof text - 1, written), lines = 0;
    fclose(written);
    unlink(path);
    for (size_t i = 0; i < length; i++)
        lines += text[i] == '\n';
    assert_int_equal(lines, 10);
    assert_null(crest_span_lines_new("", &error));
    check_says("spans-json=");
    assert_null(crest_span_lines_new("/nowhere/at/all", &error));
}

static void wrong_options_say_so(void **state)
{
    static const struct {
        crest_zipkin_options options;
        const char *says;
    } cases[] = {
        {{.url = NULL}, "Zipkin server"},
        {{.url = "ftp://h"}, "ftp"},
        {{.url = "http://h", .ca_file = "/nowhere"}, "/nowhere"},
        {{.url = "http://h", .proxy = "socks://h"}, "zipkin.proxy"},
        {{.url = "http://h", .user = "me"}, "zipkin."},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_null(crest_zipkin_new(&cases[i].options, &error));
        check_says(cases[i].says);
    }
    assert_null(crest_zipkin_new(NULL, NULL));
}

#define WITH_SERVER(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_SERVER(spans_go_to_the_servers_path),
        WITH_SERVER(a_url_of_metrics_is_one_of_traces_too),
        WITH_SERVER(gzip_makes_spans_small),
        WITH_SERVER(each_answer_has_its_end),
        WITH_SERVER(what_was_put_off_comes_later),
        WITH_SERVER(a_partial_success_is_counted_and_not_sent_again),
        WITH_SERVER(without_an_answer_spans_are_not_sent_again),
        WITH_SERVER(without_a_server_spans_wait),
        WITH_SERVER(a_full_queue_loses_the_newest_and_counts_them),
        WITH_SERVER(lines_are_written_whole),
        WITH_SERVER(wrong_options_say_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
