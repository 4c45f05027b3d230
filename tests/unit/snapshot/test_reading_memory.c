/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much memory reading takes, by the C library's own account: a snapshot per series, a page
 * beyond its snapshot, and a page by itself, whatever the number of its series.
 *
 * A sanitizer's allocator keeps no such account. crest-test: sanitizers=none
 */
#include "support/core_fixture.h"

#include <malloc.h>

#define MEMORY_FAMILIES 20u
#define MEMORY_SERIES 1000u
#define MEMORY_HISTOGRAMS 300u

#define MEMORY_SNAPSHOT_MAX 16          /* bytes a counter series */
#define MEMORY_PAGE_MAX (1024u * 1024u) /* beyond the snapshot */

static uint64_t memory_in_use(void)
{
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

static int memory_most(void *context, const void *bytes, size_t length)
{
    (void)bytes;
    (void)length;
    uint64_t now = memory_in_use(), *most = context;
    *most = now > *most ? now : *most;
    return 0;
}

static crest_registry *memory_registry(void)
{
    static const char *const keys[] = {"key"};
    crest_registry *registry = fixture_registry(NULL);
    for (unsigned f = 0; f < MEMORY_FAMILIES; f++) {
        char name[32], text[32];
        const char *value = text;
        snprintf(name, sizeof name, "memory.f%u", f);
        crest_metric_options options = {.name = name};
        crest_counter_family family = crest_counter_family_new(registry, &options, keys, 1, NULL);
        for (unsigned i = 0; i < MEMORY_SERIES; i++) {
            snprintf(text, sizeof text, "value-%u", i);
            crest_counter_add(crest_counter_family_get(&family, &value, 1), i);
        }
    }
    return registry;
}

static void test_counters(void **state)
{
    (void)state;
    crest_registry *registry = memory_registry();
    crest_snapshot *first = fixture_snapshot(registry);
    uint64_t before = memory_in_use();
    crest_snapshot *snapshot = fixture_snapshot(registry);
    uint64_t with = memory_in_use(), series = crest_snapshot_size(snapshot), most = 0;
    assert_int_equal(series, MEMORY_FAMILIES * MEMORY_SERIES);
    assert_in_range(with - before, series * sizeof(uint64_t), series * MEMORY_SNAPSHOT_MAX);
    assert_int_equal(crest_snapshot_write(snapshot, CREST_FORMAT_PROMETHEUS_TEXT, NULL, memory_most,
                                          &most, NULL),
                     CREST_OK);
    assert_in_range(most - with, CREST_PAGE_PIECE_BYTES, MEMORY_PAGE_MAX);
    crest_snapshot_free(first);
    crest_snapshot_free(snapshot);
    crest_registry_free(registry);
}

/* A page of a registry keeps no values: less than their eight bytes a series, and of histograms no
 * more than one. */
static void test_page_by_itself(void **state)
{
    (void)state;
    crest_registry *registry = memory_registry();
    for (unsigned i = 0; i < MEMORY_HISTOGRAMS; i++) {
        char name[32];
        snprintf(name, sizeof name, "memory.h%u", i);
        crest_histogram *histogram = fixture_histogram(registry, name);
        for (int power = 0; power < 40; power++)
            crest_histogram_record(histogram, INT64_C(1) << power);
    }
    uint64_t most = 0;
    /* the directory stays, and what the library says of itself has been made */
    assert_int_equal(
        crest_page_write(registry, CREST_FORMAT_PROMETHEUS_TEXT, memory_most, &most, NULL),
        CREST_OK);
    uint64_t before = memory_in_use();
    most = 0;
    assert_int_equal(
        crest_page_write(registry, CREST_FORMAT_PROMETHEUS_TEXT, memory_most, &most, NULL),
        CREST_OK);
    assert_in_range(most - before, CREST_PAGE_PIECE_BYTES, 160000);
    /* but for what the C library keeps for each thread's next allocations */
    assert_in_range(memory_in_use(), 0, before + 8192);
    crest_registry_free(registry);
}

int main(void)
{
    if (FIXTURE_SANITIZED) {
        printf("skipped: a sanitizer's allocator keeps no such account\n");
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counters),
        cmocka_unit_test(test_page_by_itself),
    };
    return cmocka_run_group_tests_name("reading_memory", tests, NULL, NULL);
}
