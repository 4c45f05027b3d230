/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many threads and handlers end timings of known durations while windows are ticked: the slowest
 * operation is the one that it says, none is missed, and totals are exact. And the distributions of
 * every range, read while they are recorded into.
 */
#include "base/atomic.h"
#include "clock/clock_inside.h"
#include "metrics/metric_inside.h"
#include "metrics/slowest_note.h"
#include "support/core_fixture.h"
#include "support/random_numbers.h"
#include "windows/windows.h"

#include <signal.h>

#define STRESS_THREADS 3u
#define STRESS_ROUNDS FIXTURE_TIMES(200)
#define STRESS_RECORDS 300u
#define STRESS_SECOND UINT64_C(1000000000)

typedef struct slow_stress {
    crest_registry *registry;
    crest_timer *timer;
    crest_windows *windows;
    uint64_t now_ns;
    uint64_t done;
    uint64_t largest; /* that has certainly been recorded */
    pthread_barrier_t barrier;
    uint64_t round_largest[STRESS_THREADS];
} slow_stress;

typedef struct slow_writer {
    slow_stress *stress;
    unsigned number;
    uint64_t records;
    uint64_t random;
} slow_writer;

static uint64_t slow_random(uint64_t *random)
{
    *random = random_step(*random);
    return *random >> 16;
}

static void slow_tick(slow_stress *s)
{
    s->now_ns += STRESS_SECOND;
    crest_clock_fake(s->now_ns);
    crest_snapshot *snapshot = crest_snapshot_read_notes(s->registry->state);
    assert_non_null(snapshot);
    assert_int_equal(crest_windows_tick(s->windows, snapshot), 0);
}

static void slow_begin(slow_stress *s)
{
    memset(s, 0, sizeof *s);
    s->registry = fixture_registry(NULL);
    s->timer = fixture_timer(s->registry, "t");
    s->windows = crest_windows_new();
    s->now_ns = 1000 * STRESS_SECOND;
    slow_tick(s);
}

static void slow_end(slow_stress *s)
{
    crest_clock_fake(0);
    crest_windows_free(s->windows);
    crest_registry_free(s->registry);
}

static crest_window slow_window(const slow_stress *s)
{
    crest_window window;
    crest_windows_result(s->windows, s->timer->outcome[0].handle.series, CREST_WINDOW_S, &window);
    return window;
}

/* An operation that names its own duration. */
static void slow_record(crest_timer *timer, uint64_t ns)
{
    crest_op op = crest_op_u64x2(ns, ~ns);
    crest_timer_record_op(timer, (int64_t)ns, CREST_OUTCOME_OK, &op);
}

static uint64_t slow_count(const slow_stress *s)
{
    crest_snapshot *snapshot = fixture_snapshot(s->registry);
    uint64_t count = crest_distribution_count(fixture_series(snapshot, "t", "ok").distribution);
    crest_snapshot_free(snapshot);
    return count;
}

/* ---- rounds: everything of a round lies between two ticks ---- */

static void *slow_write_rounds(void *argument)
{
    slow_writer *w = argument;
    slow_stress *s = w->stress;
    for (unsigned round = 0; round < STRESS_ROUNDS; round++) {
        uint64_t largest = 0, most = UINT64_C(1) << (10 + slow_random(&w->random) % 25);
        for (unsigned i = 0; i < STRESS_RECORDS; i++) {
            /* of each thread its own, so that the slowest is one only */
            uint64_t ns = slow_random(&w->random) % most * STRESS_THREADS + w->number;
            slow_record(s->timer, ns);
            largest = ns > largest ? ns : largest;
        }
        s->round_largest[w->number] = largest;
        pthread_barrier_wait(&s->barrier);
        pthread_barrier_wait(&s->barrier);
    }
    return NULL;
}

