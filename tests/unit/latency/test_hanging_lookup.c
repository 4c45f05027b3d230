/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reporters while name servers hang: reports end at their deadlines, one look-up at a time is under
 * way for a StatsD reporter however many reports there are, and its answer is taken when it comes.
 */
#include "support/push_fixture.h"

#include <crest/statsd.h>
#include <dlfcn.h>
#include <netdb.h>

#define LOOKUP_MS UINT64_C(1000000)
#define NAME "metrics.hanging.example"
/* Of reports that must not wait for the look-up. */
#define LATE_MS 30
#define REPORTS 20
/* What nothing takes on a machine that works, unless it waits for a look-up. */
#define PATIENCE_MS 60000

static unsigned asked, answered, going_on; /* by __atomic */

typedef int lookup_function(const char *, const char *, const struct addrinfo *,
                            struct addrinfo **);

/* Comes before the C library's. Hangs, for the one name, until the test lets it go on; then it is
 * the loopback interface. */
int getaddrinfo(const char *host, const char *port, const struct addrinfo *hints,
                struct addrinfo **result)
{
    lookup_function *real = (lookup_function *)dlsym(RTLD_NEXT, "getaddrinfo");
    if (host == NULL || strcmp(host, NAME) != 0 || (hints->ai_flags & AI_NUMERICHOST))
        return real(host, port, hints, result);
    __atomic_add_fetch(&asked, 1, __ATOMIC_SEQ_CST);
    while (!__atomic_load_n(&going_on, __ATOMIC_SEQ_CST))
        usleep(1000);
    int answer = real("127.0.0.1", port, hints, result);
    __atomic_add_fetch(&answered, 1, __ATOMIC_SEQ_CST);
    return answer;
}

static void go_on(void)
{
    __atomic_store_n(&going_on, 1, __ATOMIC_SEQ_CST);
    for (int i = 0; i < PATIENCE_MS; i++) {
        if (__atomic_load_n(&answered, __ATOMIC_SEQ_CST) ==
            __atomic_load_n(&asked, __ATOMIC_SEQ_CST))
            break;
        usleep(1000);
    }
    assert_int_equal(answered, asked);
}

static void hang(void)
{
    asked = answered = 0;
    __atomic_store_n(&going_on, 0, __ATOMIC_SEQ_CST);
}

static crest_status report_to(crest_reporter *reporter, uint64_t deadline_ms)
{
    crest_snapshot *snapshot = crest_snapshot_take(registry);
    crest_report report = {.snapshot = snapshot,
                           .resource = &resource,
                           .deadline_ns = crest_now() + deadline_ms * LOOKUP_MS};
    crest_status status = reporter->report(reporter, &report, &error);
    crest_snapshot_free(snapshot);
    return status;
}

static void statsd_asks_once(void **state)
{
    (void)state;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int receiver = socket(AF_INET, SOCK_DGRAM, 0);
    char url[64], packet[2048];
    assert_int_equal(bind(receiver, (struct sockaddr *)&address, size), 0);
    assert_int_equal(getsockname(receiver, (struct sockaddr *)&address, &size), 0);
    snprintf(url, sizeof url, "udp://" NAME ":%u", ntohs(address.sin_port));
    crest_reporter *statsd = crest_statsd_new(&(crest_statsd_options){.url = url}, &error);
    assert_non_null(statsd);
    hang();
    for (int i = 0; i < REPORTS; i++) {
        assert_int_equal(report_to(statsd, LATE_MS), CREST_TIMED_OUT);
        assert_non_null(strstr(error.message, NAME));
    }
    assert_int_equal(__atomic_load_n(&asked, __ATOMIC_SEQ_CST), 1);
    go_on();
    assert_int_equal(report_to(statsd, PATIENCE_MS), CREST_OK);
    assert_int_equal(asked, 1);
    ssize_t got = recv(receiver, packet, sizeof packet - 1, MSG_DONTWAIT);
    assert_true(got > 0);
    packet[got] = '\0';
    assert_non_null(strstr(packet, "push.things-done:3|c"));
    crest_reporter_free(statsd);
    close(receiver);
}

/* A reporter that goes leaves the look-up to its thread. */
static void statsd_goes_while_it_asks(void **state)
{
    (void)state;
    crest_reporter *statsd =
        crest_statsd_new(&(crest_statsd_options){.url = "udp://" NAME ":8125"}, &error);
    hang();
    assert_int_equal(report_to(statsd, LATE_MS), CREST_TIMED_OUT);
    crest_reporter_free(statsd);
    assert_int_equal(__atomic_load_n(&answered, __ATOMIC_SEQ_CST), 0);
    go_on();
    assert_int_equal(asked, 1);
}

static void a_push_is_over_at_its_deadline(void **state)
{
    (void)state;
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
    char url[64];
    snprintf(url, sizeof url, "http://" NAME ":%u", server.port);
    crest_reporter *push = crest_pushgateway_new(&(crest_pushgateway_options){.url = url}, &error);
    assert_non_null(push);
    hang();
    for (int i = 0; i < 3; i++) {
        assert_int_equal(report_to(push, 300), CREST_TIMED_OUT);
        assert_non_null(strstr(error.message, "looking up"));
    }
    /* each came back while its name was still being looked up */
    assert_int_equal(__atomic_load_n(&answered, __ATOMIC_SEQ_CST), 0);
    assert_true(__atomic_load_n(&asked, __ATOMIC_SEQ_CST) >= 1);
    go_on();
    fake_server_say(&server, FAKE_ANSWER, FAKE_OK);
    assert_int_equal(report_to(push, PATIENCE_MS), CREST_OK);
    crest_reporter_free(push);
#else
    print_message("the sanitizers put a getaddrinfo of their own in front of the test's\n");
    skip();
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(statsd_asks_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(statsd_goes_while_it_asks, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_push_is_over_at_its_deadline, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("hanging_lookup", tests, NULL, NULL);
}
