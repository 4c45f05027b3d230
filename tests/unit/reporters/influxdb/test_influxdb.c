/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The InfluxDB reporter: its options, what it makes of a server's answers, and what it sends again
 * after each: over HTTP to a server in this test, over UDP to a socket.
 */
#include "support/push_fixture.h"

#include "influxdb/influx_answer.h"
#include "influxdb/influx_url.h"

#include <crest/influxdb.h>
#include <sys/time.h>

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])
#define WRITTEN "HTTP/1.1 204 No Content\r\n\r\n"

static crest_reporter *influxdb_create(const char *url, const char *text)
{
    crest_options *options = crest_options_new();
    size_t keys = 0;
    memset(&error, 0, sizeof error);
    while (crest_influxdb_kind.keys[keys] != NULL)
        keys++;
    if (crest_options_add(options, text, "in the test", &error) != CREST_OK ||
        crest_options_check_keys(options, crest_influxdb_kind.keys, keys, &error) != CREST_OK)
        fail_msg("%s", error.message);
    crest_reporter *reporter = crest_influxdb_kind.create(url, options, &resource, &error);
    crest_options_free(options);
    return reporter;
}

/* One to the fake server, of the database db. */
static crest_reporter *to_server(const char *text)
{
    char url[128];
    snprintf(url, sizeof url, "%s/db", server_url);
    crest_reporter *reporter = influxdb_create(url, text);
    if (reporter == NULL)
        fail_msg("%s", error.message);
    return reporter;
}

static void say(unsigned code, const char *body)
{
    char words[2048];
    snprintf(words, sizeof words, "HTTP/1.1 %u Said\r\nContent-Length: %zu\r\n\r\n%s", code,
             strlen(body), body);
    fake_server_say(&server, FAKE_ANSWER, code == 204 ? WRITTEN : words);
}

/* ---- pure parts ---- */

static void test_addresses(void **state)
{
    (void)state;
    const struct {
        crest_influxdb_options options;
        const char *write, *shown;
    } cases[] = {
        {{.url = "http://h:8086/rnode"}, "http://h:8086/write?db=rnode&precision=ms", NULL},
        {{.url = "http://u:p@h/a/b%20c/", .precision = CREST_INFLUXDB_PRECISION_S},
         "http://u:p@h/a/write?db=b%20c&precision=s",
         "http://***@h/a/write?db=b%20c&precision=s"},
        {{.url = "https://[::1]:8086/a/",
          .database = "x&y",
          .retention = "a week",
          .precision = CREST_INFLUXDB_PRECISION_US},
         "https://[::1]:8086/a/write?db=x%26y&precision=u&rp=a%20week",
         NULL},
        {{.url = "http://h/x%2", .precision = CREST_INFLUXDB_PRECISION_NS},
         "http://h/write?db=x%252&precision=ns",
         NULL}};
    for (size_t i = 0; i < LENGTH(cases); i++) {
        crest_influx_url made;
        assert_int_equal(crest_influx_url_make(&cases[i].options, &made, &error), CREST_OK);
        assert_string_equal(made.write, cases[i].write);
        assert_string_equal(made.shown, cases[i].shown ? cases[i].shown : cases[i].write);
    }
    const crest_influxdb_options none = {.url = "http://u:secret@h:8086/"};
    crest_influx_url made;
    assert_int_equal(crest_influx_url_make(&none, &made, &error), CREST_INVALID_ARGUMENT);
    check_says("names no database");
    assert_null(strstr(error.message, "secret"));
}

