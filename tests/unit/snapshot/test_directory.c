/* SPDX-License-Identifier: Apache-2.0 */
/*
 * directory.c: whatever came and went since the directory before, the next one is what one made
 * from nothing would be, in order, with the slots and lives that the series have.
 */
#include "metrics/child.h"
#include "metrics/slots.h"
#include "registry/children.h"
#include "registry/series_state.h"
#include "snapshot/directory.h"
#include "support/core_fixture.h"
#include "support/random_numbers.h"

#define DIRECTORY_FAMILIES 12u
#define DIRECTORY_STEPS 600u

typedef struct directory_state {
    crest_registry *registry;
    crest_counter_family families[DIRECTORY_FAMILIES];
    crest_timer_family timers;
    uint64_t random;
    size_t metrics;
} directory_state;

static uint32_t directory_random(directory_state *d, uint32_t below)
{
    return (uint32_t)(random_next(&d->random) % below);
}

/* Series that snapshots are to have, counted on a way of its own. */
static size_t directory_shown(const crest_registry_state *state)
{
    size_t shown = 0;
    for (const crest_metric *metric = state->metrics; metric != NULL; metric = metric->next) {
        const crest_child *child;
        for (crest_children_cursor at = {NULL, 0, NULL};
             (child = crest_children_next(metric, &at)) != NULL;)
            for (unsigned i = 0; i < CREST_OUTCOME_COUNT; i++)
                shown += crest_child_at(child, i) && crest_series_shown(crest_child_at(child, i));
    }
    return shown;
}

/* The stretches have every series, as few of them as its neighbours' kinds allow. */
static void directory_check_stretches(const crest_directory *directory)
{
    size_t at = 0;
    for (size_t s = 0; s < directory->stretch_count; s++) {
        const crest_directory_stretch *stretch = &directory->stretches[s];
        assert_int_equal(stretch->first, at);
        assert_true(stretch->count != 0);
        assert_true(s == 0 || stretch[-1].kind != stretch->kind);
        for (uint32_t i = 0; i < stretch->count; i++, at++) {
            const crest_metric *metric = directory->series[at]->metric;
            assert_int_equal(metric->kind, stretch->kind);
            assert_int_equal(stretch->distributions, metric->layout != NULL);
        }
    }
    assert_int_equal(at, directory->count);
}

static void directory_check(crest_registry *registry)
{
    crest_directory *directory = crest_directory_of(registry->state);
    assert_non_null(directory);
    assert_int_equal(directory->count, directory_shown(registry->state));
    assert_int_equal(directory->run_count, registry->state->metric_count);
    size_t at = 0;
    for (size_t r = 0; r < directory->run_count; r++) {
        const crest_directory_run *run = &directory->runs[r];
        assert_int_equal(run->first, at);
        for (uint32_t i = 0; i < run->count; i++, at++) {
            const crest_series *series = directory->series[at];
            assert_ptr_equal(series->metric, run->metric);
            assert_true(crest_series_shown(series));
            assert_int_equal(directory->slots[at], series->slot);
            assert_true(directory->slots[at] != 0);
            assert_int_equal(directory->births[at], crest_series_birth(series));
            if (at != 0)
                assert_true(crest_directory_compare(directory->series[at - 1], series) < 0);
        }
    }
    assert_int_equal(at, directory->count);
    directory_check_stretches(directory);
    crest_directory_read(directory);
    crest_directory_drop(directory);
    /* the one that the registry keeps, and the one that its windows were last made of */
    assert_in_range(registry->state->directories, 1, 2);
}

static void directory_step(directory_state *d)
{
    char text[32];
    const char *value = text;
    crest_counter_family *family = &d->families[directory_random(d, DIRECTORY_FAMILIES)];
    snprintf(text, sizeof text, "v%u", directory_random(d, 40));
    switch (directory_random(d, 6)) {
    case 0:
        snprintf(text, sizeof text, "m%u", directory_random(d, 100000));
        fixture_gauge(d->registry, text);
        break;
    case 1: crest_counter_release(crest_counter_family_get(family, &value, 1)); break;
    case 2: crest_retire(d->registry, "key", value); break;
    case 3: {
        crest_timer *timer = crest_timer_family_get(&d->timers, &value, 1);
        crest_timer_record(timer, 5, (crest_outcome)directory_random(d, CREST_OUTCOME_COUNT));
        break;
    }
    default: crest_counter_inc(crest_counter_family_get(family, &value, 1));
    }
}

