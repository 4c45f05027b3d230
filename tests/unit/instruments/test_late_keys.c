/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread for which the C library has no memory for another key, so that nobody would hear of its
 * end: it has no cells of its own, keeps none from others, and what it records is counted.
 *
 * Sanitizers set keys of their own before the first of what stands in for the call could run.
 * crest-test: sanitizers=none
 */
#define _GNU_SOURCE
#include "support/core_fixture.h"
#include "support/owned_records.h"

#include <dlfcn.h>
#include <errno.h>

#define KEYS_TIMES 20

CREST_COUNTER(keys_count, "keys.count", "");
CREST_HISTOGRAM(keys_size, "keys.size", "");

static int keys_refuse;

/* In place of the C library's, for the whole program. */
int pthread_setspecific(pthread_key_t key, const void *value)
{
    static int (*real)(pthread_key_t, const void *);
    if (real == NULL)
        *(void **)&real = dlsym(RTLD_NEXT, "pthread_setspecific");
    return keys_refuse ? ENOMEM : real(key, value);
}

static void *keys_run(void *unused)
{
    for (int i = 0; i < KEYS_TIMES; i++) {
        crest_counter_inc(&keys_count);
        crest_histogram_record(&keys_size, 100 + i);
    }
    return unused;
}

static void keys_thread(void)
{
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, keys_run, NULL), 0);
    pthread_join(thread, NULL);
}

static void test_no_key(void **state)
{
    (void)state;
    keys_run(NULL);
    keys_thread();
    uint64_t records = crest_cells_table_count();
    unsigned owned = owned_records();
    keys_refuse = 1;
    keys_thread();
    keys_refuse = 0;
    assert_int_equal(owned_records(), owned);
    assert_int_equal(crest_cells_table_count(), records);
    keys_thread();
    assert_int_equal(crest_cells_table_count(), records);
    assert_int_equal(crest_counter_value(&keys_count), 4 * KEYS_TIMES);
    assert_int_equal(FIXTURE_READING(NULL, "keys.size", NULL).count, 4 * KEYS_TIMES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_no_key)};
    return cmocka_run_group_tests_name("late keys", tests, NULL, NULL);
}
