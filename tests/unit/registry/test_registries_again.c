/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Registries that come and go, with every kind of instrument in use by several threads: what one
 * leaves is taken over by the next of its prefix and labels, so that memory does not grow, and
 * nothing of the registry before is in it.
 */
#include "base/arena.h"
#include "support/core_fixture.h"
#include "registry/growth.h"

#include <crest/lifetime.h>
#include <malloc.h>

#define AGAIN_SECOND UINT64_C(1000000000)
#define AGAIN_REGISTRIES FIXTURE_TIMES(10000u)
#define AGAIN_SETTLED 50u
#define AGAIN_RECORDS 6u /* more than a histogram has before it takes memory for counts */
/* What the process may take besides, as the allocator's own. */
#define AGAIN_HEAP_MAX (64 * 1024)
#define AGAIN_RESIDENT_MAX (4 * 1024 * 1024)
enum { AGAIN_THREADS = 2 };

static const char *const again_keys[] = {"peer"};
static const char *const again_peers[] = {"a", "b"};

typedef struct again_all {
    crest_registry *registry;
    crest_counter *counter;
    crest_gauge *gauge;
    crest_histogram *histogram;
    crest_timer *timer;
    crest_range_sampler *range_sampler;
    crest_stages *stages;
    crest_counter_family sent;
    crest_timer_family ping;
    crest_stages_family block;
} again_all;

/* A registry with its instruments. */
static again_all again_new(const char *prefix)
{
    const crest_registry_options options = {.prefix = prefix, .labels = {{"network", "main"}}};
    again_all all = {.registry = crest_registry_new(&options)};
    assert_non_null(all.registry);
    all.counter = fixture_counter(all.registry, "counted");
    all.gauge = fixture_gauge(all.registry, "level");
    all.histogram = fixture_histogram(all.registry, "size");
    all.timer = fixture_timer(all.registry, "duration");
    all.range_sampler = fixture_range_sampler(all.registry, "queue");
    const crest_metric_options stages = {.name = "way", .stages = {"x", "y"}, .deadline_ms = 5000};
    all.stages = crest_stages_get(all.registry, &stages, NULL);
    const crest_metric_options sent = {.name = "sent"}, ping = {.name = "ping"};
    const crest_metric_options block = {.name = "block", .stages = {"x"}};
    all.sent = crest_counter_family_new(all.registry, &sent, again_keys, 1, NULL);
    all.ping = crest_timer_family_new(all.registry, &ping, again_keys, 1, NULL);
    all.block = crest_stages_family_new(all.registry, &block, again_keys, 1, NULL);
    return all;
}

static void again_record(again_all *all, unsigned thread)
{
    crest_counter *sent = crest_counter_family_get(&all->sent, &again_peers[thread], 1);
    crest_timer *ping = crest_timer_family_get(&all->ping, &again_peers[thread], 1);
    crest_stages *block = crest_stages_family_get(&all->block, &again_peers[thread], 1);
    for (unsigned i = 0; i < AGAIN_RECORDS; i++) {
        crest_op op = crest_op_u64(AGAIN_RECORDS * thread + i);
        crest_counter_inc(all->counter);
        crest_gauge_add(all->gauge, 1);
        crest_histogram_record(all->histogram, 10);
        crest_timer_record(all->timer, 20, CREST_OUTCOME_TIMEOUT);
        crest_range_sampler_add(all->range_sampler, 1);
        crest_counter_inc(sent);
        crest_timer_begin(ping, op);
        crest_timer_end(ping, op, CREST_OUTCOME_OK);
        crest_stages_begin(all->stages, op);
        crest_stages_mark(all->stages, op, 1);
        crest_stages_begin(block, op); /* and never ended */
    }
}

