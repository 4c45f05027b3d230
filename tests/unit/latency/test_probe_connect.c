/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connect probes: to a port that listens, to one that refuses, to one that does not answer; names
 * and IPv6; addresses that are none; and stopping in the middle.
 */
#define _GNU_SOURCE
#include "base/misuse.h"
#include "support/probe_fixture.h"
#include "latency/probes/probe_resolve.h"

#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

static crest_probe *dial(crest_registry *registry, const char *address, uint32_t timeout_ms)
{
    crest_error error;
    crest_probe_options options = {.registry = registry,
                                   .interval_ms = CREST_PROBE_INTERVAL_MS_MIN,
                                   .timeout_ms = timeout_ms,
                                   .jitter = -1};
    crest_probe *probe = crest_probe_connect("a", address, &options, &error);
    if (probe == NULL)
        fail_msg("%s", error.message);
    return probe;
}

static uint64_t dials(crest_registry *registry, const char *name, const char *outcome)
{
    crest_testing_reading reading;
    crest_status status = crest_testing_read(registry, NULL, &reading, NULL, name, "peer", "a",
                                             "outcome", outcome, NULL);
    return status == CREST_OK ? reading.count : 0;
}

/* The peer sees each connection, and its orderly end. */
static void test_listening(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    char address[64], byte;
    int listener = probe_listen(100, address);
    probe_threads_are("crest-prober", 0);
    unsigned descriptors = probe_descriptors();
    crest_probe *probe = dial(registry, address, 5000);
    for (unsigned i = 0; i < 5; i++) {
        int peer = accept(listener, NULL, NULL);
        assert_true(peer >= 0);
        assert_int_equal(read(peer, &byte, 1), 0);
        close(peer);
    }
    PROBE_UNTIL(probe, now.answers >= 5);
    assert_int_equal(crest_probe_stop(probe), CREST_OK);
    crest_testing_reading ok =
        FIXTURE_READING(registry, "probe.connect-time", "peer", "a", "outcome", "ok");
    assert_true(ok.count >= 5);
    assert_true(ok.maximum < 5000 * PROBE_MS && ok.minimum > 1000);
    assert_int_equal(dials(registry, "probe.connect-time", "error"), 0);
    assert_int_equal(dials(registry, "probe.resolve-time", "ok"), 0);
    probe_threads_are("crest-prober", 0);
    probe_descriptors_are(descriptors);
    close(listener);
    crest_registry_free(registry);
}

static void test_refused(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    char address[64];
    int bound = probe_listen(-1, address); /* nobody else gets the port, and nobody listens */
    crest_probe *probe = dial(registry, address, 5000);
    PROBE_UNTIL(probe, now.errors >= 3);
    assert_non_null(strstr(probe_state(probe).last_error.message, "Connection refused"));
    assert_non_null(strstr(probe_state(probe).last_error.message, address));
    assert_int_equal(listen(bound, 10), 0); /* and from now on somebody does */
    PROBE_UNTIL(probe, now.answers >= 2);
    uint64_t errors = probe_state(probe).errors;
    assert_int_equal(crest_probe_stop(probe), CREST_OK);
    assert_int_equal(dials(registry, "probe.connect-time", "error"), errors);
    close(bound);
    crest_registry_free(registry);
}

