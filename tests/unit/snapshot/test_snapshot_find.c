/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crest_snapshot_find finds what a walk over all series finds: among a hundred thousand, with names
 * and label values that begin alike, are empty or odd, and for what is not there.
 *
 * One thread has nothing for ThreadSanitizer. crest-test: sanitizers=address
 */
#include "support/core_fixture.h"
#include "support/random_numbers.h"

CREST_REGISTRY(find_constants, .prefix = "dht", .labels = {{"network", "main"}, {"shard", ""}});

enum { FIND_FAMILIES = 50, FIND_SERIES = 2000, FIND_WALKS = 50 };

static uint64_t find_random = 1;

static unsigned random_below(unsigned limit)
{
    find_random = random_step(find_random);
    return (unsigned)(find_random >> 33) % limit;
}

/* What the header says, in as few words as can be: the index, or the size. `left_out` values of a
 * series may be missing. */
static size_t walk(const crest_snapshot *snapshot, const char *name, const char *const *values,
                   unsigned count, unsigned left_out)
{
    crest_series_view view;
    size_t index = 0;
    for (; crest_snapshot_series(snapshot, index, &view) == CREST_OK; index++) {
        unsigned without = view.label_count - count, same = 0;
        if (strcmp(view.name, name) != 0 || (without != 0 && without != left_out))
            continue;
        while (same < count && strcmp(view.label_values[without + same],
                                      values != NULL && values[same] ? values[same] : "") == 0)
            same++;
        if (same == count)
            break;
    }
    return index;
}

static void assert_as_walked(const crest_snapshot *snapshot, const char *name,
                             const char *const *values, unsigned count, unsigned left_out)
{
    crest_series_view found, walked;
    size_t index = walk(snapshot, name, values, count, left_out);
    crest_status status = crest_snapshot_find(snapshot, name, values, count, &found);
    assert_int_equal(status, crest_snapshot_series(snapshot, index, &walked) == CREST_OK
                                 ? CREST_OK
                                 : CREST_NOT_FOUND);
    assert_int_equal(found.life, walked.life); /* both 0 where there is none */
    assert_ptr_equal(found.name, walked.name);
}

/* Each series by its own name and values, whole and without the registry's. */
static void assert_all_found(const crest_snapshot *snapshot, unsigned left_out)
{
    crest_series_view view, found;
    for (size_t i = 0; crest_snapshot_series(snapshot, i, &view) == CREST_OK; i++)
        for (unsigned without = 0; without <= left_out; without += left_out != 0 ? left_out : 1) {
            assert_int_equal(crest_snapshot_find(snapshot, view.name, view.label_values + without,
                                                 view.label_count - without, &found),
                             CREST_OK);
            assert_int_equal(found.life, view.life);
            assert_int_equal(found.counter, view.counter);
        }
}

/* Values that begin alike, in an order that is not that of their numbers. */
static const char *odd_value(unsigned n, char text[static 32])
{
    static const char *const odd[] = {"",         "a", "aa",   "a b",     "a\"",
                                      "\xc3\xa9", "~", "\x7f", "overflow"};
    if (n < sizeof odd / sizeof odd[0])
        return odd[n];
    snprintf(text, 32, "%s%u", n % 3 == 0 ? "a" : n % 3 == 1 ? "a b" : "", n * 7919 % 100003);
    return text;
}

static const char *family_name(unsigned family, char text[static 32])
{
    snprintf(text, 32, family % 2 ? "find.x%u.long-name" : "find.x%u", family);
    return text;
}

static crest_registry *many(void)
{
    static const char *const keys[] = {"one", "two"};
    crest_registry *registry = fixture_registry(NULL);
    crest_status status;
    for (unsigned f = 0; f < FIND_FAMILIES; f++) {
        char name[32], text[32];
        crest_metric_options options = {.name = family_name(f, name)};
        crest_counter_family family =
            crest_counter_family_new(registry, &options, keys, 2, &status);
        for (unsigned i = 0; i < FIND_SERIES; i++) {
            const char *values[] = {i % 4 == 0 ? "" : "b", odd_value(i / 2, text)};
            values[0] = i % 2 ? values[0] : "c";
            crest_counter_add(crest_counter_family_get(&family, values, 2), i + 1);
        }
        assert_int_equal(status, CREST_OK);
    }
    fixture_counter(registry, "find.x");
    fixture_counter(registry, "find");
    fixture_counter(registry, "find.x1");
    return registry;
}

