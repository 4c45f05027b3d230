/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Pushgateway reporter against a server in the test: what it sends, where, and what it makes of
 * every kind of answer.
 *
 * crest-test: waits
 */
#include "support/push_fixture.h"
#include "http/http_secret.h"

#define MS PUSH_MS
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void a_push_is_one_put_of_the_whole_page(void **state)
{
    (void)state;
    crest_reporter *reporter = make((crest_pushgateway_options){.job = "a/b"});
    assert_string_equal(reporter->name, "pushgateway");
    assert_int_equal(push(reporter), CREST_OK);
    assert_true(
        fake_server_got(&server, "PUT /metrics/job@base64/YS9i/instance/node-1 HTTP/1.1\r\n"));
    assert_true(
        fake_server_got(&server, "\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n"));
    assert_true(fake_server_got(&server, "\r\nContent-Encoding: gzip\r\n"));
    check_page("\npush_things_done_total 3\n", 1);
    check_page("crest_target_info{", 1);
    check_page("service=\"rnode\"", 1);
    check_page("version=\"0.13\"", 1);
    check_page("instance=\"node-1\"", 1);
    assert_int_equal(push(reporter), CREST_OK);
    assert_int_equal(fake_server_requests(&server), 2);
    assert_int_equal(fake_server_connections(&server), 1);
    crest_reporter_free(reporter);
}

static void compression_can_be_left_out(void **state)
{
    (void)state;
    crest_reporter *reporter = make((crest_pushgateway_options){.no_gzip = 1});
    assert_int_equal(push(reporter), CREST_OK);
    assert_false(fake_server_got(&server, "Content-Encoding"));
    check_page("\npush_things_done_total 3\n", 1);
    crest_reporter_free(reporter);
}

static void the_group_comes_from_options_or_resource(void **state)
{
    (void)state;
    static const crest_page_label labels[] = {{"dc", "x y"}, {"version", "9"}};
    static const struct {
        crest_pushgateway_options options;
        crest_resource who;
        const char *path;
    } cases[] = {
        {{0}, WHO("rnode", "1", "n"), "PUT /metrics/job/rnode/instance/n "},
        {{0}, WHO("", "", "10.0.0.7:1"), "PUT /metrics/job/crest/instance@base64/MTAuMC4wLjc6MQ "},
        {{.job = "j", .instance = "i"}, WHO("rnode", "1", "n"), "PUT /metrics/job/j/instance/i "},
        {{.instance = "i"}, WHO(NULL, NULL, NULL), "PUT /metrics/job/crest/instance/i "},
        {{.labels = labels, .label_count = 2},
         WHO("s", "1", "n"),
         "PUT /metrics/job/s/instance/n/dc@base64/eCB5/version/9 "},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        crest_reporter *reporter = make(cases[i].options);
        assert_int_equal(push_as(reporter, &cases[i].who, 0, FAKE_SERVER_MS), CREST_OK);
        if (!fake_server_got(&server, cases[i].path))
            fail_msg("%s is not in %s", cases[i].path, server.head);
        crest_reporter_free(reporter);
    }
    /* What the group says, crest_target_info says as well. */
    check_page("version=\"9\"", 1);
    check_page("version=\"1\"", 0);
}

static void empty_things_are_left_out_of_the_target(void **state)
{
    (void)state;
    crest_reporter *reporter = make((crest_pushgateway_options){.job = "j"});
    const crest_resource nameless = {.service = "", .version = "", .instance = "i"};
    assert_int_equal(push_as(reporter, &nameless, 0, FAKE_SERVER_MS), CREST_OK);
    check_page("service=", 0);
    check_page("version=", 0);
    check_page("crest_target_info{instance=\"i\"}", 1);
    crest_reporter_free(reporter);
}

static void the_resources_labels_are_in_the_target(void **state)
{
    (void)state;
    static const crest_page_label more[] = {
        {"env", "prod"}, {"region", "a\"b"}, {"version", "9"}, {"empty", ""}, {"zone", "here"}};
    static const crest_page_label zone[] = {{"zone", "group's"}};
    const crest_resource who = {
        .service = "s", .version = "1", .instance = "i", .labels = more, .label_count = 5};
    crest_reporter *reporter = make((crest_pushgateway_options){.labels = zone, .label_count = 1});
    assert_int_equal(push_as(reporter, &who, 0, FAKE_SERVER_MS), CREST_OK);
    check_page("env=\"prod\"", 1);
    check_page("region=\"a\\\"b\"", 1);
    check_page("zone=\"group's\"", 1);
    check_page("version=\"1\"", 1);
    check_page("version=\"9\"", 0);
    check_page("empty=", 0);
    crest_reporter_free(reporter);
}

