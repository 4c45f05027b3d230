/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bound_word.h: a count that moves to its cell while threads add to it loses nothing.
 */
#include "base/bound_word.h"
#include "support/core_fixture.h"

#define ADDERS 3
#define EACH 2000
#define ROUNDS 200

static crest_bound_word count;
static uint64_t cell;
static pthread_barrier_t begin;

static void *add(void *unused)
{
    pthread_barrier_wait(&begin);
    for (int i = 0; i < EACH; i++)
        crest_bound_word_add(&count, 1);
    return unused;
}

/* Bound while they add: afterwards all of it is in the cell. */
static void test_bound_meanwhile(void **state)
{
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        pthread_t threads[ADDERS];
        count = (crest_bound_word){0, NULL};
        cell = 5;
        pthread_barrier_init(&begin, NULL, ADDERS + 1);
        for (int i = 0; i < ADDERS; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, add, NULL), 0);
        pthread_barrier_wait(&begin);
        while (crest_bound_word_value(&count) < (uint64_t)round * ADDERS * EACH / ROUNDS / 2)
            continue;
        crest_bound_word_bind(&count, &cell);
        for (int i = 0; i < ADDERS; i++)
            pthread_join(threads[i], NULL);
        pthread_barrier_destroy(&begin);
        assert_int_equal(cell, 5 + ADDERS * EACH);
        assert_int_equal(count.early, 0);
    }
}

static void test_stays_at_most(void **state)
{
    (void)state;
    count = (crest_bound_word){0, NULL};
    cell = 1;
    crest_bound_word_add(&count, UINT64_MAX - 1);
    crest_bound_word_add(&count, 2);
    assert_int_equal(crest_bound_word_value(&count), UINT64_MAX);
    crest_bound_word_bind(&count, &cell);
    assert_int_equal(cell, UINT64_MAX);
    crest_bound_word_add(&count, 7);
    assert_int_equal(crest_bound_word_value(&count), UINT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bound_meanwhile),
        cmocka_unit_test(test_stays_at_most),
    };
    return cmocka_run_group_tests_name("bound_word", tests, NULL, NULL);
}
