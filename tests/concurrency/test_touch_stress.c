/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that meet very many histograms for the first time, each of its own memory and without a
 * lock, while handlers on the same threads meet the same ones, others read all of them, memory of
 * the same sizes is given back and taken again, and the process forks. Totals are exact.
 */
#include "base/arena.h"
#include "base/atomic.h"
#include "base/lock.h"
#include "cells/cells.h"
#include "cells/first_values.h"
#include "support/core_fixture.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>

#define WATCHDOG_S 170
#define TOUCH_THREADS 4u
#define TOUCH_HISTOGRAMS 300u
#define TOUCH_ROUNDS FIXTURE_TIMES(40)

static crest_registry *touch_registry;
static crest_histogram *touch_histograms[TOUCH_HISTOGRAMS];
static uint64_t touch_end;

/* What each of a round has recorded into each histogram, its handlers included. */
typedef struct touch_account {
    uint64_t count, sum, min, max;
} touch_account;

typedef struct toucher {
    pthread_t thread;
    uint64_t round, number;
    uint64_t at;      /* the histogram that it is about to meet */
    uint64_t done;    /* it meets no more, and handles no more */
    uint64_t handled; /* signals */
    touch_account recorded[TOUCH_HISTOGRAMS], handlers[TOUCH_HISTOGRAMS];
} toucher;

static toucher touchers[TOUCH_THREADS];
static __thread toucher *touch_own;

/* In and around each power of two, the lowest block's values among them. */
static uint64_t touch_value(uint64_t n)
{
    n = (n + 1) * UINT64_C(0x9e3779b97f4a7c15);
    return (n >> 22) >> n % 42;
}

static void touch_record(touch_account *accounts, uint64_t at, uint64_t value)
{
    touch_account *account = &accounts[at];
    uint64_t times = 1 + (value % 7 == 0);
    crest_histogram_record_n(touch_histograms[at], (int64_t)value, times);
    account->min = account->count == 0 || value < account->min ? value : account->min;
    account->max = value > account->max ? value : account->max;
    account->count += times;
    account->sum += value * times;
}

/* Records what the thread is recording into, and goes ahead of it. */
static void touch_handler(int signal_number)
{
    (void)signal_number;
    toucher *t = touch_own;
    int before = errno;
    if (t == NULL || crest_atomic_load(&t->done))
        return;
    uint64_t at = crest_atomic_load(&t->at), n = t->handled++;
    touch_record(t->handlers, at, touch_value(t->round * 1000 + at));
    touch_record(t->handlers, (at + 1 + n % 3) % TOUCH_HISTOGRAMS, touch_value(n));
    if (errno != before)
        abort();
}

static void *touch_run(void *argument)
{
    toucher *t = argument;
    touch_own = t;
    for (uint64_t i = 0; i < TOUCH_HISTOGRAMS; i++) {
        uint64_t at = (i + t->number * 7) % TOUCH_HISTOGRAMS;
        crest_atomic_store(&t->at, at);
        touch_record(t->recorded, at, touch_value(t->round * 1000 + at));
        /* of some histograms as few as a beginning has place for, of others more */
        for (uint64_t n = 0; n < (at + t->number) % (2 * CREST_BEGINNING_VALUES); n++)
            touch_record(t->recorded, at, touch_value(t->round + i + n));
        if (i % 128 == 0)
            sched_yield(); /* else a busy machine lets no one signal before it is done */
    }
    crest_atomic_store(&t->done, 1);
    return NULL;
}

static unsigned touch_busy(void)
{
    unsigned busy = 0;
    for (unsigned i = 0; i < TOUCH_THREADS; i++)
        busy += !crest_atomic_load(&touchers[i].done);
    return busy;
}

/* Signals, as many as the threads take until they are done. */
static void touch_disturb(void)
{
    for (unsigned i = 0; touch_busy() != 0; i++, sched_yield())
        if (!crest_atomic_load(&touchers[i % TOUCH_THREADS].done))
            pthread_kill(touchers[i % TOUCH_THREADS].thread, SIGUSR1);
}

static void touch_account_add(touch_account *to, const touch_account *from)
{
    if (from->count == 0)
        return;
    to->min = to->count == 0 || from->min < to->min ? from->min : to->min;
    to->max = from->max > to->max ? from->max : to->max;
    to->count += from->count;
    to->sum += from->sum;
}

static void touch_check(void)
{
    crest_snapshot *snapshot = fixture_snapshot(touch_registry);
    for (unsigned at = 0; at < TOUCH_HISTOGRAMS; at++) {
        touch_account wanted = {0, 0, 0, 0};
        char name[32];
        snprintf(name, sizeof name, "touch.h%u", at);
        const crest_distribution *found = fixture_series(snapshot, name, NULL).distribution;
        for (unsigned i = 0; i < TOUCH_THREADS; i++) {
            touch_account_add(&wanted, &touchers[i].recorded[at]);
            touch_account_add(&wanted, &touchers[i].handlers[at]);
        }
        assert_int_equal(crest_distribution_count(found), wanted.count);
        assert_int_equal(crest_distribution_sum(found), wanted.sum);
        assert_int_equal(crest_distribution_min(found), wanted.min);
        assert_int_equal(crest_distribution_max(found), wanted.max);
    }
    crest_snapshot_free(snapshot);
}

static void touch_make(void)
{
    touch_registry = fixture_registry(NULL);
    for (unsigned at = 0; at < TOUCH_HISTOGRAMS; at++) {
        char name[32];
        snprintf(name, sizeof name, "touch.h%u", at);
        touch_histograms[at] = fixture_histogram(touch_registry, name);
    }
}

