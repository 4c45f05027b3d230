/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The prober: points of time that were missed, deadlines one after the other, what a stop waits
 * for, and what a forked child has of its parent's sockets.
 */
#define _GNU_SOURCE
#include "support/probe_fixture.h"
#include "latency/probes/prober.h"

#include <sys/wait.h>

#define SECOND UINT64_C(1000000000)

/* After a suspension there is one point to come, on the grid; those missed are counted. */
static void test_missed_points(void **state)
{
    (void)state;
    static const struct {
        uint64_t now_ns, point_ns, skipped;
    } cases[] = {{5 * SECOND, 11 * SECOND, 0},
                 {10 * SECOND, 11 * SECOND, 0},
                 {11 * SECOND - 1, 11 * SECOND, 0},
                 {11 * SECOND, 12 * SECOND, 1},
                 {3600 * SECOND, 3601 * SECOND, 3590}};
    for (size_t i = 0; i < LENGTH(cases); i++) {
        crest_probe probe = {.interval_ns = SECOND, .point_ns = 10 * SECOND, .jitter = 0};
        crest_prober_next_point(&probe, cases[i].now_ns);
        assert_int_equal(probe.point_ns, cases[i].point_ns);
        assert_int_equal(probe.due_ns, cases[i].point_ns);
        assert_int_equal(probe.state.skipped, cases[i].skipped);
    }
    crest_probe by_hand = {.interval_ns = 0, .point_ns = 10 * SECOND};
    crest_prober_next_point(&by_hand, 20 * SECOND);
    assert_true(by_hand.point_ns == CREST_PROBE_NEVER && by_hand.due_ns == CREST_PROBE_NEVER);
}

static int send_nothing(void *context, uint64_t id)
{
    (void)context;
    (void)id;
    return 0;
}

static crest_probe *ping_by_hand(crest_registry *registry, crest_probe_send_fn *send, void *context,
                                 uint32_t timeout_ms)
{
    crest_error error;
    crest_probe_options options = {
        .registry = registry, .interval_ms = CREST_PROBE_BY_HAND, .timeout_ms = timeout_ms};
    crest_probe *probe = crest_probe_ping("a", send, context, &options, &error);
    if (probe == NULL)
        fail_msg("%s", error.message);
    return probe;
}

/* Each ping times out at its own deadline, the later one too, with nothing else going on. */
static void test_two_deadlines(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    crest_probe *probe = ping_by_hand(registry, send_nothing, NULL, 100);
    assert_int_equal(crest_probe_ping_now(probe), CREST_OK);
    probe_sleep_ms(50);
    assert_int_equal(crest_probe_ping_now(probe), CREST_OK);
    PROBE_UNTIL(probe, now.timeouts == 2);
    crest_probe_stop(probe);
    crest_registry_free(registry);
}

/* ---- a stop while the node sends ---- */

static uint32_t sending, may_end, stopped;

static int send_for_long(void *context, uint64_t id)
{
    (void)context;
    (void)id;
    __atomic_store_n(&sending, 1, __ATOMIC_RELEASE);
    FIXTURE_AWAIT(__atomic_load_n(&may_end, __ATOMIC_ACQUIRE));
    return 0;
}

static void *ping_it(void *probe)
{
    crest_probe_ping_now(probe);
    return NULL;
}

static void *stop_it(void *probe)
{
    crest_probe_stop(probe);
    __atomic_store_n(&stopped, 1, __ATOMIC_RELEASE);
    return NULL;
}

static int prober_is_empty(void)
{
    crest_prober_lock();
    int empty = crest_prober_first() == NULL;
    crest_prober_unlock();
    return empty;
}

/* A stop returns when no `send` runs any more, so that the node may free what it works with. */
static void test_stop_while_sending(void **state)
{
    (void)state;
    pthread_t pinger, stopper;
    crest_registry *registry = fixture_registry(NULL);
    crest_probe *probe = ping_by_hand(registry, send_for_long, NULL, 60000);
    assert_int_equal(pthread_create(&pinger, NULL, ping_it, probe), 0);
    FIXTURE_AWAIT(__atomic_load_n(&sending, __ATOMIC_ACQUIRE));
    assert_int_equal(pthread_create(&stopper, NULL, stop_it, probe), 0);
    FIXTURE_AWAIT(prober_is_empty());
    probe_sleep_ms(100); /* one that did not wait would be through by now */
    int early = (int)__atomic_load_n(&stopped, __ATOMIC_ACQUIRE);
    __atomic_store_n(&may_end, 1, __ATOMIC_RELEASE);
    assert_int_equal(pthread_join(pinger, NULL), 0);
    assert_int_equal(pthread_join(stopper, NULL), 0);
    assert_false(early);
    crest_registry_free(registry);
}

/* ---- the child of a fork ---- */

static unsigned sockets_open(void)
{
    unsigned count = 0;
    for (int fd = 0; fd < 1024; fd++) {
        int kind;
        socklen_t length = sizeof kind;
        count += getsockopt(fd, SOL_SOCKET, SO_TYPE, &kind, &length) == 0;
    }
    return count;
}

/* A connection that is being made when its process forks is the parent's alone. */
static void test_forked_connection(void **state)
{
    (void)state;
    char address[64];
    crest_registry *registry = fixture_registry(NULL);
    unsigned before = sockets_open();
    /* nobody accepts, and the queue is full: who connects waits */
    int listener = probe_listen(0, address), waiting;
    waiting = probe_dial(address);
    crest_error error;
    crest_probe_options options = {.registry = registry,
                                   .interval_ms = CREST_PROBE_INTERVAL_MS_MIN,
                                   .timeout_ms = 60000,
                                   .jitter = -1};
    crest_probe *probe = crest_probe_connect("a", address, &options, &error);
    assert_non_null(probe);
    FIXTURE_AWAIT(sockets_open() == before + 3);
    pid_t child = fork();
    if (child == 0)
        _exit(sockets_open() == before + 2 ? 0 : 1);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(sockets_open(), before + 3);
    crest_probe_stop(probe);
    close(waiting);
    close(listener);
    crest_registry_free(registry);
}

int main(void)
{
    fixture_watchdog(120);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_missed_points),
        cmocka_unit_test(test_two_deadlines),
        cmocka_unit_test(test_stop_while_sending),
        cmocka_unit_test(test_forked_connection),
    };
    return cmocka_run_group_tests_name("prober", tests, NULL, NULL);
}
