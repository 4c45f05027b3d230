/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The transport against servers of every manner: what goes over the wire, that every deadline is
 * kept, and that each failure says what happened.
 *
 * crest-test: waits
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <crest/clock.h>

#include "http/http_transport.h"
#include "support/fake_server.h"

#define MS UINT64_C(1000000)
#define PATIENCE_S (FAKE_SERVER_MS / 1e3)

static fake_server server;
static crest_http *http;
static crest_http_answer answer;
static crest_error error;
static double took_s;

static int set_up(void **state)
{
    (void)state;
    fake_server_start(&server);
    http = crest_http_new(&error);
    assert_non_null(http);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    crest_http_free(http);
    fake_server_stop(&server);
    return 0;
}

static crest_status send_to(const char *url, const char *method, const void *body, size_t length,
                            uint64_t timeout_ms)
{
    uint64_t began_ns = crest_now();
    crest_http_request request = {
        .kind = "pushgateway",
        .method = method,
        .url = url,
        .shown = "SHOWN",
        .content_type = body ? "text/plain; version=0.0.4" : NULL,
        .content_encoding = body ? "gzip" : NULL,
        .body = body,
        .length = length,
        .deadline_ns = began_ns + timeout_ms * MS,
    };
    memset(&error, 0, sizeof error);
    crest_status status = crest_http_send(http, &request, &answer, &error);
    took_s = (double)(crest_now() - began_ns) / 1e9;
    return status;
}

static crest_status put(const char *path, const char *body, uint64_t timeout_ms)
{
    char url[256];
    snprintf(url, sizeof url, "http://127.0.0.1:%u%s", server.port, path);
    return send_to(url, "PUT", body, strlen(body), timeout_ms);
}

static void check_says(const char *says)
{
    if (strstr(error.message, says) == NULL)
        fail_msg("\"%s\" is not in: %s", says, error.message);
}

static void what_is_sent_is_what_was_asked(void **state)
{
    (void)state;
    assert_int_equal(put("/a/../b/./c//d/%2E%2E", "hello", FAKE_SERVER_MS), CREST_OK);
    assert_int_equal(answer.code, 200);
    /* As it is: rewriting would be another group. */
    assert_true(fake_server_got(&server, "PUT /a/../b/./c//d/%2E%2E HTTP/1.1\r\n"));
    assert_true(fake_server_got(&server, "\r\nContent-Length: 5\r\n"));
    assert_true(fake_server_got(&server, "\r\nContent-Type: text/plain; version=0.0.4\r\n"));
    assert_true(fake_server_got(&server, "\r\nContent-Encoding: gzip\r\n"));
    assert_true(fake_server_got(&server, "\r\nUser-Agent: crest/"));
    assert_false(fake_server_got(&server, "\r\nExpect:"));
    assert_false(fake_server_got(&server, "\r\nAuthorization:"));
    assert_int_equal(server.body_length, 5);
    assert_memory_equal(server.body, "hello", 5);

    char url[128];
    snprintf(url, sizeof url, "http://us:p%%40ss@127.0.0.1:%u/x", server.port);
    assert_int_equal(send_to(url, "DELETE", NULL, 0, FAKE_SERVER_MS), CREST_OK);
    assert_true(fake_server_got(&server, "DELETE /x HTTP/1.1\r\n"));
    assert_false(fake_server_got(&server, "\r\nContent-"));
    assert_true(fake_server_got(&server, "\r\nAuthorization: Basic dXM6cEBzcw==\r\n"));
}

static void large_bodies_go_without_waiting_for_leave(void **state)
{
    (void)state;
    size_t length = 3u << 20;
    char *body = malloc(length);
    assert_non_null(body);
    for (size_t i = 0; i < length; i++)
        body[i] = (char)(i * 31 >> 3);
    char url[64];
    snprintf(url, sizeof url, "http://127.0.0.1:%u/", server.port);
    assert_int_equal(send_to(url, "PUT", body, length, FAKE_SERVER_MS), CREST_OK);
    assert_false(fake_server_got(&server, "\r\nExpect:"));
    assert_int_equal(server.body_length, length);
    assert_memory_equal(server.body, body, length);
    free(body);
}

