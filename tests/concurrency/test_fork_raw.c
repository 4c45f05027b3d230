/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Children of _Fork() and of a raw clone(SIGCHLD), which call no handlers of fork: made while
 * another thread holds the library's lock and others record, report and register. Such a child
 * records, lets signals in, and exits.
 * crest-test: sanitizers=none
 */
#define _GNU_SOURCE
#include "base/atomic.h"
#include "base/lock.h"
#include "support/core_fixture.h"
#include "support/fake_reporter.h"

#include <crest/crest.h>
#include <malloc.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define RAW_HANGS_AFTER_S 120
#define RAW_CHILDREN 40

CREST_COUNTER(raw_count, "test.raw", "Counted on both sides.");
CREST_HISTOGRAM(raw_size, "test.raw-size", "A histogram.");
CREST_GAUGE(raw_level, "test.raw-level", "A gauge.");
CREST_TIMER(raw_keyed, "test.raw-keyed", "Keyed operations.", .deadline_ms = 60000);
CREST_COUNTER_FAMILY(raw_family, "test.raw-family", "Registered all the time.", key);

static uint32_t raw_step, raw_done;

static pid_t raw_clone(void)
{
    return (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
}

#define RAW_WANTS(condition)                                                                       \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            static const char text[] = #condition "\n";                                            \
            _exit(write(2, text, sizeof text - 1) > 0 ? 1 : 2);                                    \
        }                                                                                          \
    } while (0)

static void raw_child(int exits)
{
    sigset_t before, after;
    alarm(RAW_HANGS_AFTER_S);
    pthread_sigmask(SIG_BLOCK, NULL, &before);
    crest_counter_add(&raw_count, 3);
    crest_histogram_record(&raw_size, 100);
    crest_gauge_set(&raw_level, 7);
    RAW_WANTS(crest_counter_value(&raw_count) == 3 && crest_gauge_value(&raw_level) == 7);
    RAW_WANTS(crest_timer_begin(&raw_keyed, crest_op_u64(1)) == CREST_OK);
    RAW_WANTS(crest_timer_end(&raw_keyed, crest_op_u64(1), CREST_OUTCOME_OK) == CREST_OK);
    pthread_sigmask(SIG_BLOCK, NULL, &after);
    RAW_WANTS(sigismember(&before, SIGUSR1) == sigismember(&after, SIGUSR1));
    if (exits)
        exit(0);
    _exit(0);
}

static void raw_family_of(pid_t (*make)(void), int exits)
{
    pid_t child = make();
    if (child == 0)
        raw_child(exits);
    int status;
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void *raw_hold(void *unused)
{
    crest_lock_saved saved;
    crest_lock_take(&saved);
    crest_atomic_store32_release(&raw_step, 1);
    while (!crest_atomic_load32_acquire(&raw_done))
        usleep(1000);
    crest_lock_drop(&saved);
    return unused;
}

static void test_lock_held(void **state)
{
    (void)state;
    pthread_t thread;
    raw_step = raw_done = 0;
    crest_counter_inc(&raw_count);
    crest_histogram_record(&raw_size, 1);
    crest_gauge_set(&raw_level, 1);
    crest_timer_begin(&raw_keyed, crest_op_u64(1));
    assert_int_equal(pthread_create(&thread, NULL, raw_hold, NULL), 0);
    while (!crest_atomic_load32_acquire(&raw_step))
        usleep(1000);
    raw_family_of(_Fork, 0);
    raw_family_of(raw_clone, 0);
    crest_atomic_store32_release(&raw_done, 1);
    fixture_join(thread, NULL);
    assert_int_equal(crest_counter_value(&raw_count), 1);
    crest_timer_end(&raw_keyed, crest_op_u64(1), CREST_OUTCOME_OK);
}

/* ---- while Crest runs ---- */

static fake_reporter raw_fake;

static crest_reporter *raw_create(const char *value, const crest_options *options,
                                  const crest_resource *resource, crest_error *error)
{
    (void)value, (void)options, (void)resource, (void)error;
    return &raw_fake.reporter;
}

static const crest_reporter_kind raw_kind = {.name = "fake", .create = raw_create};

static void *raw_register(void *unused)
{
    char key[32];
    for (unsigned i = 0; !crest_atomic_load32_acquire(&raw_done); i++) {
        snprintf(key, sizeof key, "%u", i % 2000);
        crest_counter_inc(raw_family_with(key));
        crest_op op = crest_op_u64(i);
        crest_timer_begin(&raw_keyed, op);
        crest_timer_end(&raw_keyed, op, CREST_OUTCOME_OK);
        if (i % 16 == 0)
            crest_snapshot_free(crest_snapshot_take(NULL));
    }
    return unused;
}

/* Has each of malloc's locks in turn, most of the time. */
static void *raw_lock_malloc(void *unused)
{
    while (!crest_atomic_load32_acquire(&raw_done))
        (void)mallinfo2();
    return unused;
}

static void raw_families(void *(*meanwhile)(void *), int exits)
{
    crest_error error;
    unsetenv("CREST_OPTS");
    fake_init(&raw_fake, "fake");
    assert_int_equal(crest_start("fake=x,system=on", &error), CREST_OK);
    pthread_t thread;
    raw_done = 0;
    assert_int_equal(pthread_create(&thread, NULL, meanwhile, NULL), 0);
    for (int i = 0; i < RAW_CHILDREN; i++)
        raw_family_of(i % 2 != 0 ? _Fork : raw_clone, exits);
    crest_atomic_store32_release(&raw_done, 1);
    fixture_join(thread, NULL);
    assert_int_equal(crest_stop(10000, &error), CREST_OK);
}

static void test_running(void **state)
{
    (void)state;
    raw_families(raw_register, 1);
}

/* Recording wants nothing of it; other libraries do at exit. */
static void test_malloc_locked(void **state)
{
    (void)state;
    raw_families(raw_lock_malloc, 0);
}

int main(void)
{
    if (crest_reporter_kind_add(&raw_kind) != CREST_OK)
        return 1;
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_lock_held),
                                       cmocka_unit_test(test_running),
                                       cmocka_unit_test(test_malloc_locked)};
    return cmocka_run_group_tests_name("raw fork", tests, NULL, NULL);
}
