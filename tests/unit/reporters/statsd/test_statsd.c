/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of the StatsD reporter around its encoder: addresses and options, packets, and what it
 * remembers as sent.
 */
#include "common/line_packet.h"
#include "statsd/statsd_sent.h"
#include "statsd/statsd_url.h"
#include "support/random_numbers.h"
#include "support/statsd_fixture.h"

#include <crest/run.h>
#include <stdio.h>

/* ---- addresses ---- */

static void addresses_are_taken_apart(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        crest_packet_transport transport;
        const char *host, *port, *path;
    } cases[] = {
        {"udp://127.0.0.1:8125", CREST_PACKET_UDP, "127.0.0.1", "8125", ""},
        {"udp://statsd", CREST_PACKET_UDP, "statsd", "8125", ""},
        {"tcp://statsd.example.:65535/", CREST_PACKET_TCP, "statsd.example.", "65535", ""},
        {"tcp://[::1]:9", CREST_PACKET_TCP, "::1", "9", ""},
        {"udp://[fe80::1%eth0]", CREST_PACKET_UDP, "fe80::1%eth0", "8125", ""},
        {"unix:///run/statsd.socket", CREST_PACKET_UNIX, "", "", "/run/statsd.socket"},
        {"unixgram:///a b", CREST_PACKET_UNIX, "", "", "/a b"},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        crest_packet_url url;
        crest_error error = {0};
        assert_int_equal(crest_statsd_url_parse(cases[i].text, "a test", &url, &error), CREST_OK);
        assert_int_equal(url.transport, cases[i].transport);
        assert_string_equal(url.host, cases[i].host);
        assert_string_equal(url.port, cases[i].port);
        assert_string_equal(url.path, cases[i].path);
        assert_string_equal(url.shown, cases[i].text);
    }
}

static void bad_addresses_are_explained(void **state)
{
    (void)state;
    char path[256] = "unix:///", url[2048] = "udp://";
    memset(path + 8, 'p', 200);
    memset(url + 6, 'u', 2000);
    const struct {
        const char *text, *words;
    } cases[] = {
        {"", "does not begin"},
        {"127.0.0.1:8125", "does not begin"},
        {"http://127.0.0.1:8125", "does not begin"},
        {"udp://", "no host"},
        {"udp://:8125", "no host"},
        {"udp://h:0", "the port"},
        {"udp://h:65536", "the port"},
        {"udp://h:", "the port"},
        {"udp://h:1x", "the port"},
        {"udp://h:123456", "the port"},
        {"udp://::1:8125", "in brackets"},
        {"udp://[::1:8125", "not complete"},
        {"udp://[]:8125", "not complete"},
        {"udp://[::1]8125", "only a port"},
        {"udp://[name]:1", "no IPv6"},
        {"udp://a b:1", "more than a host"},
        {"udp://user@h:1", "more than a host"},
        {"udp://h:1/path", "the port"},
        {"udp://h/path", "more than a host"},
        {"udp://h?x", "more than a host"},
        {"unix://run/x", "absolute"},
        {"unix://", "absolute"},
        {path, "107 bytes"},
        {url, "too long"},
        {"udp://\xff", "UTF-8"},
        {"udp://h\n:1", "more than a host"},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        crest_error error = {0};
        crest_statsd_options options = {.url = cases[i].text};
        assert_null(crest_statsd_new(&options, &error));
        assert_int_equal(error.status, CREST_INVALID_ARGUMENT);
        if (strstr(error.message, cases[i].words) == NULL)
            fail_msg("%s: %s", cases[i].text, error.message);
        assert_null(strchr(error.message, '\n'));
        assert_null(crest_statsd_new(&options, NULL));
    }
}

static void refused(const char *options, const char *words)
{
    crest_error error = {0};
    assert_int_not_equal(crest_start(options, &error), CREST_OK);
    if (strstr(error.message, words) == NULL)
        fail_msg("%s: %s", options, error.message);
}

