/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pings over an exchange: each is recorded once, whatever comes first, answer, deadline, failure or
 * stop; late, doubled and invented answers are told apart; and `send` may do what it is allowed to.
 */
#define _GNU_SOURCE
#include "base/misuse.h"
#include "support/probe_fixture.h"

#include <sys/wait.h>

/* Before any probe: who counts later may count those of a thread that is still ending. */
static unsigned descriptors_at_start;

/* What `send` does with an id, and what it was given. */
typedef struct exchange {
    crest_probe *probe;
    int answer;        /* returned */
    int pong;          /* answers at once */
    int stop;          /* stops its own probe */
    unsigned sleep_ms; /* takes so long */
    uint64_t last;     /* id */
    unsigned sent;
} exchange;

static int exchange_send(void *context, uint64_t id)
{
    exchange *of = context;
    __atomic_store_n(&of->last, id, __ATOMIC_RELEASE);
    __atomic_add_fetch(&of->sent, 1, __ATOMIC_RELEASE);
    if (of->sleep_ms)
        probe_sleep_ms(of->sleep_ms);
    crest_probe *probe = __atomic_load_n(&of->probe, __ATOMIC_ACQUIRE);
    if (of->pong && crest_probe_pong(probe, id) != CREST_OK)
        return 99;
    if (of->stop && crest_probe_stop(probe) != CREST_OK)
        return 98;
    return of->answer;
}

static crest_probe *by_hand(crest_registry *registry, exchange *of, uint32_t timeout_ms)
{
    crest_error error;
    crest_probe_options options = {
        .registry = registry, .interval_ms = CREST_PROBE_BY_HAND, .timeout_ms = timeout_ms};
    of->probe = crest_probe_ping("a", exchange_send, of, &options, &error);
    if (of->probe == NULL)
        fail_msg("%s", error.message);
    return of->probe;
}

static crest_testing_reading of_outcome(crest_registry *registry, const char *outcome)
{
    return FIXTURE_READING(registry, "probe.ping-time", "peer", "a", "outcome", outcome);
}

static uint64_t unexpected(crest_registry *registry)
{
    return FIXTURE_READING(registry, "probe.pongs-unexpected", "peer", "a").counter;
}

/* To the nanosecond, on a clock that stands. */
static void test_times(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    exchange of = {.answer = 0};
    crest_testing_clock_set(1000 * PROBE_MS);
    crest_probe *probe = by_hand(registry, &of, 50);
    assert_int_equal(crest_probe_ping_now(probe), CREST_OK);
    crest_testing_clock_advance(7 * PROBE_MS + 3);
    assert_int_equal(crest_probe_pong(probe, of.last), CREST_OK);
    assert_int_equal(probe_state(probe).last_rtt_ns, 7 * PROBE_MS + 3);
    assert_int_equal(of_outcome(registry, "ok").sum, 7 * PROBE_MS + 3);
    /* a second answer, and one to no ping */
    assert_int_equal(crest_probe_pong(probe, of.last), CREST_NOT_FOUND);
    assert_int_equal(crest_probe_pong(probe, of.last + 1), CREST_NOT_FOUND);
    assert_int_equal(crest_probe_pong(probe, 0), CREST_NOT_FOUND);
    assert_int_equal(unexpected(registry), 3);
    /* one nanosecond before the deadline, and at it */
    assert_int_equal(crest_probe_ping_now(probe), CREST_OK);
    crest_testing_clock_advance(50 * PROBE_MS - 1);
    assert_int_equal(crest_probe_pong(probe, of.last), CREST_OK);
    assert_int_equal(crest_probe_ping_now(probe), CREST_OK);
    crest_testing_clock_advance(50 * PROBE_MS);
    assert_int_equal(crest_probe_pong(probe, of.last), CREST_TIMED_OUT);
    assert_int_equal(crest_probe_pong(probe, of.last), CREST_TIMED_OUT);
    assert_int_equal(unexpected(registry), 5);
    crest_testing_reading late = of_outcome(registry, "timeout");
    assert_int_equal(late.count, 1);
    assert_int_equal(late.sum, 50 * PROBE_MS);
    assert_non_null(strstr(probe_state(probe).last_error.message, "not answered a ping within 50"));
    /* under way at the stop */
    assert_int_equal(crest_probe_ping_now(probe), CREST_OK);
    crest_testing_clock_advance(PROBE_MS);
    crest_probe_state last = probe_state(probe);
    assert_int_equal(last.tries, 4);
    assert_int_equal(last.answers, 2);
    assert_int_equal(last.timeouts, 1);
    assert_int_equal(last.unexpected, 5);
    assert_int_equal(crest_probe_stop(probe), CREST_OK);
    assert_int_equal(of_outcome(registry, "cancelled").sum, PROBE_MS);
    assert_int_equal(of_outcome(registry, "ok").count, 2);
    crest_testing_clock_real();
    crest_registry_free(registry);
}

