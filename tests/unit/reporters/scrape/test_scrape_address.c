/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Addresses to listen on: which there are, what is said of those that are none, and which of a list
 * is taken.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "scrape/scrape_address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void addresses_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *text, *host;
        unsigned first, last;
    } cases[] = {
        {"9102", "127.0.0.1", 9102, 9102},
        {"0", "127.0.0.1", 0, 0},
        {"65535", "127.0.0.1", 65535, 65535},
        {"10.0.0.7:9102", "10.0.0.7", 9102, 9102},
        {"127.0.0.1:9102-9110", "127.0.0.1", 9102, 9110},
        {"9102-9102", "127.0.0.1", 9102, 9102},
        {"[::1]:9102", "::1", 9102, 9102},
        {"localhost:80", "localhost", 80, 80},
        {"*:9102", "", 9102, 9102},
        {"my-host.example:1-2", "my-host.example", 1, 2},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        const char *list = cases[i].text;
        crest_scrape_address address;
        crest_error error = {0};
        assert_int_equal(crest_scrape_address_next(&list, &address, &error), 1);
        assert_string_equal(address.host, cases[i].host);
        assert_int_equal(address.first, cases[i].first);
        assert_int_equal(address.last, cases[i].last);
        assert_int_equal(crest_scrape_address_next(&list, &address, &error), 0);
        assert_int_equal(crest_scrape_address_check(cases[i].text, &error), CREST_OK);
    }
}

static void a_list_is_read_in_order(void **state)
{
    (void)state;
    const char *list = "  9102 | [::1]:1|10.0.0.1:2-3\t4 ";
    static const unsigned first[] = {9102, 1, 2, 4};
    crest_scrape_address address;
    crest_error error = {0};
    for (size_t i = 0; i < COUNT(first); i++) {
        assert_int_equal(crest_scrape_address_next(&list, &address, &error), 1);
        assert_int_equal(address.first, first[i]);
    }
    assert_int_equal(crest_scrape_address_next(&list, &address, &error), 0);
}

static void what_is_no_address_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"", "there is none"},
        {" | ", "there is none"},
        {":9102", "no host before the colon"},
        {"localhost:", "a port is a number"},
        {"localhost", "a port is a number"},
        {"localhost:http", "a port is a number"},
        {"127.0.0.1:65536", "a port is a number"},
        {"127.0.0.1:99999999999999999999", "a port is a number"},
        {"127.0.0.1:-1", "a port is a number"},
        {"9110-9102", "a range of ports"},
        {"0-9", "a range of ports"},
        {"9102-", "a range of ports"},
        {"9102-70000", "a range of ports"},
        {"9102x", "something follows the port"},
        {"9102-9103x", "something follows the port"},
        {"http://127.0.0.1:9102", "it is a URL; leave out the scheme and the path"},
        {"http://[::1]:9102/metrics", "it is a URL; leave out the scheme and the path"},
        {"::1:9102", "an IPv6 address is written in brackets"},
        {"9102 127.0.0.1:x", "a port is a number"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        crest_error error = {0};
        assert_int_equal(crest_scrape_address_check(cases[i].text, &error), CREST_INVALID_ARGUMENT);
        if (strstr(error.message, cases[i].says) == NULL ||
            strstr(error.message, "HOST:FIRST-LAST") == NULL)
            fail_msg("%s: %s", cases[i].text, error.message);
    }
    char text[CREST_PROMETHEUS_LISTEN_BYTES_MAX + 2];
    crest_error error = {0};
    memset(text, '1', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    assert_int_equal(crest_scrape_address_check(text, &error), CREST_INVALID_ARGUMENT);
    assert_non_null(strstr(error.message, "longer than"));
    memset(text, 'h', 300);
    strcpy(text + 300, ":1");
    assert_int_equal(crest_scrape_address_check(text, &error), CREST_INVALID_ARGUMENT);
    assert_non_null(strstr(error.message, "name is too long"));
}

/* ---- listening ---- */

static crest_scrape_listener take(const char *list)
{
    crest_scrape_listener listener = {.socket = -1};
    crest_error error = {0};
    if (crest_scrape_address_listen(list, &listener, &error) != CREST_OK)
        fail_msg("%s: %s", list, error.message);
    return listener;
}

