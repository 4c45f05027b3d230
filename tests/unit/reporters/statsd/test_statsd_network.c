/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The StatsD reporter over a network of our own: names that move, addresses that refuse, packets
 * that are refused when the next one is sent, and the pace. Comes before the C library's
 * getaddrinfo, send, getsockopt and ppoll; what is waited for moves the clock on, at once.
 */
#define _GNU_SOURCE
#include "common/host_lookup.h"
#include "common/packet_socket.h"
#include "kinds.h"
#include "run/options.h"
#include "support/statsd_fixture.h"

#include <arpa/inet.h>
#include <crest/crest.h>
#include <crest/statsd.h>
#include <crest/testing.h>
#include <dlfcn.h>
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECOND UINT64_C(1000000000)
#define MS UINT64_C(1000000)
#define NAME "statsd.moving.example"
#define URL "udp://" NAME ":9"
/* What nothing takes on a machine that works. */
#define PATIENCE_MS 60000
/* Each is a packet of its own. */
#define COUNTERS 40u
#define ADDRESSES 12u

typedef enum refusal { OPEN, CLOSED, CLOSED_FAR } refusal;

/* Addresses are 127.0.0.N, N from 1. */
static struct network {
    unsigned answers[ADDRESSES], answer_count; /* of a look-up */
    int failure;                               /* of a look-up; 0: none */
    unsigned asked, hanging;                   /* by __atomic */
    refusal ports[ADDRESSES + 1];
    uint64_t totals[ADDRESSES + 1][COUNTERS];
    unsigned packets[ADDRESSES + 1];
    int refused_fd;           /* whose next look at it says so; -1: none */
    unsigned fail_at, faults; /* the packet, from 1, and how many fail in a row */
    int fail_with;
    unsigned last_to, last_counter; /* the packet before this one */
    uint64_t last_amount;
} network;

static void *real(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

typedef int lookup_function(const char *, const char *, const struct addrinfo *,
                            struct addrinfo **);

/* One address after the other, in a list as the C library makes it. */
int getaddrinfo(const char *host, const char *port, const struct addrinfo *hints,
                struct addrinfo **result)
{
    lookup_function *look_up = (lookup_function *)real("getaddrinfo");
    if (host == NULL || strcmp(host, NAME) != 0 || (hints->ai_flags & AI_NUMERICHOST))
        return look_up(host, port, hints, result);
    __atomic_add_fetch(&network.asked, 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&network.hanging, __ATOMIC_SEQ_CST))
        usleep(1000);
    *result = NULL;
    for (unsigned i = 0; i < network.answer_count && network.failure == 0; i++) {
        char address[32];
        snprintf(address, sizeof address, "127.0.0.%u", network.answers[i]);
        int answer = look_up(address, port, hints, result);
        if (answer != 0)
            return answer;
        while (*result != NULL)
            result = &(*result)->ai_next;
    }
    return network.failure;
}

typedef ssize_t send_function(int, const void *, size_t, int);

/* A packet of one counter arrives, or is refused: at once, at the next packet, or never at the
 * probe that a connection begins with. */
ssize_t send(int fd, const void *bytes, size_t length, int flags)
{
    struct sockaddr_in peer;
    socklen_t size = sizeof peer;
    if (getpeername(fd, (struct sockaddr *)&peer, &size) != 0 || peer.sin_family != AF_INET)
        return ((send_function *)real("send"))(fd, bytes, length, flags);
    unsigned to = ntohl(peer.sin_addr.s_addr) & 0xff, counter = 0;
    unsigned long long amount = 0;
    if (network.fail_at != 0 && --network.fail_at == 0) {
        if (network.fail_with == ECONNREFUSED && network.last_to != 0)
            network.totals[network.last_to][network.last_counter] -= network.last_amount;
        network.fail_at = --network.faults != 0;
        errno = network.fail_with;
        return -1;
    }
    int probe = length == 1;
    if (network.ports[to] == CLOSED || (network.ports[to] == CLOSED_FAR && !probe))
        network.refused_fd = fd;
    if (probe)
        return 1;
    network.packets[to]++;
    char line[256];
    assert_in_range(length, 1, sizeof line - 1);
    memcpy(line, bytes, length);
    line[length] = '\0';
    assert_int_equal(sscanf(line, "n%u.%*[0]:%llu|c", &counter, &amount), 2);
    if (network.ports[to] == OPEN)
        network.totals[to][counter] += amount;
    network.last_to = to;
    network.last_counter = counter;
    network.last_amount = amount;
    return (ssize_t)length;
}

