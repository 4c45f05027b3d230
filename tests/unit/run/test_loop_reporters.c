/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reporters in a process that has one thread: scrapes, StatsD, files, and their last words at the
 * stop, all from the host's own loop. The client is on the same thread, so nothing here may wait.
 */
#define _GNU_SOURCE
#include "support/core_fixture.h"
#include "support/http_get.h"
#include "support/loop_fixture.h"

#include <crest/prometheus.h>
#include <crest/statsd.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <sys/un.h>

#define PATIENCE_MS 20000u
#define MANY_SERIES 1900u
#define LONG_NAME "a-name-that-takes-so-much-room-that-the-page-is-larger-than-two-buffers"

CREST_COUNTER(jobs, "test.loop-jobs", "Jobs.");
CREST_GAUGE(queue, "test.loop-queue", "A length.");
CREST_COUNTER_FAMILY(many, "test.loop-many", "Many series, for a page that no buffer holds.",
                     which);

static unsigned threads_before;
static char folder[] = "/tmp/crest-loop-XXXXXX";

static unsigned a_free_port(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int taken = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(taken, (struct sockaddr *)&address, size), 0);
    assert_int_equal(getsockname(taken, (struct sockaddr *)&address, &size), 0);
    close(taken);
    return ntohs(address.sin_port);
}

static void start(const char *options)
{
    crest_error error;
    if (crest_start(options, &error) != CREST_OK)
        fail_msg("%s", error.message);
    assert_int_equal(loop_threads(), threads_before);
}

/* ---- a client on the loop's own thread ---- */

/* Until the server has closed the connection; the answer, or NULL when it does not. */
static char *await_answer(int client, size_t *length)
{
    size_t size = 1 << 20, used = 0;
    char *bytes = malloc(size);
    int descriptor = crest_loop_fd(NULL);
    for (ssize_t got = 1; bytes != NULL && got != 0;) {
        struct pollfd events[] = {{.fd = descriptor, .events = POLLIN},
                                  {.fd = client, .events = POLLIN}};
        if (poll(events, 2, (int)PATIENCE_MS) <= 0)
            break;
        if (events[0].revents != 0)
            assert_int_equal(crest_loop_run(NULL), CREST_OK);
        assert_int_equal(loop_threads(), threads_before);
        if (events[1].revents == 0)
            continue;
        if (size - used < 65536)
            bytes = realloc(bytes, size *= 2);
        got = recv(client, bytes + used, size - used - 1, 0);
        used += got > 0 ? (size_t)got : 0;
        if (got == 0) {
            bytes[used] = '\0';
            *length = used;
            return bytes;
        }
    }
    free(bytes);
    return NULL;
}

static void send_request(int client)
{
    static const char request[] =
        "GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    assert_true(client >= 0);
    assert_int_equal(send(client, request, sizeof request - 1, MSG_NOSIGNAL), sizeof request - 1);
}

static int ask(unsigned port)
{
    int client = http_connect(port);
    send_request(client);
    return client;
}

/* One that does not read, in whose connection little has room: its answer stays with the server. */
static int ask_lazily(unsigned port)
{
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), little = 4096, segment = 536;
    setsockopt(client, SOL_SOCKET, SO_RCVBUF, &little, sizeof little);
    setsockopt(client, IPPROTO_TCP, TCP_MAXSEG, &segment, sizeof segment);
    assert_int_equal(connect(client, (struct sockaddr *)&to, sizeof to), 0);
    send_request(client);
    return client;
}

/* The value behind the name, at the beginning of a line. */
static double value_in(const char *page, const char *name)
{
    for (const char *at = page; (at = strstr(at, name)) != NULL; at++)
        if (at > page && at[-1] == '\n')
            return strtod(at + strlen(name), NULL);
    return -1;
}

/* ---- scrapes ---- */

static double polled(void *calls)
{
    return ++*(unsigned *)calls;
}

static void test_scrapes(void **state)
{
    (void)state;
    char options[200];
    unsigned port = a_free_port(), calls = 0;
    snprintf(options, sizeof options, "threads=off,prometheus=127.0.0.1:%u", port);
    start(options);
    crest_poll *poll = crest_gauge_poll(&queue, polled, &calls, NULL, NULL);
    crest_testing_reading before = FIXTURE_READING(NULL, "test.loop-jobs");
    for (unsigned scrape = 1; scrape <= 20; scrape++) {
        size_t bytes;
        crest_counter_add(&jobs, 7);
        unsigned seen = calls;
        int client = ask(port);
        char *page = await_answer(client, &bytes);
        close(client);
        assert_non_null(page);
        assert_non_null(strstr(page, "200 OK"));
        assert_true(value_in(page, "test_loop_jobs_total ") ==
                    (double)before.counter + 7.0 * scrape);
        assert_true(value_in(page, "test_loop_queue ") == seen + 1);
        free(page);
    }
    assert_int_equal(crest_poll_stop(poll), CREST_OK);
    assert_int_equal(crest_stop(2000, NULL), CREST_OK);
    assert_int_equal(loop_threads(), threads_before);
    assert_true(http_connect(port) < 0);
}

