/* SPDX-License-Identifier: Apache-2.0 */
// crest-test: timeout=600
/*
 * The profiler at its edges: calls that race with its start and its stop, profiles that outlive it,
 * and signals that it must not take.
 */
#define _GNU_SOURCE
#include "support/profile_edges.h"

#include "profiling/stack_table.h"

#include <crest/profile.h>

#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#define PATIENCE_S 200

CREST_TIMER(edge_time, "edges.edge-time", "Operations of this test.");

/* ---- races with start and stop ---- */

static uint32_t racing;

static void *profile_thread_again_and_again(void *unused)
{
    while (__atomic_load_n(&racing, __ATOMIC_RELAXED))
        crest_profile_thread();
    return unused;
}

/* In a child, because it has to be the process's first start. */
static void start_among_racers(void)
{
    pthread_t thread[2];
    racing = 1;
    for (size_t i = 0; i < LENGTH(thread); i++)
        pthread_create(&thread[i], NULL, profile_thread_again_and_again, NULL);
    usleep(1000);
    must(crest_profiler_start(NULL, NULL) == CREST_OK, 3);
    __atomic_store_n(&racing, 0, __ATOMIC_RELAXED);
    for (size_t i = 0; i < LENGTH(thread); i++)
        pthread_join(thread[i], NULL);
    must(crest_profiler_stop(NULL) == CREST_OK, 4);
}

static void test_threads_that_ask_while_it_starts(void **state)
{
    (void)state;
    for (int i = 0; i < 60; i++)
        assert_int_equal(child_status(start_among_racers), 0);
}

static uint32_t stopped;

static void *stop_it(void *unused)
{
    while (!__atomic_load_n(&racing, __ATOMIC_ACQUIRE))
        continue;
    if (crest_profiler_stop(NULL) == CREST_OK)
        __atomic_fetch_add(&stopped, 1, __ATOMIC_RELAXED);
    return unused;
}

static void test_stops_at_the_same_time(void **state)
{
    (void)state;
    for (int i = 0; i < 60; i++) {
        pthread_t thread[3];
        stopped = racing = 0;
        assert_int_equal(crest_profiler_start(NULL, NULL), CREST_OK);
        for (size_t j = 0; j < LENGTH(thread); j++)
            assert_int_equal(pthread_create(&thread[j], NULL, stop_it, NULL), 0);
        __atomic_store_n(&racing, 1, __ATOMIC_RELEASE);
        for (size_t j = 0; j < LENGTH(thread); j++)
            pthread_join(thread[j], NULL);
        assert_int_equal(stopped, 1); /* all have returned after it, so the next start can begin */
    }
}

/* ---- profiles that outlive the profiler ---- */

/* Its thread goes round, finds a new thread, and looks at what is held. */
static void wait_for_round(void)
{
    int ended;
    pthread_t thread = sleeper(&ended);
    while (looked_at(asleep) == 0)
        usleep(1000);
    pthread_cancel(thread);
    pthread_join(thread, NULL);
}

static void test_a_profile_that_outlives_the_profiler(void **state)
{
    crest_error error;
    (void)state;
    for (int kind = 0; kind < CREST_PROFILE_KINDS; kind++) {
        assert_int_equal(crest_profiler_start(NULL, NULL), CREST_OK);
        crest_profile *first = crest_profile_begin((crest_profile_kind)kind, &error);
        assert_non_null(first);
        assert_int_equal(crest_profiler_stop(NULL), CREST_OK);
        if (kind % 2 == 0) {
            crest_profile_free(first);
            first = NULL;
        }
        assert_int_equal(crest_profiler_start(NULL, NULL), CREST_OK);
        wait_for_round();
        crest_profile_free(first);
        assert_int_equal(crest_profiler_stop(NULL), CREST_OK);
    }
}

static void test_a_wall_profile_is_not_ended_by_an_older_one(void **state)
{
    int ended;
    (void)state;
    assert_int_equal(crest_profiler_start(NULL, NULL), CREST_OK);
    crest_profile *older = crest_profile_begin(CREST_PROFILE_WALL, NULL);
    assert_non_null(older);
    assert_int_equal(crest_profiler_stop(NULL), CREST_OK);
    assert_int_equal(crest_profiler_start(NULL, NULL), CREST_OK);
    crest_profile *newer = crest_profile_begin(CREST_PROFILE_WALL, NULL);
    pthread_t thread = sleeper(&ended);
    crest_profile_free(older);
    wait_for_look();
    assert_int_equal(crest_profile_end(newer, NULL), CREST_OK);
    assert_true(folded_ns(newer, "sleep_until_cancelled") > 0);
    crest_profile_free(newer);
    pthread_cancel(thread);
    pthread_join(thread, NULL);
    assert_int_equal(crest_profiler_stop(NULL), CREST_OK);
}

