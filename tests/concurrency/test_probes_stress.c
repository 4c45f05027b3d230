/* SPDX-License-Identifier: Apache-2.0 */
/* crest-test: timeout=240 */
/*
 * Probes are started, stopped, pinged by hand and by their schedule, answered and read by many
 * threads at once, and forks happen in between: each ping is recorded exactly once, as one of its
 * outcomes, and each answer that was taken is an `ok`.
 */
#define _GNU_SOURCE
#include "support/probe_fixture.h"

#include <sys/wait.h>

#define STRESS_WORKERS 4u
#define STRESS_ROUNDS FIXTURE_TIMES(400u)
#define STRESS_PINGS 20u
#define STRESS_QUEUE 256u

static crest_registry *registry;
static uint64_t sent, failed, taken, refused;
static int over;

/* What was sent and nobody has answered yet: a probe, which may be gone by then, and an id. */
static struct {
    pthread_mutex_t lock;
    struct {
        crest_probe *probe;
        uint64_t id;
    } entries[STRESS_QUEUE];
    unsigned count;
} queue = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void count_one(uint64_t *number)
{
    __atomic_add_fetch(number, 1, __ATOMIC_RELAXED);
}

static void count_answer(crest_status status)
{
    count_one(status == CREST_OK ? &taken : &refused);
}

/* Where a probe is known to its `send`; it may be called before the maker knows it. */
typedef struct worker {
    crest_probe *probe;
    unsigned calls;
} worker;

/* Some are answered at once, some later by another thread, some never; a few cannot be sent. */
static int stress_send(void *context, uint64_t id)
{
    worker *mine = context;
    crest_probe *probe = __atomic_load_n(&mine->probe, __ATOMIC_ACQUIRE);
    unsigned call = __atomic_fetch_add(&mine->calls, 1, __ATOMIC_RELAXED) % 8;
    count_one(&sent);
    if (call == 0) {
        count_one(&failed);
        return -1;
    }
    if (probe != NULL && call < 3) {
        count_answer(crest_probe_pong(probe, id));
    } else if (probe != NULL && call < 7) {
        pthread_mutex_lock(&queue.lock);
        if (queue.count < STRESS_QUEUE) {
            queue.entries[queue.count].probe = probe;
            queue.entries[queue.count++].id = id;
        }
        pthread_mutex_unlock(&queue.lock);
    }
    return 0;
}

static void *answer(void *unused)
{
    (void)unused;
    while (!__atomic_load_n(&over, __ATOMIC_ACQUIRE)) {
        crest_probe *probe = NULL;
        uint64_t id = 0;
        pthread_mutex_lock(&queue.lock);
        if (queue.count > 0) {
            probe = queue.entries[--queue.count].probe;
            id = queue.entries[queue.count].id;
        }
        pthread_mutex_unlock(&queue.lock);
        if (probe != NULL)
            count_answer(crest_probe_pong(probe, id));
        else
            probe_sleep_ms(1);
    }
    return NULL;
}

static void *work(void *argument)
{
    unsigned number = (unsigned)(uintptr_t)argument;
    char peer[16], address[64];
    int ends[2], listener = probe_listen(100, address);
    probe_pair(ends);
    snprintf(peer, sizeof peer, "p%u", number % 2);
    for (unsigned round = 0; round < STRESS_ROUNDS; round++) {
        worker mine = {.calls = round};
        crest_probe_options options = {.registry = registry,
                                       .interval_ms = round % 2 ? CREST_PROBE_INTERVAL_MS_MIN
                                                                : CREST_PROBE_BY_HAND,
                                       .timeout_ms = round % 3 ? 60000 : 1,
                                       .jitter = -1};
        crest_probe *ping = crest_probe_ping(peer, stress_send, &mine, &options, NULL);
        fixture_holds(ping != NULL);
        __atomic_store_n(&mine.probe, ping, __ATOMIC_RELEASE);
        options.interval_ms = CREST_PROBE_INTERVAL_MS_MIN;
        options.timeout_ms = 5000;
        crest_probe *other = round % 2 ? crest_probe_connect(peer, address, &options, NULL)
                                       : crest_probe_socket(peer, ends[0], &options, NULL);
        fixture_holds(other != NULL);
        for (unsigned i = 0; i < STRESS_PINGS; i++) {
            crest_probe_state state;
            crest_probe_ping_now(ping);
            fixture_equal(crest_probe_read(i % 2 ? ping : other, &state), CREST_OK);
        }
        if (round % 16 == 0)
            probe_sleep_ms(12);
        fixture_equal(crest_probe_stop(other), CREST_OK);
        fixture_equal(crest_probe_stop(ping), CREST_OK);
    }
    close(ends[0]);
    close(ends[1]);
    close(listener);
    return NULL;
}

static uint64_t outcomes(const char *outcome)
{
    uint64_t count = 0;
    static const char *const peers[] = {"p0", "p1"};
    for (unsigned i = 0; i < 2; i++) {
        crest_testing_reading reading;
        if (crest_testing_read(registry, NULL, &reading, NULL, "probe.ping-time", "peer", peers[i],
                               "outcome", outcome, NULL) == CREST_OK)
            count += reading.count;
    }
    return count;
}

static void test_stress(void **state)
{
    (void)state;
    pthread_t workers[STRESS_WORKERS], answerers[2];
    registry = fixture_registry(NULL);
    for (size_t i = 0; i < LENGTH(answerers); i++)
        assert_int_equal(pthread_create(&answerers[i], NULL, answer, NULL), 0);
    for (size_t i = 0; i < STRESS_WORKERS; i++)
        assert_int_equal(pthread_create(&workers[i], NULL, work, (void *)(uintptr_t)i), 0);
/* ThreadSanitizer cannot follow threads that begin after such a fork, and the allocator of
 * AddressSanitizer may be locked for good in the child: by a thread that is not there any more */
#if !FIXTURE_SANITIZED
    for (unsigned i = 0; i < 20; i++) {
        int status;
        pid_t child = fork();
        if (child == 0) {
            worker own = {.calls = 1};
            crest_probe_options options = {.registry = registry, .interval_ms = 10};
            crest_probe *probe = crest_probe_ping("c", stress_send, &own, &options, NULL);
            _exit(probe != NULL && crest_probe_stop(probe) == CREST_OK ? 0 : 1);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
#endif
    for (size_t i = 0; i < STRESS_WORKERS; i++)
        fixture_join(workers[i], NULL);
    __atomic_store_n(&over, 1, __ATOMIC_RELEASE);
    for (size_t i = 0; i < LENGTH(answerers); i++)
        fixture_join(answerers[i], NULL);
    uint64_t ok = outcomes("ok"), error = outcomes("error"), timeout = outcomes("timeout"),
             cancelled = outcomes("cancelled");
    print_message("%llu sent: %llu ok, %llu error, %llu timeout, %llu cancelled; %llu refused\n",
                  (unsigned long long)sent, (unsigned long long)ok, (unsigned long long)error,
                  (unsigned long long)timeout, (unsigned long long)cancelled,
                  (unsigned long long)refused);
    assert_true(ok > 0 && error > 0 && cancelled > 0);
    assert_int_equal(ok + error + timeout + cancelled, sent);
    assert_int_equal(ok, taken);
    assert_true(error <= failed); /* one that timed out before its sending failed is a timeout */
    probe_threads_are("crest-prober", 0);
    crest_registry_free(registry);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_stress)};
    fixture_watchdog(230);
    return cmocka_run_group_tests_name("probes_stress", tests, NULL, NULL);
}
