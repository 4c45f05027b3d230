/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many threads record while they are read: snapshots never go back, never hold more than was begun
 * and never less than was done, and in the end every total is exact.
 */
#include "base/atomic.h"
#include "support/core_fixture.h"

#include <sched.h>

#include <crest/by_name.h>

#define WATCHDOG_S 170
#define RECORDERS 4
#define RECORDS FIXTURE_TIMES(300000)
#define CONSTANT 777

CREST_COUNTER(declared, "test.declared", "Declared.");
CREST_COUNTER_FAMILY(family, "test.family", "A family.", who);
CREST_HISTOGRAM(constant, "test.constant", "One value only.");
CREST_HISTOGRAM(mixed, "test.mixed", "Many values.");
CREST_TIMER(handed, "test.handed-time", "Timings that change threads.");

typedef struct recorder {
    pthread_t thread;
    crest_counter *dynamic;
    unsigned number;
    uint64_t begun, done; /* of the declared counter */
} recorder;

static uint64_t mixed_value(unsigned i)
{
    return (((uint64_t)i * 2654435761u) & ((UINT64_C(1) << 40) - 1)) >> (i % 30);
}

/* Snapshots taken while the recorders record. */
static uint64_t readings;

static void *recorder_run(void *argument)
{
    recorder *r = argument;
    char who[16];
    snprintf(who, sizeof who, "%u", r->number % 2);
    crest_counter *resolved = family_with(who);
    for (unsigned i = 0; i < RECORDS; i++) {
        /* not so fast that nobody reads meanwhile */
        while (i % (RECORDS / 8) == 0 && crest_atomic_load(&readings) < i / (RECORDS / 8))
            sched_yield();
        crest_atomic_store_release(&r->begun, i + 1);
        crest_counter_inc(&declared);
        crest_atomic_store_release(&r->done, i + 1);
        crest_counter_add(r->dynamic, 3);
        crest_counter_inc(resolved);
        crest_histogram_record(&constant, CONSTANT);
        crest_histogram_record(&mixed, (int64_t)mixed_value(i));
        if (i % 16 == 0)
            crest_increment_counter("test.by-name");
    }
    return NULL;
}

static uint64_t recorders_sum(const recorder *recorders, int done)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < RECORDERS; i++)
        sum += crest_atomic_load_acquire(done ? &recorders[i].done : &recorders[i].begun);
    return sum;
}

typedef struct reading {
    uint64_t declared, constant, mixed;
} reading;

static void check_reading(crest_registry *registry, const recorder *recorders, reading *last)
{
    uint64_t least = recorders_sum(recorders, 1);
    crest_snapshot *snapshot = fixture_snapshot(registry);
    uint64_t most = recorders_sum(recorders, 0);
    uint64_t counted = fixture_series(snapshot, "test.declared", NULL).counter;
    assert_true(counted >= least && counted <= most && counted >= last->declared);
    last->declared = counted;

    const crest_distribution *d = fixture_series(snapshot, "test.constant", NULL).distribution;
    uint64_t count = crest_distribution_count(d);
    assert_true(count >= last->constant);
    assert_true(crest_distribution_sum(d) <= count * CONSTANT);
    assert_true(crest_distribution_sum(d) >= last->constant * CONSTANT - RECORDERS * CONSTANT ||
                last->constant < RECORDERS);
    if (count != 0) {
        assert_int_equal(crest_distribution_min(d), CONSTANT);
        assert_int_equal(crest_distribution_max(d), CONSTANT);
    }
    last->constant = count;

    d = fixture_series(snapshot, "test.mixed", NULL).distribution;
    assert_true(crest_distribution_count(d) >= last->mixed);
    last->mixed = crest_distribution_count(d);
    assert_int_equal(fixture_buckets(d), last->mixed);
    crest_bucket bucket;
    for (size_t cursor = 0; crest_distribution_next(d, &cursor, &bucket);) {
        assert_true(bucket.lowest <= crest_distribution_max(d));
        assert_true(bucket.highest >= crest_distribution_min(d));
    }
    crest_snapshot_free(snapshot);
}

