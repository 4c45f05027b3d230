/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a scrape endpoint answers, byte by byte and without a server beside: each route and each
 * refusal, how many pages are made at once, and which connections make room for others. Time that a
 * client lets pass is added to the clock.
 */
#define _GNU_SOURCE
#include "support/core_fixture.h"
#include "support/http_get.h"

#include <crest/prometheus.h>

#include <errno.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define PATIENCE_MS 20000u
#define GET(path) "GET " path " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"

static uint64_t ahead_ns; /* by __atomic; of CLOCK_MONOTONIC */

/* In place of the C library's. */
int clock_gettime(clockid_t clock, struct timespec *now)
{
    int status = (int)syscall(SYS_clock_gettime, clock, now);
    if (status == 0 && clock == CLOCK_MONOTONIC)
        now->tv_sec += (time_t)(__atomic_load_n(&ahead_ns, __ATOMIC_RELAXED) / 1000000000u);
    return status;
}

static crest_registry *registry;
static crest_reporter *scrape;
static unsigned port;

static void serve(const crest_prometheus_options *options)
{
    crest_prometheus_options made = *options;
    crest_error error = {0};
    made.listen = "127.0.0.1:0";
    registry = fixture_registry(NULL);
    crest_counter_add(fixture_counter(registry, "one"), 1);
    crest_counter_add(fixture_counter(registry, "other"), 2);
    scrape = crest_prometheus_new(&made, &error);
    if (scrape == NULL || crest_reporter_attach(registry, scrape, NULL, &error) != CREST_OK)
        fail_msg("%s", error.message);
    port = crest_prometheus_port(scrape);
}

static void end(void)
{
    assert_int_equal(crest_reporter_detach(scrape, 5000, NULL), CREST_OK);
    crest_reporter_free(scrape);
    crest_registry_free(registry);
}

static int ask(const char *request)
{
    int client = http_connect(port);
    assert_true(client >= 0);
    size_t length = strlen(request);
    assert_int_equal(send(client, request, length, MSG_NOSIGNAL), (ssize_t)length);
    return client;
}

/* Everything until the server closes. */
static char *rest(int client)
{
    size_t length;
    char *answer = http_rest(client, &length);
    assert_non_null(answer);
    close(client);
    return answer;
}

/* That the answer begins with this code and has this text in it; NULL asks for no text. */
static void expect(const char *request, int code, const char *text)
{
    char *answer = rest(ask(request)), wanted[32];
    snprintf(wanted, sizeof wanted, "HTTP/1.1 %d ", code);
    if (strncmp(answer, wanted, strlen(wanted)) != 0)
        fail_msg("not %d to %s: %s", code, request, answer);
    if (text != NULL && strstr(answer, text) == NULL)
        fail_msg("no %s in the answer to %s: %s", text, request, answer);
    free(answer);
}

static void routes(void **state)
{
    (void)state;
    serve(&(crest_prometheus_options){.concurrency = 0});
    expect(GET("/metrics"), 200, "\none_total 1\n");
    expect(GET("http://localhost/metrics"), 200, "\none_total 1\n");
    expect(GET("/"), 200, "<a href=\"metrics\">");
    expect(GET("/-/healthy"), 200, "\r\n\r\nHealthy\n");
    expect(GET("/nothing"), 404, "the metrics are at /metrics");
    expect(GET("/metrics%00"), 400, "zero byte");
    expect("HEAD /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", 200,
           "Vary: Accept, Accept-Encoding");
    expect("POST /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n\r\nx", 405,
           "Allow: GET, HEAD");
    expect("GET /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n\r\nx", 413,
           "with a body");
    end();
}

static void targets_that_are_too_long(void **state)
{
    (void)state;
    serve(&(crest_prometheus_options){.concurrency = 0});
    char *request = calloc(1, 2 * CREST_PROMETHEUS_URL_BYTES_MAX);
    assert_non_null(request);
    strcpy(request, "GET /metrics?");
    memset(request + strlen(request), 'x', CREST_PROMETHEUS_URL_BYTES_MAX + 1);
    strcat(request, " HTTP/1.1\r\nHost: localhost\r\n\r\n");
    expect(request, 414, "too long");
    free(request);
    end();
}