static void again_read(const again_all *all)
{
    const unsigned each = AGAIN_RECORDS, total = each * AGAIN_THREADS;
    crest_registry *registry = all->registry;
    assert_int_equal(crest_counter_value(all->counter), total);
    assert_true(crest_gauge_value(all->gauge) == total);
    assert_int_equal(FIXTURE_READING(registry, "again.size").sum, 10 * total);
    assert_int_equal(FIXTURE_READING(registry, "again.duration", "outcome", "timeout").count,
                     total);
    assert_int_equal(FIXTURE_READING(registry, "again.queue").current, total);
    assert_int_equal(FIXTURE_READING(registry, "again.way.stage", "stage", "y").count, total);
    assert_true(FIXTURE_READING(registry, "again.way.in-flight").gauge == total);
    assert_true(FIXTURE_READING(registry, "again.block.in-flight").gauge == total);
    for (unsigned i = 0; i < AGAIN_THREADS; i++) {
        assert_int_equal(FIXTURE_READING(registry, "again.sent", "peer", again_peers[i]).counter,
                         each);
        assert_int_equal(
            FIXTURE_READING(registry, "again.ping", "peer", again_peers[i], "outcome", "ok").count,
            each);
    }
}

/* Rested out, with as few ticks as that takes. */
static void again_rest(void)
{
    crest_testing_clock_advance(AGAIN_SECOND);
    assert_int_equal(crest_testing_tick(NULL), CREST_OK);
    for (unsigned i = 0; i < CREST_QUARANTINE_LOOKS + 1; i++) {
        crest_testing_clock_advance((CREST_QUARANTINE_S + 1) * AGAIN_SECOND);
        assert_int_equal(crest_testing_tick(NULL), CREST_OK);
    }
}

/* Threads that record into each registry in turn, between two barriers. */
typedef struct again_thread {
    pthread_barrier_t *turn;
    again_all *all;
    unsigned number;
    int ended; /* read after the barrier */
} again_thread;

static void *again_run(void *argument)
{
    again_thread *self = argument;
    for (;;) {
        pthread_barrier_wait(self->turn);
        if (self->ended)
            return NULL;
        again_record(self->all, self->number);
        pthread_barrier_wait(self->turn);
    }
}

static size_t again_resident(void)
{
    unsigned long pages = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%lu %lu", &pages, &resident), 2);
    fclose(file);
    return resident * (size_t)sysconf(_SC_PAGESIZE);
}

static void test_no_growth(void **state)
{
    (void)state;
    pthread_barrier_t turn;
    pthread_t thread[AGAIN_THREADS];
    again_thread self[AGAIN_THREADS];
    again_all all;
    size_t used = 0, heap = 0, resident = 0;
    pthread_barrier_init(&turn, NULL, AGAIN_THREADS + 1);
    for (unsigned i = 0; i < AGAIN_THREADS; i++) {
        self[i] = (again_thread){&turn, &all, i, 0};
        assert_int_equal(pthread_create(&thread[i], NULL, again_run, &self[i]), 0);
    }
    for (unsigned round = 0; round < AGAIN_REGISTRIES; round++) {
        all = again_new("again");
        pthread_barrier_wait(&turn);
        pthread_barrier_wait(&turn);
        if (round % 16 == 0)
            again_read(&all);
        crest_registry_free(all.registry);
        again_rest();
        if (round == AGAIN_SETTLED) {
            used = crest_arena_used(CREST_ARENA_META) + crest_arena_used(CREST_ARENA_CELLS);
            heap = mallinfo2().uordblks;
            resident = again_resident();
        }
    }
    assert_int_equal(crest_arena_used(CREST_ARENA_META) + crest_arena_used(CREST_ARENA_CELLS),
                     used);
    if (!FIXTURE_SANITIZED) {
        assert_in_range(mallinfo2().uordblks, 0, heap + AGAIN_HEAP_MAX);
        assert_in_range(again_resident(), 0, resident + AGAIN_RESIDENT_MAX);
    }
    for (unsigned i = 0; i < AGAIN_THREADS; i++)
        self[i].ended = 1;
    pthread_barrier_wait(&turn);
    for (unsigned i = 0; i < AGAIN_THREADS; i++)
        pthread_join(thread[i], NULL);
    pthread_barrier_destroy(&turn);
}

/* Handles and families of the registry before do nothing until they are asked for again, nor is
 * anything of it on a page. */