static void test_read_while_recorded(void **state)
{
    (void)state;
    recorder recorders[RECORDERS] = {0};
    crest_counter *dynamic = fixture_counter(NULL, "test.dynamic");
    reading last = {0, 0, 0};
    for (unsigned i = 0; i < RECORDERS; i++) {
        recorders[i].dynamic = dynamic;
        recorders[i].number = i;
        assert_int_equal(pthread_create(&recorders[i].thread, NULL, recorder_run, &recorders[i]),
                         0);
    }
    while (recorders_sum(recorders, 1) < (uint64_t)RECORDERS * RECORDS) {
        check_reading(NULL, recorders, &last);
        crest_atomic_add(&readings, 1);
    }
    for (unsigned i = 0; i < RECORDERS; i++)
        pthread_join(recorders[i].thread, NULL);
    check_reading(NULL, recorders, &last);
    assert_true(readings >= 7);
    const uint64_t all = (uint64_t)RECORDERS * RECORDS;
    uint64_t sum = 0, max = 0;
    for (unsigned i = 0; i < RECORDS; i++) {
        sum += mixed_value(i);
        max = mixed_value(i) > max ? mixed_value(i) : max;
    }
    assert_int_equal(last.declared, all);
    assert_int_equal(last.constant, all);
    assert_int_equal(last.mixed, all);
    assert_int_equal(crest_counter_value(dynamic), 3 * all);
    assert_int_equal(crest_counter_value(family_with("0")), all / 2);
    assert_int_equal(crest_counter_value(family_with("1")), all / 2);
    assert_int_equal(crest_counter_value(crest_counter_by_name("test.by-name")),
                     RECORDERS * ((RECORDS + 15) / 16));
    crest_snapshot *snapshot = fixture_snapshot(NULL);
    const crest_distribution *d = fixture_series(snapshot, "test.mixed", NULL).distribution;
    assert_int_equal(crest_distribution_sum(d), RECORDERS * sum);
    assert_int_equal(crest_distribution_max(d), max);
    d = fixture_series(snapshot, "test.constant", NULL).distribution;
    assert_int_equal(crest_distribution_sum(d), all * CONSTANT);
    crest_snapshot_free(snapshot);
}

/* ---- a sum covers no record that the counts lack ---- */

#define ORDER_READINGS FIXTURE_TIMES(30000)
static uint64_t order_ends;

static void *order_run(void *histogram)
{
    while (!crest_atomic_load(&order_ends))
        for (int i = 0; i < 1000; i++)
            crest_histogram_record(histogram, CONSTANT);
    return NULL;
}

/* More threads than processors, so that some lose theirs in the middle of a record. */
static void test_sum_after_counts(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    crest_histogram *histogram = fixture_histogram(registry, "h");
    pthread_t threads[RECORDERS];
    for (int i = 0; i < RECORDERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, order_run, histogram), 0);
    uint64_t last = 0;
    for (int i = 0; i < ORDER_READINGS; i++) {
        crest_snapshot *snapshot = fixture_snapshot(registry);
        const crest_distribution *d = fixture_series(snapshot, "h", NULL).distribution;
        uint64_t count = crest_distribution_count(d), sum = crest_distribution_sum(d);
        assert_true(count >= last && sum <= count * CONSTANT && sum % CONSTANT == 0);
        if (count != 0)
            assert_true(crest_distribution_min(d) == CONSTANT &&
                        crest_distribution_max(d) == CONSTANT);
        last = count;
        crest_snapshot_free(snapshot);
    }
    crest_atomic_store(&order_ends, 1);
    for (int i = 0; i < RECORDERS; i++)
        pthread_join(threads[i], NULL);
    crest_registry_free(registry);
}

/* ---- tokens handed from thread to thread ---- */

#define QUEUE_PLACES 64
#define HANDED FIXTURE_TIMES(50000)

typedef struct queue {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    crest_timing timings[QUEUE_PLACES];
    uint64_t numbers[QUEUE_PLACES];
    unsigned first, count;
    int closed;
    uint64_t refused, ended; /* of the enders */
} queue;

