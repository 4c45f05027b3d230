/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The OTLP reporter against a server of the test's own: what is sent where, what each answer does
 * to this report and the next, differences that are exact whatever failed, and options.
 */
#define _GNU_SOURCE
#include <malloc.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <crest/crest.h>
#include <crest/otlp_http.h>

#include "kinds.h"
#include "otlp/otlp_reporter.h"
#include "run/options.h"
#include "support/fake_server.h"

#define MS UINT64_C(1000000)
#define S (1000 * MS)
#define LATER "HTTP/1.1 503 Later\r\nRetry-After: 30\r\nContent-Length: 0\r\n\r\n"
#define BAD "HTTP/1.1 400 Bad\r\nContent-Length: 0\r\n\r\n"
#define LARGE "HTTP/1.1 413 Large\r\nContent-Length: 0\r\n\r\n"

static fake_server server;
static char server_url[64];
static crest_registry *registry;
static crest_counter *done;
static crest_error error;
static crest_resource resource = {.service = "rnode", .version = "1", .instance = "n-1"};

static int set_up(void **state)
{
    (void)state;
    fake_server_start(&server);
    fake_server_say(&server, FAKE_ANSWER, FAKE_OK);
    snprintf(server_url, sizeof server_url, "http://127.0.0.1:%u", server.port);
    registry = crest_registry_new(NULL);
    assert_non_null(registry);
    crest_metric_options options = {.name = "test.things-done", .description = "Done."};
    done = crest_counter_get(registry, &options, NULL);
    crest_counter_add(done, 3);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    crest_registry_free(registry);
    fake_server_stop(&server);
    return 0;
}

static crest_reporter *make(crest_otlp_http_options options)
{
    if (options.url == NULL)
        options.url = server_url;
    crest_reporter *reporter = crest_otlp_http_new(&options, &error);
    if (reporter == NULL)
        fail_msg("%s", error.message);
    return reporter;
}

static crest_status report_as(crest_reporter *reporter, int final)
{
    crest_snapshot *snapshot = crest_snapshot_take(registry);
    assert_non_null(snapshot);
    crest_report report = {.snapshot = snapshot,
                           .resource = &resource,
                           .deadline_ns = crest_now() + FAKE_SERVER_MS * MS,
                           .final = final};
    memset(&error, 0, sizeof error);
    crest_status status = reporter->report(reporter, &report, &error);
    crest_snapshot_free(snapshot);
    return status;
}

static crest_status report_now(crest_reporter *reporter)
{
    return report_as(reporter, 0);
}

static void check_says(const char *says)
{
    if (strstr(error.message, says) == NULL)
        fail_msg("\"%s\" is not in: %s", says, error.message);
}

/* The last request's body, NUL-terminated, which the caller frees. */
static char *body(void)
{
    char *text = calloc(1, server.body_length + 1);
    assert_non_null(text);
    memcpy(text, server.body, server.body_length);
    return text;
}

static void check_body(const char *says)
{
    char *text = body();
    if (strstr(text, says) == NULL)
        fail_msg("\"%s\" is not in: %s", says, text);
    free(text);
}

static void a_report_is_a_post_with_all_it_says(void **state)
{
    (void)state;
    const crest_page_label headers[] = {{"x-team", "core"}};
    crest_reporter *reporter = make((crest_otlp_http_options){
        .encoding = CREST_OTLP_JSON, .headers = headers, .header_count = 1});
    assert_int_equal(report_now(reporter), CREST_OK);
    assert_true(fake_server_got(&server, "POST /v1/metrics HTTP/1.1\r\n"));
    assert_true(fake_server_got(&server, "\r\nContent-Type: application/json\r\n"));
    assert_true(fake_server_got(&server, "\r\nx-team: core\r\n"));
    assert_false(fake_server_got(&server, "Content-Encoding"));
    check_body("\"service.instance.id\"");
    check_body("\"test.things-done\"");
    check_body("\"asInt\":\"3\"");
    crest_reporter_free(reporter);
    reporter = make((crest_otlp_http_options){.gzip = 1});
    assert_int_equal(report_now(reporter), CREST_OK);
    assert_true(fake_server_got(&server, "\r\nContent-Encoding: gzip\r\n"));
    assert_true(fake_server_got(&server, "\r\nContent-Type: application/x-protobuf\r\n"));
    assert_int_equal(server.body[0], 0x1f);
    crest_reporter_free(reporter);
}

