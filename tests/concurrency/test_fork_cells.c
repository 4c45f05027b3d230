/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whose a thread's cells are in the child of a fork, and in a child that shares its parent's
 * memory; and what becomes of a series that goes while its process is forked.
 *
 * The same of sanitizers as in test_fork.c.
 * crest-test: sanitizers=none
 */
#define _GNU_SOURCE
#include "base/atomic.h"
#include "cells/cells.h"
#include "metrics/slots.h"
#include "registry/growth.h"
#include "support/child_fixture.h"
#include "support/owned_records.h"

#include <crest/lifetime.h>

CREST_COUNTER(forked, "test.forked", "Counted on both sides.");

typedef struct held {
    pthread_t thread;
    uint64_t go_on;
    void *cells;
} held;

/* Owns cells until it is told to go on. */
static void *held_run(void *argument)
{
    held *h = argument;
    crest_counter_inc(&forked);
    h->cells = crest_thread_cells;
    crest_atomic_store_release(&h->go_on, 1);
    while (crest_atomic_load_acquire(&h->go_on) == 1)
        fixture_nap();
    return NULL;
}

static void held_begin(held *h)
{
    *h = (held){0};
    assert_int_equal(pthread_create(&h->thread, NULL, held_run, h), 0);
    FIXTURE_AWAIT(crest_atomic_load_acquire(&h->go_on) == 1);
}

static void held_end(held *h)
{
    crest_atomic_store_release(&h->go_on, 2);
    fixture_join(h->thread, NULL);
}

/* Its one thread has its own cells, and those of its parent's other threads are free. */
static void child_owns(void)
{
    CHILD_WANTS(owned_records() == 1);
    const crest_thread_table *record = crest_cells_tables();
    while (record->owned != CREST_TABLE_OWNED)
        record = record->next;
    CHILD_WANTS(record->cells == crest_thread_cells);
    CHILD_WANTS(record->owner_process == getpid());
    CHILD_WANTS(record->owner == getpid()); /* as the first thread of a process is numbered */
    _exit(0);
}

static void test_cells_of_child(void **state)
{
    (void)state;
    held other;
    crest_counter_inc(&forked);
    held_begin(&other);
    pid_t child = fork();
    if (child == 0)
        child_owns();
    wait_for_child(child);
    held_end(&other);
}

/* The thread's own first record comes after that of a child, which shares all its memory. */
static void *vfork_run(void *argument)
{
    held *h = argument;
    pid_t child = vfork();
    if (child == 0) {
        crest_counter_inc(&forked);
        _exit(0);
    }
    int status;
    h->go_on = child > 0 && waitpid(child, &status, 0) == child && status == 0;
    crest_counter_inc(&forked);
    h->cells = crest_thread_cells;
    return NULL;
}

/* The child, which is another process, must not take other threads for gone. */
static void test_cells_of_vfork(void **state)
{
    (void)state;
    enum { HELD = 64 };
    static held others[HELD];
    unsigned count = 0;
    crest_counter_inc(&forked);
    /* until there are no free ones */
    for (uint64_t records = crest_cells_table_count();
         count < HELD && crest_cells_table_count() == records;)
        held_begin(&others[count++]);
    held by_vfork = {0};
    uint64_t before = crest_counter_value(&forked);
    assert_int_equal(pthread_create(&by_vfork.thread, NULL, vfork_run, &by_vfork), 0);
    fixture_join(by_vfork.thread, NULL);
    assert_true(by_vfork.go_on);
    assert_int_equal(crest_counter_value(&forked), before + 2);
    assert_ptr_not_equal(by_vfork.cells, crest_thread_cells);
    for (unsigned i = 0; i < count; i++)
        assert_ptr_not_equal(by_vfork.cells, others[i].cells);
    while (count != 0)
        held_end(&others[--count]);
}

/* ---- series that go while their process is forked ---- */

CREST_COUNTER_FAMILY(going, "test.going", "Counters that go.", peer);

static void going_after(unsigned seconds)
{
    for (unsigned i = 0; i < seconds; i++) {
        crest_testing_clock_advance(1000000000);
        CHILD_WANTS(crest_testing_tick(NULL) == CREST_OK);
    }
}

static void child_lets_go(uint64_t slots)
{
    CHILD_WANTS(fork_count("crest.late-records", NULL) == 0);
    going_after(CREST_QUARANTINE_S + CREST_QUARANTINE_LOOKS + 4);
    CHILD_WANTS(fork_count("crest.late-records", NULL) == 0);
    CHILD_WANTS(crest_slots_free() == slots + 1);
    crest_counter_inc(going_with("b"));
    CHILD_WANTS(crest_counter_value(going_with("b")) == 1);
    _exit(0);
}

/* A retired series that rests: nobody records into it, though its value is another in the child. */
static void test_going(void **state)
{
    (void)state;
    crest_testing_clock_set(UINT64_C(1000000000000));
    crest_counter_add(going_with("a"), 5);
    going_after(1);
    assert_int_equal(crest_retire(NULL, "peer", "a"), 1);
    going_after(1);
    crest_testing_clock_advance(1000000);
    crest_snapshot_free(fixture_snapshot(NULL));
    going_after(CREST_LINGER_S + 5);
    uint64_t slots = crest_slots_free();
    pid_t child = fork();
    if (child == 0)
        child_lets_go(slots);
    wait_for_child(child);
    going_after(CREST_QUARANTINE_S);
    assert_int_equal(crest_slots_free(), slots + 1);
    assert_int_equal(crest_ticker_detach(NULL), CREST_OK);
    crest_testing_clock_real();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cells_of_child),
        cmocka_unit_test(test_cells_of_vfork),
        cmocka_unit_test(test_going),
    };
    fixture_watchdog(60);
    return cmocka_run_group_tests_name("fork, cells", tests, NULL, NULL);
}