static void names_are_asked_for(void **state)
{
    (void)state;
    serve(&(crest_prometheus_options){.concurrency = 0});
    char *answer = rest(ask(GET("/metrics?name[]=one_total&x=y")));
    assert_non_null(strstr(answer, "\none_total 1\n"));
    assert_null(strstr(answer, "other_total"));
    free(answer);
    answer = rest(ask(GET("/metrics?name[]=one_total&name[]=other_total")));
    assert_non_null(strstr(answer, "\none_total 1\n"));
    assert_non_null(strstr(answer, "\nother_total 2\n"));
    free(answer);
    expect(GET("/metrics?name[]=a%00b"), 400, "A name[] has a zero byte in it");
    end();
}

/* On a loopback address it answers for itself, so that no page in a browser can read it. */
static void hosts(void **state)
{
    (void)state;
    serve(&(crest_prometheus_options){.hosts = "allowed.example"});
    expect("GET /metrics HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n", 403,
           "prometheus.hosts");
    expect("GET /metrics HTTP/1.1\r\nHost: allowed.example:80\r\nConnection: close\r\n\r\n", 200,
           "\none_total 1\n");
    expect("GET http://evil.example/metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
           "\r\n",
           403, NULL);
    expect("GET /metrics HTTP/1.1\r\nConnection: close\r\n\r\n", 400, NULL);
    expect("GET /metrics HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n", 400, NULL);
    expect("GET /metrics HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n", 400,
           "This Host is none");
    end();
}

static void codings(void **state)
{
    (void)state;
    serve(&(crest_prometheus_options){.no_gzip = 1});
    expect("GET /metrics HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip\r\n"
           "Connection: close\r\n\r\n",
           200, "\none_total 1\n");
    expect("GET /metrics HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip\r\n"
           "Accept-Encoding: identity;q=0\r\nConnection: close\r\n\r\n",
           406, "prometheus.gzip");
    end();
    serve(&(crest_prometheus_options){.concurrency = 0});
    expect("GET /metrics HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip\r\n"
           "Connection: close\r\n\r\n",
           200, "\r\nContent-Encoding: gzip\r\n");
    end();
}

/* ---- pages at once ---- */

static int held;         /* by __atomic */
static unsigned entered; /* the same */

/* In place of the C library's: a thread that makes pages begins by it, and waits while it is held.
 */
int pthread_setname_np(pthread_t thread, const char *name)
{
    (void)thread;
    if (strcmp(name, "crest-page") == 0) {
        __atomic_fetch_add(&entered, 1, __ATOMIC_RELEASE);
        while (__atomic_load_n(&held, __ATOMIC_ACQUIRE))
            usleep(1000);
    }
    return prctl(PR_SET_NAME, name);
}

static void as_many_pages_as_are_allowed(void **state)
{
    (void)state;
    for (unsigned allowed = 1; allowed <= 2; allowed++) {
        serve(&(crest_prometheus_options){.concurrency = allowed});
        __atomic_store_n(&held, 1, __ATOMIC_RELEASE);
        __atomic_store_n(&entered, 0, __ATOMIC_RELEASE);
        int clients[2];
        for (unsigned i = 0; i < allowed; i++)
            clients[i] = ask(GET("/metrics"));
        for (unsigned ms = 0; __atomic_load_n(&entered, __ATOMIC_ACQUIRE) < allowed; ms++) {
            assert_true(ms < PATIENCE_MS);
            usleep(1000);
        }
        expect(GET("/metrics"), 503, "As many pages are being made as may be at once");
        expect(GET("/-/healthy"), 200, NULL);
        __atomic_store_n(&held, 0, __ATOMIC_RELEASE);
        for (unsigned i = 0; i < allowed; i++) {
            char *answer = rest(clients[i]);
            assert_non_null(strstr(answer, "\none_total 1\n"));
            free(answer);
        }
        expect(GET("/metrics"), 200, "\none_total 1\n");
        assert_int_equal(__atomic_load_n(&entered, __ATOMIC_ACQUIRE), allowed + 1);
        end();
    }
}