static void test_rounds(void **state)
{
    (void)state;
    static uint64_t largest[STRESS_ROUNDS];
    slow_stress s;
    slow_begin(&s);
    pthread_t threads[STRESS_THREADS];
    slow_writer writers[STRESS_THREADS];
    assert_int_equal(pthread_barrier_init(&s.barrier, NULL, STRESS_THREADS + 1), 0);
    for (unsigned i = 0; i < STRESS_THREADS; i++) {
        writers[i] = (slow_writer){&s, i, 0, 99 + i};
        assert_int_equal(pthread_create(&threads[i], NULL, slow_write_rounds, &writers[i]), 0);
    }
    for (unsigned round = 0; round < STRESS_ROUNDS; round++) {
        pthread_barrier_wait(&s.barrier);
        largest[round] = 0;
        for (unsigned i = 0; i < STRESS_THREADS; i++)
            if (s.round_largest[i] > largest[round])
                largest[round] = s.round_largest[i];
        slow_tick(&s);
        uint64_t wanted = 0;
        for (unsigned i = round + 1; i-- > 0 && i + 60 > round;)
            wanted = largest[i] > wanted ? largest[i] : wanted;
        crest_window window = slow_window(&s);
        crest_op op = crest_op_u64x2(wanted, ~wanted);
        assert_int_equal((uint64_t)window.maximum, wanted);
        assert_true(crest_op_equal(&window.slowest, &op));
        pthread_barrier_wait(&s.barrier);
    }
    for (unsigned i = 0; i < STRESS_THREADS; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&s.barrier);
    assert_int_equal(slow_count(&s), STRESS_ROUNDS * STRESS_THREADS * STRESS_RECORDS);
    slow_end(&s);
}

/* ---- ticks at any moment ---- */

static void *slow_write_free(void *argument)
{
    slow_writer *w = argument;
    slow_stress *s = w->stress;
    while (!crest_atomic_load_acquire(&s->done)) {
        /* mostly small ones, at times a new record of all */
        uint64_t ns = slow_random(&w->random) % 100000 * STRESS_THREADS + w->number;
        if (slow_random(&w->random) % 1000 == 0)
            ns += (crest_atomic_load(&s->largest) / STRESS_THREADS + 1) * STRESS_THREADS;
        slow_record(s->timer, ns);
        w->records++;
        crest_atomic_raise(&s->largest, ns);
    }
    return NULL;
}

static void test_ticks_beside(void **state)
{
    (void)state;
    slow_stress s;
    slow_begin(&s);
    pthread_t threads[STRESS_THREADS];
    slow_writer writers[STRESS_THREADS];
    for (unsigned i = 0; i < STRESS_THREADS; i++) {
        writers[i] = (slow_writer){&s, i, 0, 7 + i};
        assert_int_equal(pthread_create(&threads[i], NULL, slow_write_free, &writers[i]), 0);
    }
    while (crest_atomic_load(&s.largest) == 0)
        sched_yield();
    unsigned named = 0;
    for (int tick = 0; tick < 55; tick++) {
        struct timespec nap = {0, 5000000};
        nanosleep(&nap, NULL);
        uint64_t certain = crest_atomic_load_acquire(&s.largest);
        slow_tick(&s);
        crest_window window = slow_window(&s);
        /* within a bucket where a record came between the notes and the counts */
        assert_true(window.maximum >= (double)certain);
        if (window.slowest.kind == CREST_OP_NONE)
            continue;
        named++;
        assert_int_equal(window.slowest.kind, CREST_OP_U64X2);
        assert_int_equal(window.slowest.word[0], (uint64_t)window.maximum);
        assert_int_equal(window.slowest.word[1], ~window.slowest.word[0]);
    }
    crest_atomic_store_release(&s.done, 1);
    uint64_t records = 0;
    for (unsigned i = 0; i < STRESS_THREADS; i++) {
        pthread_join(threads[i], NULL);
        records += writers[i].records;
    }
    slow_tick(&s);
    slow_tick(&s); /* what was between notes and counts shows one later */
    crest_window window = slow_window(&s);
    crest_op op = crest_op_u64x2(s.largest, ~s.largest);
    assert_true(named > 0);
    assert_true(crest_op_equal(&window.slowest, &op));
    assert_int_equal((uint64_t)window.maximum, s.largest);
    assert_int_equal(window.events, records);
    assert_int_equal(slow_count(&s), records);
    slow_end(&s);
}

/* ---- a handler that interrupts the noting and notes ---- */

static slow_stress slow_signalled;
static uint64_t slow_handled;

static void slow_handler(int number)
{
    (void)number;
    static uint64_t ns = 1;
    ns += 1000; /* a record nearly each time */
    slow_record(slow_signalled.timer, ns);
    crest_atomic_raise(&slow_signalled.largest, ns);
    crest_atomic_add(&slow_handled, 1);
}

static void *slow_write_rising(void *argument)
{
    slow_writer *w = argument;
    for (uint64_t ns = 2;
         w->records < FIXTURE_TIMES(30000) || crest_atomic_load(&slow_handled) == 0; w->records++) {
        ns += slow_random(&w->random) % 40;
        slow_record(w->stress->timer, ns);
        crest_atomic_raise(&w->stress->largest, ns);
    }
    crest_atomic_store_release(&w->stress->done, 1);
    return NULL;
}