static void test_answers(void **state)
{
    (void)state;
    const struct {
        unsigned code;
        const char *words;
        crest_status status;
        unsigned dropped;
        const char *says;
    } cases[] = {
        {204, "", CREST_OK, 0, NULL},
        {200, "", CREST_OK, 0, NULL},
        {200, "<html>It works</html>", CREST_REFUSED, 0, "It works"},
        {400,
         "{\"error\":\"partial write: field type conflict: input field \\\"value\\\" on "
         "measurement \\\"x\\\" is type float, already exists as type integer dropped=3\"}\n",
         CREST_OK, 3, NULL},
        {400, "{\"error\":\"partial write: unable to parse 'x'\"}", CREST_OK, 1, NULL},
        {400, "partial write dropped=99999999999999999999", CREST_OK, 4000000000, NULL},
        {400, "{\"error\":\"unable to parse 'x': missing fields\"}\n", CREST_REFUSED, 0,
         "refused with code 400: unable to parse 'x': missing fields. The next report tries again"},
        {400, "{\"error\":\"", CREST_REFUSED, 0, "(it says nothing)"},
        {401, "", CREST_REFUSED, 0, "influxdb.password-file"},
        {404, "{\"error\":\"database not found: \\\"db\\\"\"}", CREST_REFUSED, 0,
         "CREATE DATABASE \"db\""},
        {404, "404 page not found", CREST_REFUSED, 0, "is there an InfluxDB"},
        {413, "{\"error\":\"Request Entity Too Large\"}", CREST_REFUSED, 0, "max-body-size"},
        {429, "", CREST_UNREACHABLE, 0, "(it says nothing)"},
        {500, "{\"error\":\"timeout\"}", CREST_UNREACHABLE, 0, "failed with code 500: timeout."},
        {301, "", CREST_REFUSED, 0, "redirect to \"(it does not say where)\""},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        crest_http_answer answer = {.code = cases[i].code, .length = strlen(cases[i].words)};
        crest_influx_answer meant;
        memcpy(answer.words, cases[i].words, answer.length);
        memset(&error, 0, sizeof error);
        assert_int_equal(crest_influx_answer_check(&answer, "http://h", "db", &meant, &error),
                         cases[i].status);
        assert_int_equal(meant.partial, cases[i].dropped != 0);
        if (cases[i].dropped == 4000000000)
            assert_true(meant.dropped >= cases[i].dropped);
        else
            assert_int_equal(meant.dropped, cases[i].dropped);
        if (cases[i].says != NULL && strcasestr(error.message, cases[i].says) == NULL)
            fail_msg("\"%s\" is not in: %s", cases[i].says, error.message);
    }
}

static void test_refused_options(void **state)
{
    (void)state;
    const struct {
        const char *url, *text, *says;
    } cases[] = {
        {"", "", "No URL"},
        {"http://h:8086", "", "names no database"},
        {"ftp://h/db", "", "http:// or https://"},
        {"udp://", "", "no host"},
        {"udp://h:99999", "", "the port"},
        {"udp://h", "influxdb.database=db", "server's own configuration"},
        {"udp://h", "influxdb.proxy=http://p:1", "HTTP's"},
        {"udp://h", "influxdb.packet=100", "from 512 to 65507"},
        {"udp://h", "influxdb.packet=many", "a number of bytes"},
        {"udp://h", "influxdb.rate=0", "at least 1"},
        {"http://h/db", "influxdb.fields=telegraf", "crest or kamon"},
        {"http://h/db", "influxdb.precision=m", "ns, u, ms or s"},
        {"http://h/db", "influxdb.precision=", "ns, u, ms or s"},
        {"http://h/db", "influxdb.percentiles=50:101", "above 0 and at most 100"},
        {"http://h/db", "influxdb.percentiles=", "above 0"},
        {"http://h/db", "influxdb.percentiles=1:2:3:4:5:6:7:8:9:1:2:3:4:5:6:7:8", "at most 16"},
        {"http://h/db", "influxdb.percentiles=5e1", "50:99:99.9"},
        {"http://h/db", "influxdb.windows=perhaps", "influxdb.windows"},
        {"http://h/db", "influxdb.user=u", "influxdb.password-file"},
        {"http://h/db", "influxdb.ca-file=/nowhere", "/nowhere"},
        {"http://h/db", "influxdb.retention=", "influxdb.retention"},
        {"http://u:secret@h/db", "influxdb.proxy=socks://p", "influxdb.proxy"},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        if (influxdb_create(cases[i].url, cases[i].text) != NULL)
            fail_msg("%s is taken", cases[i].text);
        check_says(cases[i].says);
        assert_null(strstr(error.message, "secret"));
    }
    const double percentiles[] = {50, 0};
    crest_influxdb_options options = {
        .url = "udp://h", .percentiles = percentiles, .percentile_count = 2};
    assert_null(crest_influxdb_new(&options, &error));
    options.percentile_count = 17;
    assert_null(crest_influxdb_new(&options, &error));
    assert_int_equal(error.status, CREST_LIMIT);
    assert_null(crest_influxdb_new(NULL, NULL));
}