static void test_among_many(void **state)
{
    (void)state;
    crest_registry *registry = many();
    crest_snapshot *snapshot = fixture_snapshot(registry);
    assert_in_range(crest_snapshot_size(snapshot), 90000, 110000);
    assert_all_found(snapshot, 0);
    for (unsigned n = 0; n < FIND_WALKS; n++) {
        char name[32], one[32], two[32];
        const char *values[] = {odd_value(random_below(12), one),
                                odd_value(random_below(FIND_SERIES), two), "x"};
        values[0] = random_below(2) ? random_below(2) ? "b" : "c" : values[0];
        values[1] = random_below(8) != 0 ? values[1] : NULL;
        unsigned count = random_below(8) != 0 ? 2 : random_below(4);
        assert_as_walked(snapshot, family_name(random_below(FIND_FAMILIES + 2), name), values,
                         count, 0);
        assert_as_walked(snapshot, name, NULL, count, 0);
    }
    static const char *const names[] = {
        "",         "f",        "find", "find.",    "find.x",       "find_x",           "find.x1",
        "find.x0.", "find.x99", "zzz",  "find.x1.", "find.x1.long", "find.x1.long-name"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        assert_as_walked(snapshot, names[i], NULL, 0, 0);
    assert_int_equal(crest_snapshot_select(snapshot, "find.x*", "*long*"), CREST_OK);
    assert_in_range(crest_snapshot_size(snapshot), 45000, 55000);
    assert_all_found(snapshot, 0);
    assert_as_walked(snapshot, "find", NULL, 0, 0);
    assert_as_walked(snapshot, "find.x1.long-name", (const char *const[]){"c", ""}, 2, 0);
    crest_snapshot *narrow = fixture_snapshot(registry);
    assert_int_equal(crest_snapshot_select(narrow, "nothing", NULL), CREST_OK);
    assert_as_walked(narrow, "find.x", NULL, 0, 0);
    crest_snapshot_free(narrow);
    crest_registry_free(registry); /* the snapshot stays good */
    assert_as_walked(snapshot, "find.x", NULL, 0, 0);
    assert_as_walked(snapshot, "find.x0", (const char *const[]){"c", ""}, 2, 0);
    crest_snapshot_free(snapshot);
}

/* A timer's outcomes lie in another order than their names; labels of the registry's own may be
 * left out. */
static void test_kinds(void **state)
{
    (void)state;
    static const char *const keys[] = {"peer"}, *const peers[] = {"", "a", "main", "b"};
    crest_status status;
    crest_metric_options ask = {.name = "ask"}, sent = {.name = "sent"};
    crest_timer_family asks = crest_timer_family_new(&find_constants, &ask, keys, 1, &status);
    crest_gauge_family gauges = crest_gauge_family_new(&find_constants, &sent, keys, 1, &status);
    for (unsigned i = 0; i < 4; i++) {
        for (unsigned outcome = 0; outcome < CREST_OUTCOME_COUNT - i; outcome++)
            crest_timer_record(crest_timer_family_get(&asks, &peers[i], 1), 5,
                               (crest_outcome)outcome);
        crest_gauge_set(crest_gauge_family_get(&gauges, &peers[i], 1), i);
    }
    crest_snapshot *snapshot = fixture_snapshot(&find_constants);
    assert_all_found(snapshot, 2);
    static const char *const texts[] = {"main", "", "a", "b", "ok", "error", "timeout", "none"};
    static const char *const names[] = {"dht.ask", "dht.sent", "ask"};
    for (unsigned n = 0; n < 20000; n++) {
        const char *values[5];
        for (unsigned i = 0; i < 5; i++)
            values[i] = texts[random_below(8)];
        if (random_below(2)) {
            values[0] = "main";
            values[1] = "";
        }
        assert_as_walked(snapshot, names[random_below(3)], values, random_below(6), 2);
    }
    crest_snapshot_free(snapshot);
}

/* Keys that came after the snapshot was taken do not count in what it has. */
static void test_open(void **state)
{
    (void)state;
    static const crest_metric_options requests = {.name = "requests"};
    crest_registry *registry = fixture_registry(NULL);
    const crest_label first[] = {{"method", "GET"}}, second[] = {{"method", "GET"}, {"error", "1"}};
    crest_counter_inc(crest_counter_labelled(registry, &requests, NULL, 0, NULL));
    crest_counter_inc(crest_counter_labelled(registry, &requests, first, 1, NULL));
    crest_snapshot *before = fixture_snapshot(registry);
    assert_all_found(before, 0);
    crest_counter_inc(crest_counter_labelled(registry, &requests, second, 2, NULL));
    crest_snapshot *after = fixture_snapshot(registry);
    assert_int_equal(crest_snapshot_size(after), 3);
    assert_all_found(before, 0);
    assert_all_found(after, 0);
    const char *values[] = {"GET", "1", ""};
    for (unsigned count = 0; count < 4; count++) {
        assert_as_walked(before, "requests", values, count, 0);
        assert_as_walked(after, "requests", values, count, 0);
    }
    crest_snapshot_free(before);
    crest_snapshot_free(after);
    crest_registry_free(registry);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_among_many),
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_open),
    };
    return cmocka_run_group_tests_name("finding in a snapshot", tests, NULL, NULL);
}