/* One that is not made in its time says so, and what it was asked with has to have come by then. */
static void a_page_that_is_late(void **state)
{
    (void)state;
    serve(&(crest_prometheus_options){.timeout_ms = 100});
    __atomic_store_n(&held, 1, __ATOMIC_RELEASE);
    __atomic_store_n(&entered, 0, __ATOMIC_RELEASE);
    int client = ask(GET("/metrics"));
    for (unsigned ms = 0; __atomic_load_n(&entered, __ATOMIC_ACQUIRE) == 0; ms++) {
        assert_true(ms < PATIENCE_MS);
        usleep(1000);
    }
    usleep(150000);
    __atomic_store_n(&held, 0, __ATOMIC_RELEASE);
    char *answer = rest(client);
    assert_non_null(strstr(answer, "HTTP/1.1 503 "));
    assert_non_null(strstr(answer, "\r\nRetry-After: 1\r\n"));
    assert_non_null(strstr(answer, "could not be made in the time that the scrape has"));
    free(answer);
    end();
}

/* ---- connections ---- */

/* By the server, and not only silent for as long as the client waits. */
static int is_closed(int client)
{
    char byte;
    ssize_t got = recv(client, &byte, 1, 0);
    return got == 0 || (got < 0 && errno == ECONNRESET);
}

/* Those that ask for nothing do not keep out one that asks. */
static void the_longest_silent_makes_room(void **state)
{
    (void)state;
    serve(&(crest_prometheus_options){.connections = 2});
    int silent[2];
    for (unsigned i = 0; i < 2; i++) {
        silent[i] = ask("GET /metrics HT");
        expect(GET("/-/healthy"), 200, NULL); /* by then it has been accepted */
    }
    assert_true(is_closed(silent[0]));
    expect(GET("/metrics"), 200, "\none_total 1\n");
    close(silent[0]);
    close(silent[1]);
    end();
}

/* A request has so many seconds to come whole, however many bytes of it come meanwhile. */
static void a_slow_request_is_cut_off(void **state)
{
    (void)state;
    serve(&(crest_prometheus_options){.concurrency = 0});
    int slow = ask("GET /metrics HTTP/1.1\r\n"), answered = ask(GET("/-/healthy"));
    free(rest(answered));
    __atomic_fetch_add(&ahead_ns, (CREST_PROMETHEUS_REQUEST_S - 2) * UINT64_C(1000000000),
                       __ATOMIC_RELAXED);
    assert_int_equal(send(slow, "Host", 4, MSG_NOSIGNAL), 4);
    expect(GET("/-/healthy"), 200, NULL);
    char byte;
    assert_int_equal(recv(slow, &byte, 1, MSG_DONTWAIT), -1);
    __atomic_fetch_add(&ahead_ns, UINT64_C(4000000000), __ATOMIC_RELAXED);
    expect(GET("/-/healthy"), 200, NULL);
    assert_true(is_closed(slow));
    close(slow);
    end();
}

/* The child of a fork holds neither the port nor a connection. */
static void a_child_has_no_descriptor_of_it(void **state)
{
    (void)state;
    serve(&(crest_prometheus_options){.concurrency = 0});
    int client = ask("GET /metrics HT"), status;
    expect(GET("/-/healthy"), 200, NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        unsigned found = 0;
        for (int fd = 3; fd < 256; fd++) {
            struct sockaddr_in own = {.sin_port = 0};
            socklen_t size = sizeof own;
            if (getsockname(fd, (struct sockaddr *)&own, &size) == 0)
                found += own.sin_family == AF_INET && ntohs(own.sin_port) == port;
        }
        _exit((int)found);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    close(client);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(routes),
        cmocka_unit_test(targets_that_are_too_long),
        cmocka_unit_test(names_are_asked_for),
        cmocka_unit_test(hosts),
        cmocka_unit_test(codings),
        cmocka_unit_test(as_many_pages_as_are_allowed),
        cmocka_unit_test(a_page_that_is_late),
        cmocka_unit_test(the_longest_silent_makes_room),
        cmocka_unit_test(a_slow_request_is_cut_off),
        cmocka_unit_test(a_child_has_no_descriptor_of_it),
    };
    fixture_watchdog(170);
    return cmocka_run_group_tests_name("requests of scrapes", tests, NULL, NULL);
}