/* ---- HTTP ---- */

static crest_status report_after(crest_reporter *reporter, const crest_snapshot *previous)
{
    crest_snapshot *snapshot = crest_snapshot_take(registry);
    const crest_report report = {.snapshot = snapshot,
                                 .resource = &resource,
                                 .previous = previous,
                                 .deadline_ns = crest_now() + FAKE_SERVER_MS * PUSH_MS};
    memset(&error, 0, sizeof error);
    crest_status status = reporter->report(reporter, &report, &error);
    crest_snapshot_free(snapshot);
    return status;
}

static void test_a_report_is_a_post(void **state)
{
    (void)state;
    crest_reporter *reporter = to_server("influxdb.retention=week");
    fake_server_say(&server, FAKE_ANSWER, WRITTEN);
    assert_int_equal(report_after(reporter, NULL), CREST_OK);
    assert_true(fake_server_got(&server, "POST /write?db=db&precision=ms&rp=week HTTP/1.1\r\n"));
    assert_true(fake_server_got(&server, "\r\nContent-Encoding: gzip\r\n"));
    assert_true(fake_server_got(&server, "\r\nContent-Type: text/plain"));
    check_page("push.things-done,instance=node-1,service=rnode count=3i 1", 1);
    crest_reporter_free(reporter);
    reporter = to_server("influxdb.gzip=off,influxdb.fields=kamon");
    assert_int_equal(report_after(reporter, NULL), CREST_OK);
    assert_false(fake_server_got(&server, "gzip"));
    check_page("push.things-done,instance=node-1,service=rnode count=3i 1", 1);
    crest_reporter_free(reporter);
}

static void test_what_fails(void **state)
{
    (void)state;
    crest_reporter *reporter = to_server("");
    say(404, "{\"error\":\"database not found: \\\"db\\\"\"}");
    assert_int_equal(report_after(reporter, NULL), CREST_REFUSED);
    check_says("CREATE DATABASE");
    say(503, "busy");
    assert_int_equal(report_after(reporter, NULL), CREST_UNREACHABLE);
    say(400, "{\"error\":\"partial write: x dropped=1\"}");
    assert_int_equal(report_after(reporter, NULL), CREST_OK);
    fake_server_say(&server, FAKE_ANSWER_CLOSE, "HTTP/1.1 204 No");
    assert_int_equal(report_after(reporter, NULL), CREST_IO);
    say(204, "");
    assert_int_equal(report_after(reporter, NULL), CREST_OK);
    crest_reporter_free(reporter);
}

static uint64_t stamp_of(const char *name)
{
    char *page = pushed_page(), *at = strstr(page, name);
    assert_non_null(at);
    at = strchr(at, '\n');
    *at = '\0';
    uint64_t stamp = strtoull(strrchr(page, ' ') + 1, NULL, 10);
    free(page);
    return stamp;
}

/* With Kamon's fields, what failed comes again under the timestamp that failed, grown by what was
 * recorded since; levels are of now. */
static void test_kamon_counts_once(void **state)
{
    (void)state;
    const crest_metric_options gauge = {.name = "level", .description = "Level."},
                               counter = {.name = "push.things-done", .description = "Done."};
    crest_gauge_set(crest_gauge_get(registry, &gauge, NULL), 1.5);
    crest_reporter *reporter = to_server("influxdb.fields=kamon");
    say(204, "");
    assert_int_equal(report_after(reporter, NULL), CREST_OK);
    uint64_t first = stamp_of("push.things-done");
    crest_snapshot *delivered = crest_snapshot_take(registry);
    crest_counter *things = crest_counter_get(registry, &counter, NULL);
    crest_counter_add(things, 4);
    say(500, "stored, but says it has failed");
    assert_int_equal(report_after(reporter, delivered), CREST_UNREACHABLE);
    check_page("count=4i ", 1);
    uint64_t failed = stamp_of("push.things-done");
    assert_true(failed > first);
    crest_counter_add(things, 5);
    for (int again = 0; again < 2; again++) {
        say(again ? 204 : 500, "");
        assert_int_equal(report_after(reporter, delivered), again ? CREST_OK : CREST_UNREACHABLE);
        check_page("count=9i ", 1);
        assert_int_equal(stamp_of("push.things-done"), failed);
        assert_true(stamp_of("level") > failed);
    }
    assert_int_equal(report_after(reporter, delivered), CREST_OK);
    assert_true(stamp_of("push.things-done") > failed);
    crest_snapshot_free(delivered);
    crest_reporter_free(reporter);
}