/* A round: histograms that no thread has met, and threads that meet all of them. */
static uint64_t touch_round(uint64_t round, void (*meanwhile)(void))
{
    uint64_t handled = 0;
    touch_make();
    memset(touchers, 0, sizeof touchers);
    for (unsigned i = 0; i < TOUCH_THREADS; i++) {
        touchers[i].round = round;
        touchers[i].number = i;
        assert_int_equal(pthread_create(&touchers[i].thread, NULL, touch_run, &touchers[i]), 0);
    }
    meanwhile();
    for (unsigned i = 0; i < TOUCH_THREADS; i++) {
        pthread_join(touchers[i].thread, NULL);
        handled += touchers[i].handled;
    }
    touch_check();
    crest_registry_free(touch_registry);
    return handled;
}

static void test_handlers(void **state)
{
    (void)state;
    uint64_t handled = 0;
    for (uint64_t round = 0; round < TOUCH_ROUNDS || handled == 0; round++)
        handled += touch_round(round, touch_disturb);
    print_message("%llu signals handled\n", (unsigned long long)handled);
}

/* ---- read, and beside series that go ---- */

/* Reads all of it, over and over: counts only grow, and fit to extremes and sums. */
static void touch_read(void)
{
    static uint64_t seen[TOUCH_HISTOGRAMS];
    memset(seen, 0, sizeof seen);
    while (touch_busy() != 0) {
        crest_snapshot *snapshot = fixture_snapshot(touch_registry);
        for (size_t i = 0; i < crest_snapshot_size(snapshot); i++) {
            crest_series_view view;
            crest_snapshot_series(snapshot, i, &view);
            const crest_distribution *d = view.distribution;
            uint64_t count = crest_distribution_count(d);
            assert_true(count >= seen[i]);
            seen[i] = count;
            if (count == 0)
                continue;
            assert_true(crest_distribution_min(d) <= crest_distribution_max(d));
            assert_true(crest_distribution_sum(d) / count <= crest_distribution_max(d));
        }
        crest_snapshot_free(snapshot);
    }
}

/* Gives pieces of the sizes that the touching threads want back, and takes them again. */
static void *touch_give(void *unused)
{
    for (uint64_t round = 0; !crest_atomic_load(&touch_end); round++) {
        void *pieces[8];
        int counts = round % 2 == 0;
        size_t bytes = counts ? 1024 : sizeof(crest_shard);
        crest_arena_use use = counts ? CREST_ARENA_COUNTS : crest_layout_use(&crest_layout_default);
        crest_lock_saved saved;
        crest_lock_take(&saved);
        for (unsigned i = 0; i < LENGTH(pieces); i++) {
            pieces[i] = crest_arena_take_again(use, bytes);
            memset(pieces[i], 0xee, bytes);
        }
        for (unsigned i = 0; i < LENGTH(pieces); i++)
            crest_arena_give(use, pieces[i], bytes);
        crest_lock_drop(&saved);
        sched_yield();
    }
    return unused;
}

static void test_beside_others(void **state)
{
    (void)state;
    pthread_t giver;
    crest_atomic_store(&touch_end, 0);
    assert_int_equal(pthread_create(&giver, NULL, touch_give, NULL), 0);
    for (uint64_t round = 0; round < TOUCH_ROUNDS; round++)
        touch_round(round, round % 2 ? touch_disturb : touch_read);
    crest_atomic_store(&touch_end, 1);
    pthread_join(giver, NULL);
}

/* ---- fork ---- */

/* The child has nothing of what its parent counted, goes on with the forking thread's reserve, and
 * a new thread of it with another's, whatever that was doing. */
static void *touch_child_thread(void *unused)
{
    for (unsigned at = 0; at < TOUCH_HISTOGRAMS; at++)
        crest_histogram_record(touch_histograms[at], 5000);
    return unused;
}

static int touch_child(void)
{
    pthread_t thread;
    touch_child_thread(NULL);
    if (pthread_create(&thread, NULL, touch_child_thread, NULL) != 0)
        return 2;
    pthread_join(thread, NULL);
    crest_snapshot *snapshot = crest_snapshot_take(touch_registry);
    int wrong = snapshot == NULL;
    for (size_t i = 0; !wrong && i < crest_snapshot_size(snapshot); i++) {
        crest_series_view view;
        crest_snapshot_series(snapshot, i, &view);
        wrong = crest_distribution_count(view.distribution) != 2 ||
                crest_distribution_sum(view.distribution) != 10000 ||
                crest_distribution_min(view.distribution) != 5000;
    }
    return wrong;
}

static void touch_fork(void)
{
    for (int i = 0; i < 3; i++) {
        pid_t child = fork();
        if (child == 0)
            _exit(touch_child());
        int status = -1;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
}

static void test_forks(void **state)
{
    (void)state;
    fixture_skip_child_with_threads();
    for (uint64_t round = 0; round < TOUCH_ROUNDS; round++)
        touch_round(round, touch_fork);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_handlers),
        cmocka_unit_test(test_beside_others),
        cmocka_unit_test(test_forks),
    };
    struct sigaction action = {.sa_handler = touch_handler, .sa_flags = SA_RESTART};
    sigaction(SIGUSR1, &action, NULL);
    fixture_watchdog(WATCHDOG_S);
    return cmocka_run_group_tests_name("touch stress", tests, NULL, NULL);
}
