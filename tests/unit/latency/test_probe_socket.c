/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Watching sockets: that the figures are the kernel's own, that an idle connection repeats none of
 * them, and that a descriptor's number which is another connection's by now is never taken for the
 * one that was registered.
 */
#define _GNU_SOURCE
#include "base/misuse.h"
#include "support/probe_fixture.h"
#include "latency/probes/prober.h"

#include <sys/stat.h>
#include <sys/syscall.h>

/* ---- another connection gets the number at the worst moment ---- */

static int race_fd = -1, race_from;

/* In place of the C library's: before the figures of race_fd are asked for, and after it was asked
 * which socket it is, the number becomes race_from's. */
int getsockopt(int fd, int level, int name, void *value, socklen_t *length)
{
    if (level == IPPROTO_TCP && name == TCP_INFO &&
        fd == __atomic_load_n(&race_fd, __ATOMIC_ACQUIRE)) {
        dup2(race_from, fd);
        __atomic_store_n(&race_fd, -1, __ATOMIC_RELEASE);
    }
    return (int)syscall(SYS_getsockopt, fd, level, name, value, length);
}

static crest_probe *watch(crest_registry *registry, const char *peer, int fd)
{
    crest_error error;
    crest_probe_options options = {.registry = registry,
                                   .interval_ms = CREST_PROBE_INTERVAL_MS_MIN};
    crest_probe *probe = crest_probe_socket(peer, fd, &options, &error);
    if (probe == NULL)
        fail_msg("%s", error.message);
    return probe;
}

static crest_testing_reading of_peer(crest_registry *registry, const char *name, const char *peer)
{
    return FIXTURE_READING(registry, name, "peer", peer);
}

static void close_both(const int ends[2])
{
    close(ends[0]);
    close(ends[1]);
}

/* What was read at one moment, beside what the test reads itself then. */
static void test_figures(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    int ends[2];
    probe_pair(ends);
    struct tcp_info at_first, at_last;
    socklen_t length = sizeof at_first;
    crest_probe *probe = watch(registry, "a", ends[0]);
    PROBE_UNTIL(probe, now.tries >= 2);
    uint64_t before = probe_state(probe).answers;
    probe_exchange(ends, 1);
    PROBE_UNTIL(probe, now.answers > before);
    assert_int_equal(getsockopt(ends[0], IPPROTO_TCP, TCP_INFO, &at_first, &length), 0);
    assert_int_equal(probe_state(probe).socket_state, TCP_ESTABLISHED);
    assert_int_equal(probe_state(probe).last_rtt_ns, at_first.tcpi_rtt * UINT64_C(1000));
    for (unsigned i = 0; i < 20; i++) {
        uint64_t answers = probe_state(probe).answers;
        probe_exchange(ends, 1000);
        PROBE_UNTIL(probe, now.answers > answers);
    }
    uint64_t tries = probe_state(probe).tries;
    PROBE_UNTIL(probe, now.tries >= tries + 2);
    length = sizeof at_last;
    assert_int_equal(getsockopt(ends[0], IPPROTO_TCP, TCP_INFO, &at_last, &length), 0);
    assert_int_equal(probe_state(probe).last_rtt_ns, at_last.tcpi_rtt * UINT64_C(1000));
    assert_true(of_peer(registry, "probe.socket.rtt-variation", "a").gauge ==
                at_last.tcpi_rttvar * 1000.0);
    assert_true(of_peer(registry, "probe.socket.congestion-window", "a").gauge ==
                at_last.tcpi_snd_cwnd);
    assert_int_equal(of_peer(registry, "probe.socket.data-acknowledged", "a").counter, 20001);
    assert_int_equal(of_peer(registry, "probe.socket.data-received", "a").counter, 21);
    assert_int_equal(of_peer(registry, "probe.socket.rtt", "a").count, probe_state(probe).answers);
    assert_int_equal(crest_probe_stop(probe), CREST_OK);
    close_both(ends);
    crest_registry_free(registry);
}

