/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The StatsD reporter around its encoder: addresses and options, packets, what it remembers as
 * sent, and connections that break in the middle of a report.
 */
#define _GNU_SOURCE
#include "statsd_fixture.h"
#include "statsd_packet.h"
#include "statsd_sent.h"
#include "statsd_url.h"

#include <crest/crest.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define NS_PER_MS UINT64_C(1000000)

/* ---- addresses ---- */

static void addresses_are_taken_apart(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        crest_statsd_transport transport;
        const char *host, *port, *path;
    } cases[] = {
        {"udp://127.0.0.1:8125", CREST_STATSD_UDP, "127.0.0.1", "8125", ""},
        {"udp://statsd", CREST_STATSD_UDP, "statsd", "8125", ""},
        {"tcp://statsd.example.:65535/", CREST_STATSD_TCP, "statsd.example.", "65535", ""},
        {"tcp://[::1]:9", CREST_STATSD_TCP, "::1", "9", ""},
        {"udp://[fe80::1%eth0]", CREST_STATSD_UDP, "fe80::1%eth0", "8125", ""},
        {"unix:///run/statsd.socket", CREST_STATSD_UNIX, "", "", "/run/statsd.socket"},
        {"unixgram:///a b", CREST_STATSD_UNIX, "", "", "/a b"},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        crest_statsd_url url;
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
    crest_statsd_url url;
    crest_error error = {0};
    assert_int_equal(crest_statsd_url_default(datadog, &url, &error), CREST_OK);
    assert_string_equal(url.shown, wanted);
}