/* A page that no buffer holds, while another client does not read, and one goes at once. */
static void test_large_pages(void **state)
{
    (void)state;
    char options[300], which[100];
    unsigned port = a_free_port(), found = 0;
    for (unsigned i = 0; i < MANY_SERIES; i++) {
        snprintf(which, sizeof which, LONG_NAME "-%u", i);
        crest_counter_add(many_with(which), i + 1);
    }
    snprintf(options, sizeof options, "threads=off,prometheus=127.0.0.1:%u", port);
    start(options);
    int lazy = ask(port), gone = ask(port);
    close(gone);
    int client = ask(port);
    size_t bytes;
    char *page = await_answer(client, &bytes);
    close(client);
    assert_non_null(page);
    assert_true(bytes > 2 * CREST_PROMETHEUS_BUFFER_BYTES);
    for (unsigned i = 0; i < MANY_SERIES; i++) {
        snprintf(options, sizeof options, "test_loop_many_total{which=\"" LONG_NAME "-%u\"} ", i);
        found += value_in(page, options) == i + 1;
    }
    assert_int_equal(found, MANY_SERIES);
    free(page);
    assert_int_equal(crest_stop(2000, NULL), CREST_OK);
    close(lazy);
}

/* While there is no room, those who knock do not keep the host awake. */
static void test_no_room(void **state)
{
    (void)state;
    char options[200];
    unsigned port = a_free_port();
    snprintf(options, sizeof options,
             "threads=off,windows=off,prometheus=127.0.0.1:%u,prometheus.connections=1", port);
    start(options);
    int descriptor = crest_loop_fd(NULL), lazy = ask_lazily(port);
    for (int i = 0; i < 50 && loop_readable(descriptor, 100); i++)
        loop_drain();
    int knocking = ask(port);
    for (int i = 0; i < 50 && loop_readable(descriptor, 100); i++)
        loop_drain();
    assert_false(loop_readable(descriptor, 0));
    close(lazy);
    size_t bytes;
    char *page = await_answer(knocking, &bytes);
    assert_non_null(page);
    free(page);
    close(knocking);
    assert_int_equal(crest_stop(2000, NULL), CREST_OK);
}

/* A request that has come is answered by the stop itself. */
static void test_stop_answers(void **state)
{
    (void)state;
    char options[200];
    unsigned port = a_free_port();
    snprintf(options, sizeof options, "threads=off,prometheus=127.0.0.1:%u", port);
    start(options);
    int client = http_connect(port), descriptor = crest_loop_fd(NULL);
    /* the server has the connection, and the request comes after the last run */
    assert_true(loop_readable(descriptor, (int)PATIENCE_MS));
    loop_drain();
    send_request(client);
    assert_int_equal(crest_stop(2000, NULL), CREST_OK);
    size_t bytes;
    char *answer = http_rest(client, &bytes);
    assert_non_null(strstr(answer, "test_loop_jobs_total "));
    free(answer);
    close(client);
    assert_int_equal(loop_threads(), threads_before);
}

/* ---- StatsD ---- */

/* What came, of this counter, and whatever else it is. */
static uint64_t received(int server, const char *name)
{
    char packet[65536];
    uint64_t total = 0;
    ssize_t got;
    while ((got = recv(server, packet, sizeof packet - 1, MSG_DONTWAIT)) > 0) {
        packet[got] = '\0';
        for (char *line = strtok(packet, "\n"); line != NULL; line = strtok(NULL, "\n"))
            if (strncmp(line, name, strlen(name)) == 0 && line[strlen(name)] == ':')
                total += strtoull(line + strlen(name) + 1, NULL, 10);
    }
    return total;
}

static void count_to(int server, const char *options)
{
    uint64_t total = 0, sent = 0;
    start(options);
    for (unsigned round = 1; round <= 5; round++) {
        crest_counter_add(&jobs, round * 11);
        sent += round * 11;
        loop_step_schedules_ms(10000);
        loop_drain();
        total += received(server, "test.loop-jobs");
        assert_true(total == sent || round == 1);
        sent = total; /* the first also has what was counted before */
        assert_int_equal(loop_threads(), threads_before);
    }
    crest_counter_add(&jobs, 5);
    assert_int_equal(crest_stop(2000, NULL), CREST_OK);
    assert_int_equal(received(server, "test.loop-jobs"), 5);
    assert_int_equal(loop_threads(), threads_before);
}