static void paths_are_added_or_not(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        int whole;
        const char *asked;
    } cases[] = {
        {"", 0, "POST /v1/metrics HTTP"},
        {"/", 0, "POST /v1/metrics HTTP"},
        {"/api/v1/otlp/", 0, "POST /api/v1/otlp/v1/metrics HTTP"},
        {"/api/v1/otlp/v1/metrics", 0, "POST /api/v1/otlp/v1/metrics HTTP"},
        {"/v1/metrics/", 0, "POST /v1/metrics/ HTTP"},
        {"", 1, "POST / HTTP"},
        {"/x", 1, "POST /x HTTP"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char url[128];
        snprintf(url, sizeof url, "%s%s", server_url, cases[i].path);
        crest_reporter *reporter =
            make((crest_otlp_http_options){.url = url, .whole_url = cases[i].whole});
        assert_int_equal(report_now(reporter), CREST_OK);
        if (!fake_server_got(&server, cases[i].asked))
            fail_msg("%s: %s", cases[i].path, server.head);
        crest_reporter_free(reporter);
    }
}

static void a_receiver_that_wants_time_gets_it(void **state)
{
    (void)state;
    crest_reporter *reporter = make((crest_otlp_http_options){.url = NULL});
    fake_server_say(&server, FAKE_ANSWER, LATER);
    assert_int_equal(report_now(reporter), CREST_UNREACHABLE);
    check_says("in 30 s, as it asks");
    assert_in_range(reporter->retry_at_ns, crest_now() + 25 * S, crest_now() + 30 * S);
    fake_server_say(&server, FAKE_ANSWER, FAKE_OK);
    unsigned requests = server.requests;
    assert_int_equal(report_now(reporter), CREST_UNREACHABLE);
    check_says("not tried; the receiver has asked to be left alone for");
    assert_int_equal(server.requests, requests);
    /* the last report does not wait: values, and then markers that they end */
    assert_int_equal(report_as(reporter, 1), CREST_OK);
    assert_int_equal(server.requests, requests + 2);
    crest_reporter_free(reporter);
    reporter = make((crest_otlp_http_options){.url = NULL});
    fake_server_say(&server, FAKE_ANSWER,
                    "HTTP/1.1 429 Slow\r\nRetry-After: 999999999\r\nContent-Length: 0\r\n\r\n");
    assert_int_equal(report_now(reporter), CREST_UNREACHABLE);
    assert_in_range(reporter->retry_at_ns, crest_now() + 3500 * S, crest_now() + 3600 * S);
    crest_reporter_free(reporter);
}

/* Says that so many points were rejected. */
static void reject(unsigned points)
{
    char partial[128], words[256];
    snprintf(partial, sizeof partial, "{\"partialSuccess\":{\"rejectedDataPoints\":\"%u\"}}",
             points);
    snprintf(words, sizeof words,
             "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
             strlen(partial), partial);
    fake_server_say(&server, FAKE_ANSWER, words);
}

static void a_partial_success_is_not_sent_again(void **state)
{
    (void)state;
    crest_reporter *reporter = make(
        (crest_otlp_http_options){.temporality = CREST_OTLP_DELTA, .encoding = CREST_OTLP_JSON});
    reject(1);
    assert_int_equal(report_now(reporter), CREST_OK);
    check_body("\"asInt\":\"3\"");
    crest_counter_inc(done);
    reject(2); /* the counter and crest_target_info, so all of it */
    assert_int_equal(report_now(reporter), CREST_REFUSED);
    check_says("rejected all 2 points");
    check_body("\"asInt\":\"1\"");
    fake_server_say(&server, FAKE_ANSWER, FAKE_OK);
    crest_counter_inc(done);
    assert_int_equal(report_now(reporter), CREST_OK);
    check_body("\"asInt\":\"2\"");
    crest_reporter_free(reporter);
}