typedef int option_function(int, int, int, void *, socklen_t *);

int getsockopt(int fd, int level, int name, void *value, socklen_t *size)
{
    if (level != SOL_SOCKET || name != SO_ERROR || fd != network.refused_fd)
        return ((option_function *)real("getsockopt"))(fd, level, name, value, size);
    memcpy(value, &(int){ECONNREFUSED}, sizeof(int));
    network.refused_fd = -1;
    return 0;
}

/* Look-ups are waited for; what else nothing happens in is over at once. */
int ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask)
{
    (void)mask;
    /* what is asked for stands there already, whatever the C library's declaration says */
    struct pollfd *volatile asked_for = fds;
    if (count > 1 && asked_for[1].fd >= 0 && (asked_for[1].events & POLLIN))
        return poll(fds, count, PATIENCE_MS);
    int ready = poll(fds, count, 0);
    if (ready == 0)
        crest_testing_clock_advance((uint64_t)timeout->tv_sec * SECOND +
                                    (uint64_t)timeout->tv_nsec);
    return ready;
}

/* ---- a reporter and its counters ---- */

static crest_registry *registry;
static crest_counter *counters[COUNTERS];
static crest_reporter *reporter;
static crest_error error;

static int set_up(void **state)
{
    (void)state;
    network = (struct network){.answers = {1}, .answer_count = 1, .refused_fd = -1};
    crest_testing_clock_set(1000 * SECOND);
    registry = crest_registry_new(NULL);
    for (unsigned i = 0; i < COUNTERS; i++) {
        char name[128];
        snprintf(name, sizeof name, "n%u.%040d", i, 0);
        counters[i] = crest_counter_get(registry, &(crest_metric_options){.name = name}, NULL);
    }
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    crest_reporter_free(reporter);
    reporter = NULL;
    crest_registry_free(registry);
    crest_testing_clock_real();
    return 0;
}

static void reporter_new(unsigned rate)
{
    crest_statsd_options options = {.url = URL, .rate = rate, .packet_bytes = 64};
    memset(network.totals, 0, sizeof network.totals);
    reporter = crest_statsd_new(&options, &error);
    assert_non_null(reporter);
}

static void add(void)
{
    for (unsigned i = 0; i < COUNTERS; i++)
        crest_counter_add(counters[i], i + 1);
}

static crest_status report_for(uint64_t ns)
{
    crest_resource resource = {.service = "", .version = "", .instance = ""};
    crest_snapshot *snapshot = crest_snapshot_take(registry);
    crest_report report = {
        .snapshot = snapshot, .resource = &resource, .deadline_ns = crest_now() + ns};
    crest_status status = reporter->report(reporter, &report, &error);
    crest_snapshot_free(snapshot);
    return status;
}

static crest_status report(void)
{
    return report_for(300 * SECOND);
}

static unsigned asked(void)
{
    return __atomic_load_n(&network.asked, __ATOMIC_SEQ_CST);
}

static void totals_are_exact(void)
{
    for (unsigned i = 0; i < COUNTERS; i++) {
        uint64_t sum = 0;
        for (unsigned to = 0; to <= ADDRESSES; to++)
            sum += network.totals[to][i];
        assert_int_equal(sum, crest_counter_value(counters[i]));
    }
}

/* ---- names ---- */

static void a_server_that_moves_is_found(void **state)
{
    (void)state;
    reporter_new(CREST_STATSD_RATE_MAX + 1);
    add();
    assert_int_equal(report(), CREST_OK);
    assert_int_equal(network.packets[1], COUNTERS);
    network.answers[0] = 2;
    add();
    crest_testing_clock_advance((CREST_PACKET_RESOLVE_S - 1) * SECOND);
    assert_int_equal(report(), CREST_OK);
    assert_int_equal(asked(), 1);
    assert_int_equal(network.packets[1], 2 * COUNTERS);
    add();
    crest_testing_clock_advance(SECOND);
    assert_int_equal(report(), CREST_OK);
    assert_int_equal(asked(), 2);
    assert_int_equal(network.packets[1], 2 * COUNTERS);
    assert_int_equal(network.packets[2], COUNTERS);
    totals_are_exact();
}

/* The address that served goes on being used while name servers do not answer; they are asked
 * again with each report. */