static void only_datadog_looks_at_the_environment(void **state)
{
    (void)state;
    crest_statsd_url url;
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
    uint32_t random = 7;
    for (unsigned round = 0; round < 400; round++) {
        size_t size = 10 + round % 190, in = 0, out = 0;
        crest_statsd_packet packet = {.bytes = bytes, .size = size, .terminated = round & 1};
        for (unsigned i = 0; i < 50; i++) {
            random = random * 1664525u + 1013904223u;
            size_t length = 1 + (random >> 16) % 40;
            int holds = length + (size_t)packet.terminated <= size;
            assert_int_equal(crest_statsd_packet_holds(&packet, length), holds);
            if (!holds)
                continue;
            if (!crest_statsd_packet_fits(&packet, length)) {
                out += packet.used;
                packet.used = 0;
            }
            int begins = packet.used == 0;
            crest_statsd_packet_add(&packet, line, length);
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

/* ---- connections ---- */

typedef struct counted {
    crest_registry *registry;
    crest_counter *counters[200];
    crest_reporter *reporter;
} counted;

/* `length` is about how long a line is. */
static void counted_new(counted *all, const char *url, size_t length)
{
    crest_statsd_options options = {.url = url, .packet_bytes = 128 + (unsigned)length};
    crest_error error = {0};
    all->registry = crest_registry_new(NULL);
    all->reporter = crest_statsd_new(&options, &error);
    assert_non_null(all->reporter);
    for (unsigned i = 0; i < LENGTH(all->counters); i++) {
        char name[256];
        snprintf(name, sizeof name, "c.n%u.%0*d", i, (int)length, 0);
        crest_metric_options metric = {.name = name};
        all->counters[i] = crest_counter_get(all->registry, &metric, NULL);
    }
}

static void counted_free(counted *all)
{
    crest_reporter_free(all->reporter);
    crest_registry_free(all->registry);
}

static void counted_add(counted *all)
{
    for (unsigned i = 0; i < LENGTH(all->counters); i++)
        crest_counter_add(all->counters[i], i + 1);
}

static crest_status counted_report(counted *all, uint64_t deadline_ms, crest_error *error)
{
    crest_resource resource = {.service = "", .version = "", .instance = ""};
    crest_snapshot *snapshot = crest_snapshot_take(all->registry);
    crest_report report = {.snapshot = snapshot,
                           .resource = &resource,
                           .deadline_ns = crest_now() + deadline_ms * NS_PER_MS};
    crest_status status = all->reporter->report(all->reporter, &report, error);
    crest_snapshot_free(snapshot);
    return status;
}

/* Adds up the lines of our counters; an unfinished one at the end counts only if it is `whole`. */
static void add_up(const char *text, size_t length, uint64_t totals[200], int whole)
{
    while (length > 0) {
        const char *feed = memchr(text, '\n', length);
        size_t line = feed != NULL ? (size_t)(feed - text) : length;
        char copy[256];
        unsigned index;
        unsigned long long value;
        assert_true(line < sizeof copy);
        memcpy(copy, text, line);
        copy[line] = '\0';
        if ((feed != NULL || whole) && sscanf(copy, "c.n%u.%*[0]:%llu|c", &index, &value) == 2)
            totals[index] += value;
        text += line + (feed != NULL);
        length -= line + (feed != NULL);
    }
}

static int listen_at(int type, char url[64])
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int fd = socket(AF_INET, type, 0), small = 4096;
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    if (type == SOCK_STREAM)
        assert_int_equal(listen(fd, 8), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &size), 0);
    snprintf(url, 64, "%s://127.0.0.1:%u", type == SOCK_STREAM ? "tcp" : "udp",
             ntohs(address.sin_port));
    return fd;
}

typedef struct drain {
    int listener;
    size_t before_rest; /* bytes that are read before it rests */
    int breaks;         /* the connection is then closed, and another one served */
    uint64_t totals[200];
} drain;

/* A server that reads so many bytes, rests for longer than a report's deadline, and goes on, or
 * breaks the connection. */
static void *drain_run(void *context)
{
    drain *server = context;
    for (int connection = 0; connection <= server->breaks; connection++) {
        char *text = malloc(1u << 20);
        size_t length = 0;
        int fd = accept(server->listener, NULL, NULL), rested = connection;
        assert_true(fd >= 0);
        for (;;) {
            if (!rested && length == server->before_rest) {
                usleep(500000);
                rested = 1;
                if (server->breaks)
                    break;
            }
            size_t most = rested ? 4096 : server->before_rest - length;
            ssize_t got = recv(fd, text + length, most < 4096 ? most : 4096, 0);
            if (got <= 0)
                break;
            length += (size_t)got;
        }
        add_up(text, length, server->totals, 0);
        free(text);
        close(fd);
    }
    return NULL;
}

/* The last report is far larger than what the server's socket takes while it rests. */
static void drain_reports(drain *server, counted *all)
{
    char url[64];
    pthread_t thread;
    crest_error error = {0};
    server->listener = listen_at(SOCK_STREAM, url);
    counted_new(all, url, 180);
    counted_add(all);
    assert_int_equal(pthread_create(&thread, NULL, drain_run, server), 0);
    assert_int_equal(counted_report(all, 100, &error), CREST_TIMED_OUT);
    counted_add(all);
    assert_int_equal(counted_report(all, 100, &error), CREST_TIMED_OUT);
    counted_add(all);
    crest_status status = counted_report(all, 5000, &error);
    if (server->breaks && status != CREST_OK) {
        assert_true(status == CREST_IO || status == CREST_UNREACHABLE);
        status = counted_report(all, 5000, &error);
    }
    assert_int_equal(status, CREST_OK);
    crest_reporter_free(all->reporter);
    all->reporter = NULL;
    pthread_join(thread, NULL);
    close(server->listener);
}

/* A connection that is late is gone on with, wherever it was: a line cut in two is put together. */
static void a_stream_may_be_late_anywhere(void **state)
{
    (void)state;
    static const size_t stops[] = {0, 1, 185, 186, 500, 5000, 12345, 20000};
    for (unsigned i = 0; i < LENGTH(stops); i++) {
        drain server = {.before_rest = stops[i]};
        counted all;
        drain_reports(&server, &all);
        for (unsigned n = 0; n < LENGTH(all.counters); n++)
            assert_int_equal(server.totals[n], crest_counter_value(all.counters[n]));
        counted_free(&all);
    }
}

/* What the server's host had acknowledged and the server not read is lost with it, as statsd.h
 * says; nothing is counted twice, and what was recorded later arrives. */
static void a_stream_may_break(void **state)
{
    (void)state;
    for (size_t stop = 0; stop <= 9000; stop += 3000) {
        drain server = {.before_rest = stop, .breaks = 1};
        counted all;
        drain_reports(&server, &all);
        for (unsigned n = 0; n < LENGTH(all.counters); n++) {
            assert_in_range(server.totals[n], 2 * (n + 1), 3 * (n + 1));
            assert_int_equal(server.totals[n] % (n + 1), 0);
        }
        counted_free(&all);
    }
}

static int datagram_socket(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strncpy(address.sun_path, path, sizeof address.sun_path - 1);
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    return fd;
}

static unsigned datagrams_read(int fd, unsigned most, uint64_t totals[200])
{
    unsigned count = 0;
    char bytes[4096];
    ssize_t got;
    while (count < most && (got = recv(fd, bytes, sizeof bytes, 0)) > 0) {
        add_up(bytes, (size_t)got, totals, 1);
        count++;
    }
    return count;
}

/* A report meets a full socket after the packets that its queue still takes. For every number of
 * packets that it takes, the reports after it make good exactly what is missing. */
static void a_full_socket_loses_nothing(void **state)
{
    (void)state;
    char path[64], url[80];
    snprintf(path, sizeof path, "/tmp/crest-statsd-%d", (int)getpid());
    snprintf(url, sizeof url, "unix://%s", path);
    unlink(path);
    int fd = datagram_socket(path);
    counted all;
    uint64_t totals[200] = {0};
    unsigned failures = 0;
    crest_error error = {0};
    counted_new(&all, url, 2);
    for (unsigned k = 0; k < 24; k++) {
        counted_add(&all);
        for (unsigned tries = 0; counted_report(&all, 15, &error) != CREST_OK; tries++) {
            assert_int_equal(error.status, CREST_TIMED_OUT);
            assert_non_null(strstr(error.message, path));
            failures++;
            assert_true(tries < 100);
            /* room for so many, and none of the packets is where another report ended before */
            datagrams_read(fd, 1 + (k + tries) % 9, totals);
        }
        while (datagrams_read(fd, 1000, totals) > 0)
            continue;
        for (unsigned n = 0; n < LENGTH(all.counters); n++)
            assert_int_equal(totals[n], crest_counter_value(all.counters[n]));
    }
    assert_true(failures >= 24);
    close(fd);
    unlink(path);
    counted_add(&all);
    assert_int_equal(counted_report(&all, 100, &error), CREST_UNREACHABLE);
    counted_free(&all);
}

static void *cancel_soon(void *context)
{
    crest_reporter *reporter = context;
    usleep(50000);
    reporter->cancel(reporter);
    return NULL;
}

static void a_report_can_be_cancelled(void **state)
{
    (void)state;
    char path[64], url[80];
    snprintf(path, sizeof path, "/tmp/crest-statsd-cancel-%d", (int)getpid());
    snprintf(url, sizeof url, "unix://%s", path);
    unlink(path);
    int fd = datagram_socket(path);
    counted all;
    pthread_t thread;
    crest_error error = {0};
    counted_new(&all, url, 2);
    counted_add(&all);
    uint64_t start_ns = crest_now();
    assert_int_equal(pthread_create(&thread, NULL, cancel_soon, all.reporter), 0);
    assert_int_equal(counted_report(&all, 20000, &error), CREST_TIMED_OUT);
    assert_true(crest_now() - start_ns < 10000 * NS_PER_MS);
    pthread_join(thread, NULL);
    /* the next report is not cancelled any more */
    uint64_t totals[200] = {0};
    while (counted_report(&all, 20, &error) != CREST_OK)
        datagrams_read(fd, 1000, totals);
    datagrams_read(fd, 1000, totals);
    assert_int_equal(totals[199], 200);
    close(fd);
    unlink(path);
    counted_free(&all);
}

/* On the loopback interface a closed port answers at once: not a record is lost to it. */
static void a_closed_port_loses_nothing(void **state)
{
    (void)state;
    char url[64];
    int fd = listen_at(SOCK_DGRAM, url);
    struct sockaddr_in address;
    socklen_t size = sizeof address;
    getsockname(fd, (struct sockaddr *)&address, &size);
    counted all;
    crest_error error = {0};
    counted_new(&all, url, 2);
    counted_add(&all);
    close(fd);
    for (unsigned i = 0; i < 5; i++)
        assert_int_equal(counted_report(&all, 2000, &error), CREST_UNREACHABLE);
    assert_non_null(strstr(error.message, url));
    fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, size), 0);
    assert_int_equal(counted_report(&all, 2000, &error), CREST_OK);
    uint64_t totals[200] = {0};
    datagrams_read(fd, 1000, totals);
    for (unsigned n = 0; n < LENGTH(all.counters); n++)
        assert_int_equal(totals[n], n + 1);
    close(fd);
    counted_free(&all);
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
        cmocka_unit_test(marks_have_a_limit),
        cmocka_unit_test(a_stream_may_be_late_anywhere),
        cmocka_unit_test(a_stream_may_break),
        cmocka_unit_test(a_full_socket_loses_nothing),
        cmocka_unit_test(a_report_can_be_cancelled),
        cmocka_unit_test(a_closed_port_loses_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