static void queue_put(queue *q, const crest_timing *timing, uint64_t number)
{
    pthread_mutex_lock(&q->lock);
    while (q->count == QUEUE_PLACES)
        pthread_cond_wait(&q->changed, &q->lock);
    unsigned at = (q->first + q->count++) % QUEUE_PLACES;
    q->timings[at] = *timing;
    q->numbers[at] = number;
    pthread_cond_broadcast(&q->changed);
    pthread_mutex_unlock(&q->lock);
}

static int queue_get(queue *q, crest_timing *timing, uint64_t *number)
{
    pthread_mutex_lock(&q->lock);
    while (q->count == 0 && !q->closed)
        pthread_cond_wait(&q->changed, &q->lock);
    int got = q->count != 0;
    if (got) {
        *timing = q->timings[q->first];
        *number = q->numbers[q->first];
        q->first = (q->first + 1) % QUEUE_PLACES;
        q->count--;
        pthread_cond_broadcast(&q->changed);
    }
    pthread_mutex_unlock(&q->lock);
    return got;
}

static void *queue_end(void *argument)
{
    queue *q = argument;
    crest_timing timing;
    uint64_t number, refused = 0, ended = 0;
    while (queue_get(q, &timing, &number)) {
        refused += crest_timing_stop(&timing, crest_op_u64(number + 1)) == CREST_MISMATCH;
        ended += crest_timing_end(&timing, crest_op_u64(number),
                                  (crest_outcome)(number % CREST_OUTCOME_COUNT)) == CREST_OK;
        refused += crest_timing_stop(&timing, crest_op_u64(number)) == CREST_NOT_RUNNING;
    }
    pthread_mutex_lock(&q->lock);
    q->refused += refused;
    q->ended += ended;
    pthread_mutex_unlock(&q->lock);
    return NULL;
}

static void test_tokens_change_threads(void **state)
{
    (void)state;
    static queue q = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
    pthread_t enders[3];
    for (int i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&enders[i], NULL, queue_end, &q), 0);
    for (uint64_t number = 0; number < HANDED; number++) {
        crest_timing timing = crest_timer_start(&handed, crest_op_u64(number));
        queue_put(&q, &timing, number);
    }
    pthread_mutex_lock(&q.lock);
    q.closed = 1;
    pthread_cond_broadcast(&q.changed);
    pthread_mutex_unlock(&q.lock);
    for (int i = 0; i < 3; i++)
        pthread_join(enders[i], NULL);
    assert_int_equal(q.ended, HANDED);
    assert_int_equal(q.refused, 2 * HANDED);
    crest_snapshot *snapshot = fixture_snapshot(NULL);
    for (int outcome = 0; outcome < CREST_OUTCOME_COUNT; outcome++) {
        const char *text = crest_outcome_text((crest_outcome)outcome);
        const crest_distribution *d =
            fixture_series(snapshot, "test.handed-time", text).distribution;
        assert_int_equal(crest_distribution_count(d), HANDED / CREST_OUTCOME_COUNT);
    }
    crest_snapshot_free(snapshot);
}

/* ---- one series for all who ask at once ---- */

#define FINDERS 4
#define FOUND FIXTURE_TIMES(2000)

typedef struct finder {
    pthread_t thread;
    crest_registry *registry;
    pthread_barrier_t *start;
    crest_timer *found[FOUND];
    crest_counter *child[FOUND];
} finder;

static void *finder_run(void *argument)
{
    finder *f = argument;
    static const char *const keys[] = {"k"};
    crest_metric_options options = {.name = "family"};
    pthread_barrier_wait(f->start);
    crest_counter_family made = crest_counter_family_new(f->registry, &options, keys, 1, NULL);
    for (unsigned i = 0; i < FOUND; i++) {
        char name[32];
        snprintf(name, sizeof name, "found.m%u", i);
        options.name = name;
        f->found[i] = crest_timer_get(f->registry, &options, NULL);
        crest_timer_record(f->found[i], i, i % 2 ? CREST_OUTCOME_OK : CREST_OUTCOME_CANCELLED);
        const char *value = name;
        f->child[i] = crest_counter_family_get(&made, &value, 1);
        crest_counter_inc(f->child[i]);
    }
    return NULL;
}

