/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls by name while the table of names grows: threads that make names and threads that look for
 * those just made come to the same handles, and nothing that they record is lost.
 */
#include "base/atomic.h"
#include "instruments/name_table.h"
#include "support/core_fixture.h"

#include <crest/by_name.h>

enum { NAMES_THREADS = 4, NAMES_SOURCES = 3, NAMES_ROUNDS = 3 };
#define NAMES_EACH FIXTURE_TIMES(2500)
#define NAMES_WATCHDOG_S 170

static crest_source *names_source[NAMES_SOURCES];
static crest_counter *names_handle[NAMES_SOURCES][2500];

/* Lengths from 2 to 60: each way through hash and comparison, and entries of more than a line. */
static const char *names_write(char name[64], unsigned number)
{
    int length = snprintf(name, 64, "n%x", number);
    snprintf(name + length, 64 - (size_t)length, "%.*s", (int)(number % 56),
             "zabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabc");
    return name;
}

/* Two threads go up and two down, so that each name is made by some and found by others while it
 * is being made. What one of them sees of a handle the others must see. */
static void *names_record(void *argument)
{
    unsigned thread = (unsigned)(uintptr_t)argument;
    for (unsigned round = 0; round < NAMES_ROUNDS; round++)
        for (unsigned i = 0; i < NAMES_EACH; i++) {
            unsigned number = thread % 2 != 0 ? NAMES_EACH - 1 - i : i;
            char name[64];
            names_write(name, number);
            for (unsigned s = 0; s < NAMES_SOURCES; s++) {
                crest_counter *counter = crest_counter_by_name_in(names_source[s], name);
                crest_counter_add(counter, thread + 1);
                crest_counter *seen =
                    crest_atomic_load_ptr_acquire(CREST_PTR(&names_handle[s][number]));
                if (seen != NULL && seen != counter)
                    return counter;
                crest_atomic_store_ptr_release(CREST_PTR(&names_handle[s][number]), counter);
            }
        }
    return NULL;
}

static void test_nothing_is_lost(void **state)
{
    (void)state;
    pthread_t threads[NAMES_THREADS];
    names_source[1] = crest_source_get("stress.one");
    names_source[2] = crest_source_get("stress.other");
    for (uintptr_t i = 0; i < NAMES_THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, names_record, (void *)i), 0);
    for (unsigned i = 0; i < NAMES_THREADS; i++) {
        void *wrong;
        pthread_join(threads[i], &wrong);
        assert_null(wrong);
    }
    for (unsigned number = 0; number < NAMES_EACH; number++)
        for (unsigned s = 0; s < NAMES_SOURCES; s++) {
            char name[64];
            crest_counter *counter =
                crest_counter_by_name_in(names_source[s], names_write(name, number));
            assert_ptr_equal(counter, names_handle[s][number]);
            assert_int_equal(crest_counter_value(counter),
                             NAMES_ROUNDS * NAMES_THREADS * (NAMES_THREADS + 1) / 2);
        }
    assert_int_equal(crest_name_table_now->count, NAMES_SOURCES * NAMES_EACH);
}

/* Full buckets go on in the next one; nobody finds what is not there. */
static void test_table_is_searched(void **state)
{
    (void)state;
    unsigned full = 0;
    for (uint64_t i = 0; i <= crest_name_table_now->mask; i++)
        full += crest_name_table_now->bucket[i].entry[CREST_NAME_BUCKET_ENTRIES - 1] != NULL;
    assert_true(full != 0 || NAMES_EACH < 2500);
    for (unsigned number = 0; number < NAMES_EACH; number++) {
        char name[64];
        names_write(name, number);
        crest_status status;
        const crest_source_state *source = crest_source_resolve(NULL, &status);
        size_t length = strlen(name);
        crest_by_name_key key = {source, name, length, CREST_KIND_COUNTER};
        assert_ptr_equal(crest_by_name_find(key), names_handle[0][number]);
        key.kind = CREST_KIND_GAUGE;
        assert_null(crest_by_name_find(key));
        key.kind = CREST_KIND_COUNTER;
        name[length / 2] ^= 1;
        void *other = crest_by_name_find(key);
        assert_ptr_not_equal(other, names_handle[0][number]);
    }
}

int main(void)
{
    pthread_t watch;
    pthread_create(&watch, NULL, fixture_watch, (void *)(uintptr_t)NAMES_WATCHDOG_S);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_is_lost),
        cmocka_unit_test(test_table_is_searched),
    };
    return cmocka_run_group_tests_name("names_stress", tests, NULL, NULL);
}