/* A port whose queue is full drops what comes: nothing answers. */
static void test_unanswered(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    char address[64];
    int listener = probe_listen(0, address), fillers[4];
    struct sockaddr_in name = {.sin_family = AF_INET};
    socklen_t length = sizeof name;
    assert_int_equal(getsockname(listener, (struct sockaddr *)&name, &length), 0);
    for (size_t i = 0; i < LENGTH(fillers); i++) {
        fillers[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        (void)connect(fillers[i], (struct sockaddr *)&name, length);
    }
    probe_sleep_ms(20);
    crest_probe *probe = dial(registry, address, 40);
    PROBE_UNTIL(probe, now.timeouts >= 3);
    crest_probe_state last = probe_state(probe);
    assert_non_null(strstr(last.last_error.message, "not done within 40 ms"));
    assert_true(last.skipped >= 3); /* points of time that passed meanwhile */
    assert_int_equal(last.answers + last.errors, 0);
    unsigned descriptors = probe_descriptors();
    crest_probe *slow = dial(registry, address, 60000);
    PROBE_UNTIL(slow, now.tries == 1);
    assert_int_equal(crest_probe_stop(slow), CREST_OK); /* in the middle of a connect */
    assert_int_equal(crest_probe_stop(probe), CREST_OK);
    crest_testing_reading late =
        FIXTURE_READING(registry, "probe.connect-time", "peer", "a", "outcome", "timeout");
    assert_true(late.count >= last.timeouts && late.minimum == 40 * PROBE_MS);
    assert_int_equal(late.maximum, 40 * PROBE_MS);
    for (size_t i = 0; i < LENGTH(fillers); i++)
        close(fillers[i]);
    close(listener);
    assert_true(probe_descriptors() < descriptors);
    crest_registry_free(registry);
}

static void test_names(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    char address[64], named[64];
    int listener = probe_listen(100, address);
    snprintf(named, sizeof named, "localhost%s", strchr(address, ':'));
    crest_probe *probe = dial(registry, named, 5000);
    PROBE_UNTIL(probe, now.answers >= 3);
    assert_int_equal(crest_probe_stop(probe), CREST_OK);
    assert_true(dials(registry, "probe.resolve-time", "ok") >= 1);
    /* one that nobody has: RFC 6761 */
    probe = dial(registry, "nobody.invalid:80", 20000);
    PROBE_UNTIL(probe, now.errors + now.timeouts >= 1);
    assert_non_null(strstr(probe_state(probe).last_error.message, "nobody.invalid"));
    assert_int_equal(probe_state(probe).tries, 0); /* no connect was begun */
    assert_int_equal(crest_probe_stop(probe), CREST_OK);
    probe_threads_are("crest-resolver", 0);
    close(listener);
    crest_registry_free(registry);
}

static void test_ipv6(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    struct sockaddr_in6 name = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    socklen_t length = sizeof name;
    char address[64];
    int listener = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listener < 0 || bind(listener, (struct sockaddr *)&name, length) != 0) {
        print_message("no IPv6 here: not tried\n");
        skip();
    }
    assert_int_equal(listen(listener, 100), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&name, &length), 0);
    snprintf(address, sizeof address, "[::1]:%u", ntohs(name.sin6_port));
    crest_probe *probe = dial(registry, address, 5000);
    PROBE_UNTIL(probe, now.answers >= 3);
    crest_probe_stop(probe);
    close(listener);
    crest_registry_free(registry);
}

static void test_addresses(void **state)
{
    (void)state;
    static const struct {
        const char *text, *host, *port; /* host NULL: refused */
    } cases[] = {
        {"127.0.0.1:80", "127.0.0.1", "80"},
        {"[::1]:65535", "::1", "65535"},
        {"[fe80::1%eth0]:1", "fe80::1%eth0", "1"},
        {"a.b-c:40400", "a.b-c", "40400"},
        {"::1:80", NULL, NULL},
        {"[::1]", NULL, NULL},
        {"[]:80", NULL, NULL},
        {"host", NULL, NULL},
        {"host:", NULL, NULL},
        {":80", NULL, NULL},
        {"host:0", NULL, NULL},
        {"host:65536", NULL, NULL},
        {"host:999999", NULL, NULL},
        {"host:8o", NULL, NULL},
        {"host:-1", NULL, NULL},
        {"host:http", NULL, NULL},
        {"ho st:80", NULL, NULL},
        {"http://host:80", NULL, NULL},
        {"", NULL, NULL},
    };
    crest_error error;
    char host[CREST_PROBE_ADDRESS_BYTES_MAX + 1], port[8];
    crest_registry *registry = fixture_registry(NULL);
    for (size_t i = 0; i < LENGTH(cases); i++) {
        crest_status status = crest_probe_split(cases[i].text, host, port, &error);
        if (cases[i].host != NULL) {
            assert_int_equal(status, CREST_OK);
            assert_string_equal(host, cases[i].host);
            assert_string_equal(port, cases[i].port);
            continue;
        }
        assert_int_equal(status, CREST_INVALID_ARGUMENT);
        assert_non_null(strstr(error.message, "HOST:PORT"));
        uint64_t misuse = crest_misuse_value(CREST_MISUSE_PROBE);
        crest_probe_options options = {.registry = registry};
        assert_null(crest_probe_connect("a", cases[i].text, &options, &error));
        assert_int_equal(crest_misuse_value(CREST_MISUSE_PROBE), misuse + 1);
    }
    char long_one[CREST_PROBE_ADDRESS_BYTES_MAX + 10];
    memset(long_one, 'x', sizeof long_one);
    memcpy(long_one + sizeof long_one - 4, ":80", 4);
    assert_null(crest_probe_connect("a", long_one, NULL, &error));
    assert_null(crest_probe_connect("a", NULL, NULL, &error));
    assert_int_equal(error.status, CREST_INVALID_ARGUMENT);
    crest_registry_free(registry);
}