/* Crossing answers belong to their own pings. */
static void test_crossing(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    exchange of = {.answer = 0};
    uint64_t ids[10];
    crest_testing_clock_set(1000 * PROBE_MS);
    crest_probe *probe = by_hand(registry, &of, 60000);
    for (unsigned i = 0; i < LENGTH(ids); i++) {
        assert_int_equal(crest_probe_ping_now(probe), CREST_OK);
        ids[i] = of.last;
        crest_testing_clock_advance(PROBE_MS);
    }
    /* the last first: 1, 2, … 10 ms */
    for (unsigned i = LENGTH(ids); i-- > 0;) {
        assert_int_equal(crest_probe_pong(probe, ids[i]), CREST_OK);
        assert_int_equal(probe_state(probe).last_rtt_ns, (LENGTH(ids) - i) * PROBE_MS);
    }
    assert_int_equal(of_outcome(registry, "ok").sum, 55 * PROBE_MS);
    crest_probe_stop(probe);
    crest_testing_clock_real();
    crest_registry_free(registry);
}

static void test_bounds(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    exchange of = {.answer = 0};
    crest_testing_clock_set(1000 * PROBE_MS);
    crest_probe *probe = by_hand(registry, &of, 50);
    for (unsigned i = 0; i < CREST_PROBE_PINGS_MAX; i++)
        assert_int_equal(crest_probe_ping_now(probe), CREST_OK);
    assert_int_equal(crest_probe_ping_now(probe), CREST_LIMIT);
    assert_int_equal(of.sent, CREST_PROBE_PINGS_MAX);
    assert_int_equal(probe_state(probe).skipped, 1);
    uint64_t first_late = of.last;
    crest_testing_clock_advance(50 * PROBE_MS);
    assert_int_equal(crest_probe_ping_now(probe), CREST_OK); /* the timed out ones make room */
    assert_int_equal(of_outcome(registry, "timeout").count, CREST_PROBE_PINGS_MAX);
    assert_int_equal(crest_probe_pong(probe, first_late), CREST_TIMED_OUT);
    /* forgotten among as many later ones */
    for (unsigned i = 0; i < CREST_PROBE_PINGS_MAX; i++) {
        assert_int_equal(crest_probe_pong(probe, of.last), CREST_OK);
        assert_int_equal(crest_probe_ping_now(probe), CREST_OK);
    }
    assert_int_equal(crest_probe_pong(probe, first_late), CREST_NOT_FOUND);
    crest_probe_stop(probe);
    crest_testing_clock_real();
    crest_registry_free(registry);
}

static void test_sending_fails(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    exchange of = {.answer = -7};
    crest_probe *probe = by_hand(registry, &of, 60000);
    assert_int_equal(crest_probe_ping_now(probe), CREST_IO);
    assert_int_equal(of_outcome(registry, "error").count, 1);
    assert_non_null(strstr(probe_state(probe).last_error.message, "send returned -7"));
    assert_int_equal(crest_probe_pong(probe, of.last), CREST_NOT_FOUND);
    /* an answer within `send`; its failure afterwards changes nothing */
    of.pong = 1;
    assert_int_equal(crest_probe_ping_now(probe), CREST_IO);
    assert_int_equal(of_outcome(registry, "error").count, 1);
    assert_int_equal(of_outcome(registry, "ok").count, 1);
    /* one that takes too long; on a busy machine those before may have as well */
    uint64_t overruns = FIXTURE_READING(registry, "probe.send-overruns", "peer", "a").counter;
    of.sleep_ms = CREST_PROBE_SEND_MS + 5;
    of.answer = 0;
    assert_int_equal(crest_probe_ping_now(probe), CREST_OK);
    assert_int_equal(FIXTURE_READING(registry, "probe.send-overruns", "peer", "a").counter,
                     overruns + 1);
    assert_int_equal(probe_state(probe).errors, 1);
    crest_probe_stop(probe);
    crest_registry_free(registry);
}

/* By the schedule, and nobody answers: that is found without anybody's calling. */
static void test_schedule(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    exchange silent = {.answer = 0};
    crest_error error;
    crest_probe_options options = {
        .registry = registry, .interval_ms = 10, .timeout_ms = 30, .prefix = "lost"};
    __atomic_store_n(&silent.probe, crest_probe_ping("a", exchange_send, &silent, &options, &error),
                     __ATOMIC_RELEASE);
    assert_non_null(silent.probe);
    PROBE_UNTIL(silent.probe, now.timeouts >= 5);
    crest_probe_state lost = probe_state(silent.probe);
    assert_int_equal(lost.answers, 0);
    assert_true(lost.tries >= 5 && lost.timeouts <= lost.tries);
    assert_int_equal(crest_probe_stop(silent.probe), CREST_OK);
    crest_testing_reading timeouts =
        FIXTURE_READING(registry, "lost.ping-time", "peer", "a", "outcome", "timeout");
    assert_int_equal(timeouts.minimum, 30 * PROBE_MS);
    assert_int_equal(timeouts.maximum, 30 * PROBE_MS);
    uint64_t cancelled = 0;
    crest_testing_reading reading;
    if (crest_testing_read(registry, NULL, &reading, NULL, "lost.ping-time", "peer", "a", "outcome",
                           "cancelled", NULL) == CREST_OK)
        cancelled = reading.count;
    assert_int_equal(timeouts.count + cancelled, __atomic_load_n(&silent.sent, __ATOMIC_ACQUIRE));
    probe_threads_are("crest-prober", 0);
    crest_registry_free(registry);
}

