/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A host that has closed its standard input, output and error: what it prints afterwards must not
 * reach what the library has open. The program runs itself for each case, so that cmocka keeps its
 * output; what is wrong comes back through a pipe.
 */
#define _GNU_SOURCE
#include <crest/crest.h>
#include <crest/probe.h>
#include <crest/prometheus.h>
#include <crest/pushgateway.h>
#include <crest/timed_io.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <time.h>

#include <cmocka.h>

#include "support/http_get.h"

#define SAYS_FD 9
/* Longer than a look-up or a file takes, shorter than an idle connection stays. */
#define PATIENCE_MS 4000

CREST_COUNTER(things, "test.things", "Counted here.");

/* ---- what the program does without 0, 1 and 2 ---- */

__attribute__((format(printf, 1, 2))) static void says(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vdprintf(SAYS_FD, format, arguments);
    va_end(arguments);
}

static void rest_ms(long ms)
{
    const struct timespec rest = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&rest, NULL);
}

/* They may be taken for a moment, until the descriptor has been moved; not for longer. */
static void expect_closed(const char *when)
{
    for (int low = 0; low <= 2; low++) {
        char link[32], names[256];
        snprintf(link, sizeof link, "/proc/self/fd/%d", low);
        int waited = 0;
        while (fcntl(low, F_GETFD) >= 0 && waited < PATIENCE_MS) {
            rest_ms(5);
            waited += 5;
        }
        if (waited < PATIENCE_MS)
            continue;
        ssize_t length = readlink(link, names, sizeof names - 1);
        names[length > 0 ? length : 0] = '\0';
        says("%s, %d is %s\n", when, low, names);
    }
}

/* Listens on a port of the loopback interface, without ever accepting; 0: it could not. */
static unsigned listens(int type, int *where)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    *where = crest_reporter_descriptor(socket(AF_INET, type | SOCK_CLOEXEC, 0));
    if (*where < 0 || bind(*where, (struct sockaddr *)&address, size) != 0 ||
        (type == SOCK_STREAM && listen(*where, 16) != 0) ||
        getsockname(*where, (struct sockaddr *)&address, &size) != 0)
        return 0;
    return ntohs(address.sin_port);
}

/* One of those that have connected, above 2 too. */
static int accepts(int server)
{
    struct pollfd event = {.fd = server, .events = POLLIN};
    if (poll(&event, 1, 20000) != 1)
        says("nobody has connected\n");
    return crest_reporter_descriptor(event.revents != 0 ? accept(server, NULL, NULL) : -1);
}

/* A scraper that keeps its connection, above 2 too. */
static int scrapes(unsigned port)
{
    static const char request[] = "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n";
    char answer[64] = "";
    int client = crest_reporter_descriptor(http_connect(port));
    if (client < 0 || send(client, request, sizeof request - 1, MSG_NOSIGNAL) < 0 ||
        recv(client, answer, sizeof answer - 1, MSG_WAITALL) < 15 ||
        strncmp(answer, "HTTP/1.1 200 OK", 15) != 0)
        says("the scrape's answer is \"%s\"\n", answer);
    return client;
}

static void run_endpoint(const char *folder)
{
    (void)folder;
    crest_error error;
    crest_prometheus_options options = {.listen = "127.0.0.1:0"};
    crest_reporter *scraped = crest_prometheus_new(&options, &error);
    if (scraped == NULL || crest_reporter_attach(NULL, scraped, NULL, &error) != CREST_OK) {
        says("%s\n", error.message);
        return;
    }
    expect_closed("with an endpoint");
    int client = scrapes(crest_prometheus_port(scraped));
    expect_closed("with a connection");
    close(client);
    if (crest_reporter_detach(scraped, 10000, &error) != CREST_OK)
        says("%s\n", error.message);
    crest_reporter_free(scraped);
    expect_closed("after an endpoint");
}

static void run_reporters(const char *folder)
{
    int gateway, server, udp;
    unsigned ports[] = {listens(SOCK_STREAM, &gateway), listens(SOCK_STREAM, &server),
                        listens(SOCK_DGRAM, &udp)};
    char options[2048];
    crest_error error;
    snprintf(options, sizeof options,
             "interval=100ms,system=on,atexit=off,prometheus=127.0.0.1:0,"
             "pushgateway=http://127.0.0.1:%u,statsd=tcp://127.0.0.1:%u,"
             "statsd@udp=udp://127.0.0.1:%u,json=%s/lines,textfile=%s/page.prom",
             ports[0], ports[1], ports[2], folder, folder);
    if (crest_start(options, &error) != CREST_OK) {
        says("%s\n", error.message);
        return;
    }
    expect_closed("after crest_start");
    /* the gateway never answers: its connection stays, while the others report again and again */
    for (int i = 0; i < 20; i++) {
        rest_ms(25);
        expect_closed("while reporters report");
    }
    int pushes = accepts(gateway), streams = accepts(server);
    expect_closed("with a push and a stream");
    close(pushes);
    close(streams);
    close(gateway);
    close(server);
    close(udp);
    if (crest_stop(20000, &error) == CREST_TIMED_OUT)
        says("%s\n", error.message);
    expect_closed("after crest_stop");
}