/* More than the page takes: it is still pushed. */
static void too_many_labels_of_the_resource_are_cut(void **state)
{
    (void)state;
    static crest_page_label more[100];
    static char keys[COUNT(more)][8];
    for (size_t i = 0; i < COUNT(more); i++) {
        snprintf(keys[i], sizeof keys[i], "k%zu", i);
        more[i] = (crest_page_label){keys[i], "v"};
    }
    const crest_resource who = {
        .service = "s", .version = "1", .instance = "i", .labels = more, .label_count = 100};
    crest_reporter *reporter = make((crest_pushgateway_options){.job = "j"});
    assert_int_equal(push_as(reporter, &who, 0, FAKE_SERVER_MS), CREST_OK);
    check_page("k60=\"v\"", 1);
    check_page("k61=\"v\"", 0);
    crest_reporter_free(reporter);
}

static void no_instance_means_no_push(void **state)
{
    (void)state;
    crest_reporter *reporter = make((crest_pushgateway_options){.job = "j"});
    const crest_resource nobody = {.service = "s", .version = "v", .instance = ""};
    assert_int_equal(push_as(reporter, &nobody, 0, FAKE_SERVER_MS), CREST_INVALID_LABEL);
    check_says("\"instance\" is empty");
    assert_int_equal(push_as(reporter, NULL, 0, FAKE_SERVER_MS), CREST_INVALID_LABEL);
    assert_int_equal(fake_server_connections(&server), 0);
    crest_reporter_free(reporter);
}

static void bad_options_are_refused_at_once(void **state)
{
    (void)state;
    static const crest_page_label bad_key[] = {{"a-b", "x"}}, job[] = {{"job", "x"}};
    static const struct {
        crest_pushgateway_options options;
        crest_status status;
    } cases[] = {
        {{.url = NULL}, CREST_INVALID_ARGUMENT},
        {{.url = "localhost:9091"}, CREST_INVALID_ARGUMENT},
        {{.url = "http://h", .job = ""}, CREST_INVALID_LABEL},
        {{.url = "http://h", .instance = ""}, CREST_INVALID_LABEL},
        {{.url = "http://h", .job = "\xff"}, CREST_INVALID_LABEL},
        {{.url = "http://h", .labels = bad_key, .label_count = 1}, CREST_INVALID_LABEL},
        {{.url = "http://h", .labels = job, .label_count = 1}, CREST_INVALID_LABEL},
        {{.url = "http://h", .label_count = 1}, CREST_INVALID_ARGUMENT},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        memset(&error, 0, sizeof error);
        assert_null(crest_pushgateway_new(&cases[i].options, &error));
        assert_int_equal(error.status, cases[i].status);
        assert_true(error.message[0] != '\0');
        assert_null(crest_pushgateway_new(&cases[i].options, NULL));
    }
    assert_null(crest_pushgateway_new(NULL, &error));
    assert_int_equal(error.status, CREST_INVALID_ARGUMENT);
}

static void labels_of_metrics_are_not_overwritten(void **state)
{
    (void)state;
    crest_metric_options options = {.name = "push.messages"};
    const char *const keys[] = {"kind", "zone"}, *const values[] = {"ping", "z"};
    crest_status status;
    crest_counter_family family = crest_counter_family_new(registry, &options, keys, 2, &status);
    assert_int_equal(status, CREST_OK);
    crest_counter_inc(crest_counter_family_get(&family, values, 2));
    options.name = "push.wait-time";
    crest_timer_record(crest_timer_get(registry, &options, NULL), 5, CREST_OUTCOME_OK);
    static const crest_page_label zone[] = {{"zone", "x"}}, outcome[] = {{"outcome", "x"}},
                                  other[] = {{"zones", "x"}};
    crest_reporter *reporter = make((crest_pushgateway_options){.labels = zone, .label_count = 1});
    assert_int_equal(push(reporter), CREST_INVALID_LABEL);
    check_says("push.messages has a label \"zone\"");
    crest_reporter_free(reporter);
    reporter = make((crest_pushgateway_options){.labels = outcome, .label_count = 1});
    assert_int_equal(push(reporter), CREST_INVALID_LABEL);
    check_says("push.wait-time has a label \"outcome\"");
    assert_int_equal(fake_server_connections(&server), 0);
    crest_reporter_free(reporter);
    reporter = make((crest_pushgateway_options){.labels = other, .label_count = 1});
    assert_int_equal(push(reporter), CREST_OK);
    crest_reporter_free(reporter);
}