static void test_statsd_to_an_address(void **state)
{
    (void)state;
    char options[200];
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int server = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(server, (struct sockaddr *)&address, size), 0);
    assert_int_equal(getsockname(server, (struct sockaddr *)&address, &size), 0);
    snprintf(options, sizeof options,
             "threads=off,jitter=0,statsd=udp://127.0.0.1:%u,statsd.dialect=etsy,"
             "statsd.interval=10s,statsd.include=test.loop-jobs",
             ntohs(address.sin_port));
    count_to(server, options);
    close(server);
}

static void test_statsd_to_a_socket(void **state)
{
    (void)state;
    char options[300];
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s/statsd", folder);
    int server = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(server, (struct sockaddr *)&address, sizeof address), 0);
    snprintf(options, sizeof options,
             "threads=off,jitter=0,statsd=unix://%s,statsd.dialect=etsy,statsd.interval=10s,"
             "statsd.include=test.loop-jobs",
             address.sun_path);
    count_to(server, options);
    close(server);
    unlink(address.sun_path);
}

/* ---- files ---- */

static char *contents(const char *path)
{
    static char text[1 << 18];
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    return text;
}

static void test_files(void **state)
{
    (void)state;
    char page[100], lines[100], options[500], wanted[100];
    snprintf(page, sizeof page, "%s/page.prom", folder);
    snprintf(lines, sizeof lines, "%s/lines.json", folder);
    snprintf(options, sizeof options,
             "threads=off,interval=10s,jitter=0,textfile=%s,json=%s,"
             "json.include=test.loop-jobs",
             page, lines);
    start(options);
    for (unsigned round = 0; round < 3; round++) {
        crest_counter_add(&jobs, 3);
        loop_step_schedules_ms(10000);
        loop_drain();
        uint64_t total = FIXTURE_READING(NULL, "test.loop-jobs").counter;
        assert_true(value_in(contents(page), "test_loop_jobs_total ") == (double)total);
        snprintf(wanted, sizeof wanted, "%llu", (unsigned long long)total);
        assert_non_null(strstr(contents(lines), wanted));
        assert_int_equal(loop_threads(), threads_before);
    }
    crest_counter_add(&jobs, 3);
    assert_int_equal(crest_stop(2000, NULL), CREST_OK);
    snprintf(wanted, sizeof wanted, "%llu",
             (unsigned long long)FIXTURE_READING(NULL, "test.loop-jobs").counter);
    assert_non_null(strstr(contents(lines), wanted));
    unlink(page);
    unlink(lines);
    assert_int_equal(loop_threads(), threads_before);
}

/* ---- what is refused ---- */

static void test_refused(void **state)
{
    (void)state;
    crest_error error;
    assert_int_equal(crest_start("threads=off,statsd=udp://localhost:8125", &error),
                     CREST_INVALID_OPTIONS);
    assert_non_null(strstr(error.message, "write its address"));
    assert_int_equal(crest_options_check("threads=off,pushgateway=http://127.0.0.1:9091", &error),
                     CREST_INVALID_OPTIONS);
    assert_non_null(strstr(error.message, "threads=off"));
    assert_int_equal(crest_start("threads=off,pushgateway=http://127.0.0.1:9091", &error),
                     CREST_INVALID_OPTIONS);
    assert_int_equal(loop_threads(), threads_before);
}

static void test_system_without_threads(void **state)
{
    (void)state;
    char options[200];
    unsigned port = a_free_port();
    snprintf(options, sizeof options, "threads=off,system=on,prometheus=127.0.0.1:%u", port);
    start(options);
    size_t bytes;
    int client = ask(port);
    char *page = await_answer(client, &bytes);
    close(client);
    assert_non_null(page);
    assert_true(value_in(page, "process_cpu_seconds_total ") >= 0);
    free(page);
    assert_int_equal(crest_stop(2000, NULL), CREST_OK);
    assert_int_equal(loop_threads(), threads_before);
}

int main(void)
{
    threads_before = loop_threads();
    if (mkdtemp(folder) == NULL)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scrapes),
        cmocka_unit_test(test_large_pages),
        cmocka_unit_test(test_no_room),
        cmocka_unit_test(test_stop_answers),
        cmocka_unit_test(test_system_without_threads),
        /* from here on schedules are ahead of the descriptor, which goes by the kernel */
        cmocka_unit_test(test_statsd_to_an_address),
        cmocka_unit_test(test_statsd_to_a_socket),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_refused),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    rmdir(folder);
    return failed;
}