static void test_handlers(void **state)
{
    (void)state;
    slow_stress *s = &slow_signalled;
    slow_begin(s);
    struct sigaction action = {.sa_handler = slow_handler}, before;
    sigaction(SIGUSR1, &action, &before);
    slow_writer writer = {s, 0, 0, 5};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, slow_write_rising, &writer), 0);
    uint64_t largest = 0, random = 1;
    while (!crest_atomic_load_acquire(&s->done)) {
        pthread_kill(thread, SIGUSR1);
        if (slow_random(&random) % 64 != 0)
            continue;
        uint64_t certain = crest_atomic_load_acquire(&s->largest);
        slow_tick(s);
        crest_window window = slow_window(s);
        if (s->windows->times.count < 60)
            assert_true(window.maximum >= (double)certain);
        largest = certain;
    }
    pthread_join(thread, NULL);
    sigaction(SIGUSR1, &before, NULL);
    assert_true(largest <= s->largest);
    slow_tick(s);
    slow_tick(s);
    crest_window window = slow_window(s);
    crest_snapshot *snapshot = fixture_snapshot(s->registry);
    const crest_distribution *d = fixture_series(snapshot, "t", "ok").distribution;
    assert_int_equal(crest_distribution_count(d), writer.records + slow_handled);
    assert_int_equal(crest_distribution_max(d), s->largest);
    if (window.slowest.kind != CREST_OP_NONE)
        assert_int_equal(window.slowest.word[0], (uint64_t)window.maximum);
    crest_snapshot_free(snapshot);
    slow_end(s);
}

/* ---- notes are taken at any moment ---- */

/*
 * Durations that only fall: each of them is the longest since the notes were last taken, or it is
 * not noted at all. So what is taken next is never below one that began and ended in between.
 */
typedef struct slow_falling {
    slow_stress *stress;
    uint64_t begun; /* the duration that is being recorded, or the last that was */
    uint64_t ended;
} slow_falling;

#define FALLING_RECORDS FIXTURE_TIMES(2000000)

static void *slow_write_falling(void *argument)
{
    slow_falling *f = argument;
    for (uint64_t ns = 2 * FALLING_RECORDS; ns > FALLING_RECORDS; ns--) {
        /* a full barrier: the recording looks at nothing before it is said to have begun */
        crest_atomic_exchange(&f->begun, ns);
        slow_record(f->stress->timer, ns);
        crest_atomic_store_release(&f->ended, ns);
    }
    crest_atomic_store_release(&f->stress->done, 1);
    return NULL;
}

static void slow_check_note(const crest_note *note)
{
    crest_op op = crest_op_u64x2(note->value, ~note->value);
    assert_true(note->value == 0 || crest_op_equal(&note->op, &op));
}

/* How many were checked. */
static unsigned slow_fall(void)
{
    slow_stress s;
    slow_begin(&s);
    const crest_series *series = s.timer->outcome[0].handle.series;
    slow_falling f = {&s, UINT64_MAX, UINT64_MAX};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, slow_write_falling, &f), 0);
    unsigned checked = 0;
    while (!crest_atomic_load_acquire(&s.done)) {
        uint64_t before = crest_atomic_load_acquire(&f.begun), after, ended;
        crest_note note;
        crest_slowest_take(series, &note);
        slow_check_note(&note);
        after = crest_atomic_load_acquire(&f.begun);
        do /* one that begins after the taking has ended */
            ended = crest_atomic_load_acquire(&f.ended);
        while (ended >= after && !crest_atomic_load_acquire(&s.done));
        crest_slowest_take(series, &note);
        slow_check_note(&note);
        if (ended >= after || after == UINT64_MAX)
            continue;
        assert_in_range(note.value, after - 1, before);
        checked++;
    }
    pthread_join(thread, NULL);
    assert_int_equal(slow_count(&s), FALLING_RECORDS);
    slow_end(&s);
    return checked;
}

/* Again where all of them fell before anybody could look. */
static void test_falling(void **state)
{
    (void)state;
    while (slow_fall() == 0)
        continue;
}

/* ---- more writers than the board has places ---- */

#define CROWD_THREADS 8u
#define CROWD_ROUNDS FIXTURE_TIMES(60)
#define CROWD_RECORDS 500u

