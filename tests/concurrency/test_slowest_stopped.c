/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread that notes the slowest operation is stopped at any instruction by a handler, which may
 * note a slower one, while the notes are taken; then it goes on and records a fast operation. The
 * next taking finds an operation: what was taken before keeps nothing from being noted. Operations
 * name their own durations, and totals are exact.
 */
#include "base/atomic.h"
#include "metrics/slowest_note.h"
#include "support/core_fixture.h"

#include <signal.h>
#include <time.h>

#define STOPS FIXTURE_TIMES(20000)
#define STOPS_FOR_S 6               /* at most, on a machine that is busy */
#define STOP_LONG UINT64_C(1000000) /* durations rise from here */

/* Every other handler notes too; of these, every other lets the thread go on to its end at once. */
#define STOP_GOES_ON 2

static struct stopped {
    crest_timer *timer;
    uint64_t ns;      /* the longest so far; the thread's and its handler's */
    uint64_t records; /* the same's */
    /* how often: the thread was told to stop, stopped, was let go on, recorded the fast operation,
     * was seen to have done so */
    uint64_t told, stood, gone_on, fast, seen;
    uint64_t handled; /* the last turn whose handler has run */
    uint64_t done;
} stopped;

static void stopped_record(uint64_t ns)
{
    crest_op op = crest_op_u64x2(ns, ~ns);
    crest_timer_record_op(stopped.timer, (int64_t)ns, CREST_OUTCOME_OK, &op);
    crest_word_add(&stopped.records, 1);
}

static void stopped_record_longer(void)
{
    crest_word_add(&stopped.ns, 1);
    stopped_record(crest_atomic_load(&stopped.ns));
}

/* Who sleeps is soon let run again, where many others want to. */
static void stopped_wait(const uint64_t *word, uint64_t until)
{
    const struct timespec nap = {0, 1000};
    for (unsigned looks = 0; crest_atomic_load_acquire(word) < until; looks++)
        if (looks >= 1000)
            nanosleep(&nap, NULL);
}

static void stopped_handler(int number)
{
    (void)number;
    uint64_t turn = crest_atomic_load_acquire(&stopped.told);
    if (turn % 2 == 0)
        stopped_record_longer();
    crest_atomic_store(&stopped.handled, turn);
    if (turn % 4 == STOP_GOES_ON)
        return;
    crest_atomic_store_release(&stopped.stood, turn);
    stopped_wait(&stopped.gone_on, turn);
}

static void *stopped_thread(void *argument)
{
    stopped.ns = STOP_LONG;
    while (!crest_atomic_load_acquire(&stopped.done)) {
        uint64_t told = crest_atomic_load_acquire(&stopped.told);
        stopped_record_longer();
        if (told % 4 == STOP_GOES_ON && crest_atomic_load(&stopped.handled) == told)
            crest_atomic_store_release(&stopped.stood, told);
        uint64_t turn = crest_atomic_load_acquire(&stopped.gone_on);
        if (turn == stopped.fast)
            continue;
        stopped_record(turn % STOP_LONG + 1);
        crest_atomic_store_release(&stopped.fast, turn);
        stopped_wait(&stopped.seen, turn);
    }
    return argument;
}

static void stopped_take(crest_note *note)
{
    crest_slowest_take(stopped.timer->outcome[CREST_OUTCOME_OK].handle.series, note);
    crest_op op = crest_op_u64x2(note->value, ~note->value);
    assert_true(note->value == 0 || crest_op_equal(&note->op, &op));
}

static void test_stopped(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    stopped.timer = fixture_timer(registry, "t");
    struct sigaction action = {.sa_handler = stopped_handler}, before;
    sigaction(SIGUSR1, &action, &before);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, stopped_thread, NULL), 0);
    uint64_t of_fast = 0, turns = 0;
    time_t end = time(NULL) + STOPS_FOR_S;
    for (uint64_t turn = 1; turn <= STOPS && time(NULL) < end; turns = turn++) {
        crest_note note;
        crest_atomic_store_release(&stopped.told, turn);
        pthread_kill(thread, SIGUSR1);
        stopped_wait(&stopped.stood, turn);
        stopped_take(&note);
        crest_atomic_store_release(&stopped.gone_on, turn);
        stopped_wait(&stopped.fast, turn);
        stopped_take(&note);
        assert_in_range(note.value, turn % STOP_LONG + 1, crest_atomic_load(&stopped.ns));
        of_fast += note.value <= STOP_LONG;
        crest_atomic_store_release(&stopped.seen, turn);
    }
    crest_atomic_store_release(&stopped.done, 1);
    pthread_join(thread, NULL);
    sigaction(SIGUSR1, &before, NULL);
    print_message("%llu stops, the fast operation was the slowest after %llu\n",
                  (unsigned long long)turns, (unsigned long long)of_fast);
    crest_snapshot *snapshot = fixture_snapshot(registry);
    const crest_distribution *d = fixture_series(snapshot, "t", "ok").distribution;
    assert_int_equal(crest_distribution_count(d), stopped.records);
    assert_int_equal(crest_distribution_max(d), stopped.ns);
    crest_snapshot_free(snapshot);
    crest_registry_free(registry);
}

int main(void)
{
    fixture_watchdog(170);
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_stopped)};
    return cmocka_run_group_tests_name("slowest stopped", tests, NULL, NULL);
}