/* `send` may stop its own probe, on either thread. */
static void test_stops_itself(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    exchange of = {.stop = 1};
    by_hand(registry, &of, 60000);
    crest_probe *probe = of.probe;
    assert_int_equal(crest_probe_ping_now(probe), CREST_OK);
    crest_probe_state after;
    assert_int_equal(crest_probe_read(probe, &after), CREST_NOT_FOUND);
    assert_int_equal(of_outcome(registry, "cancelled").count, 1);
    probe_threads_are("crest-prober", 0);
    crest_registry_free(registry);
}

static void test_misuse(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    exchange of = {.answer = 0};
    crest_error error;
    crest_probe_options options = {.registry = registry};
    uint64_t misuse = crest_misuse_value(CREST_MISUSE_PROBE);
    assert_null(crest_probe_ping("a", NULL, NULL, &options, &error));
    assert_int_equal(error.status, CREST_INVALID_ARGUMENT);
    crest_probe *probe = by_hand(registry, &of, 0);
    assert_int_equal(crest_probe_stop(probe), CREST_OK);
    assert_int_equal(crest_probe_pong(probe, 1), CREST_NOT_FOUND);
    assert_int_equal(crest_probe_pong(NULL, 1), CREST_NOT_FOUND);
    assert_int_equal(crest_probe_ping_now(probe), CREST_NOT_FOUND);
    char address[64];
    int listener = probe_listen(5, address);
    probe = crest_probe_connect("a", address, &options, &error);
    assert_int_equal(crest_probe_pong(probe, 1), CREST_INVALID_ARGUMENT);
    assert_int_equal(crest_probe_ping_now(probe), CREST_INVALID_ARGUMENT);
    assert_int_equal(crest_misuse_value(CREST_MISUSE_PROBE), misuse + 6);
    crest_probe_stop(probe);
    close(listener);
    crest_registry_free(registry);
}

/* The child has none of its parent's probes, and may have its own. */
static int forked_child(exchange *of)
{
    crest_probe_state state;
    crest_registry *registry = crest_registry_new(NULL);
    if (crest_probe_read(of->probe, &state) != CREST_NOT_FOUND)
        return 1;
    if (crest_probe_stop(of->probe) != CREST_NOT_FOUND ||
        crest_probe_pong(of->probe, 1) == CREST_OK)
        return 2;
    if (probe_threads("crest-prober") != 0)
        return 3;
    exchange own = {.answer = 0};
    crest_probe_options options = {.registry = registry, .interval_ms = 10};
    own.probe = crest_probe_ping("c", exchange_send, &own, &options, NULL);
    if (own.probe == NULL)
        return 4;
    for (unsigned tries = 0; __atomic_load_n(&own.sent, __ATOMIC_ACQUIRE) < 3; tries++) {
        if (tries > PROBE_PATIENCE_MS)
            return 5;
        probe_sleep_ms(1);
    }
    return crest_probe_stop(own.probe) == CREST_OK ? 0 : 6;
}

static void test_fork(void **state)
{
    (void)state;
    fixture_skip_child_with_threads();
    crest_registry *registry = fixture_registry(NULL);
    exchange of = {.answer = 0};
    crest_probe_options options = {.registry = registry, .interval_ms = 10, .timeout_ms = 1000};
    /* the first `send` may come before its probe is known here */
    __atomic_store_n(&of.probe, crest_probe_ping("a", exchange_send, &of, &options, NULL),
                     __ATOMIC_RELEASE);
    for (unsigned i = 0; i < 10; i++) {
        int status;
        pid_t child = fork();
        if (child == 0)
            _exit(forked_child(&of));
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
    assert_true(__atomic_load_n(&of.sent, __ATOMIC_ACQUIRE) > 0);
    assert_int_equal(crest_probe_stop(of.probe), CREST_OK);
    probe_threads_are("crest-prober", 0);
    probe_descriptors_are(descriptors_at_start);
    crest_registry_free(registry);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_times),    cmocka_unit_test(test_crossing),
        cmocka_unit_test(test_bounds),   cmocka_unit_test(test_sending_fails),
        cmocka_unit_test(test_schedule), cmocka_unit_test(test_stops_itself),
        cmocka_unit_test(test_misuse),   cmocka_unit_test(test_fork),
    };
    descriptors_at_start = probe_descriptors();
    fixture_watchdog(170);
    return cmocka_run_group_tests_name("probe_ping", tests, NULL, NULL);
}
