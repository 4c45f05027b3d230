/* SPDX-License-Identifier: Apache-2.0 */
/*
 * children.h: found by values, walked while the table grows; and what a series costs.
 */
#include "base/arena.h"
#include "instruments/child_get.h"
#include "instruments/metric_get.h"
#include "metrics/child.h"
#include "registry/children.h"
#include "support/core_fixture.h"

#define CHILDREN_PER_FAMILY 2000u
#define CHILDREN_FAMILIES 5u
/* An idle counter with three labels of eight bytes, all told; windows are not. */
#define CHILDREN_BYTES_MAX 180.0

static crest_metric *children_metric(crest_registry *registry, const char *name, unsigned labels)
{
    static const char *const keys[] = {"a", "b", "c"};
    crest_metric_options options = {.name = name};
    crest_status status;
    crest_metric *metric =
        crest_metric_get(registry, CREST_KIND_COUNTER, &options, keys, labels, &status);
    assert_int_equal(status, CREST_OK);
    return metric;
}

static crest_child *children_make(crest_metric *metric, unsigned i)
{
    char text[3][16];
    const char *values[] = {text[0], text[1], text[2]};
    for (unsigned label = 0; label < 3; label++)
        snprintf(text[label], sizeof text[label], "%c%07u", 'a' + label, label ? i : i % 10);
    crest_status status;
    crest_child *child = crest_child_get(metric, values, &status);
    fixture_equal(status, CREST_OK);
    return child;
}

static void test_found_and_walked(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    crest_metric *metric = children_metric(registry, "f", 3);
    crest_child *made[CHILDREN_PER_FAMILY];
    for (unsigned i = 0; i < CHILDREN_PER_FAMILY; i++) {
        made[i] = children_make(metric, i);
        crest_children_cursor at = {NULL, 0, NULL};
        unsigned met = 0;
        for (uint64_t version = crest_children_version(metric);
             i % 100 == 99 && crest_children_next(metric, &at) != NULL;)
            met += crest_children_version(metric) == version;
        assert_int_equal(met, i % 100 == 99 ? i + 1 : 0);
    }
    for (unsigned i = 0; i < CHILDREN_PER_FAMILY; i++)
        assert_ptr_equal(children_make(metric, i), made[i]);
    const char *none[] = {"a0000000", "b0000000", NULL};
    assert_null(crest_children_find(metric, none));
    crest_registry_free(registry);
}

/* NULL is the same value as "". */
static void test_nothing_is_empty(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    crest_metric *metric = children_metric(registry, "f", 3);
    const char *with_null[] = {"x", NULL, ""}, *empty[] = {"x", "", ""};
    crest_status status;
    crest_child *child = crest_child_get(metric, with_null, &status);
    assert_ptr_equal(crest_child_get(metric, empty, &status), child);
    assert_string_equal(crest_series_values(&child->first)[1], "");
    crest_registry_free(registry);
}

/* Values of every length, those that a page must escape and those that are cut among them. */
static void test_each_length_is_found(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    crest_metric *metric = children_metric(registry, "f", 3);
    static char text[CREST_LABEL_VALUE_BYTES_MAX + 100];
    for (size_t length = 0; length < sizeof text; length += length < 70 ? 1 : 97)
        for (unsigned plain = 0; plain < 2; plain++) {
            memset(text, 'v', length);
            text[length] = '\0';
            if (length != 0)
                text[0] = plain ? 'v' : '"';
            const char *values[] = {text, "between", text};
            uint64_t count = metric->child_count;
            crest_status status;
            crest_child *child = crest_child_get(metric, values, &status);
            assert_int_equal(status, CREST_OK);
            assert_ptr_equal(crest_child_get(metric, values, &status), child);
            if (length <= CREST_LABEL_VALUE_BYTES_MAX) {
                assert_ptr_equal(crest_children_find(metric, values), child);
                assert_int_equal(metric->child_count, count + (length != 0 || plain == 0));
            } else {
                assert_null(crest_children_find(metric, values));
            }
        }
    crest_registry_free(registry);
}

/* Of two combinations with the same hash, each is found for its own values only. The hash cannot be
 * made to collide, so a child is given the other's hash, once for some value that puts both into
 * the same one of the first four chains. */
static void test_values_are_compared(void **state)
{
    (void)state;
    static const char *const pairs[][2][2] = {
        {{"ab", "c"}, {"a", "bc"}},
        {{"ab", ""}, {"a", "b"}},
        {{"", "abc"}, {"abc", ""}},
        {{"a", "b"}, {"a", "c"}},
        {{"a", "b"}, {"a", "bb"}},
        {{"1234567890123456789", "b"}, {"1x34567890123456789", "b"}},
        {{"12345678", "b"}, {"12345679", "b"}},
        {{"\"", "b"}, {"\"", "c"}},
    };
    for (size_t i = 0; i < LENGTH(pairs); i++) {
        unsigned tried = 0;
        for (unsigned other = 0; tried == 0 && other < 1000; other++) {
            crest_registry *registry = fixture_registry(NULL);
            crest_metric *metric = children_metric(registry, "f", 3);
            char third[8];
            snprintf(third, sizeof third, "%u", other);
            const char *one[] = {pairs[i][0][0], pairs[i][0][1], third};
            const char *two[] = {pairs[i][1][0], pairs[i][1][1], third};
            crest_status status;
            crest_child *child = crest_child_get(metric, one, &status);
            uint32_t hash = crest_children_hash(metric, two);
            if (((hash ^ child->first.hash) & 3) == 0) {
                child->first.hash = hash;
                assert_null(crest_children_find(metric, two));
                tried++;
            }
            crest_registry_free(registry);
        }
        assert_int_equal(tried, 1);
    }
}