/* What a receiver adds up that takes a body once, by its bytes. */
static void differences_are_exact_whatever_fails(void **state)
{
    (void)state;
    static const struct {
        fake_manner manner;
        const char *words;
        crest_status status;
        int same_again; /* the next request has the same bytes */
    } cases[] = {
        {FAKE_ANSWER, BAD, CREST_REFUSED, 0},
        {FAKE_ANSWER, "HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n", CREST_REFUSED, 0},
        {FAKE_ANSWER, "HTTP/1.1 301 Moved\r\nLocation: http://h/\r\nContent-Length: 0\r\n\r\n",
         CREST_REFUSED, 0},
        {FAKE_ANSWER,
         "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 6\r\n\r\n<html>",
         CREST_REFUSED, 0},
        {FAKE_ENDLESS, "HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n", CREST_REFUSED, 0},
        {FAKE_ANSWER, "HTTP/1.1 429 Slow\r\nContent-Length: 0\r\n\r\n", CREST_UNREACHABLE, 1},
        {FAKE_ANSWER, "HTTP/1.1 502 Bad\r\nContent-Length: 0\r\n\r\n", CREST_UNREACHABLE, 1},
        {FAKE_ANSWER, "HTTP/1.1 503 Not\r\nContent-Length: 0\r\n\r\n", CREST_UNREACHABLE, 1},
        {FAKE_ANSWER, "HTTP/1.1 504 Late\r\nContent-Length: 0\r\n\r\n", CREST_UNREACHABLE, 1},
        {FAKE_ANSWER_CLOSE, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf", CREST_IO, 1},
        {FAKE_ANSWER_CLOSE, "HTTP/1.1 20", CREST_IO, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        crest_reporter *reporter = make((crest_otlp_http_options){
            .temporality = CREST_OTLP_DELTA, .encoding = CREST_OTLP_JSON, .gzip = 0});
        otlp_reporter *otlp = reporter->state;
        assert_int_equal(report_now(reporter), CREST_OK);
        crest_counter_add(done, 10);
        fake_server_say(&server, cases[i].manner, cases[i].words);
        if (report_now(reporter) != cases[i].status)
            fail_msg("case %zu: %s", i, error.message);
        char *failed = body();
        assert_int_equal(otlp->pending.bytes != NULL, cases[i].same_again);
        crest_counter_add(done, 7);
        /* it fails in the same way once more, and nothing else is sent */
        assert_int_equal(report_now(reporter), cases[i].status);
        char *again = body();
        if ((strcmp(failed, again) == 0) != cases[i].same_again)
            fail_msg("case %zu: %s", i, again);
        fake_server_say(&server, FAKE_ANSWER, FAKE_OK);
        unsigned requests = server.requests;
        assert_int_equal(report_now(reporter), CREST_OK);
        assert_int_equal(server.requests - requests, cases[i].same_again ? 2 : 1);
        check_body(cases[i].same_again ? "\"asInt\":\"7\"" : "\"asInt\":\"17\"");
        /* and after that nothing is left */
        assert_int_equal(report_now(reporter), CREST_OK);
        char *rest = body();
        assert_null(strstr(rest, "test.things-done"));
        free(failed);
        free(again);
        free(rest);
        crest_reporter_free(reporter);
    }
}

static void a_body_that_is_too_large_is_halved_once(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 400; i++) {
        char name[64];
        snprintf(name, sizeof name, "test.counter-number-%u-of-many", i);
        crest_metric_options options = {.name = name, .description = "One of many."};
        crest_counter_inc(crest_counter_get(registry, &options, NULL));
    }
    crest_reporter *reporter = make((crest_otlp_http_options){.url = NULL});
    otlp_reporter *otlp = reporter->state;
    assert_int_equal(report_now(reporter), CREST_OK);
    size_t whole = server.body_length;
    unsigned requests = server.requests;
    assert_int_equal(requests, 1);
    fake_server_say(&server, FAKE_ANSWER, LARGE);
    assert_int_equal(report_now(reporter), CREST_REFUSED);
    check_says("otlp.body");
    assert_int_equal(otlp->form.body_bytes, whole / 2);
    assert_true(server.body_length <= whole / 2);
    assert_in_range(server.requests - requests, 3, 4); /* the whole, and its halves */
    fake_server_say(&server, FAKE_ANSWER, FAKE_OK);
    requests = server.requests;
    assert_int_equal(report_now(reporter), CREST_OK);
    assert_in_range(server.requests - requests, 2, 3);
    crest_reporter_free(reporter);
}

/* Bodies behind one that is refused are sent all the same. */
static void one_bad_body_does_not_stop_the_others(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 40; i++) {
        char name[64];
        snprintf(name, sizeof name, "test.counter-number-%u-of-many", i);
        crest_metric_options options = {.name = name, .description = "One of many."};
        crest_counter_inc(crest_counter_get(registry, &options, NULL));
    }
    crest_reporter *reporter = make((crest_otlp_http_options){
        .temporality = CREST_OTLP_DELTA, .body_bytes = CREST_OTLP_BODY_BYTES_MIN});
    fake_server_say(&server, FAKE_ANSWER, BAD);
    assert_int_equal(report_now(reporter), CREST_REFUSED);
    unsigned bodies = server.requests;
    assert_true(bodies > 3);
    fake_server_say(&server, FAKE_ANSWER, "HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n");
    assert_int_equal(report_now(reporter), CREST_REFUSED);
    assert_int_equal(server.requests, bodies + 1); /* the others would be refused as well */
    fake_server_say(&server, FAKE_ANSWER, FAKE_OK);
    assert_int_equal(report_now(reporter), CREST_OK);
    assert_int_equal(server.requests, 2 * bodies + 1);
    crest_reporter_free(reporter);
}

