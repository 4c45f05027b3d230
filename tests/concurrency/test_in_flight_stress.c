/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keyed timers under load: threads that begin, end, abandon and sweep the same ids at once. Each
 * operation that began is recorded exactly once, and what the calls answered adds up to what the
 * series count.
 */
#include "base/atomic.h"
#include "in_flight/in_flight_table.h"
#include "in_flight/in_flight_walks.h"
#include "support/core_fixture.h"
#include "support/random_numbers.h"

#include <crest/lifetime.h>

#define WATCHDOG_S 170

enum { THREADS = 4, IDS = 64, ANSWERS = CREST_STATUS_COUNT, LIVES = 200 };

CREST_TIMER(raced, "test.raced-time", "Begun and ended by all, with a short deadline.",
            .deadline_ms = 1);
CREST_TIMER(lasting, "test.lasting-time", "Without a deadline.");
CREST_TIMER(owned, "test.owned-time", "Of owners that end.");
CREST_TIMER_FAMILY(living, "test.living-time", "Of peers that are retired.", peer);
CREST_STAGES(staged, "test.staged", "Marked by all.", .stages = {"a", "b", "c"}, .deadline_ms = 1);

typedef struct stress_thread {
    pthread_t thread;
    unsigned number;
    uint64_t times;
    uint64_t begun[ANSWERS], ended[ANSWERS], marked[ANSWERS];
    uint64_t owned; /* ended by their owners */
} stress_thread;

static uint32_t stress_stop;

static uint64_t stress_random(uint64_t *seed)
{
    return random_next(seed);
}

static uint64_t stress_recorded(const char *name, const char *label)
{
    crest_snapshot *snapshot = fixture_snapshot(NULL);
    crest_series_view view;
    uint64_t count = 0;
    if (crest_snapshot_find(snapshot, name, &label, 1, &view) == CREST_OK)
        count = crest_distribution_count(view.distribution);
    crest_snapshot_free(snapshot);
    return count;
}

static void *stress_sweeps(void *unused)
{
    while (!crest_atomic_load32(&stress_stop)) {
        crest_in_flight_sweep();
        sched_yield();
    }
    return unused;
}

static void *stress_snapshots(void *unused)
{
    while (!crest_atomic_load32(&stress_stop)) {
        crest_snapshot_free(crest_snapshot_take(NULL));
        crest_in_flight_op ops[3];
        size_t count = crest_timer_oldest(&raced, ops, 3);
        for (size_t i = 0; i < count; i++)
            fixture_holds(ops[i].op.kind == CREST_OP_U64X2 && ops[i].op.word[0] < IDS &&
                          ops[i].op.word[1] == ~ops[i].op.word[0]);
        usleep(1000);
    }
    return unused;
}

/* What two threads at once are asked to do is decided by each thread's own sequence. */
static void *stress_race(void *context)
{
    stress_thread *self = context;
    uint64_t seed = self->number * UINT64_C(0x9e3779b97f4a7c15) + 1;
    for (uint64_t i = 0; i < self->times; i++) {
        uint64_t random = stress_random(&seed), id = random % IDS;
        crest_op op = crest_op_u64x2(id, ~id);
        if (random & 256)
            self->begun[crest_timer_begin(&raced, op)]++;
        else
            self->ended[crest_timer_end(&raced, op, (crest_outcome)(random >> 9 & 1))]++;
        if (random % 1024 == 0)
            usleep(1500); /* past the deadline of what is in flight */
    }
    return NULL;
}

static void *stress_stages(void *context)
{
    stress_thread *self = context;
    uint64_t seed = self->number * UINT64_C(0x9e3779b97f4a7c15) + 1;
    for (uint64_t i = 0; i < self->times; i++) {
        uint64_t random = stress_random(&seed), id = random % 8;
        crest_op op = crest_op_u64(id);
        switch (random >> 8 & 3) {
        case 0: self->begun[crest_stages_begin(&staged, op)]++; break;
        case 1: self->ended[crest_stages_end(&staged, op, CREST_OUTCOME_OK)]++; break;
        default: self->marked[crest_stages_mark(&staged, op, (random >> 10) % 3)]++;
        }
    }
    return NULL;
}

/* Ids of its own, none of them late: nothing but OK. */
static void *stress_own(void *context)
{
    stress_thread *self = context;
    for (uint64_t i = 0; i < self->times; i++) {
        crest_op op = crest_op_u64x2(self->number, i);
        self->begun[crest_timer_begin(&lasting, op)]++;
        self->ended[crest_timer_end(&lasting, op, CREST_OUTCOME_OK)]++;
    }
    return NULL;
}