static void a_name_that_is_lost_keeps_its_address(void **state)
{
    (void)state;
    reporter_new(CREST_STATSD_RATE_MAX + 1);
    add();
    assert_int_equal(report(), CREST_OK);
    crest_testing_clock_advance((CREST_PACKET_RESOLVE_S + 1) * SECOND);
    network.failure = EAI_AGAIN;
    for (unsigned i = 0; i < 3; i++) {
        add();
        assert_int_equal(report(), CREST_OK);
        assert_int_equal(asked(), 2 + i);
    }
    assert_int_equal(network.packets[1], 4 * COUNTERS);
    network.failure = 0;
    add();
    assert_int_equal(report(), CREST_OK);
    assert_int_equal(report(), CREST_OK);
    assert_int_equal(asked(), 5);
    totals_are_exact();
}

static void a_name_that_was_never_found_is_told(void **state)
{
    (void)state;
    reporter_new(CREST_STATSD_RATE_MAX + 1);
    network.failure = EAI_FAIL;
    add();
    assert_int_equal(report(), CREST_UNREACHABLE);
    assert_non_null(strstr(error.message, NAME));
    assert_non_null(strstr(error.message, gai_strerror(EAI_FAIL)));
    network.failure = 0;
    assert_int_equal(report(), CREST_OK);
    totals_are_exact();
}

/* ---- addresses ---- */

static void of_two_addresses_the_open_one_is_found(void **state)
{
    (void)state;
    network.answers[1] = 2;
    network.answer_count = 2;
    network.ports[1] = CLOSED;
    reporter_new(CREST_STATSD_RATE_MAX + 1);
    add();
    assert_int_equal(report(), CREST_OK);
    assert_int_equal(network.packets[1], 0);
    totals_are_exact();
    network.ports[1] = OPEN;
    network.ports[2] = CLOSED;
    add();
    assert_int_equal(report(), CREST_UNREACHABLE);
    assert_non_null(strstr(error.message, URL));
    assert_int_equal(report(), CREST_OK);
    assert_int_equal(network.packets[1], COUNTERS);
    totals_are_exact();
}

/* From afar the refusal comes after the probe: the other address is tried with the next report. */
static void an_address_that_refuses_is_left(void **state)
{
    (void)state;
    network.answers[1] = 2;
    network.answer_count = 2;
    network.ports[1] = CLOSED_FAR;
    reporter_new(CREST_STATSD_RATE_MAX + 1);
    add();
    assert_int_equal(report(), CREST_UNREACHABLE);
    assert_int_equal(report(), CREST_OK);
    assert_int_equal(network.packets[1], 1);
    totals_are_exact();
    /* all closed: that is said, and nothing lost */
    network.ports[1] = network.ports[2] = CLOSED;
    add();
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(report(), CREST_UNREACHABLE);
    network.ports[1] = OPEN;
    for (unsigned tries = 0; report() != CREST_OK; tries++)
        assert_true(tries < 2);
    totals_are_exact();
}

/* ---- packets ---- */

/* Whichever packet it is: the report fails, and the next one makes good what is missing, only that.
 * A refusal is of the packet before; any other failure is of this one. */
static void a_packet_that_fails_is_sent_again(void **state)
{
    (void)state;
    static const struct {
        int failure;
        crest_status status;
        unsigned lost; /* packets of those before */
    } cases[] = {{ECONNREFUSED, CREST_UNREACHABLE, 1},
                 {ENETUNREACH, CREST_UNREACHABLE, 0},
                 {EMSGSIZE, CREST_IO, 0},
                 {EIO, CREST_IO, 0}};
    reporter_new(CREST_STATSD_RATE_MAX + 1);
    for (size_t i = 0; i < LENGTH(cases); i++)
        for (unsigned at = 1; at <= COUNTERS; at++) {
            network.last_to = 0;
            network.packets[1] = 0;
            network.fail_at = at;
            network.faults = 1;
            network.fail_with = cases[i].failure;
            add();
            assert_int_equal(report(), cases[i].status);
            assert_int_equal(network.packets[1], at - 1);
            assert_int_equal(report(), CREST_OK);
            totals_are_exact();
            if (cases[i].lost == 0)
                assert_int_equal(network.packets[1], COUNTERS);
        }
}

/* Devices whose queue is full say so, and not when there is room. */
static void a_full_queue_is_waited_for(void **state)
{
    (void)state;
    reporter_new(CREST_STATSD_RATE_MAX + 1);
    network.fail_at = 7;
    network.faults = 5;
    network.fail_with = ENOBUFS;
    add();
    assert_int_equal(report(), CREST_OK);
    assert_int_equal(network.faults, 0);
    totals_are_exact();
    network.fail_at = 3;
    network.faults = 1000;
    add();
    uint64_t start_ns = crest_now();
    assert_int_equal(report_for(100 * MS), CREST_TIMED_OUT);
    assert_in_range(crest_now() - start_ns, 90 * MS, 100 * MS);
    network.fail_at = network.faults = 0;
    assert_int_equal(report(), CREST_OK);
    totals_are_exact();
}