typedef struct slow_crowd {
    slow_stress *stress;
    pthread_t thread;
    unsigned number;
    uint64_t handled;
} slow_crowd;

static slow_stress slow_crowded;
static __thread slow_crowd *slow_crowd_own;
static __thread uint64_t slow_crowd_ns; /* the longest of this thread */

static void slow_crowd_next(void)
{
    crest_word_add(&slow_crowd_ns, CROWD_THREADS);
    slow_record(slow_crowded.timer, slow_crowd_ns);
}

static void slow_crowd_handler(int number)
{
    (void)number;
    if (slow_crowd_own == NULL)
        return;
    slow_crowd_next();
    slow_crowd_own->handled++;
}

/* Rising durations, so that every one is to be noted. Between rounds no handler runs. */
static void *slow_write_crowd(void *argument)
{
    slow_crowd *c = argument;
    slow_stress *s = c->stress;
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGUSR1);
    slow_crowd_ns = c->number;
    slow_crowd_own = c;
    for (unsigned round = 0; round < CROWD_ROUNDS; round++) {
        pthread_sigmask(SIG_UNBLOCK, &signals, NULL);
        for (unsigned i = 0; i < CROWD_RECORDS; i++)
            slow_crowd_next();
        pthread_sigmask(SIG_BLOCK, &signals, NULL);
        crest_atomic_raise(&s->largest, slow_crowd_ns);
        crest_atomic_add_release(&s->done, 1);
        pthread_barrier_wait(&s->barrier);
    }
    return NULL;
}

/* The largest note of what is taken from a round's beginning until all have ended it. */
static uint64_t slow_take_round(slow_stress *s, const crest_series *series, slow_crowd *crowd)
{
    uint64_t largest = 0;
    unsigned next = 0;
    for (int ended = 0; !ended;) {
        crest_note note;
        pthread_kill(crowd[next++ % CROWD_THREADS].thread, SIGUSR1);
        ended = crest_atomic_load_acquire(&s->done) == CROWD_THREADS;
        crest_slowest_take(series, &note);
        slow_check_note(&note);
        largest = note.value > largest ? note.value : largest;
    }
    return largest;
}

/* All that is taken from the beginning of a round to its end has the longest of it. */
static void test_crowd(void **state)
{
    (void)state;
    slow_stress *s = &slow_crowded;
    slow_begin(s);
    const crest_series *series = s->timer->outcome[0].handle.series;
    struct sigaction action = {.sa_handler = slow_crowd_handler}, before;
    sigaction(SIGUSR1, &action, &before);
    slow_crowd crowd[CROWD_THREADS];
    assert_int_equal(pthread_barrier_init(&s->barrier, NULL, CROWD_THREADS + 1), 0);
    for (unsigned i = 0; i < CROWD_THREADS; i++) {
        crowd[i] = (slow_crowd){.stress = s, .number = i};
        assert_int_equal(pthread_create(&crowd[i].thread, NULL, slow_write_crowd, &crowd[i]), 0);
    }
    uint64_t handled = 0;
    for (unsigned round = 0; round < CROWD_ROUNDS; round++) {
        uint64_t largest = slow_take_round(s, series, crowd);
        assert_int_equal(largest, crest_atomic_load_acquire(&s->largest));
        crest_atomic_store(&s->done, 0);
        pthread_barrier_wait(&s->barrier);
    }
    for (unsigned i = 0; i < CROWD_THREADS; i++) {
        pthread_join(crowd[i].thread, NULL);
        handled += crowd[i].handled;
    }
    sigaction(SIGUSR1, &before, NULL);
    pthread_barrier_destroy(&s->barrier);
    assert_true(handled > 0);
    assert_int_equal(slow_count(s), CROWD_ROUNDS * CROWD_THREADS * CROWD_RECORDS + handled);
    slow_end(s);
}

/* ---- every range, read while it is recorded into ---- */

typedef struct ranges_stress {
    crest_histogram *histogram;
    uint64_t highest;
    uint64_t done;
    uint64_t sum[STRESS_THREADS];
    uint64_t count[STRESS_THREADS];
} ranges_stress;

typedef struct ranges_writer {
    ranges_stress *stress;
    unsigned number;
} ranges_writer;