static void test_nothing_of_before(void **state)
{
    (void)state;
    again_all before = again_new("again");
    again_record(&before, 0);
    crest_registry_free(before.registry);
    again_rest();
    const crest_registry_options options = {.prefix = "again", .labels = {{"network", "main"}}};
    crest_registry *registry = crest_registry_new(&options);
    crest_testing_mark *mark = crest_testing_mark_take(NULL);
    again_record(&before, 0); /* families give dead handles */
    crest_snapshot *snapshot = fixture_snapshot(registry);
    assert_int_equal(crest_snapshot_size(snapshot), 0);
    crest_snapshot_free(snapshot);
    crest_testing_reading late;
    assert_int_equal(crest_testing_read(NULL, mark, &late, NULL, "crest.late-records", NULL),
                     CREST_OK);
    assert_true(late.counter >= 7 * AGAIN_RECORDS);
    crest_testing_mark_free(mark);
    /* other metrics of the same names, and one that would have clashed */
    const crest_metric_options other = {.name = "counted", .unit = CREST_BYTES};
    crest_status status;
    assert_non_null(crest_gauge_get(registry, &other, &status));
    assert_int_equal(status, CREST_OK);
    crest_counter_inc(fixture_counter(registry, "level"));
    assert_int_equal(FIXTURE_READING(registry, "again.level").counter, 1);
    crest_counter_inc(before.counter);
    assert_int_equal(FIXTURE_READING(registry, "again.level").counter, 1);
    crest_registry_free(registry);
    again_rest();
}

/* What rests still is not taken over. */
static void test_at_once(void **state)
{
    (void)state;
    again_all before = again_new("again");
    again_record(&before, 0);
    crest_registry_free(before.registry);
    again_all now = again_new("again");
    assert_ptr_not_equal(now.counter, before.counter);
    assert_int_equal(crest_counter_value(now.counter), 0);
    again_record(&now, 0);
    assert_int_equal(crest_counter_value(now.counter), AGAIN_RECORDS);
    crest_registry_free(now.registry);
    again_rest();
    /* nor by a registry of another prefix */
    again_all other = again_new("other");
    assert_ptr_not_equal(other.counter, before.counter);
    assert_ptr_not_equal(other.counter, now.counter);
    crest_registry_free(other.registry);
    again_rest();
}

/* Each allocation fails in turn while a registry is taken over: what could not be had is there with
 * the next try. */
static void test_no_memory(void **state)
{
    (void)state;
    const crest_metric_options stages = {.name = "way", .stages = {"x", "y"}, .deadline_ms = 5000};
    const crest_metric_options ping = {.name = "ping"};
    unsigned refused = 0;
    for (unsigned long n = 1; n <= 40; n++) {
        const crest_registry_options options = {.prefix = "lacks"};
        crest_registry *registry = crest_registry_new(&options);
        crest_status status = CREST_OK;
        crest_arena_fail_after(n);
        crest_timer_get(registry, &ping, &status);
        refused += status == CREST_NO_MEMORY;
        crest_stages_get(registry, &stages, &status);
        refused += status == CREST_NO_MEMORY;
        crest_arena_fail_after(0);
        crest_timer *timer = crest_timer_get(registry, &ping, &status);
        assert_int_equal(status, CREST_OK);
        crest_stages *way = crest_stages_get(registry, &stages, &status);
        assert_int_equal(status, CREST_OK);
        crest_timer_record(timer, 5, CREST_OUTCOME_OK);
        assert_int_equal(crest_stages_begin(way, crest_op_u64(1)), CREST_OK);
        assert_int_equal(crest_stages_mark(way, crest_op_u64(1), 0), CREST_OK);
        assert_int_equal(FIXTURE_READING(registry, "lacks.ping", "outcome", "ok").count, 1);
        assert_int_equal(FIXTURE_READING(registry, "lacks.way.stage", "stage", "x").count, 1);
        crest_registry_free(registry);
        again_rest();
    }
    assert_true(refused > 1);
}

static int again_start(void **state)
{
    (void)state;
    crest_testing_clock_set(1000 * AGAIN_SECOND);
    return crest_testing_tick(NULL) != CREST_OK;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_growth),
        cmocka_unit_test(test_nothing_of_before),
        cmocka_unit_test(test_at_once),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests_name("registries again", tests, again_start, NULL);
}