static void a_free_port_is_found_and_told(void **state)
{
    (void)state;
    crest_scrape_listener listener = take("0");
    char shown[64];
    snprintf(shown, sizeof shown, "127.0.0.1:%u", listener.port);
    assert_string_equal(listener.shown, shown);
    assert_true(listener.port > 0);
    assert_true(fcntl(listener.socket, F_GETFD) & FD_CLOEXEC);
    assert_true(fcntl(listener.socket, F_GETFL) & O_NONBLOCK);
    struct sockaddr_in own;
    socklen_t size = sizeof own;
    assert_int_equal(getsockname(listener.socket, (struct sockaddr *)&own, &size), 0);
    assert_int_equal(own.sin_addr.s_addr, htonl(INADDR_LOOPBACK));
    close(listener.socket);
}

static void the_first_free_one_is_taken(void **state)
{
    (void)state;
    crest_scrape_listener taken = take("0");
    char list[128];
    snprintf(list, sizeof list, "127.0.0.1:%u|127.0.0.1:0", taken.port);
    crest_scrape_listener second = take(list);
    assert_int_not_equal(second.port, taken.port);
    unsigned last = taken.port + 20 < 65536 ? taken.port + 20 : 65535;
    snprintf(list, sizeof list, "%u-%u 0", taken.port, last);
    crest_scrape_listener third = take(list);
    assert_int_not_equal(third.port, taken.port);
    close(taken.socket);
    close(second.socket);
    close(third.socket);
}

static void a_port_in_use_is_explained(void **state)
{
    (void)state;
    crest_scrape_listener taken = take("0"), none;
    char list[64], says[128];
    crest_error error = {0};
    snprintf(list, sizeof list, "%u", taken.port);
    snprintf(says, sizeof says, "on 127.0.0.1:%u: Address already in use. Another program",
             taken.port);
    assert_int_equal(crest_scrape_address_listen(list, &none, &error), CREST_UNREACHABLE);
    if (strstr(error.message, says) == NULL || strstr(error.message, "ss -ltnp") == NULL)
        fail_msg("%s", error.message);
    snprintf(list, sizeof list, "%u|127.0.0.1:%u", taken.port, taken.port);
    assert_int_equal(crest_scrape_address_listen(list, &none, &error), CREST_UNREACHABLE);
    assert_non_null(strstr(error.message, "the first of 2 that were tried"));
    close(taken.socket);
}

static void other_failures_are_explained(void **state)
{
    (void)state;
    static const struct {
        const char *list, *says;
    } cases[] = {
        {"203.0.113.1:9102", "No interface of this machine has that address"},
        {"no-such-host.invalid:9102", "The host \"no-such-host.invalid\""},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        crest_scrape_listener none;
        crest_error error = {0};
        assert_int_equal(crest_scrape_address_listen(cases[i].list, &none, &error),
                         CREST_UNREACHABLE);
        if (strstr(error.message, cases[i].says) == NULL)
            fail_msg("%s: %s", cases[i].list, error.message);
    }
    crest_scrape_listener none;
    crest_error error = {0};
    assert_int_equal(crest_scrape_address_listen("x", &none, &error), CREST_INVALID_ARGUMENT);
}

static void ipv6_is_shown_in_brackets(void **state)
{
    (void)state;
    crest_scrape_listener listener;
    crest_error error = {0};
    if (crest_scrape_address_listen("[::1]:0", &listener, &error) != CREST_OK) {
        print_message("this machine has no IPv6: %s\n", error.message);
        skip();
    }
    char shown[64];
    snprintf(shown, sizeof shown, "[::1]:%u", listener.port);
    assert_string_equal(listener.shown, shown);
    close(listener.socket);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_are_read),
        cmocka_unit_test(a_list_is_read_in_order),
        cmocka_unit_test(what_is_no_address_is_refused),
        cmocka_unit_test(a_free_port_is_found_and_told),
        cmocka_unit_test(the_first_free_one_is_taken),
        cmocka_unit_test(a_port_in_use_is_explained),
        cmocka_unit_test(other_failures_are_explained),
        cmocka_unit_test(ipv6_is_shown_in_brackets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
