/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Open families while several threads bring keys and series and others make pages and snapshots:
 * every page is one, and in the end nothing is lost.
 */
#include "base/atomic.h"
#include "support/page_lines_apart.h"
#include "support/random_numbers.h"

enum { OPEN_WRITERS = 3, OPEN_ROUNDS = 4000, OPEN_VALUES = 5 };

static crest_registry *open_registry;
static uint64_t open_done;

/* Each writer goes through the keys from another one on, so that they race for each place. */
static void *open_write(void *argument)
{
    uint64_t seed = (uintptr_t)argument + 1;
    const crest_metric_options sent = {.name = "sent"}, size = {.name = "size"};
    for (unsigned round = 0; round < OPEN_ROUNDS; round++) {
        unsigned random = (unsigned)random_next(&seed);
        unsigned keys = 1 + round * CREST_OPEN_LABELS_MAX / OPEN_ROUNDS;
        char key[2][8], value[8];
        snprintf(key[0], sizeof key[0], "k%u", (random >> 8) % keys);
        snprintf(key[1], sizeof key[1], "k%u", (random >> 16) % keys);
        snprintf(value, sizeof value, "%u\"", (random >> 24) % OPEN_VALUES);
        const crest_label labels[] = {{key[0], value}, {key[1], "\n"}};
        unsigned count = strcmp(key[0], key[1]) == 0 ? 1 : 2;
        crest_status status;
        crest_counter_inc(crest_counter_labelled(open_registry, &sent, labels, count, &status));
        fixture_equal(status, CREST_OK);
        crest_histogram_record(crest_histogram_labelled(open_registry, &size, labels, count, NULL),
                               7);
    }
    return NULL;
}

static void *open_read(void *argument)
{
    (void)argument;
    while (crest_atomic_load(&open_done) == 0) {
        page_gathered page = {.length = 0};
        crest_error error;
        fixture_equal(crest_page_write(open_registry, CREST_FORMAT_PROMETHEUS_TEXT, page_gather,
                                       &page, &error),
                      CREST_OK);
        if (page.length != 0)
            page_assert_lines_apart(page.text);
        free(page.text);
        crest_snapshot *snapshot = crest_snapshot_take(open_registry);
        fixture_holds(snapshot != NULL);
        for (size_t i = 0; i < crest_snapshot_size(snapshot); i++) {
            crest_series_view view;
            fixture_equal(crest_snapshot_series(snapshot, i, &view), CREST_OK);
            unsigned present = 0;
            for (unsigned label = 0; label < view.label_count; label++)
                present += view.label_keys[label][0] == 'k' && view.label_values[label][0] != '\0';
            fixture_holds(present >= 1 && present <= 2);
        }
        crest_snapshot_free(snapshot);
    }
    return NULL;
}

static void test_nothing_is_lost(void **state)
{
    (void)state;
    fixture_watchdog(170);
    open_registry = fixture_registry(NULL);
    pthread_t writers[OPEN_WRITERS], reader;
    assert_int_equal(pthread_create(&reader, NULL, open_read, NULL), 0);
    for (uintptr_t i = 0; i < OPEN_WRITERS; i++)
        assert_int_equal(pthread_create(&writers[i], NULL, open_write, (void *)i), 0);
    for (unsigned i = 0; i < OPEN_WRITERS; i++)
        fixture_join(writers[i], NULL);
    crest_atomic_store(&open_done, 1);
    fixture_join(reader, NULL);
    crest_snapshot *snapshot = fixture_snapshot(open_registry);
    uint64_t sent = 0, sizes = 0;
    for (size_t i = 0; i < crest_snapshot_size(snapshot); i++) {
        crest_series_view view;
        crest_snapshot_series(snapshot, i, &view);
        assert_int_equal(view.label_count, CREST_OPEN_LABELS_MAX);
        sent += view.counter;
        sizes += crest_distribution_count(view.distribution);
    }
    assert_int_equal(sent, OPEN_WRITERS * OPEN_ROUNDS);
    assert_int_equal(sizes, OPEN_WRITERS * OPEN_ROUNDS);
    crest_snapshot_free(snapshot);
    crest_registry_free(open_registry);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_nothing_is_lost)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