/* ---- the pace ---- */

/* What a report of all counters took. */
static uint64_t report_ns(void)
{
    add();
    uint64_t start_ns = crest_now();
    assert_int_equal(report(), CREST_OK);
    totals_are_exact();
    return crest_now() - start_ns;
}

static void packets_keep_the_pace(void **state)
{
    (void)state;
    static const struct {
        unsigned rate, packets_a_second;
    } cases[] = {{10, 10}, {1000, 1000}, {0, CREST_STATSD_RATE_DEFAULT}};
    const uint64_t doubt_ns = CREST_PACKET_DOUBT_MS * MS;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        uint64_t gap_ns = SECOND / cases[i].packets_a_second;
        reporter_new(cases[i].rate);
        /* the first ones may go at once */
        assert_int_equal(report_ns(), (COUNTERS - 1 - CREST_PACKET_BURST) * gap_ns + doubt_ns);
        /* and after a while again */
        crest_testing_clock_advance(30 * SECOND);
        assert_int_equal(report_ns(), (COUNTERS - 1 - CREST_PACKET_BURST) * gap_ns + doubt_ns);
        crest_reporter_free(reporter);
    }
    reporter_new(CREST_STATSD_RATE_MAX + 1);
    assert_int_equal(report_ns(), doubt_ns);
}

/* It is not waited for what comes after the deadline anyway, and what went before it has arrived:
 * the next report does not say it once more. */
static void a_pace_that_is_too_slow_is_told(void **state)
{
    (void)state;
    reporter_new(1);
    add();
    uint64_t start_ns = crest_now();
    assert_int_equal(report_for(5 * SECOND), CREST_TIMED_OUT);
    assert_in_range(crest_now() - start_ns, 4 * SECOND, 5 * SECOND);
    assert_non_null(strstr(error.message, "statsd.rate"));
    assert_in_range(network.packets[1], CREST_PACKET_BURST, CREST_PACKET_BURST + 6);
    assert_int_equal(report(), CREST_OK);
    assert_int_equal(network.packets[1], COUNTERS);
    totals_are_exact();
}

static void options_set_the_pace(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t gap_ns;
    } cases[] = {{"statsd.rate=20,statsd.packet=64", SECOND / 20},
                 {"statsd.packet=64", SECOND / CREST_STATSD_RATE_DEFAULT},
                 {"statsd.rate=off,statsd.packet=64", 0}};
    for (size_t i = 0; i < LENGTH(cases); i++) {
        crest_resource resource = {.service = "", .version = "", .instance = ""};
        crest_options *options = crest_options_new();
        assert_int_equal(crest_options_add(options, cases[i].text, "in a test", &error), CREST_OK);
        memset(network.totals, 0, sizeof network.totals);
        reporter = crest_statsd_kind.create(URL, options, &resource, &error);
        assert_non_null(reporter);
        assert_int_equal(report_ns(), (COUNTERS - 1 - CREST_PACKET_BURST) * cases[i].gap_ns +
                                          CREST_PACKET_DOUBT_MS * MS);
        crest_reporter_free(reporter);
        reporter = NULL;
        crest_options_free(options);
    }
}

/* ---- look-ups ---- */

static crest_status resolve(const char *host, const char *port, int cancel_fd,
                            crest_host_lookup **pending, crest_host_addresses *found)
{
    memset(&error, 0, sizeof error);
    return crest_host_resolve("StatsD server", host, port, SOCK_DGRAM, crest_now() + 60 * SECOND,
                              cancel_fd, pending, found, &error);
}

static void numeric_hosts_are_not_looked_up(void **state)
{
    (void)state;
    crest_host_addresses found;
    crest_host_lookup *pending = NULL;
    assert_int_equal(resolve("127.0.0.7", "8125", -1, &pending, &found), CREST_OK);
    assert_int_equal(found.count, 1);
    const struct sockaddr_in *v4 = (const struct sockaddr_in *)&found.list[0].bytes;
    assert_int_equal(found.list[0].length, sizeof *v4);
    assert_int_equal(ntohl(v4->sin_addr.s_addr), INADDR_LOOPBACK + 6);
    assert_int_equal(ntohs(v4->sin_port), 8125);
    assert_int_equal(resolve("::1", "1", -1, &pending, &found), CREST_OK);
    assert_int_equal(found.list[0].bytes.ss_family, AF_INET6);
    assert_int_equal(resolve("127.0.0.7", "no port", -1, &pending, &found), CREST_UNREACHABLE);
    assert_non_null(strstr(error.message, "127.0.0.7"));
    assert_null(pending);
    assert_int_equal(asked(), 0);
}