/* A moment, of as many as nobody has to wait for a tick. */
static void await_tick(int tries)
{
    assert_true(tries < (int)(FAKE_SERVER_MS / 10));
    usleep(10000);
}

static void windows_go_with_every_push_but_the_last(void **state)
{
    (void)state;
    assert_int_equal(crest_ticker_attach(registry), CREST_OK);
    crest_metric_options done = {.name = "push.things-done"};
    crest_counter *counter = crest_counter_get(registry, &done, NULL);
    for (int tries = 0; crest_counter_rate(counter, CREST_WINDOW_S).covered_s == 0; tries++)
        await_tick(tries);
    crest_reporter *reporter = make((crest_pushgateway_options){.job = "j"});
    assert_int_equal(push_as(reporter, &resource, 0, FAKE_SERVER_MS), CREST_OK);
    check_page("\npush_things_done_rate1m ", 1);
    assert_int_equal(push_as(reporter, &resource, 1, FAKE_SERVER_MS), CREST_OK);
    check_page("1m", 0);
    check_page("\npush_things_done_total 3\n", 1);
    crest_reporter_free(reporter);
    reporter = make((crest_pushgateway_options){.no_windows = 1});
    assert_int_equal(push_as(reporter, &resource, 0, FAKE_SERVER_MS), CREST_OK);
    check_page("1m", 0);
    /* but what Prometheus cannot compute stays, until the last push */
    crest_metric_options waiting = {.name = "push.waiting"};
    crest_range_sampler *sampler = crest_range_sampler_get(registry, &waiting, NULL);
    crest_range_sampler_set(sampler, 4);
    for (int tries = 0; crest_range_sampler_window(sampler, CREST_WINDOW_S).maximum != 4; tries++)
        await_tick(tries);
    assert_int_equal(push_as(reporter, &resource, 0, FAKE_SERVER_MS), CREST_OK);
    check_page("\npush_waiting_max1m 4\n", 1);
    check_page("rate1m", 0);
    assert_int_equal(push_as(reporter, &resource, 1, FAKE_SERVER_MS), CREST_OK);
    check_page("1m", 0);
    check_page("\npush_waiting 4\n", 1);
    crest_reporter_free(reporter);
    assert_int_equal(crest_ticker_detach(registry), CREST_OK);
}