static void *ranges_write(void *argument)
{
    ranges_writer *w = argument;
    ranges_stress *s = w->stress;
    uint64_t random = 3 + w->number, sum = 0, count = 0;
    while (!crest_atomic_load_acquire(&s->done) || count < 1000) {
        uint64_t value = slow_random(&random) >> slow_random(&random) % 40;
        value &= s->highest & ((UINT64_C(1) << 30) - 1); /* so that the sum fits */
        uint64_t times = 1 + value % 3;
        crest_histogram_record_n(s->histogram, (int64_t)value, times);
        sum += value * times;
        count += times;
    }
    s->sum[w->number] = sum;
    s->count[w->number] = count;
    return NULL;
}

/* What holds of a reading at any moment, and of it beside an earlier one. */
static void ranges_check(const crest_distribution *now, const crest_distribution *before)
{
    uint64_t count = 0;
    double most = 0;
    crest_bucket bucket;
    for (size_t cursor = 0; crest_distribution_next(now, &cursor, &bucket);) {
        count += bucket.count;
        most += (double)bucket.count * (double)bucket.highest;
        assert_true(bucket.highest >= crest_distribution_min(now));
        assert_true(bucket.lowest <= crest_distribution_max(now));
    }
    assert_int_equal(crest_distribution_count(now), count);
    assert_true((double)crest_distribution_sum(now) <= most * (1 + 1e-9));
    crest_distribution *grown = crest_distribution_copy(now);
    assert_int_equal(crest_distribution_subtract(grown, before), CREST_OK);
    assert_int_equal(crest_distribution_count(grown), count - crest_distribution_count(before));
    assert_true(crest_distribution_sum(grown) ==
                crest_distribution_sum(now) - crest_distribution_sum(before));
    assert_int_equal(crest_distribution_add(grown, before), CREST_OK);
    assert_int_equal(crest_distribution_count(grown), count);
    assert_true(crest_distribution_sum(grown) == crest_distribution_sum(now));
    crest_distribution_free(grown);
}

static void ranges_run(const crest_range *range, uint64_t highest)
{
    crest_registry *registry = fixture_registry(NULL);
    crest_metric_options options = {.name = "h", .range = range};
    ranges_stress s = {.histogram = crest_histogram_get(registry, &options, NULL),
                       .highest = highest};
    pthread_t threads[STRESS_THREADS];
    ranges_writer writers[STRESS_THREADS];
    for (unsigned i = 0; i < STRESS_THREADS; i++) {
        writers[i] = (ranges_writer){&s, i};
        assert_int_equal(pthread_create(&threads[i], NULL, ranges_write, &writers[i]), 0);
    }
    crest_snapshot *before = fixture_snapshot(registry);
    for (int i = 0; i < FIXTURE_TIMES(60); i++) {
        crest_snapshot *now = fixture_snapshot(registry);
        ranges_check(fixture_series(now, "h", NULL).distribution,
                     fixture_series(before, "h", NULL).distribution);
        crest_snapshot_free(before);
        before = now;
    }
    crest_snapshot_free(before);
    crest_atomic_store_release(&s.done, 1);
    uint64_t sum = 0, count = 0;
    for (unsigned i = 0; i < STRESS_THREADS; i++) {
        pthread_join(threads[i], NULL);
        sum += s.sum[i];
        count += s.count[i];
    }
    crest_snapshot *last = fixture_snapshot(registry);
    const crest_distribution *d = fixture_series(last, "h", NULL).distribution;
    assert_int_equal(crest_distribution_count(d), count);
    assert_int_equal(crest_distribution_sum(d), sum);
    crest_snapshot_free(last);
    crest_registry_free(registry);
}

static void test_every_range(void **state)
{
    (void)state;
    static const crest_range odd = {1000, UINT64_C(1) << 41, 4};
    ranges_run(CREST_RANGE_LOOSE, (UINT64_C(1) << 42) - 1);
    ranges_run(CREST_RANGE_DEFAULT, (UINT64_C(1) << 42) - 1);
    ranges_run(CREST_RANGE_FINE, (UINT64_C(1) << 42) - 1);
    ranges_run(CREST_RANGE_PERCENTAGE, 127);
    ranges_run(&odd, (UINT64_C(1) << 41) - 1);
    ranges_run(CREST_RANGE_NONE, INT64_MAX);
}

int main(void)
{
    fixture_watchdog(170);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rounds),   cmocka_unit_test(test_ticks_beside),
        cmocka_unit_test(test_handlers), cmocka_unit_test(test_falling),
        cmocka_unit_test(test_crowd),    cmocka_unit_test(test_every_range),
    };
    return cmocka_run_group_tests_name("slowest_stress", tests, NULL, NULL);
}