/* The same with `ss`, which asks the kernel by another way. */
static void test_as_ss_says(void **state)
{
    (void)state;
    int ends[2];
    struct sockaddr_in name;
    socklen_t length = sizeof name;
    char command[200], text[4096];
    probe_pair(ends);
    probe_exchange(ends, 5000);
    assert_int_equal(getsockname(ends[0], (struct sockaddr *)&name, &length), 0);
    snprintf(command, sizeof command, "ss -Htin state established \"( sport = :%u )\" 2>/dev/null",
             ntohs(name.sin_port));
    FILE *ss = popen(command, "r");
    size_t read = ss != NULL ? fread(text, 1, sizeof text - 1, ss) : 0;
    text[read] = '\0';
    if (ss == NULL || pclose(ss) != 0 || strstr(text, " rtt:") == NULL) {
        close_both(ends);
        print_message("no ss here (iproute2): not compared\n");
        skip();
    }
    crest_tcp_info info;
    double rtt_ms, variation_ms;
    unsigned long long acknowledged;
    assert_int_equal(crest_tcp_info_read(ends[0], &info, NULL), CREST_OK);
    assert_int_equal(sscanf(strstr(text, " rtt:"), " rtt:%lf/%lf", &rtt_ms, &variation_ms), 2);
    assert_int_equal(sscanf(strstr(text, "bytes_acked:"), "bytes_acked:%llu", &acknowledged), 1);
    assert_true(fabs((double)info.rtt_ns / 1e6 - rtt_ms) < 0.0011);
    assert_true(fabs((double)info.rtt_variation_ns / 1e6 - variation_ms) < 0.0011);
    assert_int_equal(info.bytes_acknowledged, acknowledged);
    close_both(ends);
}

/* One that stands idle: readings, but no round-trip time. What the peer only sends to us is
 * acknowledged by it too, but measures nothing. */
static void test_idle(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    int ends[2];
    char byte = 0;
    probe_pair(ends);
    crest_probe *probe = watch(registry, "idle", ends[0]);
    PROBE_UNTIL(probe, now.tries >= 3);
    uint64_t answers = probe_state(probe).answers, tries = probe_state(probe).tries;
    assert_true(answers <= 1); /* the handshake's, if that was a moment ago */
    for (unsigned i = 0; i < 5; i++) {
        assert_int_equal(write(ends[1], &byte, 1), 1);
        assert_int_equal(read(ends[0], &byte, 1), 1);
        tries = probe_state(probe).tries;
        PROBE_UNTIL(probe, now.tries > tries + 1);
    }
    assert_int_equal(probe_state(probe).answers, answers);
    assert_int_equal(of_peer(registry, "probe.socket.rtt", "idle").count, answers);
    assert_int_equal(of_peer(registry, "probe.socket.data-received", "idle").counter, 5);
    probe_exchange(ends, 1);
    PROBE_UNTIL(probe, now.answers == answers + 1);
    crest_probe_stop(probe);
    close_both(ends);
    crest_registry_free(registry);
}

/* The number of a closed descriptor becomes another connection's. */
static void test_reused(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    int ends[2], others[2];
    probe_pair(ends);
    probe_pair(others);
    crest_probe *probe = watch(registry, "old", ends[0]);
    PROBE_UNTIL(probe, now.tries >= 2);
    uint64_t answers = probe_state(probe).answers;
    int number = ends[0];
    assert_int_equal(dup2(others[0], number), number); /* closes the old one, at once */
    for (unsigned i = 0; i < 20; i++)
        probe_exchange(others, 1000);
    PROBE_UNTIL(probe, now.ended);
    assert_int_equal(probe_state(probe).answers, answers);
    assert_non_null(strstr(probe_state(probe).last_error.message, "another's"));
    assert_int_equal(of_peer(registry, "probe.socket.data-acknowledged", "old").counter, 0);
    assert_int_equal(FIXTURE_READING(registry, "probe.sockets-ended", "cause", "replaced").counter,
                     1);
    uint64_t tries = probe_state(probe).tries;
    probe_sleep_ms(5 * CREST_PROBE_INTERVAL_MS_MIN);
    assert_int_equal(probe_state(probe).tries, tries);
    assert_int_equal(crest_probe_stop(probe), CREST_OK);
    close_both(ends);
    close_both(others);
    crest_registry_free(registry);
}

