/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The StatsD reporter and what it reports to: connections that are late, full, closed or broken in
 * the middle of a report, and series that come back. Totals are exact.
 *
 * crest-test: waits
 */
#include "support/statsd_fixture.h"

#include <crest/crest.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define NS_PER_MS UINT64_C(1000000)
/* What nothing takes on a machine that works, however busy it is. */
#define PATIENCE_MS 60000
/* Of a report to a server that does not read: enough to fill what the socket takes. */
#define LATE_MS 300

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
        fixture_holds(line < sizeof copy);
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
    int rested;         /* it goes on, by __atomic */
    uint64_t totals[200];
} drain;

/* A server that reads so many bytes, rests until two reports were too late, and goes on, or breaks
 * the connection, most often in the middle of the third. */
static void *drain_run(void *context)
{
    drain *server = context;
    for (int connection = 0; connection <= server->breaks;) {
        char *text = malloc(1u << 20);
        size_t length = 0;
        int fd = accept(server->listener, NULL, NULL), rested = connection, broken = 0;
        fixture_holds(fd >= 0);
        for (;;) {
            if (!rested && length == server->before_rest) {
                while (!__atomic_load_n(&server->rested, __ATOMIC_ACQUIRE))
                    usleep(1000);
                usleep(50000);
                rested = 1;
                broken = server->breaks;
                if (broken)
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
        /* a report that was too late to send anything closes its connection: another one comes */
        connection += length > 0 || broken;
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
    assert_int_equal(counted_report(all, LATE_MS, &error), CREST_TIMED_OUT);
    counted_add(all);
    assert_int_equal(counted_report(all, LATE_MS, &error), CREST_TIMED_OUT);
    counted_add(all);
    __atomic_store_n(&server->rested, 1, __ATOMIC_RELEASE);
    crest_status status = counted_report(all, PATIENCE_MS, &error);
    if (server->breaks && status != CREST_OK) {
        assert_true(status == CREST_IO || status == CREST_UNREACHABLE);
        status = counted_report(all, PATIENCE_MS, &error);
    }
    assert_int_equal(status, CREST_OK);
    crest_reporter_free(all->reporter);
    all->reporter = NULL;
    fixture_join(thread, NULL);
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

/* A server that talks without end, as fast as it is listened to, and takes what it is sent. */
typedef struct talker {
    int listener;
    int stop; /* by __atomic */
    uint64_t said;
    uint64_t totals[200];
} talker;

static void *talk(void *context)
{
    talker *server = context;
    static const char words[65536];
    char *text = malloc(1u << 20);
    size_t length = 0;
    int fd = accept(server->listener, NULL, NULL);
    while (fd >= 0) {
        struct pollfd both = {.fd = fd, .events = POLLIN | POLLOUT};
        ssize_t got = 1;
        if (poll(&both, 1, PATIENCE_MS) != 1)
            break;
        if (both.revents & POLLOUT && !__atomic_load_n(&server->stop, __ATOMIC_ACQUIRE)) {
            ssize_t sent = send(fd, words, sizeof words, MSG_DONTWAIT | MSG_NOSIGNAL);
            if (sent > 0)
                __atomic_fetch_add(&server->said, (uint64_t)sent, __ATOMIC_RELEASE);
        }
        if (both.revents & (POLLIN | POLLHUP | POLLERR)) {
            got = recv(fd, text + length, (1u << 20) - length, MSG_DONTWAIT);
            length += got > 0 ? (size_t)got : 0;
        }
        if (got == 0 || (got < 0 && errno != EAGAIN))
            break;
    }
    add_up(text, length, server->totals, 0);
    free(text);
    close(fd);
    return NULL;
}

/* What it says is passed over, a bounded part of it at each report, which is over in time. */
static void a_server_that_talks_holds_nothing_up(void **state)
{
    (void)state;
    talker server = {.stop = 0};
    counted all;
    char url[64];
    pthread_t thread;
    crest_error error = {0};
    server.listener = listen_at(SOCK_STREAM, url);
    counted_new(&all, url, 20);
    assert_int_equal(pthread_create(&thread, NULL, talk, &server), 0);
    for (int round = 0; round < 5; round++) {
        counted_add(&all);
        assert_int_equal(counted_report(&all, PATIENCE_MS, &error), CREST_OK);
        uint64_t said = __atomic_load_n(&server.said, __ATOMIC_ACQUIRE);
        /* so that the next report finds something to pass over */
        for (int i = 0; i < 1000 && round < 4; i++) {
            if (__atomic_load_n(&server.said, __ATOMIC_ACQUIRE) > said + 65536)
                break;
            usleep(1000);
        }
    }
    assert_true(__atomic_load_n(&server.said, __ATOMIC_ACQUIRE) > 0);
    __atomic_store_n(&server.stop, 1, __ATOMIC_RELEASE);
    crest_reporter_free(all.reporter);
    all.reporter = NULL;
    fixture_join(thread, NULL);
    close(server.listener);
    for (unsigned n = 0; n < LENGTH(all.counters); n++)
        assert_int_equal(server.totals[n], crest_counter_value(all.counters[n]));
    counted_free(&all);
}

static void await_input(int fd)
{
    struct pollfd input = {.fd = fd, .events = POLLIN};
    assert_int_equal(poll(&input, 1, PATIENCE_MS), 1);
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

static int report_ended; /* by __atomic */

/* Again and again, as who watches reports does: the first may come before the report. */
static void *cancel_soon(void *context)
{
    crest_reporter *reporter = context;
    do {
        usleep(50000);
        reporter->cancel(reporter);
    } while (!__atomic_load_n(&report_ended, __ATOMIC_ACQUIRE));
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
    assert_int_equal(counted_report(&all, PATIENCE_MS, &error), CREST_TIMED_OUT);
    assert_true(crest_now() - start_ns < PATIENCE_MS * NS_PER_MS);
    __atomic_store_n(&report_ended, 1, __ATOMIC_RELEASE);
    fixture_join(thread, NULL);
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

/* On the loopback interface a closed port answers at once: not a record is lost to it. The port is
 * kept from others by a socket that hears nobody but itself, and so is as good as closed. */
static void a_closed_port_loses_nothing(void **state)
{
    (void)state;
    char url[64];
    int keeper = listen_at(SOCK_DGRAM, url), on = 1;
    struct sockaddr_in address;
    socklen_t size = sizeof address;
    getsockname(keeper, (struct sockaddr *)&address, &size);
    assert_int_equal(setsockopt(keeper, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on), 0);
    assert_int_equal(connect(keeper, (struct sockaddr *)&address, size), 0);
    counted all;
    crest_error error = {0};
    counted_new(&all, url, 2);
    counted_add(&all);
    for (unsigned i = 0; i < 5; i++)
        assert_int_equal(counted_report(&all, PATIENCE_MS, &error), CREST_UNREACHABLE);
    assert_non_null(strstr(error.message, url));
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on), 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, size), 0);
    assert_int_equal(counted_report(&all, PATIENCE_MS, &error), CREST_OK);
    /* what was sent may take a moment to be there */
    uint64_t totals[200] = {0}, sum = 0;
    while (sum < LENGTH(totals) * (LENGTH(totals) + 1) / 2) {
        await_input(fd);
        datagrams_read(fd, 1, totals);
        sum = 0;
        for (unsigned n = 0; n < LENGTH(totals); n++)
            sum += totals[n];
    }
    for (unsigned n = 0; n < LENGTH(all.counters); n++)
        assert_int_equal(totals[n], n + 1);
    close(fd);
    close(keeper);
    counted_free(&all);
}

/* ---- lives, ends and options ---- */

CREST_REGISTRY(statsd_lives);
#undef CREST_REGISTRY_HERE
#define CREST_REGISTRY_HERE &statsd_lives
CREST_COUNTER_FAMILY(statsd_peers, "c.n7", "By peer.", peer);
#undef CREST_REGISTRY_HERE
#define CREST_REGISTRY_HERE NULL
CREST_COUNTER(statsd_started, "c.n8.0", "Counted by two reporters.");

static crest_status statsd_report(crest_reporter *reporter, crest_registry *registry)
{
    crest_error error = {0};
    crest_resource resource = {.service = "", .version = "", .instance = ""};
    crest_snapshot *snapshot = crest_snapshot_take(registry);
    crest_report report = {.snapshot = snapshot,
                           .resource = &resource,
                           .deadline_ns = crest_now() + PATIENCE_MS * NS_PER_MS};
    crest_status status = reporter->report(reporter, &report, &error);
    crest_snapshot_free(snapshot);
    return status;
}

/* All that was sent to a socket, as one text of lines. It may take a moment to be there: a datagram
 * of our own is sent after it, and what is looked for has to have come as well. */
static void receive_text(int fd, char *text, size_t size, const char *looked_for)
{
    static const char end[] = "that is all";
    struct sockaddr_in address;
    socklen_t address_size = sizeof address;
    size_t length = 0;
    int ended = 0, from = socket(AF_INET, SOCK_DGRAM, 0);
    getsockname(fd, (struct sockaddr *)&address, &address_size);
    assert_int_equal(sendto(from, end, sizeof end, 0, (struct sockaddr *)&address, address_size),
                     sizeof end);
    close(from);
    text[0] = '\0';
    while (!ended || strstr(text, looked_for) == NULL) {
        await_input(fd);
        ssize_t got = recv(fd, text + length, size - length - 2, 0);
        assert_true(got > 0);
        if (got == sizeof end && memcmp(text + length, end, sizeof end) == 0) {
            ended = 1;
        } else {
            length += (size_t)got;
            text[length++] = '\n';
        }
        text[length] = '\0';
    }
}

/* A peer that goes and comes back with more than before is not taken for the one that was. */
static void a_second_life_is_sent_whole(void **state)
{
    (void)state;
    char url[64], text[65536];
    int fd = listen_at(SOCK_DGRAM, url);
    crest_statsd_options options = {.url = url};
    crest_reporter *reporter = crest_statsd_new(&options, NULL);
    crest_counter_add(statsd_peers_with("0"), 5);
    assert_int_equal(statsd_report(reporter, &statsd_lives), CREST_OK);
    receive_text(fd, text, sizeof text, "\n");
    assert_string_equal(text, "c.n7.peer.0:5|c\n");
    crest_retire(&statsd_lives, "peer", "0");
    crest_counter_add(statsd_peers_with("0"), 7);
    assert_int_equal(statsd_report(reporter, &statsd_lives), CREST_OK);
    receive_text(fd, text, sizeof text, "\n");
    assert_string_equal(text, "c.n7.peer.0:7|c\n");
    /* released and used again it goes on */
    crest_counter_release(statsd_peers_with("0"));
    crest_counter_add(statsd_peers_with("0"), 2);
    assert_int_equal(statsd_report(reporter, &statsd_lives), CREST_OK);
    receive_text(fd, text, sizeof text, "\n");
    assert_string_equal(text, "c.n7.peer.0:2|c\n");
    crest_reporter_free(reporter);
    close(fd);
}

static void options_start_several(void **state)
{
    (void)state;
    static char text[1u << 20];
    char urls[2][64], options[512];
    int fds[2] = {listen_at(SOCK_DGRAM, urls[0]), listen_at(SOCK_DGRAM, urls[1])};
    int large = 1 << 20;
    snprintf(options, sizeof options,
             "service=s,statsd=%s,statsd.prefix=p,statsd.packet=internet,interval=1h,statsd@dd=%s,"
             "statsd@dd.dialect=datadog,resource.region=eu",
             urls[0], urls[1]);
    for (unsigned i = 0; i < 2; i++)
        setsockopt(fds[i], SOL_SOCKET, SO_RCVBUF, &large, sizeof large);
    crest_error error = {0};
    if (crest_start(options, &error) != CREST_OK)
        fail_msg("%s", error.message);
    crest_counter_add(&statsd_started, 11);
    if (crest_stop(5000, &error) != CREST_OK)
        fail_msg("%s", error.message);
    receive_text(fds[0], text, sizeof text, "p.c.n8.0:11|c\n");
    receive_text(fds[1], text, sizeof text, "c.n8.0:11|c|#region:eu,service:s\n");
    for (unsigned i = 0; i < 2; i++)
        close(fds[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stream_may_be_late_anywhere),
        cmocka_unit_test(a_stream_may_break),
        cmocka_unit_test(a_server_that_talks_holds_nothing_up),
        cmocka_unit_test(a_full_socket_loses_nothing),
        cmocka_unit_test(a_report_can_be_cancelled),
        cmocka_unit_test(a_closed_port_loses_nothing),
        cmocka_unit_test(a_second_life_is_sent_whole),
        cmocka_unit_test(options_start_several),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