static void the_connection_is_kept_and_made_anew(void **state)
{
    (void)state;
    for (int i = 0; i < 5; i++)
        assert_int_equal(put("/", "x", FAKE_SERVER_MS), CREST_OK);
    assert_int_equal(fake_server_connections(&server), 1);
    assert_int_equal(fake_server_requests(&server), 5);
    /* A kept connection that turns out dead is no failure: the same bytes go again on a new one. */
    fake_server_say(&server, FAKE_ANSWER_ONCE, FAKE_OK);
    assert_int_equal(put("/", "again", FAKE_SERVER_MS), CREST_OK);
    assert_memory_equal(server.body, "again", 5);
    assert_int_equal(fake_server_connections(&server), 2);
}

/* Curl does not see this one itself: it breaks while a large body is being sent. */
static void a_connection_that_breaks_while_sending_is_made_anew(void **state)
{
    (void)state;
    size_t length = 3u << 20;
    char *body = malloc(length), url[64];
    assert_non_null(body);
    memset(body, 'b', length);
    snprintf(url, sizeof url, "http://127.0.0.1:%u/", server.port);
    fake_server_say(&server, FAKE_ANSWER_RESET, FAKE_OK);
    assert_int_equal(put("/", "x", FAKE_SERVER_MS), CREST_OK);
    assert_int_equal(fake_server_connections(&server), 1);
    for (unsigned i = 0; i < 20; i++) {
        /* each is the first request of a connection, and resets the one before */
        assert_int_equal(send_to(url, "PUT", body, length, FAKE_SERVER_MS), CREST_OK);
        assert_int_equal(server.body_length, length);
        assert_int_equal(fake_server_connections(&server), 2 + i);
    }
    /* A fresh connection that breaks is a failure: the server may have done what was asked. */
    fake_server_say(&server, FAKE_CLOSE_AT_ONCE, "");
    unsigned before = fake_server_connections(&server);
    assert_int_equal(send_to(url, "PUT", body, length, FAKE_SERVER_MS), CREST_IO);
    assert_true(fake_server_connections(&server) <= before + 2);
    free(body);
}

static void *cancel_soon(void *context)
{
    int came = fake_server_await(&server, 1);
    crest_http_cancel(http);
    return came ? NULL : context;
}

static void a_cancelled_request_ends_soon(void **state)
{
    (void)state;
    fake_server_say(&server, FAKE_SILENT, "");
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, cancel_soon, &server), 0);
    assert_int_equal(put("/", "x", FAKE_SERVER_MS), CREST_TIMED_OUT);
    assert_true(took_s < PATIENCE_S);
    check_says("The reporter is being stopped");
    void *waited_in_vain;
    pthread_join(thread, &waited_in_vain);
    assert_null(waited_in_vain);
    /* And those after it, until it may again. */
    fake_server_say(&server, FAKE_ANSWER, FAKE_OK);
    assert_int_equal(put("/", "x", FAKE_SERVER_MS), CREST_TIMED_OUT);
    assert_int_equal(fake_server_requests(&server), 1);
    crest_http_renew(http);
    assert_int_equal(put("/", "x", FAKE_SERVER_MS), CREST_OK);
}

static crest_status send_as(crest_http_request request)
{
    char url[64];
    snprintf(url, sizeof url, "http://127.0.0.1:%u/x", server.port);
    request.method = "PUT";
    request.shown = "SHOWN";
    if (request.url == NULL)
        request.url = url;
    request.deadline_ns = crest_now() + FAKE_SERVER_MS * MS;
    memset(&error, 0, sizeof error);
    return crest_http_send(http, &request, &answer, &error);
}