typedef struct waiting {
    crest_reporter *reporter;
    crest_report report;
    crest_error error;
    crest_status status;
} waiting;

static void *report_apart(void *context)
{
    waiting *call = context;
    call->status = call->reporter->report(call->reporter, &call->report, &call->error);
    return NULL;
}

static size_t heap(void)
{
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

/* While a body is on its way there are that body and little else. */
static void memory_is_one_body_and_little_else(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 3000; i++) {
        char name[64];
        snprintf(name, sizeof name, "test.counter-number-%u-of-many", i);
        crest_metric_options options = {.name = name, .description = "One of many."};
        crest_counter_inc(crest_counter_get(registry, &options, NULL));
    }
    waiting call = {.reporter = make((crest_otlp_http_options){.url = NULL})};
    assert_int_equal(report_now(call.reporter), CREST_OK);
    crest_snapshot *snapshot = crest_snapshot_take(registry);
    call.report = (crest_report){.snapshot = snapshot,
                                 .resource = &resource,
                                 .deadline_ns = crest_now() + FAKE_SERVER_MS * MS};
    unsigned requests = server.requests;
    fake_server_say(&server, FAKE_SILENT, "");
    size_t before = heap();
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, report_apart, &call), 0);
    assert_true(fake_server_await(&server, requests + 1));
    size_t beside = heap() - before - server.body_length;
    call.reporter->cancel(call.reporter);
    pthread_join(thread, NULL);
    assert_int_equal(call.status, CREST_TIMED_OUT);
    assert_true(server.body_length > 100000);
    /* libcurl 7.88 has 42 KiB of it, later ones 107; sanitizers do not say what is in use */
    if (before != 0 && beside > 192 * 1024)
        fail_msg("%zu bytes beside a body of %zu", beside, server.body_length);
    crest_snapshot_free(snapshot);
    crest_reporter_free(call.reporter);
}