/* Some resolve, record and read all the time, while the table grows under them. */
#define CHILDREN_READERS 2u
#define CHILDREN_OF_READER 50u
typedef struct children_growing {
    crest_registry *registry;
    crest_metric *metric;
    uint32_t stop;
} children_growing;

/* Whether a snapshot has the child with a value of its own. */
static int children_shown(crest_registry *registry, const crest_child *child)
{
    crest_series_view view;
    crest_snapshot *snapshot = fixture_snapshot(registry);
    crest_status found =
        crest_snapshot_find(snapshot, "f", crest_series_values(&child->first), 3, &view);
    crest_snapshot_free(snapshot);
    return found == CREST_OK && view.counter != 0;
}

static void *children_resolve(void *opaque)
{
    children_growing *growing = opaque;
    static uint32_t readers;
    unsigned first = (1 + __atomic_fetch_add(&readers, 1, __ATOMIC_RELAXED)) * 1000000;
    crest_child *mine[CHILDREN_OF_READER];
    uintptr_t wrong = 0, made = 0;
    while (!__atomic_load_n(&growing->stop, __ATOMIC_ACQUIRE) || made == 0) {
        if (made < CHILDREN_OF_READER) {
            mine[made] = children_make(growing->metric, (unsigned)(first + made));
            crest_counter_inc(&mine[made]->own->counter);
            wrong += !children_shown(growing->registry, mine[made++]);
        }
        for (unsigned i = 0; i < made; i++)
            wrong += mine[i] != children_make(growing->metric, first + i);
    }
    while (made < CHILDREN_OF_READER)
        children_make(growing->metric, (unsigned)(first + made++));
    return (void *)wrong;
}

static void test_grows_under_readers(void **state)
{
    (void)state;
    const unsigned all = CHILDREN_PER_FAMILY, own = all - CHILDREN_READERS * CHILDREN_OF_READER;
    for (unsigned round = 0; round < FIXTURE_TIMES(20); round++) {
        crest_registry *registry = fixture_registry(NULL);
        children_growing growing = {registry, children_metric(registry, "f", 3), 0};
        pthread_t reader[CHILDREN_READERS];
        for (unsigned i = 0; i < LENGTH(reader); i++)
            assert_int_equal(pthread_create(&reader[i], NULL, children_resolve, &growing), 0);
        for (unsigned i = 0; i < own; i++) {
            children_make(growing.metric, i);
            if (i % 64 != 0)
                continue;
            crest_snapshot *snapshot = fixture_snapshot(registry);
            assert_true(crest_snapshot_size(snapshot) > i);
            crest_snapshot_free(snapshot);
        }
        __atomic_store_n(&growing.stop, 1, __ATOMIC_RELEASE);
        for (unsigned i = 0; i < LENGTH(reader); i++) {
            void *wrong;
            fixture_join(reader[i], &wrong);
            assert_null(wrong);
        }
        assert_int_equal(growing.metric->child_count, all);
        crest_snapshot *snapshot = fixture_snapshot(registry);
        assert_int_equal(crest_snapshot_size(snapshot), all);
        crest_snapshot_free(snapshot);
        crest_registry_free(registry);
    }
}

/* All told: child, shared cell, the table with those outgrown, the metrics, and the directory that
 * the registry keeps (9 bytes a series: its pointers, with room for an eighth more). */
static void test_cost(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    fixture_counter(registry, "first");
    uint64_t before = crest_arena_used(CREST_ARENA_META) + crest_arena_used(CREST_ARENA_CELLS);
    for (unsigned family = 0; family < CHILDREN_FAMILIES; family++) {
        char name[16];
        snprintf(name, sizeof name, "family-%u", family);
        crest_metric *metric = children_metric(registry, name, 3);
        for (unsigned i = 0; i < CHILDREN_PER_FAMILY; i++)
            children_make(metric, i);
    }
    const unsigned series = CHILDREN_FAMILIES * CHILDREN_PER_FAMILY;
    uint64_t bytes = crest_arena_used(CREST_ARENA_META) + crest_arena_used(CREST_ARENA_CELLS) -
                     before + series * sizeof(void *) * 9 / 8;
    print_message("an idle counter series costs %.1f bytes\n", (double)bytes / series);
    assert_true((double)bytes / series <= CHILDREN_BYTES_MAX);
    crest_registry_free(registry);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_found_and_walked),     cmocka_unit_test(test_nothing_is_empty),
        cmocka_unit_test(test_each_length_is_found), cmocka_unit_test(test_values_are_compared),
        cmocka_unit_test(test_grows_under_readers),  cmocka_unit_test(test_cost),
    };
    return cmocka_run_group_tests_name("children", tests, NULL, NULL);
}