/* With Crest's own fields every report has a time of its own, though the clock has not moved. */
static void test_timestamps_do_not_repeat(void **state)
{
    (void)state;
    crest_reporter *reporter = to_server("influxdb.precision=s");
    uint64_t last = 0;
    say(204, "");
    for (int i = 0; i < 5; i++) {
        assert_int_equal(report_after(reporter, NULL), CREST_OK);
        uint64_t stamp = stamp_of("push.things-done");
        assert_true(stamp > last);
        last = stamp;
    }
    crest_reporter_free(reporter);
}

static void test_large_reports_are_several_bodies(void **state)
{
    (void)state;
    const char *const keys[] = {"text", "more", "most", "number"};
    const crest_metric_options options = {.name = "many", .description = "Many."};
    crest_counter_family many = crest_counter_family_new(registry, &options, keys, 4, NULL);
    static char text[900];
    memset(text, 'x', sizeof text - 1);
    for (unsigned i = 0; i < 1900; i++) {
        char number[16];
        snprintf(number, sizeof number, "%u", i);
        const char *const values[] = {text, text, text, number};
        crest_counter_inc(crest_counter_family_get(&many, values, 4));
    }
    crest_reporter *reporter = to_server("");
    say(204, "");
    assert_int_equal(report_after(reporter, NULL), CREST_OK);
    assert_int_equal(fake_server_requests(&server), 2);
    say(400, "{\"error\":\"partial write: x dropped=2\"}");
    assert_int_equal(report_after(reporter, NULL), CREST_OK);
    assert_int_equal(fake_server_requests(&server), 4);
    say(500, "");
    assert_int_equal(report_after(reporter, NULL), CREST_UNREACHABLE);
    assert_int_equal(fake_server_requests(&server), 5);
    crest_reporter_free(reporter);
}

/* ---- UDP ---- */

static void test_packets(void **state)
{
    (void)state;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    assert_int_equal(bind(fd, (const struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &size), 0);
    const char *const keys[] = {"text"};
    const crest_metric_options options = {.name = "many", .description = "Many."};
    crest_counter_family many = crest_counter_family_new(registry, &options, keys, 1, NULL);
    char text[900] = "", url[64];
    memset(text, 'x', sizeof text - 1);
    const char *const values[] = {text}, *const shorter[] = {text + 700};
    crest_counter_inc(crest_counter_family_get(&many, values, 1));
    crest_counter_inc(crest_counter_family_get(&many, shorter, 1));
    snprintf(url, sizeof url, "udp://127.0.0.1:%u", ntohs(address.sin_port));
    crest_reporter *reporter = influxdb_create(url, "influxdb.packet=512");
    assert_non_null(reporter);
    assert_int_equal(report_after(reporter, NULL), CREST_OK);
    char packet[2048];
    unsigned lines = 0;
    ssize_t got;
    while ((got = recv(fd, packet, sizeof packet - 1, MSG_DONTWAIT)) > 0) {
        assert_in_range(got, 1, 512);
        packet[got] = '\0';
        char *stamp = strrchr(packet, ' ');
        assert_non_null(stamp);
        assert_int_equal(strspn(stamp + 1, "0123456789"), 19); /* nanoseconds */
        for (const char *at = packet; at != NULL && *at != '\0'; at = strchr(at + 1, '\n'))
            lines++;
    }
    /* without the line that fits into no packet */
    assert_int_equal(lines, 2);
    close(fd);
    assert_int_equal(report_after(reporter, NULL), CREST_UNREACHABLE);
    check_says("is it running?");
    crest_reporter_free(reporter);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_addresses),
        cmocka_unit_test(test_answers),
        cmocka_unit_test(test_refused_options),
        PUSH_WITH_SERVER(test_a_report_is_a_post),
        PUSH_WITH_SERVER(test_what_fails),
        PUSH_WITH_SERVER(test_kamon_counts_once),
        PUSH_WITH_SERVER(test_timestamps_do_not_repeat),
        PUSH_WITH_SERVER(test_large_reports_are_several_bodies),
        PUSH_WITH_SERVER(test_packets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