static void wrong_options_say_so(void **state)
{
    (void)state;
    const crest_page_label wrong[] = {{"k", "\xff"}};
    const struct {
        crest_otlp_http_options options;
        const char *says;
    } cases[] = {
        {{.url = NULL}, "No URL for the OTLP receiver"},
        {{.url = "h:4318"}, "http://127.0.0.1:4318"},
        {{.url = "http://h", .body_bytes = 9}, "from 1024 to"},
        {{.url = "http://h", .encoding = (crest_otlp_encoding)7}, "no OTLP encoding 7"},
        {{.url = "http://h", .temporality = (crest_otlp_temporality)7}, "temporality 7"},
        {{.url = "http://h", .histograms = (crest_otlp_histograms)7}, "of the kind 7"},
        {{.url = "http://h", .windows = 77}, "CREST_PAGE_WINDOWS_"},
        {{.url = "http://h", .ca_file = "/nonexistent/ca"}, "/nonexistent/ca"},
        {{.url = "http://h", .user = "u"}, "otlp.user has no password"},
        {{.url = "http://h", .proxy = "p"}, "otlp.proxy"},
        {{.url = "http://h", .headers_file = "/nonexistent/h"}, "otlp.headers-file"},
        {{.url = "http://h", .attributes = wrong, .attribute_count = 1}, "not UTF-8"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        memset(&error, 0, sizeof error);
        assert_null(crest_otlp_http_new(&cases[i].options, &error));
        check_says(cases[i].says);
    }
    assert_null(crest_otlp_http_new(NULL, &error));
}

static crest_reporter *create(const char *value, const char *text)
{
    crest_options *options = crest_options_new();
    assert_non_null(options);
    memset(&error, 0, sizeof error);
    assert_int_equal(crest_options_add(options, text, "in the test", &error), CREST_OK);
    crest_reporter *reporter = crest_otlp_kind.create(value, options, &resource, &error);
    crest_options_free(options);
    return reporter;
}

static void options_are_above_the_environment(void **state)
{
    (void)state;
    setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server_url, 1);
    setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json", 1);
    setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-key=a%20b", 1);
    setenv("OTEL_RESOURCE_ATTRIBUTES", "zone=eu,service.name=ignored", 1);
    setenv("OTEL_SERVICE_NAME", "ignored too", 1);
    crest_reporter *reporter = create("on", "");
    assert_non_null(reporter);
    assert_int_equal(report_now(reporter), CREST_OK);
    assert_true(fake_server_got(&server, "POST /v1/metrics HTTP/1.1\r\n"));
    assert_true(fake_server_got(&server, "\r\nx-key: a b\r\n"));
    check_body("\"zone\"");
    check_body("\"rnode\"");
    crest_reporter_free(reporter);
    reporter =
        create(server_url, "otlp.encoding=protobuf,otlp.compression=GZIP,otlp.body=64KiB,"
                           "otlp.histograms=explicit,otlp.temporality=delta,otlp.windows=off");
    otlp_reporter *otlp = reporter->state;
    assert_int_equal(otlp->form.encoding, CREST_OTLP_PROTOBUF);
    assert_int_equal(otlp->form.body_bytes, 65536);
    assert_int_equal(otlp->form.histograms, CREST_OTLP_EXPLICIT);
    assert_int_equal(otlp->form.temporality, CREST_OTLP_DELTA);
    assert_int_equal(otlp->windows, CREST_PAGE_WINDOWS_NONE);
    assert_int_equal(otlp->gzip, 1);
    crest_reporter_free(reporter);
    unsigned sent = server.requests;
    reporter = create(server_url, "otlp.stale-on-stop=off");
    assert_int_equal(report_as(reporter, 1), CREST_OK);
    assert_int_equal(server.requests, sent + 1);
    crest_reporter_free(reporter);
    setenv("OTEL_SDK_DISABLED", "true", 1);
    reporter = create("on", "");
    unsigned requests = server.requests;
    assert_int_equal(report_now(reporter), CREST_OK);
    assert_int_equal(server.requests, requests);
    crest_reporter_free(reporter);
    unsetenv("OTEL_SDK_DISABLED");
    static const char *const wrong[][2] = {
        {"otlp.encoding=x", "otlp.encoding=x is not protobuf or json"},
        {"otlp.windows=x", "is not ranges, off or all"},
        {"otlp.body=4GiB", "from 1KiB to 64MiB"},
        {"otlp.body=", "from 1KiB to 64MiB"},
        {"otlp.body=999999999999MiB", "from 1KiB to 64MiB"},
        {"otlp.body=1000", "from 1KiB to 64MiB"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_null(create(server_url, wrong[i][0]));
        check_says(wrong[i][1]);
    }
    unsetenv("OTEL_EXPORTER_OTLP_ENDPOINT");
    unsetenv("OTEL_EXPORTER_OTLP_PROTOCOL");
    unsetenv("OTEL_EXPORTER_OTLP_HEADERS");
    unsetenv("OTEL_RESOURCE_ATTRIBUTES");
    unsetenv("OTEL_SERVICE_NAME");
}

int main(void)
{
#define WITH_SERVER(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        WITH_SERVER(a_report_is_a_post_with_all_it_says),
        WITH_SERVER(paths_are_added_or_not),
        WITH_SERVER(a_receiver_that_wants_time_gets_it),
        WITH_SERVER(a_partial_success_is_not_sent_again),
        WITH_SERVER(differences_are_exact_whatever_fails),
        WITH_SERVER(a_body_that_is_too_large_is_halved_once),
        WITH_SERVER(one_bad_body_does_not_stop_the_others),
        WITH_SERVER(memory_is_one_body_and_little_else),
        WITH_SERVER(wrong_options_say_so),
        WITH_SERVER(options_are_above_the_environment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