static void run_probes(const char *folder)
{
    crest_error error;
    int server;
    char address[32];
    snprintf(address, sizeof address, "127.0.0.1:%u", listens(SOCK_STREAM, &server));
    crest_probe *dial = crest_probe_connect("peer", address, NULL, &error);
    crest_probe *disk = crest_probe_file("store", folder, NULL, &error);
    if (dial == NULL || disk == NULL)
        says("%s\n", error.message);
    for (int i = 0; i < 20; i++) {
        expect_closed("while probes try");
        rest_ms(10);
    }
    crest_probe_stop(dial);
    crest_probe_stop(disk);
    close(server);
    expect_closed("after probes");
}

static const struct {
    const char *name;
    void (*run)(const char *folder);
} cases[] = {{"endpoint", run_endpoint}, {"reporters", run_reporters}, {"probes", run_probes}};

static int run_case(const char *name, const char *folder)
{
    for (int low = 0; low <= 2; low++)
        close(low);
    crest_counter_inc(&things);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (strcmp(cases[i].name, name) == 0) {
            cases[i].run(folder);
            return 0;
        }
    return 1;
}

/* ---- the tests ---- */

static void run_without(const char *name)
{
    char folder[] = "/tmp/crest-low-XXXXXX", said[8192], path[64];
    int ends[2];
    assert_non_null(mkdtemp(folder));
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], SAYS_FD);
        execl("/proc/self/exe", "test_low_descriptors", name, folder, (char *)NULL);
        _exit(127);
    }
    assert_true(child > 0);
    close(ends[1]);
    size_t used = 0;
    for (ssize_t got;
         used < sizeof said - 1 && (got = read(ends[0], said + used, sizeof said - 1 - used)) > 0;)
        used += (size_t)got;
    said[used] = '\0';
    close(ends[0]);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    static const char *const left[] = {"lines", "page.prom"};
    for (size_t i = 0; i < sizeof left / sizeof left[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, left[i]);
        (void)unlink(path);
    }
    (void)rmdir(folder);
    assert_string_equal(said, "");
    assert_int_equal(status, 0);
}

static void an_endpoint_stays_above(void **state)
{
    (void)state;
    run_without("endpoint");
}

static void reporters_stay_above(void **state)
{
    (void)state;
    run_without("reporters");
}

static void probes_stay_above(void **state)
{
    (void)state;
    run_without("probes");
}

static void descriptors_are_moved(void **state)
{
    (void)state;
    int above = eventfd(0, EFD_CLOEXEC);
    assert_int_equal(crest_reporter_descriptor(above), above);
    close(above);
    errno = EMFILE;
    assert_int_equal(crest_reporter_descriptor(-1), -1);
    assert_int_equal(errno, EMFILE);

    int kept = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
    assert_int_equal(close(STDIN_FILENO), 0);
    int low = eventfd(7, EFD_CLOEXEC);
    errno = EDOM;
    int high = crest_reporter_descriptor(low);
    int kept_errno = errno;
    uint64_t value = 0;
    ssize_t got = read(high, &value, sizeof value);
    int closed = fcntl(STDIN_FILENO, F_GETFD);
    dup2(kept, STDIN_FILENO);
    close(kept);
    assert_int_equal(low, STDIN_FILENO);
    assert_true(high > 2);
    assert_int_equal(kept_errno, EDOM);
    assert_int_equal(got, sizeof value);
    assert_int_equal(value, 7);
    assert_int_equal(closed, -1);
    assert_int_equal(fcntl(high, F_GETFD), FD_CLOEXEC);
    close(high);
}

int main(int count, char **arguments)
{
    if (count == 3)
        return run_case(arguments[1], arguments[2]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(descriptors_are_moved),
        cmocka_unit_test(an_endpoint_stays_above),
        cmocka_unit_test(reporters_stay_above),
        cmocka_unit_test(probes_stay_above),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