/* The same between the question which socket it is and the figures. */
static void test_race(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    int ends[2], others[2];
    probe_pair(ends);
    probe_pair(others);
    crest_probe *probe = watch(registry, "old", ends[0]);
    PROBE_UNTIL(probe, now.tries >= 2);
    uint64_t answers = probe_state(probe).answers;
    probe_exchange(others, 5000);
    race_from = others[0];
    __atomic_store_n(&race_fd, ends[0], __ATOMIC_RELEASE);
    PROBE_UNTIL(probe, now.ended);
    assert_int_equal(__atomic_load_n(&race_fd, __ATOMIC_ACQUIRE), -1);
    assert_int_equal(probe_state(probe).answers, answers);
    assert_int_equal(of_peer(registry, "probe.socket.data-acknowledged", "old").counter, 0);
    assert_int_equal(of_peer(registry, "probe.socket.rtt", "old").count, answers);
    assert_int_equal(FIXTURE_READING(registry, "probe.sockets-ended", "cause", "replaced").counter,
                     1);
    assert_int_equal(crest_probe_stop(probe), CREST_OK);
    close_both(ends);
    close_both(others);
    crest_registry_free(registry);
}

/* The same on a kernel without cookies, where the inode is asked for. */
static void test_by_inode(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    int ends[2], others[2];
    struct stat about;
    probe_pair(ends);
    probe_pair(others);
    assert_int_equal(fstat(ends[0], &about), 0);
    crest_probe *probe = watch(registry, "old", ends[0]);
    crest_prober_lock();
    probe->part.socket.by_inode = 1;
    probe->part.socket.identity = about.st_ino;
    crest_prober_unlock();
    for (unsigned i = 0; i < 5; i++) {
        uint64_t answers = probe_state(probe).answers;
        probe_exchange(ends, 10);
        PROBE_UNTIL(probe, now.answers > answers);
    }
    PROBE_UNTIL(probe, of_peer(registry, "probe.socket.data-acknowledged", "old").counter == 50);
    assert_true(dup2(others[0], ends[0]) >= 0);
    probe_exchange(others, 1000);
    PROBE_UNTIL(probe, now.ended);
    assert_int_equal(of_peer(registry, "probe.socket.data-acknowledged", "old").counter, 50);
    assert_int_equal(crest_probe_stop(probe), CREST_OK);
    close_both(ends);
    close_both(others);
    crest_registry_free(registry);
}

static void test_ends(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    int ends[2], file = open("/dev/null", O_RDONLY);
    /* closed */
    probe_pair(ends);
    crest_probe *probe = watch(registry, "a", ends[0]);
    close(ends[0]);
    PROBE_UNTIL(probe, now.ended);
    assert_int_equal(FIXTURE_READING(registry, "probe.sockets-ended", "cause", "closed").counter,
                     1);
    assert_int_equal(crest_probe_stop(probe), CREST_OK);
    close(ends[1]);
    /* the number is a file's now */
    probe_pair(ends);
    probe = watch(registry, "a", ends[0]);
    assert_true(dup2(file, ends[0]) >= 0);
    PROBE_UNTIL(probe, now.ended);
    assert_int_equal(FIXTURE_READING(registry, "probe.sockets-ended", "cause", "replaced").counter,
                     1);
    assert_int_equal(crest_probe_stop(probe), CREST_OK);
    close_both(ends);
    /* the peer breaks it off */
    probe_pair(ends);
    probe = watch(registry, "a", ends[0]);
    setsockopt(ends[1], SOL_SOCKET, SO_LINGER, &(struct linger){1, 0}, sizeof(struct linger));
    close(ends[1]);
    PROBE_UNTIL(probe, now.ended);
    assert_int_equal(
        FIXTURE_READING(registry, "probe.sockets-ended", "cause", "disconnected").counter, 1);
    assert_int_equal(crest_probe_stop(probe), CREST_OK);
    close(ends[0]);
    close(file);
    crest_registry_free(registry);
}

/* Stopping it first loses nothing of what was acknowledged by then. */
static void test_last_look(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    int ends[2];
    for (unsigned round = 1; round <= 20; round++) {
        crest_probe_options options = {.registry = registry, .interval_ms = 3600000};
        probe_pair(ends);
        crest_probe *probe = crest_probe_socket("a", ends[0], &options, NULL);
        assert_non_null(probe);
        probe_exchange(ends, 12345);
        assert_int_equal(crest_probe_stop(probe), CREST_OK);
        assert_int_equal(of_peer(registry, "probe.socket.data-acknowledged", "a").counter,
                         round * 12345);
        close_both(ends);
    }
    crest_registry_free(registry);
}