static void bad_options_are_explained(void **state)
{
    (void)state;
    refused("statsd=udp://h,statsd.dialect=graphite", "etsy or datadog");
    refused("statsd=udp://h,statsd.dialect=0", "etsy or datadog");
    refused("statsd=udp://h,statsd.packet=big", "internet, ethernet");
    refused("statsd=udp://h,statsd.packet=63", "from 64 to 65507");
    refused("statsd=udp://h,statsd.packet=65508", "from 64 to 65507");
    refused("statsd=udp://h,statsd.packet=0", "internet, ethernet");
    refused("statsd=udp://h,statsd.packet=-1", "internet, ethernet");
    refused("statsd=udp://h,statsd.rate=fast", "packets a second");
    refused("statsd=udp://h,statsd.samples=many", "a number");
    refused("statsd=udp://h,statsd.type=x", "distributions");
    refused("statsd=udp://h,statsd.rates=perhaps", "statsd.rates");
    refused("statsd=udp://h,statsd.packing=perhaps", "statsd.packing");
    refused("statsd=udp://h,statsd.whole-seconds=2.5", "statsd.whole-seconds");
    refused("statsd=udp://h,statsd.prefix=a b", "prefix has at most");
    refused("statsd=udp://h,statsd.prefix=a:b", "prefix has at most");
    refused("statsd=udp://h,statsd.prefx=a", "statsd.prefix");
    refused("statsd=h", "does not begin");
    crest_error error = {0};
    crest_statsd_options wrong = {.dialect = (crest_statsd_dialect)7};
    assert_null(crest_statsd_new(&wrong, &error));
    assert_non_null(strstr(error.message, "dialect"));
    crest_statsd_options many = {.samples = CREST_STATSD_SAMPLES_MAX + 1};
    assert_null(crest_statsd_new(&many, &error));
    crest_reporter *defaults = crest_statsd_new(NULL, &error);
    assert_non_null(defaults);
    crest_reporter_free(defaults);
}

static void shown_default(int datadog, const char *wanted)
{
    crest_packet_url url;
    crest_error error = {0};
    assert_int_equal(crest_statsd_url_default(datadog, &url, &error), CREST_OK);
    assert_string_equal(url.shown, wanted);
}

static void only_datadog_looks_at_the_environment(void **state)
{
    (void)state;
    crest_packet_url url;
    crest_error error = {0};
    shown_default(1, "udp://127.0.0.1:8125");
    setenv("DD_DOGSTATSD_PORT", "99", 1);
    shown_default(1, "udp://127.0.0.1:99");
    shown_default(0, "udp://127.0.0.1:8125");
    setenv("DD_AGENT_HOST", "agent", 1);
    shown_default(1, "udp://agent:99");
    setenv("DD_AGENT_HOST", "fd00::1", 1);
    shown_default(1, "udp://[fd00::1]:99");
    setenv("DD_AGENT_HOST", "unix:///s", 1);
    shown_default(1, "unix:///s");
    setenv("DD_DOGSTATSD_URL", "unix:///var/run/datadog/dsd.socket", 1);
    shown_default(1, "unix:///var/run/datadog/dsd.socket");
    shown_default(0, "udp://127.0.0.1:8125");
    unsetenv("DD_DOGSTATSD_URL");
    setenv("DD_AGENT_HOST", "a b", 1);
    assert_int_equal(crest_statsd_url_default(1, &url, &error), CREST_INVALID_ARGUMENT);
    assert_non_null(strstr(error.message, "DD_AGENT_HOST"));
    setenv("DD_AGENT_HOST", "agent", 1);
    setenv("DD_DOGSTATSD_PORT", "x", 1);
    assert_int_equal(crest_statsd_url_default(1, &url, &error), CREST_INVALID_ARGUMENT);
    assert_non_null(strstr(error.message, "DD_DOGSTATSD_PORT"));
    unsetenv("DD_AGENT_HOST");
    unsetenv("DD_DOGSTATSD_PORT");
}

/* ---- packets ---- */

static void packets_hold_whole_lines(void **state)
{
    (void)state;
    char bytes[200], line[200];
    memset(line, 'x', sizeof line);
    uint64_t random = 7;
    for (unsigned round = 0; round < 400; round++) {
        size_t size = 10 + round % 190, in = 0, out = 0;
        crest_line_packet packet = {.bytes = bytes, .size = size, .terminated = round & 1};
        for (unsigned i = 0; i < 50; i++) {
            size_t length = 1 + random_next(&random) % 40;
            int holds = length + (size_t)packet.terminated <= size;
            assert_int_equal(crest_line_packet_holds(&packet, length), holds);
            if (!holds)
                continue;
            if (!crest_line_packet_fits(&packet, length)) {
                out += packet.used;
                packet.used = 0;
            }
            int begins = packet.used == 0;
            crest_line_packet_add(&packet, line, length);
            assert_true(packet.used <= size);
            in += length + (packet.terminated || !begins ? 1 : 0);
        }
        assert_int_equal(in, out + packet.used);
    }
}