/* As many as there may be. */
static void test_limit(void **state)
{
    (void)state;
    static crest_probe *probes[CREST_PROBES_MAX];
    crest_registry *registry = fixture_registry(NULL);
    crest_error error;
    char address[64];
    int listener = probe_listen(100, address);
    crest_probe_options options = {.registry = registry, .interval_ms = 86400000, .jitter = 1};
    for (size_t i = 0; i < LENGTH(probes); i++)
        assert_non_null(probes[i] = crest_probe_connect("a", address, &options, &error));
    uint64_t limits = crest_misuse_value(CREST_MISUSE_LIMIT);
    assert_null(crest_probe_connect("a", address, &options, &error));
    assert_int_equal(error.status, CREST_LIMIT);
    assert_int_equal(crest_misuse_value(CREST_MISUSE_LIMIT), limits + 1);
    for (size_t i = 0; i < LENGTH(probes); i++)
        assert_int_equal(crest_probe_stop(probes[i]), CREST_OK);
    probe_threads_are("crest-prober", 0);
    close(listener);
    crest_registry_free(registry);
}

/* A network of its own, of a loopback interface with a single port to dial from; 0: it may not. */
static int own_network(const char *port)
{
    struct ifreq loopback = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};
    if (unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0)
        return 0;
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    int range = open("/proc/sys/net/ipv4/ip_local_port_range", O_WRONLY | O_CLOEXEC);
    int made = fd >= 0 && range >= 0 && ioctl(fd, SIOCSIFFLAGS, &loopback) == 0 &&
               dprintf(range, "%s %s", port, port) > 0;
    close(fd);
    close(range);
    return made;
}

/* Nobody listens, and the port that the kernel dials from is that which is dialled: TCP connects
 * the socket with itself, which is no answer. */
static void test_itself(void **state)
{
    (void)state;
    fixture_skip_child_with_threads();
    int status;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (!own_network("40400"))
            _exit(77);
        crest_registry *registry = fixture_registry(NULL);
        crest_probe *probe = dial(registry, "127.0.0.1:40400", 5000);
        PROBE_UNTIL(probe, now.tries >= 3 && now.answers + now.errors >= 3);
        _exit(probe_state(probe).answers == 0 ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77) {
        print_message("no network of its own can be made here (unshare)\n");
        skip();
    }
    assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_listening),  cmocka_unit_test(test_refused),
        cmocka_unit_test(test_unanswered), cmocka_unit_test(test_names),
        cmocka_unit_test(test_ipv6),       cmocka_unit_test(test_addresses),
        cmocka_unit_test(test_limit),      cmocka_unit_test(test_itself),
    };
    fixture_watchdog(170);
    return cmocka_run_group_tests_name("probe_connect", tests, NULL, NULL);
}
