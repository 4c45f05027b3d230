/* SPDX-License-Identifier: Apache-2.0 */
/*
 * directory.c: directories that are made while a registry is being changed, halfway through each
 * change. A snapshot that is taken then may lack what is being added; one that is taken after the
 * new series could be found has it, though the change is not over.
 *
 * crest-test: sanitizers=none
 */
#include "metrics/generation.h"
#include "snapshot/directory.h"
#include "support/core_fixture.h"

#include "base/atomic.h"

#define CHANGES_VALUES 33u /* with this many a table of 16 chains is outgrown */

void *__libc_realloc(void *block, size_t bytes);

static void (*changes_between)(void); /* NULL: nothing comes in between */

/* In place of the C library's, for the whole program: the list of a directory that is being made
 * grows by it, so amid a walk over a metric's children. */
void *realloc(void *block, size_t bytes)
{
    void (*between)(void) = changes_between;
    changes_between = NULL;
    if (between != NULL)
        between();
    return __libc_realloc(block, bytes);
}

static crest_counter_family changes_family(crest_registry *registry, const char *name)
{
    static const char *const keys[] = {"key"};
    crest_metric_options options = {.name = name};
    crest_status status;
    crest_counter_family family = crest_counter_family_new(registry, &options, keys, 1, &status);
    assert_int_equal(status, CREST_OK);
    return family;
}

static crest_counter_family changes_counters;

static void changes_add(unsigned from, unsigned end)
{
    for (unsigned i = from; i < end; i++) {
        char text[16];
        const char *value = text;
        snprintf(text, sizeof text, "v%u", i);
        assert_non_null(crest_counter_family_get(&changes_counters, &value, 1));
    }
}

static void changes_add_last(void)
{
    changes_add(CHANGES_VALUES - 1, CHANGES_VALUES);
}

/* The directory's series of that registry, each once and in order. */
static void changes_check(crest_registry *registry, size_t runs, size_t series)
{
    crest_directory *directory = crest_directory_of(registry->state);
    assert_non_null(directory);
    assert_int_equal(directory->run_count, runs);
    assert_int_equal(directory->count, series);
    for (size_t i = 1; i < directory->run_count; i++)
        assert_ptr_not_equal(directory->runs[i].metric, directory->runs[i - 1].metric);
    for (size_t i = 1; i < directory->count; i++)
        assert_true(crest_directory_compare(directory->series[i - 1], directory->series[i]) < 0);
    crest_directory_read(directory);
    crest_directory_drop(directory);
}

/* The table of children is outgrown while it is walked, and its links are moved. */
static void test_moved_while_walked(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    changes_counters = changes_family(registry, "counters");
    changes_add(0, CHANGES_VALUES - 1);
    changes_between = changes_add_last;
    changes_check(registry, 1, CHANGES_VALUES);
    assert_null(changes_between);
    crest_registry_free(registry);
}

/* A series can be found before the generation says that its change is over, as series_publish adds
 * it; the directory before, made amid the same change, does not do. */
static void test_added_amid_a_change(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    changes_counters = changes_family(registry, "counters");
    changes_add(0, 1);
    crest_metric *metric = crest_metric_find(registry->state, "counters");
    changes_check(registry, 1, 1);
    crest_registry_changing(metric);
    changes_check(registry, 1, 1);
    uint64_t changes = metric->changes, generation = registry->state->generation;
    changes_add(1, 2);
    crest_atomic_store(&metric->changes, changes);
    crest_atomic_store(&registry->state->generation, generation);
    changes_check(registry, 1, 2);
    crest_registry_changed(metric);
    changes_check(registry, 1, 2);
    crest_registry_free(registry);
}

/* A metric that is taken out of the list again, as registry_publish does when its table cannot
 * grow, was the newest of a directory. */
static void test_newest_was_undone(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    fixture_counter(registry, "one");
    fixture_counter(registry, "two");
    changes_check(registry, 2, 2);
    fixture_counter(registry, "undone");
    changes_check(registry, 3, 3);
    crest_metric *undone = registry->state->metrics;
    crest_atomic_store_ptr_release(CREST_PTR(&registry->state->metrics), undone->next);
    crest_registry_changed(undone);
    changes_check(registry, 2, 2);
    crest_registry_free(registry);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_moved_while_walked),
        cmocka_unit_test(test_added_amid_a_change),
        cmocka_unit_test(test_newest_was_undone),
    };
    return cmocka_run_group_tests_name("directory, amid changes", tests, NULL, NULL);
}