static void answers_become_statuses(void **state)
{
    (void)state;
    static const struct {
        fake_manner manner;
        const char *words;
        crest_status status;
        const char *says;
    } cases[] = {
        {FAKE_ANSWER, FAKE_OK, CREST_OK, ""},
        {FAKE_ANSWER, "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n", CREST_OK, ""},
        {FAKE_ANSWER, "HTTP/1.1 400 No\r\nContent-Length: 9\r\n\r\nbad\r\npage", CREST_REFUSED,
         "/metrics/job/rnode/instance/node-1: refused with code 400: bad page"},
        {FAKE_ANSWER, "HTTP/1.1 301 M\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n", CREST_REFUSED,
         "redirect to \"/x\""},
        {FAKE_ENDLESS, "HTTP/1.1 200 OK\r\n\r\n", CREST_IO, "a Pushgateway never does"},
        {FAKE_ENDLESS, "HTTP/1.1 502 B\r\n\r\n<p>", CREST_UNREACHABLE, "code 502: <p>xxxx"},
        {FAKE_ANSWER_CLOSE, "SSH-2.0-OpenSSH\r\n", CREST_IO, "does not speak HTTP"},
        {FAKE_ANSWER_CLOSE, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", CREST_IO, "broke"},
        {FAKE_CLOSE_AT_ONCE, "", CREST_IO, "broke"},
        {FAKE_SILENT, "", CREST_TIMED_OUT, "waiting for the answer"},
        {FAKE_ANSWER, FAKE_OK, CREST_OK, ""},
    };
    crest_reporter *reporter = make((crest_pushgateway_options){.no_windows = 1});
    for (size_t i = 0; i < COUNT(cases); i++) {
        fake_server_say(&server, cases[i].manner, cases[i].words);
        /* silence takes its time, which is long enough for the request to arrive */
        uint64_t timeout_ms = cases[i].manner == FAKE_SILENT ? 1500 : FAKE_SERVER_MS;
        crest_status status = push_as(reporter, &resource, 0, timeout_ms);
        if (status != cases[i].status)
            fail_msg("case %zu: %s: %s", i, crest_status_text(status), error.message);
        check_says(cases[i].says);
        if (status != CREST_OK)
            assert_int_equal(error.status, status);
    }
    check_page("\npush_things_done_total 3\n", 1);
    crest_reporter_free(reporter);
}

static void a_failed_push_loses_nothing(void **state)
{
    (void)state;
    crest_metric_options options = {.name = "push.things-done"};
    crest_counter *counter = crest_counter_get(registry, &options, NULL);
    crest_reporter *reporter = make((crest_pushgateway_options){.job = "j"});
    fake_server_say(&server, FAKE_CLOSE_AT_ONCE, "");
    crest_counter_add(counter, 4);
    assert_int_equal(push(reporter), CREST_IO);
    crest_counter_add(counter, 10);
    fake_server_say(&server, FAKE_ANSWER, FAKE_OK);
    assert_int_equal(push(reporter), CREST_OK);
    check_page("\npush_things_done_total 17\n", 1);
    crest_reporter_free(reporter);
}

static void the_group_is_deleted_when_asked_for(void **state)
{
    (void)state;
    crest_reporter *reporter =
        make((crest_pushgateway_options){.instance = "a b", .delete_on_stop = 1});
    /* Never pushed to: not ours to delete. */
    assert_int_equal(reporter->stop(reporter, crest_now() + FAKE_SERVER_MS * MS, &error), CREST_OK);
    assert_int_equal(fake_server_connections(&server), 0);
    assert_int_equal(push(reporter), CREST_OK);
    fake_server_say(&server, FAKE_ANSWER, "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n");
    assert_int_equal(reporter->stop(reporter, crest_now() + FAKE_SERVER_MS * MS, &error), CREST_OK);
    assert_true(
        fake_server_got(&server, "DELETE /metrics/job/rnode/instance@base64/YSBi HTTP/1.1\r\n"));
    assert_int_equal(server.body_length, 0);
    fake_server_say(&server, FAKE_ANSWER, "HTTP/1.1 405 No\r\nContent-Length: 0\r\n\r\n");
    assert_int_equal(reporter->stop(reporter, crest_now() + FAKE_SERVER_MS * MS, &error),
                     CREST_REFUSED);
    check_says("DELETE http://127.0.0.1:");
    fake_server_say(&server, FAKE_SILENT, "");
    assert_int_equal(reporter->stop(reporter, crest_now() + 200 * MS, &error), CREST_TIMED_OUT);
    crest_reporter_free(reporter);

    reporter = make((crest_pushgateway_options){.job = "j"});
    fake_server_say(&server, FAKE_ANSWER, FAKE_OK);
    assert_int_equal(push(reporter), CREST_OK);
    unsigned requests = fake_server_requests(&server);
    assert_int_equal(reporter->stop(reporter, crest_now() + FAKE_SERVER_MS * MS, &error), CREST_OK);
    assert_int_equal(fake_server_requests(&server), requests);
    crest_reporter_free(reporter);
}

/* A push that failed before anything went out does not make the group ours to delete. */
static void a_group_that_nothing_was_sent_to_is_not_deleted(void **state)
{
    (void)state;
    static const char *const keys[] = {"dc"}, *const values[] = {"v"};
    static const crest_page_label labels[] = {{"dc", "x"}};
    const crest_resource other = WHO("rnode", "1", "other");
    const crest_pushgateway_options options = {
        .labels = labels, .label_count = 1, .delete_on_stop = 1};
    crest_reporter *before = make(options), *reporter = make(options);
    assert_int_equal(push(before), CREST_OK);
    crest_status status;
    crest_counter_family family = crest_counter_family_new(
        registry, &(crest_metric_options){.name = "push.clashing"}, keys, 1, &status);
    assert_int_equal(status, CREST_OK);
    crest_counter_inc(crest_counter_family_get(&family, values, 1));
    assert_int_equal(push(reporter), CREST_INVALID_LABEL);
    assert_int_equal(reporter->stop(reporter, crest_now() + FAKE_SERVER_MS * MS, &error), CREST_OK);
    assert_int_equal(fake_server_requests(&server), 1);
    crest_reporter_free(reporter);
    /* another group than the one before is another matter, the same one is not */
    assert_int_equal(push_as(before, &other, 0, FAKE_SERVER_MS), CREST_INVALID_LABEL);
    assert_int_equal(before->stop(before, crest_now() + FAKE_SERVER_MS * MS, &error), CREST_OK);
    assert_int_equal(fake_server_requests(&server), 1);
    crest_reporter_free(before);
}

static void *push_within(crest_reporter *reporter, uint64_t timeout_ms)
{
    crest_snapshot *snapshot = crest_snapshot_take(registry);
    crest_report report = {
        .snapshot = snapshot, .resource = &resource, .deadline_ns = crest_now() + timeout_ms * MS};
    crest_error mine;
    crest_status status = reporter->report(reporter, &report, &mine);
    crest_snapshot_free(snapshot);
    return (void *)(uintptr_t)status;
}

/* Longer than what is done meanwhile is given. */
static void *push_in_thread(void *reporter)
{
    return push_within(reporter, 2 * FAKE_SERVER_MS);
}

static void two_pushes_are_never_in_flight(void **state)
{
    (void)state;
    fake_server_say(&server, FAKE_SILENT, "");
    crest_reporter *reporter = make((crest_pushgateway_options){.delete_on_stop = 1});
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, push_in_thread, reporter), 0);
    assert_true(fake_server_await(&server, 1));
    assert_int_equal(push(reporter), CREST_ALREADY);
    check_says("busy");
    assert_int_equal(reporter->stop(reporter, crest_now() + 100 * MS, &error), CREST_ALREADY);
    reporter->cancel(reporter);
    void *status;
    pthread_join(thread, &status);
    assert_int_equal((uintptr_t)status, CREST_TIMED_OUT);
    assert_int_equal(fake_server_connections(&server), 1);
    assert_int_equal(fake_server_requests(&server), 1);
    crest_reporter_free(reporter);
}