static void test_found_at_once(void **state)
{
    (void)state;
    static finder finders[FINDERS];
    pthread_barrier_t start;
    crest_registry *registry = fixture_registry(NULL);
    pthread_barrier_init(&start, NULL, FINDERS);
    for (int i = 0; i < FINDERS; i++) {
        finders[i].registry = registry;
        finders[i].start = &start;
        assert_int_equal(pthread_create(&finders[i].thread, NULL, finder_run, &finders[i]), 0);
    }
    for (int i = 0; i < FINDERS; i++)
        pthread_join(finders[i].thread, NULL);
    pthread_barrier_destroy(&start);
    for (unsigned i = 0; i < FOUND; i++) {
        for (int other = 1; other < FINDERS; other++) {
            assert_ptr_equal(finders[other].found[i], finders[0].found[i]);
            assert_ptr_equal(finders[other].child[i], finders[0].child[i]);
        }
        assert_int_equal(crest_counter_value(finders[0].child[i]), FINDERS);
    }
    crest_snapshot *snapshot = fixture_snapshot(registry);
    uint64_t count = 0, sum = 0;
    for (size_t i = 0; i < crest_snapshot_size(snapshot); i++) {
        crest_series_view view;
        crest_snapshot_series(snapshot, i, &view);
        if (view.kind == CREST_KIND_TIMER) {
            count += crest_distribution_count(view.distribution);
            sum += crest_distribution_sum(view.distribution);
        }
    }
    assert_int_equal(crest_snapshot_size(snapshot), FOUND + FOUND * 2 + FOUND / 2);
    assert_int_equal(count, FINDERS * FOUND);
    assert_int_equal(sum, (uint64_t)FINDERS * FOUND * (FOUND - 1) / 2);
    crest_snapshot_free(snapshot);
    crest_registry_free(registry);
}

/* ---- a registry that is freed while labels are resolved in it ---- */

#define FREED_REGISTRIES FIXTURE_TIMES(300)
#define RESOLVED_MAX 4000

typedef struct resolver {
    crest_counter_family family;
    uint64_t resolved;
    crest_counter *counters[RESOLVED_MAX];
} resolver;

static void *resolver_run(void *argument)
{
    resolver *r = argument;
    for (uint64_t i = 0; i < RESOLVED_MAX; i++) {
        char text[16];
        snprintf(text, sizeof text, "%u", (unsigned)i);
        const char *value = text;
        r->counters[i] = crest_counter_family_get(&r->family, &value, 1);
        crest_counter_inc(r->counters[i]);
        crest_atomic_store_release(&r->resolved, i + 1);
        if (crest_atomic_load32(&r->counters[i]->handle.slot) == 0)
            break;
    }
    return NULL;
}

static void test_freed_while_resolved(void **state)
{
    (void)state;
    static const char *const keys[] = {"k"};
    static resolver r;
    crest_metric_options options = {.name = "family"};
    for (uint64_t round = 0; round < FREED_REGISTRIES; round++) {
        crest_registry *registry = fixture_registry(NULL);
        r.family = crest_counter_family_new(registry, &options, keys, 1, NULL);
        r.resolved = 0;
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, resolver_run, &r), 0);
        while (crest_atomic_load_acquire(&r.resolved) < round % 50)
            sched_yield();
        crest_registry_free(registry);
        pthread_join(thread, NULL);
        for (uint64_t i = 0; i < r.resolved; i++)
            assert_int_equal(r.counters[i]->handle.slot, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read_while_recorded),   cmocka_unit_test(test_sum_after_counts),
        cmocka_unit_test(test_tokens_change_threads), cmocka_unit_test(test_found_at_once),
        cmocka_unit_test(test_freed_while_resolved),
    };
    fixture_watchdog(WATCHDOG_S);
    return cmocka_run_group_tests_name("recording", tests, NULL, NULL);
}