/* Runs the threads, with two beside them that sweep and read, and adds up what they were told. */
static stress_thread stress_run(void *(*what)(void *), uint64_t times)
{
    stress_thread threads[THREADS], sum;
    pthread_t sweeps, snapshots;
    memset(threads, 0, sizeof threads);
    memset(&sum, 0, sizeof sum);
    crest_atomic_store32(&stress_stop, 0);
    assert_int_equal(pthread_create(&sweeps, NULL, stress_sweeps, NULL), 0);
    assert_int_equal(pthread_create(&snapshots, NULL, stress_snapshots, NULL), 0);
    for (unsigned i = 0; i < THREADS; i++) {
        threads[i].number = i;
        threads[i].times = times;
        assert_int_equal(pthread_create(&threads[i].thread, NULL, what, &threads[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        fixture_join(threads[i].thread, NULL);
        for (unsigned s = 0; s < ANSWERS; s++) {
            sum.begun[s] += threads[i].begun[s];
            sum.ended[s] += threads[i].ended[s];
            sum.marked[s] += threads[i].marked[s];
        }
        sum.owned += threads[i].owned;
    }
    crest_atomic_store32(&stress_stop, 1);
    fixture_join(sweeps, NULL);
    fixture_join(snapshots, NULL);
    return sum;
}

static void test_recorded_once(void **state)
{
    (void)state;
    const uint64_t times = FIXTURE_TIMES(400000);
    stress_thread sum = stress_run(stress_race, times);
    usleep(2000);
    crest_in_flight_sweep();
    assert_int_equal(crest_timer_in_flight(&raced).count, 0);
    uint64_t ended =
        stress_recorded("test.raced-time", "ok") + stress_recorded("test.raced-time", "error");
    uint64_t late = stress_recorded("test.raced-time", "timeout");
    assert_int_equal(ended, sum.ended[CREST_OK]);
    assert_int_equal(ended + late, sum.begun[CREST_OK]);
    assert_true(late != 0);
    /* and nothing else was answered than what can be */
    uint64_t answers = sum.begun[CREST_OK] + sum.begun[CREST_ALREADY] + sum.ended[CREST_OK] +
                       sum.ended[CREST_NOT_FOUND] + sum.ended[CREST_TIMED_OUT];
    assert_int_equal(answers, THREADS * times);
    assert_true(sum.ended[CREST_TIMED_OUT] != 0);
}

static void test_stages_recorded_once(void **state)
{
    (void)state;
    stress_thread sum = stress_run(stress_stages, FIXTURE_TIMES(200000));
    usleep(2000);
    crest_in_flight_sweep();
    assert_int_equal(crest_stages_in_flight(&staged).count, 0);
    assert_int_equal(stress_recorded("test.staged", "ok"), sum.ended[CREST_OK]);
    assert_int_equal(stress_recorded("test.staged", "ok") +
                         stress_recorded("test.staged", "timeout"),
                     sum.begun[CREST_OK]);
    uint64_t gaps = 0, since = 0;
    for (unsigned i = 0; i < 3; i++) {
        const char *names[] = {"a", "b", "c"};
        gaps += stress_recorded("test.staged.stage", names[i]);
        since += stress_recorded("test.staged.since-start", names[i]);
    }
    assert_int_equal(gaps, sum.marked[CREST_OK]);
    assert_int_equal(since, sum.marked[CREST_OK]);
    assert_true(gaps != 0);
}

static void test_own_ids(void **state)
{
    (void)state;
    const uint64_t times = FIXTURE_TIMES(200000);
    stress_thread sum = stress_run(stress_own, times);
    assert_int_equal(sum.begun[CREST_OK], THREADS * times);
    assert_int_equal(sum.ended[CREST_OK], THREADS * times);
    assert_int_equal(stress_recorded("test.lasting-time", "ok"), THREADS * times);
}

/* Registries come and go with operations in flight, while others are swept. */
static void *stress_registries(void *context)
{
    stress_thread *self = context;
    for (uint64_t i = 0; i < self->times; i++) {
        crest_registry *registry = crest_registry_new(NULL);
        crest_metric_options options = {.name = "t", .deadline_ms = 1};
        crest_timer *timer = crest_timer_get(registry, &options, NULL);
        for (uint64_t id = 0; id < 8; id++)
            self->begun[crest_timer_begin(timer, crest_op_u64(id))]++;
        self->ended[crest_timer_end(timer, crest_op_u64(3), CREST_OUTCOME_OK)]++;
        crest_registry_free(registry);
    }
    return NULL;
}

static void test_registries_freed(void **state)
{
    (void)state;
    const uint64_t times = FIXTURE_TIMES(1000);
    stress_thread sum = stress_run(stress_registries, times);
    assert_int_equal(sum.begun[CREST_OK], THREADS * times * 8);
    assert_int_equal(sum.ended[CREST_OK] + sum.ended[CREST_TIMED_OUT], THREADS * times);
}

/* Operations of a few owners; the first thread ends the owners, the others end what they began, if
 * that is still in flight. */
static void *stress_owners(void *context)
{
    stress_thread *self = context;
    for (uint64_t i = 0; i < self->times; i++) {
        crest_op op = crest_op_u64x2(self->number, i), owner = crest_op_u64(i % 8);
        if (self->number == 0) {
            self->owned += crest_owner_end(owner, CREST_OUTCOME_CANCELLED);
            continue;
        }
        self->begun[crest_timer_begin_owned(&owned, op, owner)]++;
        if (i % 4 != 0)
            self->ended[crest_timer_end(&owned, op, CREST_OUTCOME_OK)]++;
    }
    return NULL;
}

static void test_owners(void **state)
{
    (void)state;
    stress_thread sum = stress_run(stress_owners, FIXTURE_TIMES(100000));
    for (uint64_t owner = 0; owner < 8; owner++)
        sum.owned += crest_owner_end(crest_op_u64(owner), CREST_OUTCOME_CANCELLED);
    assert_int_equal(crest_timer_in_flight(&owned).count, 0);
    assert_int_equal(stress_recorded("test.owned-time", "ok"), sum.ended[CREST_OK]);
    assert_int_equal(stress_recorded("test.owned-time", "cancelled"), sum.owned);
    assert_int_equal(sum.begun[CREST_OK], sum.ended[CREST_OK] + sum.owned);
    assert_int_equal(sum.begun[CREST_OK] + sum.begun[CREST_LIMIT],
                     (THREADS - 1) * FIXTURE_TIMES(100000));
}

/* The peer of now, which is retired sooner or later. */
static crest_timer *stress_peer;

/* What a thread begins it ends, but for every eighth: the end of its series ends that. */
static void *stress_lives(void *context)
{
    stress_thread *self = context;
    uint64_t i = 0;
    while (!crest_atomic_load32(&stress_stop)) {
        crest_timer *peer = crest_atomic_load_ptr_acquire(CREST_PTR(&stress_peer));
        crest_op op = crest_op_u64x2(self->number, i++);
        crest_status begun = crest_timer_begin(peer, op);
        self->begun[begun]++;
        if (begun == CREST_OK && i % 8 != 0)
            self->ended[crest_timer_end(peer, op, CREST_OUTCOME_OK)]++;
    }
    return NULL;
}

/* Records of this outcome in all lives together. */
static uint64_t stress_recorded_by(const char *outcome)
{
    crest_snapshot *snapshot = fixture_snapshot(NULL);
    crest_series_view view;
    uint64_t count = 0;
    for (size_t i = 0; crest_snapshot_series(snapshot, i, &view) == CREST_OK; i++)
        if (strcmp(view.name, "test.living-time") == 0 &&
            strcmp(view.label_values[1], outcome) == 0)
            count += crest_distribution_count(view.distribution);
    crest_snapshot_free(snapshot);
    return count;
}

/* Each operation that began is recorded once, by its end or, as cancelled, by that of its series;
 * and what came too late is told so and counted. */
static void test_lives(void **state)
{
    (void)state;
    char peer[16];
    stress_thread threads[THREADS], sum;
    crest_testing_mark *mark = crest_testing_mark_take(NULL);
    memset(threads, 0, sizeof threads);
    memset(&sum, 0, sizeof sum);
    crest_atomic_store32(&stress_stop, 0);
    stress_peer = living_with("0");
    for (unsigned i = 0; i < THREADS; i++) {
        threads[i].number = i;
        assert_int_equal(pthread_create(&threads[i].thread, NULL, stress_lives, &threads[i]), 0);
    }
    for (unsigned life = 0; life < LIVES; life++) {
        snprintf(peer, sizeof peer, "%u", life + 1);
        crest_atomic_store_ptr_release(CREST_PTR(&stress_peer), living_with(peer));
        snprintf(peer, sizeof peer, "%u", life);
        assert_int_equal(crest_retire(NULL, "peer", peer), 1);
        usleep(500);
    }
    crest_atomic_store32(&stress_stop, 1);
    for (unsigned i = 0; i < THREADS; i++) {
        fixture_join(threads[i].thread, NULL);
        for (unsigned s = 0; s < ANSWERS; s++) {
            sum.begun[s] += threads[i].begun[s];
            sum.ended[s] += threads[i].ended[s];
        }
    }
    snprintf(peer, sizeof peer, "%u", LIVES);
    assert_int_equal(crest_retire(NULL, "peer", peer), 1);
    uint64_t cancelled = stress_recorded_by("cancelled"), ok = stress_recorded_by("ok");
    assert_int_not_equal(cancelled, 0);
    assert_int_equal(cancelled, sum.begun[CREST_OK] - sum.ended[CREST_OK]);
    crest_testing_reading late;
    assert_int_equal(crest_testing_read(NULL, mark, &late, NULL, "crest.late-records", NULL),
                     CREST_OK);
    assert_int_equal(ok + late.counter,
                     sum.ended[CREST_OK] + sum.begun[CREST_LATE] + sum.ended[CREST_LATE]);
    assert_true(FIXTURE_READING(NULL, "test.living-time.in-flight", NULL).gauge == 0);
    crest_testing_mark_free(mark);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_recorded_once), cmocka_unit_test(test_stages_recorded_once),
        cmocka_unit_test(test_own_ids),       cmocka_unit_test(test_registries_freed),
        cmocka_unit_test(test_owners),        cmocka_unit_test(test_lives),
    };
    fixture_watchdog(WATCHDOG_S);
    return cmocka_run_group_tests_name("in_flight_stress", tests, NULL, NULL);
}