static void credentials_go_with_one_request(void **state)
{
    (void)state;
    assert_int_equal(send_as((crest_http_request){.user = "us", .password = "p@:ss"}), CREST_OK);
    assert_true(fake_server_got(&server, "\r\nAuthorization: Basic dXM6cEA6c3M=\r\n"));
    assert_int_equal(send_as((crest_http_request){.bearer = "to.k~en=="}), CREST_OK);
    assert_true(fake_server_got(&server, "\r\nAuthorization: Bearer to.k~en==\r\n"));
    assert_int_equal(send_as((crest_http_request){.method = NULL}), CREST_OK);
    assert_false(fake_server_got(&server, "Authorization"));
    assert_int_equal(fake_server_connections(&server), 1);
}

static void a_proxy_is_asked_when_there_is_one(void **state)
{
    (void)state;
    char proxy[64];
    snprintf(proxy, sizeof proxy, "http://pr:ox%%3Ay@127.0.0.1:%u", server.port);
    crest_http_request request = {.kind = "pushgateway",
                                  .url = "http://gateway.invalid:9/metrics/job/a",
                                  .bearer = "token",
                                  .proxy = proxy,
                                  .proxy_shown = "PROXY"};
    /* It serves one connection at a time, and a tunnel is not a kept one. */
    fake_server_say(&server, FAKE_ANSWER_CLOSE, FAKE_OK);
    setenv("no_proxy", "*", 1);
    crest_status status = send_as(request);
    unsetenv("no_proxy");
    assert_int_equal(status, CREST_OK);
    assert_true(fake_server_got(&server, "PUT http://gateway.invalid:9/metrics/job/a HTTP/1.1"));
    assert_true(fake_server_got(&server, "\r\nProxy-Authorization: Basic cHI6b3g6eQ==\r\n"));
    assert_true(fake_server_got(&server, "\r\nAuthorization: Bearer token\r\n"));
    /* With TLS, through a tunnel: the proxy sees neither token nor path. */
    static const struct {
        const char *words;
        crest_status status;
        const char *says;
    } cases[] = {
        {"HTTP/1.1 407 Who\r\nContent-Length: 0\r\n\r\n", CREST_REFUSED,
         "the proxy PROXY answered with code 407. Put the user and password"},
        {"HTTP/1.1 403 No\r\nContent-Length: 2\r\n\r\nno", CREST_REFUSED, "ask its operator"},
        {"HTTP/1.1 502 Bad\r\nContent-Length: 0\r\n\r\n", CREST_UNREACHABLE,
         "could not reach the server itself"},
        {"HTTP/1.1 200 Yes\r\n\r\nand then no TLS", CREST_UNREACHABLE, "through the proxy PROXY: "},
    };
    request.url = "https://gateway.invalid:9/metrics/job/a";
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        fake_server_say(&server, FAKE_ANSWER_CLOSE, cases[i].words);
        if (send_as(request) != cases[i].status)
            fail_msg("case %zu: %s", i, error.message);
        check_says(cases[i].says);
        assert_null(strstr(error.message, "ox"
                                          "%3A"));
        assert_null(strstr(error.message, "token"));
        assert_true(fake_server_got(&server, "CONNECT gateway.invalid:9 HTTP/1.1"));
        assert_true(fake_server_got(&server, "\r\nProxy-Authorization: Basic cHI6b3g6eQ==\r\n"));
        assert_false(fake_server_got(&server, "\r\nAuthorization:"));
        assert_false(fake_server_got(&server, "/metrics/job"));
    }
    unsigned port;
    int refuses = fake_server_bind(&port);
    snprintf(proxy, sizeof proxy, "http://127.0.0.1:%u", port);
    assert_int_equal(send_as(request), CREST_UNREACHABLE);
    check_says("Is the proxy running");
    close(refuses);
    snprintf(proxy, sizeof proxy, "http://proxy.invalid:1");
    assert_int_equal(send_as(request), CREST_UNREACHABLE);
    check_says("Is the proxy's name right");
}