static void test_a_thread_is_charged_for_its_own_life_only(void **state)
{
    int ended;
    (void)state;
    assert_int_equal(crest_profiler_start(NULL, NULL), CREST_OK);
    crest_profile *wall = crest_profile_begin(CREST_PROFILE_WALL, NULL);
    usleep(300000); /* for which it would be charged */
    uint64_t born_ns = crest_now();
    pthread_t thread = sleeper(&ended);
    wait_for_look();
    assert_int_equal(crest_profile_end(wall, NULL), CREST_OK);
    double life_ns = (double)(crest_now() - born_ns);
    double charged_ns = folded_ns(wall, "sleep_until_cancelled");
    assert_true(charged_ns >= 0 && charged_ns <= life_ns);
    crest_profile_free(wall);
    pthread_cancel(thread);
    pthread_join(thread, NULL);
    assert_int_equal(crest_profiler_stop(NULL), CREST_OK);
}

/* ---- signals ---- */

static void test_signals_with_a_meaning_are_not_taken(void **state)
{
    static const int refused[] = {-1,      SIGSEGV, SIGBUS,  SIGILL,  SIGFPE,  SIGABRT, SIGTERM,
                                  SIGINT,  SIGHUP,  SIGQUIT, SIGCHLD, SIGKILL, SIGSTOP, SIGPIPE,
                                  SIGALRM, SIGTRAP, 32,      33,      65,      1000};
    crest_error error;
    (void)state;
    for (size_t i = 0; i < LENGTH(refused); i++) {
        error.message[0] = '\0';
        assert_int_equal(
            crest_profiler_start(&(crest_profiler_options){.signal = refused[i]}, &error),
            CREST_INVALID_ARGUMENT);
        assert_non_null(strstr(error.message, "profile.signal"));
    }
    assert_int_equal(crest_profiler_start(&(crest_profiler_options){.signal = SIGUSR2}, &error),
                     CREST_OK);
    assert_int_equal(crest_profiler_stop(NULL), CREST_OK);
    signal(SIGUSR2, SIG_DFL);
}

/* A thread that is cancelled within the handler would never leave it. Asks the kernel, because the
 * C library hides its own signals. Source: rt_sigaction(2). */
static void test_the_handler_cannot_be_cancelled(void **state)
{
    struct {
        void *handler;
        unsigned long flags;
        void *restorer;
        uint64_t mask;
    } now;
    (void)state;
    assert_int_equal(crest_profiler_start(NULL, NULL), CREST_OK);
    assert_int_equal(syscall(SYS_rt_sigaction, crest_profiler_status().signal, NULL, &now, 8), 0);
    uint64_t never = UINT64_C(1) << (SIGKILL - 1) | UINT64_C(1) << (SIGSTOP - 1);
    assert_true((now.mask | never) == UINT64_MAX);
    assert_int_equal(crest_profiler_stop(NULL), CREST_OK);
}

/* ---- bookkeeping ---- */

static int is_sampled(int thread)
{
    for (unsigned i = 0; i < CREST_PROFILE_THREADS_MAX; i++)
        if (crest_thread_timers_at(i) != NULL && crest_thread_timers_at(i)->thread == thread)
            return 1;
    return 0;
}

static uint32_t let_go, number_of_thread;

static void *wait_to_go(void *unused)
{
    __atomic_store_n(&number_of_thread, (uint32_t)gettid(), __ATOMIC_RELEASE);
    while (!__atomic_load_n(&let_go, __ATOMIC_ACQUIRE))
        usleep(1000);
    return unused;
}

static int waiting_thread(pthread_t *thread)
{
    let_go = number_of_thread = 0;
    pthread_create(thread, NULL, wait_to_go, NULL);
    while (__atomic_load_n(&number_of_thread, __ATOMIC_ACQUIRE) == 0)
        usleep(1000);
    return (int)number_of_thread;
}