/* ---- what was sent ---- */

static void lives_are_told_apart(void **state)
{
    (void)state;
    crest_statsd_sent sent = {.entries = NULL};
    crest_series_view one = {.life = 256}, other = {.life = 257};
    assert_int_equal(crest_statsd_sent_begin(&sent, 2), CREST_OK);
    crest_statsd_entry *entry = crest_statsd_sent_entry(&sent, &one);
    assert_ptr_equal(crest_statsd_sent_entry(&sent, &one), entry);
    assert_ptr_not_equal(crest_statsd_sent_entry(&sent, &other), entry);
    assert_int_equal(crest_statsd_sent_mark(&sent, 10, entry, 3), CREST_OK);
    assert_int_equal(crest_statsd_sent_mark(&sent, 20, entry, 5), CREST_OK);
    crest_statsd_sent_confirm(&sent, 9);
    assert_int_equal(entry->done, 0);
    crest_statsd_sent_confirm(&sent, 19);
    assert_int_equal(entry->done, 3);
    crest_statsd_sent_confirm(&sent, 20);
    assert_int_equal(entry->done, 5);
    crest_statsd_sent_fini(&sent);
}

static void absent_series_are_forgotten_at_last(void **state)
{
    (void)state;
    crest_statsd_sent sent = {.entries = NULL};
    crest_series_view series = {.life = 0};
    for (unsigned report = 0; report < 20; report++) {
        assert_int_equal(crest_statsd_sent_begin(&sent, 5000), CREST_OK);
        for (unsigned i = 0; i < 5000; i++) {
            series.life = (uint64_t)(report * 5000 + i + 1) << 8;
            crest_statsd_sent_entry(&sent, &series)->counter = report;
        }
        assert_true(sent.count <= CREST_STATSD_ABSENT_MAX + 10001);
    }
    /* the youngest are still there */
    series.life = (uint64_t)(19 * 5000 + 1) << 8;
    assert_int_equal(crest_statsd_sent_entry(&sent, &series)->counter, 19);
    series.life = (uint64_t)(18 * 5000 + 1) << 8;
    assert_int_equal(crest_statsd_sent_entry(&sent, &series)->counter, 18);
    crest_statsd_sent_fini(&sent);
}

/* A series that is hidden for a while is remembered, also while the table grows. */
static void who_was_away_is_remembered(void **state)
{
    (void)state;
    crest_statsd_sent sent = {.entries = NULL};
    crest_series_view hidden = {.life = 256};
    assert_int_equal(crest_statsd_sent_begin(&sent, 1), CREST_OK);
    crest_statsd_sent_entry(&sent, &hidden)->counter = 7;
    assert_int_equal(crest_statsd_sent_begin(&sent, 1), CREST_OK);
    assert_int_equal(crest_statsd_sent_begin(&sent, 10000), CREST_OK);
    assert_int_equal(crest_statsd_sent_entry(&sent, &hidden)->counter, 7);
    crest_statsd_sent_fini(&sent);
}

static void marks_have_a_limit(void **state)
{
    (void)state;
    crest_statsd_sent sent = {.entries = NULL};
    crest_series_view one = {.life = 256};
    assert_int_equal(crest_statsd_sent_begin(&sent, 1), CREST_OK);
    crest_statsd_entry *entry = crest_statsd_sent_entry(&sent, &one);
    uint64_t end = 0;
    while (crest_statsd_sent_mark(&sent, end + 1, entry, end + 1) == CREST_OK)
        end++;
    assert_int_equal(end, CREST_STATSD_MARKS_MAX);
    crest_statsd_sent_confirm(&sent, end / 2 + 1);
    assert_int_equal(crest_statsd_sent_mark(&sent, end + 1, entry, end + 1), CREST_OK);
    crest_statsd_sent_confirm(&sent, end + 1);
    assert_int_equal(entry->done, end + 1);
    crest_statsd_sent_fini(&sent);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_are_taken_apart),
        cmocka_unit_test(bad_addresses_are_explained),
        cmocka_unit_test(bad_options_are_explained),
        cmocka_unit_test(only_datadog_looks_at_the_environment),
        cmocka_unit_test(packets_hold_whole_lines),
        cmocka_unit_test(lives_are_told_apart),
        cmocka_unit_test(absent_series_are_forgotten_at_last),
        cmocka_unit_test(who_was_away_is_remembered),
        cmocka_unit_test(marks_have_a_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
