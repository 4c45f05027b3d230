/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When no snapshot reads by an older list of series: of which registry, from which generation on,
 * and from when to when.
 */
#include "metrics/readers.h"
#include "support/core_fixture.h"

/* A reading by one list, as a directory has it. */
static void readers_add(crest_reading *reading, const crest_registry_state *state,
                        uint64_t generation, uint64_t readers)
{
    *reading = (crest_reading){NULL, state, generation, readers};
    crest_readers_lock();
    crest_reading_add(reading);
    crest_readers_unlock();
}

static void readers_remove(const crest_reading *reading)
{
    crest_readers_lock();
    crest_reading_remove(reading);
    crest_readers_unlock();
}

static void test_quiet(void **state)
{
    (void)state;
    crest_registry_state one = {.generation = 8}, other = {.generation = 8};
    assert_true(crest_readers_quiet(&one, 8));
    crest_reading reading;
    readers_add(&reading, &one, 6, 1);
    assert_false(crest_readers_quiet(&one, 8));
    assert_true(crest_readers_quiet(&one, 6)); /* the list does not have what left then */
    assert_true(crest_readers_quiet(&one, 4));
    assert_true(crest_readers_quiet(&other, 8));
    reading.readers = 0; /* it is kept, and no thread reads by it */
    assert_true(crest_readers_quiet(&one, 8));
    reading.readers = 2;
    assert_false(crest_readers_quiet(&one, 8));
    readers_remove(&reading);
    assert_true(crest_readers_quiet(&one, 8));
}

/* Whichever of them is taken off, the others are asked. */
static void test_several(void **state)
{
    (void)state;
    crest_registry_state one = {.generation = 8};
    for (unsigned gone = 0; gone < 3; gone++) {
        crest_reading readings[3];
        for (unsigned i = 0; i < 3; i++)
            readers_add(&readings[i], &one, 2 + 2 * i, 1);
        readers_remove(&readings[gone]);
        assert_int_equal(crest_readers_quiet(&one, 4), gone == 0);
        assert_int_equal(crest_readers_quiet(&one, 6), 0);
        assert_int_equal(crest_readers_quiet(&one, 2), 1);
        for (unsigned i = 0; i < 3; i++)
            if (i != gone)
                readers_remove(&readings[i]);
        assert_true(crest_readers_quiet(&one, 8));
    }
}

/* A snapshot reads by its directory until its values have been read, and not longer. */
static void test_snapshot(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    fixture_counter(registry, "c");
    crest_snapshot *snapshot = fixture_snapshot(registry);
    const crest_registry_state *its = crest_registry_state_seen(registry);
    assert_true(crest_readers_quiet(its, UINT64_MAX));
    crest_snapshot_free(snapshot);
    crest_registry_free(registry);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_quiet),
        cmocka_unit_test(test_several),
        cmocka_unit_test(test_snapshot),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