static void wait_until_gone(pthread_t thread, int number)
{
    __atomic_store_n(&let_go, 1, __ATOMIC_RELEASE);
    pthread_join(thread, NULL);
    while (syscall(SYS_tgkill, getpid(), number, 0) == 0)
        usleep(1000);
}

static void test_a_thread_that_comes_as_another_goes(void **state)
{
    pthread_t thread;
    (void)state;
    signal(SIGRTMAX, SIG_IGN);
    crest_thread_timers_begin(0, 10, SIGRTMAX);
    int first = waiting_thread(&thread);
    crest_thread_timers_look(0);
    assert_true(is_sampled(first));
    wait_until_gone(thread, first);
    int second = waiting_thread(&thread);
    crest_thread_timers_look(0);
    assert_true(is_sampled(second));
    wait_until_gone(thread, second);
    uint64_t refused = crest_thread_timers_refused();
    crest_thread_timers_look(0);
    unsigned count = crest_thread_timers_count();
    crest_thread_timers_add(second); /* it has ended since it was found: no failure of the timers */
    assert_int_equal(crest_thread_timers_refused(), refused);
    assert_int_equal(crest_thread_timers_count(), count);
    crest_thread_timers_end();
    signal(SIGRTMAX, SIG_DFL);
}

static void test_stacks_without_room_are_refused(void **state)
{
    static crest_stack_table table;
    uint64_t frames[CREST_PROFILE_FRAMES_MAX] = {0}, taken = 0, refused = 0, seen = 0;
    const uint64_t *read;
    (void)state;
    for (uint64_t i = 1; i <= 6000; i++) {
        frames[0] = (i + 1) / 2; /* each stack twice */
        if (crest_stack_table_add(&table, frames, LENGTH(frames), 0, 1) == CREST_STACK_REFUSED)
            refused++;
        else
            taken++;
    }
    for (uint32_t i = 0; i < CREST_STACKS_MAX; i++)
        if (crest_stack_table_frames(&table, i, &read) != 0)
            seen += table.entry[i].count;
    assert_int_equal(taken, 2 * (CREST_STACK_FRAMES_MAX / CREST_PROFILE_FRAMES_MAX));
    assert_int_equal(seen, taken);
    assert_int_equal(refused, 6000 - taken);
}

static void test_names_are_valid_texts(void **state)
{
    static folded_sum made;
    (void)state;
    made.used = 0;
    assert_int_equal(crest_profiler_start(NULL, NULL), CREST_OK);
    prctl(PR_SET_NAME, "bad\xff\xfe"
                       "name");
    crest_profile *threads = crest_profile_begin(CREST_PROFILE_THREADS, NULL);
    assert_int_equal(crest_profile_end(threads, NULL), CREST_OK);
    assert_int_equal(crest_profile_write(threads, CREST_PROFILE_PPROF, folded_write, &made, NULL),
                     CREST_OK);
    crest_profile_free(threads);
    assert_null(memmem(made.text, made.used, "bad\xff\xfe", 5));
    assert_non_null(memmem(made.text, made.used, "bad\xef\xbf\xbd", 6));
    prctl(PR_SET_NAME, "test");
    assert_int_equal(crest_profiler_stop(NULL), CREST_OK);
}

static void test_a_scope_evaluates_its_operation_once(void **state)
{
    uint64_t next = 0;
    crest_timer *timers[] = {&edge_time, &edge_time}, **timer = timers;
    (void)state;
    {
        CREST_PROFILE_SCOPE(*timer++, crest_op_u64(next++), NULL);
    }
    assert_int_equal(next, 1);
    assert_true(timer == timers + 1);
}

int main(void)
{
    alarm(580); /* a watchdog: what hangs ends with SIGALRM */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads_that_ask_while_it_starts),
        cmocka_unit_test(test_stops_at_the_same_time),
        cmocka_unit_test(test_a_profile_that_outlives_the_profiler),
        cmocka_unit_test(test_a_wall_profile_is_not_ended_by_an_older_one),
        cmocka_unit_test(test_a_thread_is_charged_for_its_own_life_only),
        cmocka_unit_test(test_signals_with_a_meaning_are_not_taken),
        cmocka_unit_test(test_the_handler_cannot_be_cancelled),
        cmocka_unit_test(test_a_thread_that_comes_as_another_goes),
        cmocka_unit_test(test_stacks_without_room_are_refused),
        cmocka_unit_test(test_names_are_valid_texts),
        cmocka_unit_test(test_a_scope_evaluates_its_operation_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