static void a_cancelled_push_ends_soon_and_the_next_goes(void **state)
{
    (void)state;
    fake_server_say(&server, FAKE_SILENT, "");
    crest_reporter *reporter = make((crest_pushgateway_options){.delete_on_stop = 1});
    pthread_t thread;
    uint64_t began_ns = crest_now();
    assert_int_equal(pthread_create(&thread, NULL, push_in_thread, reporter), 0);
    assert_true(fake_server_await(&server, 1));
    reporter->cancel(reporter);
    void *status;
    pthread_join(thread, &status);
    assert_int_equal((uintptr_t)status, CREST_TIMED_OUT);
    assert_true(crest_now() - began_ns < 2 * FAKE_SERVER_MS * MS);
    fake_server_say(&server, FAKE_ANSWER, FAKE_OK);
    assert_int_equal(push(reporter), CREST_OK);
    reporter->cancel(reporter);
    assert_int_equal(reporter->stop(reporter, crest_now() + FAKE_SERVER_MS * MS, &error), CREST_OK);
    assert_true(fake_server_got(&server, "DELETE /metrics/"));
    crest_reporter_free(reporter);
}

static void passwords_stay_out_of_messages(void **state)
{
    (void)state;
    char url[128];
    snprintf(url, sizeof url, "http://user:secret@127.0.0.1:%u/", server.port);
    crest_reporter *reporter = make((crest_pushgateway_options){.url = url, .delete_on_stop = 1});
    static const struct {
        fake_manner manner;
        const char *words;
    } cases[] = {
        {FAKE_ANSWER, "HTTP/1.1 401 No\r\nContent-Length: 0\r\n\r\n"},
        {FAKE_ANSWER, "HTTP/1.1 307 R\r\nLocation: /y\r\nContent-Length: 0\r\n\r\n"},
        {FAKE_ANSWER,
         "HTTP/1.1 400 N\r\nContent-Length: 33\r\n\r\ncollected metric \"a\" is not a GAUGE"},
        {FAKE_CLOSE_AT_ONCE, ""},
        {FAKE_SILENT, ""},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        fake_server_say(&server, cases[i].manner, cases[i].words);
        assert_int_not_equal(push_as(reporter, &resource, 0, 300), CREST_OK);
        assert_null(strstr(error.message, "secret"));
        check_says("http://***@127.0.0.1:");
    }
    assert_true(fake_server_got(&server, "\r\nAuthorization: Basic "));
    crest_reporter_free(reporter);
}

