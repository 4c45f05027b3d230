/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is said of requests that fail, by what libcurl and OpenSSL say of them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "http/http_explain.h"

/* libcurl's numbers, which are the same for ever; its header is for reporters only. */
enum {
    EXPLAIN_URL_MALFORMAT = 3,
    EXPLAIN_COULDNT_RESOLVE_PROXY = 5,
    EXPLAIN_COULDNT_RESOLVE_HOST = 6,
    EXPLAIN_COULDNT_CONNECT = 7,
    EXPLAIN_WEIRD_SERVER_REPLY = 8,
    EXPLAIN_OUT_OF_MEMORY = 27,
    EXPLAIN_OPERATION_TIMEDOUT = 28,
    EXPLAIN_SSL_CONNECT_ERROR = 35,
    EXPLAIN_ABORTED_BY_CALLBACK = 42,
    EXPLAIN_GOT_NOTHING = 52,
    EXPLAIN_RECV_ERROR = 56,
    EXPLAIN_SSL_CERTPROBLEM = 58,
    EXPLAIN_PEER_FAILED_VERIFICATION = 60,
    EXPLAIN_SSL_CACERT_BADFILE = 77,
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void check(const crest_http_request *request, const crest_http_failure *failure,
                  crest_status wanted, const char *says)
{
    crest_error error;
    crest_status status = crest_http_explain(request, failure, &error);
    if (status != wanted || error.status != wanted)
        fail_msg("%s: %s", crest_status_text(status), error.message);
    if (strstr(error.message, says) == NULL)
        fail_msg("\"%s\" is not in: %s", says, error.message);
    if (strncmp(error.message, "PUT SHOWN", 9) != 0)
        fail_msg("it does not begin with what was tried: %s", error.message);
}

static void failures_say_what_to_do(void **state)
{
    (void)state;
    static const struct {
        int code;
        const char *words;
        crest_status status;
        const char *says;
    } cases[] = {
        {EXPLAIN_PEER_FAILED_VERIFICATION, "SSL certificate problem: certificate has expired",
         CREST_UNREACHABLE, "certificate renewed"},
        {EXPLAIN_PEER_FAILED_VERIFICATION, "SSL certificate problem: certificate is not yet valid",
         CREST_UNREACHABLE, "clock wrong"},
        {EXPLAIN_PEER_FAILED_VERIFICATION,
         "SSL: no alternative certificate subject name matches target host name '127.0.0.1'",
         CREST_UNREACHABLE, "another name"},
        {EXPLAIN_PEER_FAILED_VERIFICATION,
         "SSL certificate problem: unable to get local issuer certificate", CREST_UNREACHABLE,
         "pushgateway.ca-file"},
        {EXPLAIN_SSL_CACERT_BADFILE, "error setting certificate file: /x", CREST_UNREACHABLE,
         "ca-certificates"},
        {EXPLAIN_SSL_CERTPROBLEM, "unable to set private key file: '/k' type PEM",
         CREST_UNREACHABLE, "pushgateway.key-password-file"},
        {EXPLAIN_SSL_CONNECT_ERROR, "error:0A00010B:SSL routines::wrong version number",
         CREST_UNREACHABLE, "use http://"},
        {EXPLAIN_SSL_CONNECT_ERROR,
         "error:14094412:SSL routines:ssl3_read_bytes:sslv3 alert bad certificate",
         CREST_UNREACHABLE, "The server wants a certificate of ours"},
        {EXPLAIN_RECV_ERROR,
         "OpenSSL SSL_read: error:0A00045C:SSL routines::tlsv13 alert certificate required, errno "
         "0",
         CREST_UNREACHABLE, "The server wants a certificate of ours"},
        {EXPLAIN_RECV_ERROR,
         "OpenSSL SSL_read: error:0A000418:SSL routines::tlsv1 alert unknown ca", CREST_UNREACHABLE,
         "The server wants a certificate of ours"},
        {EXPLAIN_RECV_ERROR, "Connection reset by peer", CREST_IO, "pushgateway.cert-file"},
        {EXPLAIN_COULDNT_CONNECT, "Connection refused", CREST_UNREACHABLE, "Is it running"},
        {EXPLAIN_COULDNT_RESOLVE_HOST, "Could not resolve host: h", CREST_UNREACHABLE,
         "does it resolve here?"},
        {EXPLAIN_OUT_OF_MEMORY, "Out of memory", CREST_NO_MEMORY, "no memory"},
        {EXPLAIN_URL_MALFORMAT, "bad", CREST_INVALID_ARGUMENT, "Check the URL"},
        {EXPLAIN_WEIRD_SERVER_REPLY, "Weird", CREST_IO, "does not speak HTTP as it should"},
        {EXPLAIN_GOT_NOTHING, "Empty reply\x1b[2J from\nserver", CREST_IO, "Empty reply [2J from"},
    };
    const crest_http_request request = {
        .kind = "pushgateway", .method = "PUT", .url = "https://h", .shown = "SHOWN"};
    for (size_t i = 0; i < COUNT(cases); i++) {
        const crest_http_failure failure = {.code = cases[i].code, .words = cases[i].words};
        check(&request, &failure, cases[i].status, cases[i].says);
    }
    const crest_http_request plain = {
        .kind = "pushgateway", .method = "PUT", .url = "http://h", .shown = "SHOWN"};
    const crest_http_failure broken = {.code = EXPLAIN_RECV_ERROR, .words = "Connection reset"};
    check(&plain, &broken, CREST_IO, "A server that wants https://");
    const crest_http_failure silent = {.code = EXPLAIN_GOT_NOTHING, .words = "Empty reply"};
    check(&plain, &silent, CREST_IO, "another group has with another type");
}

static void timeouts_say_how_far_it_was(void **state)
{
    (void)state;
    const crest_http_request request = {.kind = "pushgateway",
                                        .method = "PUT",
                                        .url = "https://h",
                                        .shown = "SHOWN",
                                        .body = "12345",
                                        .length = 5};
    static const struct {
        unsigned steps;
        size_t sent;
        const char *says;
    } cases[] = {
        {0, 0, "still looking up the host's name"},
        {1, 0, "still connecting"},
        {2, 0, "still agreeing on TLS"},
        {3, 4, "still sending"},
        {3, 5, "still waiting for the answer"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        const crest_http_failure failure = {.code = EXPLAIN_OPERATION_TIMEDOUT,
                                            .words = "",
                                            .waited_ns = UINT64_C(1234567890),
                                            .steps_done = cases[i].steps,
                                            .sent = cases[i].sent};
        check(&request, &failure, CREST_TIMED_OUT, "not done after 1.234 s");
        check(&request, &failure, CREST_TIMED_OUT, cases[i].says);
    }
}

static void who_broke_it_off_is_told(void **state)
{
    (void)state;
    const crest_http_request request = {
        .kind = "pushgateway", .method = "PUT", .url = "http://h", .shown = "SHOWN"};
    crest_http_failure failure = {.code = EXPLAIN_ABORTED_BY_CALLBACK, .words = "", .cancelled = 1};
    check(&request, &failure, CREST_TIMED_OUT, "The reporter is being stopped");
    failure.cancelled = 0;
    check(&request, &failure, CREST_TIMED_OUT, "The process is ending");
    /* a report that is late is cancelled at the moment that it times out */
    failure.cancelled = failure.late = 1;
    check(&request, &failure, CREST_TIMED_OUT, "looking up the host's name");
}

static void proxies_are_named(void **state)
{
    (void)state;
    const crest_http_request request = {.kind = "pushgateway",
                                        .method = "PUT",
                                        .url = "https://h",
                                        .shown = "SHOWN",
                                        .proxy = "http://u:secret@p:1",
                                        .proxy_shown = "http://***@p:1"};
    crest_http_failure failure = {.code = EXPLAIN_RECV_ERROR, .words = "CONNECT tunnel failed"};
    check(&request, &failure, CREST_IO, "PUT SHOWN through the proxy http://***@p:1: ");
    failure.proxy_code = 200;
    check(&request, &failure, CREST_IO, "CONNECT tunnel failed");
    failure.proxy_code = 407;
    check(&request, &failure, CREST_REFUSED, "the proxy http://***@p:1 answered with code 407");
    failure.proxy_code = 504;
    check(&request, &failure, CREST_UNREACHABLE, "could not reach the server itself");
    failure.proxy_code = 0;
    failure.code = EXPLAIN_COULDNT_CONNECT;
    check(&request, &failure, CREST_UNREACHABLE, "Is the proxy running");
    failure.code = EXPLAIN_COULDNT_RESOLVE_PROXY;
    check(&request, &failure, CREST_UNREACHABLE, "Is the proxy's name right");
    failure.code = EXPLAIN_OPERATION_TIMEDOUT;
    check(&request, &failure, CREST_TIMED_OUT, "SHOWN through the proxy http://***@p:1: not done");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failures_say_what_to_do),
        cmocka_unit_test(timeouts_say_how_far_it_was),
        cmocka_unit_test(who_broke_it_off_is_told),
        cmocka_unit_test(proxies_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