static void many_addresses_are_cut_short(void **state)
{
    (void)state;
    crest_host_addresses found;
    crest_host_lookup *pending = NULL;
    network.answer_count = ADDRESSES;
    for (unsigned i = 0; i < ADDRESSES; i++)
        network.answers[i] = ADDRESSES - i;
    assert_int_equal(resolve(NAME, "8125", -1, &pending, &found), CREST_OK);
    assert_null(pending);
    assert_int_equal(found.count, CREST_HOST_ADDRESSES_MAX);
    for (unsigned i = 0; i < found.count; i++) {
        const struct sockaddr_in *v4 = (const struct sockaddr_in *)&found.list[i].bytes;
        assert_int_equal(ntohl(v4->sin_addr.s_addr) & 0xff, ADDRESSES - i);
    }
}

/* A look-up that was cancelled goes on, and the next call has its answer. */
static void a_cancelled_look_up_is_taken_up_again(void **state)
{
    (void)state;
    crest_host_addresses found;
    crest_host_lookup *pending = NULL;
    int cancel_fd = eventfd(1, EFD_CLOEXEC);
    __atomic_store_n(&network.hanging, 1, __ATOMIC_SEQ_CST);
    assert_int_equal(resolve(NAME, "8125", cancel_fd, &pending, &found), CREST_TIMED_OUT);
    assert_non_null(pending);
    __atomic_store_n(&network.hanging, 0, __ATOMIC_SEQ_CST);
    assert_int_equal(resolve(NAME, "8125", -1, &pending, &found), CREST_OK);
    assert_null(pending);
    assert_int_equal(asked(), 1);
    crest_host_lookup_drop(NULL);
    close(cancel_fd);
}

/* The thread of a look-up stays behind in the parent: the child has one of its own. */
static void a_child_looks_up_itself(void **state)
{
    (void)state;
#if defined(__SANITIZE_THREAD__)
    print_message("ThreadSanitizer has no threads in the child of a process with several\n");
    skip();
#endif
    crest_host_addresses found;
    crest_host_lookup *pending = NULL;
    int cancel_fd = eventfd(1, EFD_CLOEXEC), status = -1;
    __atomic_store_n(&network.hanging, 1, __ATOMIC_SEQ_CST);
    assert_int_equal(resolve(NAME, "8125", cancel_fd, &pending, &found), CREST_TIMED_OUT);
    pid_t child = fork();
    if (child == 0) {
        __atomic_store_n(&network.hanging, 0, __ATOMIC_SEQ_CST);
        crest_host_lookup_drop(pending); /* does nothing */
        _exit(resolve(NAME, "8125", -1, &pending, &found) == CREST_OK && found.count == 1 ? 0 : 1);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    __atomic_store_n(&network.hanging, 0, __ATOMIC_SEQ_CST);
    assert_int_equal(resolve(NAME, "8125", -1, &pending, &found), CREST_OK);
    close(cancel_fd);
}

static void without_descriptors_there_is_no_look_up(void **state)
{
    (void)state;
    crest_host_addresses found;
    crest_host_lookup *pending = NULL;
    struct rlimit before, none;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = before;
    none.rlim_cur = 0;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    crest_status status = resolve(NAME, "8125", -1, &pending, &found);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_int_equal(status, CREST_NO_MEMORY);
    assert_non_null(strstr(error.message, NAME));
    assert_null(pending);
    assert_int_equal(resolve(NAME, "8125", -1, &pending, &found), CREST_OK);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_server_that_moves_is_found),
        TEST(a_name_that_is_lost_keeps_its_address),
        TEST(a_name_that_was_never_found_is_told),
        TEST(of_two_addresses_the_open_one_is_found),
        TEST(an_address_that_refuses_is_left),
        TEST(a_packet_that_fails_is_sent_again),
        TEST(a_full_queue_is_waited_for),
        TEST(packets_keep_the_pace),
        TEST(a_pace_that_is_too_slow_is_told),
        TEST(options_set_the_pace),
        TEST(numeric_hosts_are_not_looked_up),
        TEST(many_addresses_are_cut_short),
        TEST(a_cancelled_look_up_is_taken_up_again),
        TEST(a_child_looks_up_itself),
        TEST(without_descriptors_there_is_no_look_up),
    };
    return cmocka_run_group_tests_name("statsd_network", tests, NULL, NULL);
}