static unsigned secrets_wiped;

/* In place of the C library's. */
void explicit_bzero(void *bytes, size_t length)
{
    const char *at = bytes;
    __asm__ volatile("" : "+r"(at)); /* compilers think that it only writes */
    secrets_wiped +=
        length == sizeof(crest_http_secret) && memmem(at, length, "open sesame", 11) != NULL;
    memset(bytes, 0, length);
    __asm__ volatile("" : : "r"(bytes) : "memory");
}

/* What the C library's headers make of it in code that is built with _FORTIFY_SOURCE. */
void __explicit_bzero_chk(void *bytes, size_t length, size_t room);
void __explicit_bzero_chk(void *bytes, size_t length, size_t room)
{
    assert_true(length <= room);
    explicit_bzero(bytes, length);
}

/* What was read for a push is gone when it is over, however it ended. */
static void secrets_are_kept_for_one_push(void **state)
{
    (void)state;
    char path[] = "/tmp/crest-secret-XXXXXX";
    int file = mkstemp(path);
    assert_int_equal(write(file, "open sesame", 11), 11);
    close(file);
    crest_reporter *reporter =
        make((crest_pushgateway_options){.url = server_url, .user = "us", .password_file = path});
    unsigned before = secrets_wiped;
    assert_int_equal(push_as(reporter, &resource, 0, FAKE_SERVER_MS), CREST_OK);
    assert_true(fake_server_got(&server, "\r\nAuthorization: Basic "));
    assert_int_equal(secrets_wiped, before + 1);
    fake_server_say(&server, FAKE_ANSWER, "HTTP/1.1 401 No\r\nContent-Length: 0\r\n\r\n");
    assert_int_not_equal(push_as(reporter, &resource, 0, FAKE_SERVER_MS), CREST_OK);
    assert_int_equal(secrets_wiped, before + 2);
    crest_reporter_free(reporter);
    assert_int_equal(unlink(path), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PUSH_WITH_SERVER(a_push_is_one_put_of_the_whole_page),
        PUSH_WITH_SERVER(compression_can_be_left_out),
        PUSH_WITH_SERVER(the_group_comes_from_options_or_resource),
        PUSH_WITH_SERVER(empty_things_are_left_out_of_the_target),
        PUSH_WITH_SERVER(the_resources_labels_are_in_the_target),
        PUSH_WITH_SERVER(too_many_labels_of_the_resource_are_cut),
        PUSH_WITH_SERVER(no_instance_means_no_push),
        cmocka_unit_test(bad_options_are_refused_at_once),
        PUSH_WITH_SERVER(labels_of_metrics_are_not_overwritten),
        PUSH_WITH_SERVER(windows_go_with_every_push_but_the_last),
        PUSH_WITH_SERVER(answers_become_statuses),
        PUSH_WITH_SERVER(a_failed_push_loses_nothing),
        PUSH_WITH_SERVER(the_group_is_deleted_when_asked_for),
        PUSH_WITH_SERVER(a_group_that_nothing_was_sent_to_is_not_deleted),
        PUSH_WITH_SERVER(two_pushes_are_never_in_flight),
        PUSH_WITH_SERVER(a_cancelled_push_ends_soon_and_the_next_goes),
        PUSH_WITH_SERVER(passwords_stay_out_of_messages),
        PUSH_WITH_SERVER(secrets_are_kept_for_one_push),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