static void test_refused(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    crest_error error;
    char address[64];
    int ends[2], pipes[2];
    probe_pair(ends);
    assert_int_equal(pipe(pipes), 0);
    int listener = probe_listen(1, address), packets = socket(AF_INET, SOCK_DGRAM, 0);
    int local = socket(AF_UNIX, SOCK_STREAM, 0), fresh = socket(AF_INET, SOCK_STREAM, 0);
    const struct {
        int fd;
        const char *peer, *why;
        crest_probe_options options;
    } cases[] = {
        {-1, "a", "Bad file descriptor", {.interval_ms = 0}},
        {9999, "a", "Bad file descriptor", {.interval_ms = 0}},
        {pipes[0], "a", "non-socket", {.interval_ms = 0}},
        {packets, "a", "descriptor", {.interval_ms = 0}},
        {local, "a", "not supported", {.interval_ms = 0}},
        {listener, "a", "listens", {.interval_ms = 0}},
        {fresh, "a", "not connected", {.interval_ms = 0}},
        {ends[0], NULL, "peer", {.interval_ms = 0}},
        {ends[0], "", "peer", {.interval_ms = 0}},
        {ends[0], "a", "interval", {.interval_ms = 9}},
        {ends[0], "a", "interval", {.interval_ms = 86400001}},
        {ends[0], "a", "interval", {.interval_ms = CREST_PROBE_BY_HAND}},
        {ends[0], "a", "timeout", {.timeout_ms = 600001}},
        {ends[0], "a", "jitter", {.jitter = 1.5}},
        {ends[0], "a", "jitter", {.jitter = NAN}},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        uint64_t misuse = crest_misuse_value(CREST_MISUSE_PROBE);
        crest_probe_options options = cases[i].options;
        options.registry = registry;
        if (crest_probe_socket(cases[i].peer, cases[i].fd, &options, &error) != NULL)
            fail_msg("case %zu was not refused", i);
        assert_int_equal(error.status, CREST_INVALID_ARGUMENT);
        if (strstr(error.message, cases[i].why) == NULL)
            fail_msg("\"%s\" is not in: %s", cases[i].why, error.message);
        assert_int_equal(crest_misuse_value(CREST_MISUSE_PROBE), misuse + 1);
        assert_null(crest_probe_socket(cases[i].peer, cases[i].fd, &options, NULL));
    }
    crest_probe_options options = {.registry = registry, .prefix = "not a name"};
    assert_null(crest_probe_socket("a", ends[0], &options, &error));
    assert_int_equal(error.status, CREST_INVALID_NAME);
    fixture_counter(registry, "other.socket.rtt");
    options.prefix = "other";
    assert_null(crest_probe_socket("a", ends[0], &options, &error));
    assert_int_equal(error.status, CREST_TYPE_CLASH);
    probe_threads_are("crest-prober", 0);
    close_both(ends);
    close_both(pipes);
    close(listener), close(packets), close(local), close(fresh);
    crest_registry_free(registry);
}

/* Two probes of one peer share its series, which stay until the last is stopped. */
static void test_shared(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    int first[2], second[2];
    probe_pair(first);
    probe_pair(second);
    crest_probe *probes[2] = {watch(registry, "a", first[0]), watch(registry, "a", second[0])};
    probe_exchange(first, 100);
    probe_exchange(second, 23);
    assert_int_equal(crest_probe_stop(probes[0]), CREST_OK);
    assert_int_equal(crest_probe_stop(probes[0]), CREST_NOT_FOUND);
    probe_exchange(second, 1000);
    assert_int_equal(crest_probe_stop(probes[1]), CREST_OK);
    assert_int_equal(of_peer(registry, "probe.socket.data-acknowledged", "a").counter, 1123);
    crest_probe_state zeros = {.tries = 1};
    assert_int_equal(crest_probe_read(probes[1], &zeros), CREST_NOT_FOUND);
    assert_int_equal(zeros.tries, 0);
    assert_int_equal(crest_probe_stop(NULL), CREST_OK);
    close_both(first);
    close_both(second);
    crest_registry_free(registry);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_figures), cmocka_unit_test(test_as_ss_says),
        cmocka_unit_test(test_idle),    cmocka_unit_test(test_reused),
        cmocka_unit_test(test_race),    cmocka_unit_test(test_by_inode),
        cmocka_unit_test(test_ends),    cmocka_unit_test(test_last_look),
        cmocka_unit_test(test_refused), cmocka_unit_test(test_shared),
    };
    fixture_watchdog(170);
    return cmocka_run_group_tests_name("probe_socket", tests, NULL, NULL);
}
