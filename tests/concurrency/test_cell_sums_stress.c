/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums over many slots while threads add to them, come and go: no sum falls, none is more than was
 * added, what was added before a sum began is in it, and in the end all is there.
 */
#include "base/atomic.h"
#include "cells/cells.h"
#include "support/core_fixture.h"

enum { SUMS_COUNTERS = 1500, SUMS_WRITERS = 3, SUMS_LIVES = 40 };
#define SUMS_ROUNDS FIXTURE_TIMES(20)

static crest_counter *sums_counters[SUMS_COUNTERS];
static uint64_t sums_added; /* rounds that a writer has ended; each adds 1 to each counter */
static uint64_t sums_begun;

static void *sums_write(void *unused)
{
    for (unsigned round = 0; round < SUMS_ROUNDS; round++) {
        crest_atomic_add(&sums_begun, 1);
        for (unsigned i = 0; i < SUMS_COUNTERS; i++)
            crest_counter_inc(sums_counters[i]);
        /* release: partner of the reader's acquire; the cells were written before */
        __atomic_fetch_add(&sums_added, 1, __ATOMIC_RELEASE);
    }
    return unused;
}

/* One thread after the other, each in the cells of one that is gone. */
static void *sums_live(void *unused)
{
    for (unsigned life = 0; life < SUMS_LIVES; life++) {
        pthread_t thread;
        fixture_equal(pthread_create(&thread, NULL, sums_write, NULL), 0);
        fixture_join(thread, NULL);
    }
    return unused;
}

static void test_sums_beside_writers(void **state)
{
    (void)state;
    static uint32_t slots[SUMS_COUNTERS];
    static uint64_t sums[SUMS_COUNTERS], before[SUMS_COUNTERS];
    crest_registry *registry = fixture_registry(NULL);
    for (unsigned i = 0; i < SUMS_COUNTERS; i++) {
        char name[32];
        snprintf(name, sizeof name, "sums.c%u", i);
        sums_counters[i] = fixture_counter(registry, name);
    }
    for (unsigned i = 0; i < SUMS_COUNTERS; i++) /* in no order */
        slots[i] = sums_counters[i * 7 % SUMS_COUNTERS]->handle.slot;
    const uint64_t all = (uint64_t)SUMS_WRITERS * SUMS_LIVES * SUMS_ROUNDS;
    pthread_t writers[SUMS_WRITERS];
    for (unsigned i = 0; i < SUMS_WRITERS; i++)
        assert_int_equal(pthread_create(&writers[i], NULL, sums_live, NULL), 0);
    uint64_t least, passes = 0;
    do {
        least = crest_atomic_load_acquire(&sums_added);
        crest_cells_sums(slots, SUMS_COUNTERS, sums);
        /* a change of nothing, as no load before it may come after it; nor may a fence be under
           ThreadSanitizer */
        uint64_t most = __atomic_fetch_add(&sums_begun, 0, __ATOMIC_ACQ_REL);
        for (unsigned i = 0; i < SUMS_COUNTERS; i++) {
            assert_in_range(sums[i], least, most);
            assert_true(sums[i] >= before[i]);
        }
        memcpy(before, sums, sizeof before);
        passes++;
    } while (least < all || passes < 2);
    for (unsigned i = 0; i < SUMS_WRITERS; i++)
        fixture_join(writers[i], NULL);
    for (unsigned i = 0; i < SUMS_COUNTERS; i++)
        assert_int_equal(sums[i], all);
    crest_registry_free(registry);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sums_beside_writers)};
    return cmocka_run_group_tests_name("cell sums stress", tests, NULL, NULL);
}