static void answers_of_any_code_are_answers(void **state)
{
    (void)state;
    fake_server_say(&server, FAKE_ANSWER,
                    "HTTP/1.1 400 Bad Request\r\nContent-Length: 13\r\n\r\nthat is wrong");
    assert_int_equal(put("/", "x", FAKE_SERVER_MS), CREST_OK);
    assert_int_equal(answer.code, 400);
    assert_int_equal(answer.length, 13);
    assert_memory_equal(answer.words, "that is wrong", 13);
    fake_server_say(&server, FAKE_ANSWER, "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n");
    assert_int_equal(put("/", "x", FAKE_SERVER_MS), CREST_OK);
    assert_int_equal(answer.code, 202);
    assert_int_equal(answer.length, 0);
    fake_server_say(&server, FAKE_DRIP, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    assert_int_equal(put("/", "x", FAKE_SERVER_MS), CREST_OK);
    assert_memory_equal(answer.words, "ok", 2);
}

static void half_a_refusal_is_an_answer(void **state)
{
    (void)state;
    fake_server_say(&server, FAKE_ANSWER_CLOSE,
                    "HTTP/1.1 413 Too Large\r\nContent-Length: 100\r\n\r\nno more than");
    assert_int_equal(put("/", "x", FAKE_SERVER_MS), CREST_OK);
    assert_int_equal(answer.code, 413);
    assert_memory_equal(answer.words, "no more than", 12);
    /* Of a success, all has to come. */
    fake_server_say(&server, FAKE_ANSWER_CLOSE,
                    "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nno more than");
    assert_int_equal(put("/", "x", FAKE_SERVER_MS), CREST_IO);
    check_says("broke before the answer was complete");
}

static void redirects_are_not_followed(void **state)
{
    (void)state;
    fake_server_say(
        &server, FAKE_ANSWER,
        "HTTP/1.1 301 Moved\r\nLocation:  /else\x1b[1m/where \r\nContent-Length: 0\r\n\r\n");
    assert_int_equal(put("/", "x", FAKE_SERVER_MS), CREST_OK);
    assert_int_equal(answer.code, 301);
    assert_string_equal(answer.location, "/else [1m/where");
    assert_int_equal(fake_server_requests(&server), 1);
}

static void huge_answers_are_cut_off(void **state)
{
    (void)state;
    fake_server_say(&server, FAKE_ENDLESS, "HTTP/1.1 500 No\r\n\r\nsorry ");
    assert_int_equal(put("/", "x", FAKE_SERVER_MS), CREST_OK);
    assert_int_equal(answer.code, 500);
    assert_true(answer.cut);
    assert_int_equal(answer.length, CREST_HTTP_WORDS_BYTES);
    assert_memory_equal(answer.words, "sorry xxx", 9);
    /* Headers without end, too. */
    fake_server_say(&server, FAKE_ENDLESS, "HTTP/1.1 200 OK\r\nX: ");
    assert_int_not_equal(put("/", "x", FAKE_SERVER_MS), CREST_OK);
    assert_true(took_s < PATIENCE_S);
}

static void silence_ends_at_the_deadline(void **state)
{
    (void)state;
    fake_server_say(&server, FAKE_SILENT, "");
    /* long enough for the request to arrive */
    assert_int_equal(put("/", "x", 1000), CREST_TIMED_OUT);
    assert_true(took_s > 0.95 && took_s < PATIENCE_S);
    check_says("PUT SHOWN: not done after ");
    check_says(" s, still waiting for the answer");
    /* A server that trickles is out of time as well. */
    fake_server_say(&server, FAKE_DRIP, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n");
    assert_int_equal(put("/", "x", 300), CREST_TIMED_OUT);
    assert_true(took_s > 0.25 && took_s < PATIENCE_S);
}

static void a_server_that_does_not_read_is_left(void **state)
{
    (void)state;
    fake_server_say(&server, FAKE_DEAF, "");
    size_t length = 32u << 20;
    char *body = calloc(1, length);
    assert_non_null(body);
    char url[64];
    snprintf(url, sizeof url, "http://127.0.0.1:%u/", server.port);
    assert_int_equal(send_to(url, "PUT", body, length, 1000), CREST_TIMED_OUT);
    assert_true(took_s < PATIENCE_S);
    check_says("still sending");
    free(body);
}

static void no_time_means_not_tried(void **state)
{
    (void)state;
    assert_int_equal(put("/", "x", 0), CREST_TIMED_OUT);
    check_says("not tried");
    assert_int_equal(fake_server_connections(&server), 0);
    /* And time without end is no mistake. */
    assert_int_equal(put("/", "x", UINT64_MAX / MS - crest_now() / MS - 1), CREST_OK);
}

static void a_host_that_swallows_packets_is_given_up_on(void **state)
{
    (void)state;
    unsigned port;
    int deaf = fake_server_listen(&port, 0), filler[4];
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    /* Nobody accepts: once its queue is full, the kernel drops what wants to connect. */
    for (int i = 0; i < 4; i++) {
        filler[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        if (connect(filler[i], (struct sockaddr *)&address, sizeof address) != 0)
            assert_int_equal(errno, EINPROGRESS);
    }
    char url[64];
    snprintf(url, sizeof url, "http://127.0.0.1:%u/", port);
    assert_int_equal(send_to(url, "PUT", "x", 1, 600), CREST_TIMED_OUT);
    assert_true(took_s > 0.2 && took_s < PATIENCE_S);
    check_says("still connecting");
    for (int i = 0; i < 4; i++)
        close(filler[i]);
    close(deaf);
}

static void nobody_there_is_unreachable(void **state)
{
    (void)state;
    unsigned port;
    int refuses = fake_server_bind(&port);
    char url[64];
    snprintf(url, sizeof url, "http://127.0.0.1:%u/", port);
    assert_int_equal(send_to(url, "PUT", "x", 1, FAKE_SERVER_MS), CREST_UNREACHABLE);
    check_says("Is it running");
    assert_true(took_s < PATIENCE_S);
    close(refuses);
    assert_int_equal(send_to("http://gateway.invalid/", "PUT", "x", 1, FAKE_SERVER_MS),
                     CREST_UNREACHABLE);
    check_says("does it resolve here?");
}

static void what_is_not_http_is_told(void **state)
{
    (void)state;
    static const char *const garbage[] = {
        "+OK POP3 server ready\r\n",
        "\x15\x03\x01\x01\x02\x02\x16",
        "HTTP/9.9 abc\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "HTTP/1.1 200 OK\r\nConte",
        "",
    };
    for (size_t i = 0; i < sizeof garbage / sizeof garbage[0]; i++) {
        fake_server_say(&server, FAKE_ANSWER_CLOSE, garbage[i]);
        crest_status status = put("/", "x", FAKE_SERVER_MS);
        if (status != CREST_IO)
            fail_msg("case %zu: %d %s", i, status, error.message);
        assert_int_equal(error.status, CREST_IO);
    }
    fake_server_say(&server, FAKE_CLOSE_AT_ONCE, "");
    assert_int_equal(put("/", "x", FAKE_SERVER_MS), CREST_IO);
    fake_server_say(&server, FAKE_GREET, "220 mail.example ESMTP\r\n");
    assert_int_equal(put("/", "x", FAKE_SERVER_MS), CREST_IO);
}

static void the_wrong_kind_of_port_is_told(void **state)
{
    (void)state;
    char url[64];
    snprintf(url, sizeof url, "https://127.0.0.1:%u/", server.port);
    fake_server_say(&server, FAKE_GREET, "HTTP/1.1 400 Bad Request\r\n\r\n");
    assert_int_equal(send_to(url, "PUT", "x", 1, FAKE_SERVER_MS), CREST_UNREACHABLE);
    check_says("Does this port speak TLS?");
    assert_int_equal(send_to("file:///etc/hostname", "PUT", "x", 1, FAKE_SERVER_MS), CREST_IO);
    assert_int_equal(send_to("http://[::1/", "PUT", "x", 1, FAKE_SERVER_MS),
                     CREST_INVALID_ARGUMENT);
}

/* As on a machine that has no list of authorities. */
static void missing_authorities_are_told(void **state)
{
    (void)state;
    crest_http_request request = {.kind = "pushgateway", .method = "PUT", .body = "x", .length = 1};
    char url[64];
    snprintf(url, sizeof url, "https://127.0.0.1:%u/", server.port);
    request.url = request.shown = url;
    request.ca_file = "/nonexistent/authorities.pem";
    request.deadline_ns = crest_now() + FAKE_SERVER_MS * MS;
    assert_int_equal(crest_http_send(http, &request, &answer, &error), CREST_UNREACHABLE);
    check_says("ca-certificates");
}

/* What an answer's head says, and headers of the caller's own. */
static void heads_are_read_and_written(void **state)
{
    (void)state;
    static const char *const lines[] = {"X-Team: node", "Authorization: Basic eDp5"};
    crest_http_request request = {.kind = "otlp",
                                  .method = "POST",
                                  .body = "x",
                                  .length = 1,
                                  .headers = lines,
                                  .header_count = 2};
    fake_server_say(&server, FAKE_ANSWER,
                    "HTTP/1.1 429 Slow\r\nRetry-After: 17\r\nContent-Type: text/html\r\n"
                    "Content-Length: 0\r\n\r\n");
    char url[64];
    snprintf(url, sizeof url, "http://127.0.0.1:%u/", server.port);
    request.url = request.shown = url;
    request.deadline_ns = crest_now() + FAKE_SERVER_MS * MS;
    assert_int_equal(crest_http_send(http, &request, &answer, &error), CREST_OK);
    assert_int_equal(answer.retry_after_s, 17);
    assert_string_equal(answer.type, "text/html");
    assert_true(fake_server_got(&server, "\r\nX-Team: node\r\n"));
    assert_true(fake_server_got(&server, "\r\nAuthorization: Basic eDp5\r\n"));
    fake_server_say(&server, FAKE_ANSWER,
                    "HTTP/1.1 503 No\r\nRetry-After: Wed, 21 Oct 2015 07:28:00 GMT\r\n"
                    "Content-Length: 0\r\n\r\n");
    assert_int_equal(crest_http_send(http, &request, &answer, &error), CREST_OK);
    assert_int_equal(answer.retry_after_s, 0);
    assert_string_equal(answer.type, "");
    char said[256], date[64];
    time_t later = time(NULL) + 100;
    struct tm broken;
    strftime(date, sizeof date, "%a, %d %b %Y %H:%M:%S GMT", gmtime_r(&later, &broken));
    snprintf(said, sizeof said, "HTTP/1.1 503 No\r\nRetry-After: %s\r\nContent-Length: 0\r\n\r\n",
             date);
    fake_server_say(&server, FAKE_ANSWER, said);
    assert_int_equal(crest_http_send(http, &request, &answer, &error), CREST_OK);
    assert_in_range(answer.retry_after_s, 40, 100);
}

static void proxies_of_the_environment_are_not_used(void **state)
{
    (void)state;
    setenv("http_proxy", "http://127.0.0.1:1", 1);
    setenv("ALL_PROXY", "http://127.0.0.1:1", 1);
    crest_status status = put("/", "x", FAKE_SERVER_MS);
    unsetenv("http_proxy");
    unsetenv("ALL_PROXY");
    assert_int_equal(status, CREST_OK);
}

static volatile sig_atomic_t signals;

static void count_signal(int number)
{
    (void)number;
    signals++;
}

static void signals_stay_the_hosts(void **state)
{
    (void)state;
    struct sigaction before, count = {.sa_handler = count_signal}, after;
    sigaction(SIGPIPE, &count, &before);
    sigset_t mask_before, mask_after;
    pthread_sigmask(SIG_SETMASK, NULL, &mask_before);
    for (int i = 0; i < 3; i++) {
        fake_server_say(&server, i == 1 ? FAKE_CLOSE_AT_ONCE : FAKE_ANSWER, FAKE_OK);
        put("/", "x", FAKE_SERVER_MS);
    }
    pthread_sigmask(SIG_SETMASK, NULL, &mask_after);
    assert_int_equal(sigismember(&mask_before, SIGPIPE), sigismember(&mask_after, SIGPIPE));
    sigaction(SIGPIPE, &before, &after);
    assert_ptr_equal(after.sa_handler, count_signal);
    assert_int_equal(signals, 0);
    struct sigaction alarm_now;
    sigaction(SIGALRM, NULL, &alarm_now);
    assert_ptr_equal(alarm_now.sa_handler, SIG_DFL);
}

static pthread_t sender;

/* While the request is under way. Returns NULL when it came. */
static void *send_pipe_signal(void *context)
{
    int came = fake_server_await(&server, 1);
    pthread_kill(sender, SIGPIPE);
    crest_http_cancel(http);
    return came ? NULL : context;
}

/* What OpenSSL's writes to a connection that was closed raise on the sending thread ends there. */
static void a_broken_pipe_is_no_signal_of_the_hosts(void **state)
{
    (void)state;
    struct sigaction before, count = {.sa_handler = count_signal};
    sigaction(SIGPIPE, &count, &before);
    signals = 0;
    sender = pthread_self();
    fake_server_say(&server, FAKE_SILENT, "");
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, send_pipe_signal, &server), 0);
    put("/", "x", FAKE_SERVER_MS);
    void *waited_in_vain;
    pthread_join(thread, &waited_in_vain);
    assert_null(waited_in_vain);
    sigaction(SIGPIPE, &before, NULL);
    assert_int_equal(signals, 0);
}

/* The connection that is kept is not handed to what the host executes. */
static void connections_are_not_inherited(void **state)
{
    (void)state;
    assert_int_equal(put("/", "x", FAKE_SERVER_MS), CREST_OK);
    unsigned found = 0;
    for (int fd = 0; fd < 1024; fd++) {
        struct sockaddr_in peer = {.sin_port = 0};
        socklen_t size = sizeof peer;
        if (getpeername(fd, (struct sockaddr *)&peer, &size) != 0 ||
            ntohs(peer.sin_port) != server.port)
            continue;
        found++;
        assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    }
    assert_int_equal(found, 1);
}

int main(void)
{
#define WITH_SERVER(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        WITH_SERVER(what_is_sent_is_what_was_asked),
        WITH_SERVER(large_bodies_go_without_waiting_for_leave),
        WITH_SERVER(the_connection_is_kept_and_made_anew),
        WITH_SERVER(a_connection_that_breaks_while_sending_is_made_anew),
        WITH_SERVER(a_cancelled_request_ends_soon),
        WITH_SERVER(credentials_go_with_one_request),
        WITH_SERVER(a_proxy_is_asked_when_there_is_one),
        WITH_SERVER(answers_of_any_code_are_answers),
        WITH_SERVER(half_a_refusal_is_an_answer),
        WITH_SERVER(redirects_are_not_followed),
        WITH_SERVER(huge_answers_are_cut_off),
        WITH_SERVER(silence_ends_at_the_deadline),
        WITH_SERVER(a_server_that_does_not_read_is_left),
        WITH_SERVER(no_time_means_not_tried),
        WITH_SERVER(a_host_that_swallows_packets_is_given_up_on),
        WITH_SERVER(nobody_there_is_unreachable),
        WITH_SERVER(what_is_not_http_is_told),
        WITH_SERVER(the_wrong_kind_of_port_is_told),
        WITH_SERVER(missing_authorities_are_told),
        WITH_SERVER(heads_are_read_and_written),
        WITH_SERVER(proxies_of_the_environment_are_not_used),
        WITH_SERVER(signals_stay_the_hosts),
        WITH_SERVER(a_broken_pipe_is_no_signal_of_the_hosts),
        WITH_SERVER(connections_are_not_inherited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