/* Metrics and series made, released, retired and brought back in an order of chance; a clock that
 * goes on, so that slots rest out and are used again. */
static void test_from_the_one_before(void **state)
{
    (void)state;
    static const char *const keys[] = {"key"};
    directory_state d = {.registry = fixture_registry(NULL), .random = 5};
    uint64_t now_ns = crest_now();
    crest_testing_clock_set(now_ns);
    crest_metric_options options = {.name = "timers"};
    directory_check(d.registry);
    d.timers = crest_timer_family_new(d.registry, &options, keys, 1, NULL);
    for (unsigned i = 0; i < DIRECTORY_FAMILIES; i++) {
        char name[32];
        snprintf(name, sizeof name, "n%u", i * 7 % DIRECTORY_FAMILIES);
        options.name = name;
        d.families[i] = crest_counter_family_new(d.registry, &options, keys, 1, NULL);
        directory_check(d.registry);
    }
    uint64_t reused = 0;
    for (unsigned i = 0; i < DIRECTORY_STEPS; i++) {
        for (unsigned steps = directory_random(&d, 4); steps != 0; steps--)
            directory_step(&d);
        directory_check(d.registry);
        if (i % 5 != 0)
            continue;
        crest_testing_clock_set(now_ns += UINT64_C(40000000000));
        crest_snapshot_free(fixture_snapshot(d.registry));
        uint64_t free_slots = crest_slots_free();
        assert_int_equal(crest_testing_tick(d.registry), CREST_OK);
        reused += crest_slots_free() > free_slots;
        directory_check(d.registry);
    }
    assert_true(reused > 0);
    crest_testing_clock_real();
    crest_registry_free(d.registry);
}

/* What changed in one metric leaves the others' part as it was: it was not looked for again. */
static void test_only_what_changed(void **state)
{
    (void)state;
    static const char *const keys[] = {"key"};
    crest_registry *registry = fixture_registry(NULL);
    crest_metric_options options = {.name = "one"};
    crest_counter_family one = crest_counter_family_new(registry, &options, keys, 1, NULL);
    options.name = "two";
    crest_counter_family two = crest_counter_family_new(registry, &options, keys, 1, NULL);
    const char *value = "a";
    crest_counter_family_get(&one, &value, 1);
    crest_counter *counter = crest_counter_family_get(&two, &value, 1);
    crest_directory *first = crest_directory_of(registry->state);
    crest_directory *same = crest_directory_of(registry->state);
    assert_ptr_equal(first, same);
    assert_int_equal(crest_counter_value(counter), 0);
    /* a mark that only a copy can take along */
    first->births[0] ^= 0x80;
    value = "b";
    crest_counter_family_get(&two, &value, 1);
    crest_directory *second = crest_directory_of(registry->state);
    assert_ptr_not_equal(second, first);
    assert_int_equal(second->count, 3);
    assert_int_equal(second->births[0], first->births[0]);
    assert_int_equal(second->runs[1].count, 2);
    crest_directory *all[] = {first, same, second};
    for (size_t i = 0; i < LENGTH(all); i++) {
        crest_directory_read(all[i]);
        crest_directory_drop(all[i]);
    }
    crest_registry_free(registry);
}

/* Who reads while the registry is freed keeps nothing that nobody would drop. */
static void test_of_a_freed_registry(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    crest_registry_state *of = registry->state;
    fixture_counter(registry, "counter");
    directory_check(registry);
    crest_registry_free(registry);
    assert_int_equal(of->directories, 0);
    crest_directory *directory = crest_directory_of(of);
    assert_non_null(directory);
    crest_directory_read(directory);
    crest_directory_drop(directory);
    assert_int_equal(of->directories, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_from_the_one_before),
        cmocka_unit_test(test_only_what_changed),
        cmocka_unit_test(test_of_a_freed_registry),
    };
    return cmocka_run_group_tests_name("directory", tests, NULL, NULL);
}
