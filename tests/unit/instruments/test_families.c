/* SPDX-License-Identifier: Apache-2.0 */
/*
 * <crest/family.h>: label values to series, what becomes of bad ones, and the overflow series.
 */
#include "base/arena.h"
#include "support/core_fixture.h"
#include "base/misuse.h"

CREST_COUNTER_FAMILY(messages, "test.messages", "Messages.", kind, peer);
CREST_GAUGE_FAMILY(depths, "test.depth", "Depths.", queue);
CREST_HISTOGRAM_FAMILY_OPTIONS(sizes, "test.size", "Sizes.", (.unit = CREST_BYTES), kind);
CREST_TIMER_FAMILY_OPTIONS(pings, "test.ping-time", "Round trip.", (.buckets = CREST_BUCKETS_FAST),
                           peer);
CREST_COUNTER_FAMILY(eight, "test.eight", "Every key there may be.", a, b, c, d, e, f, g, h);

static uint64_t family_value(const char *name, const char *const *values, unsigned count)
{
    crest_snapshot *snapshot = fixture_snapshot(NULL);
    crest_series_view view;
    uint64_t value = UINT64_MAX;
    if (crest_snapshot_find(snapshot, name, values, count, &view) == CREST_OK)
        value = view.distribution ? crest_distribution_sum(view.distribution) : view.counter;
    crest_snapshot_free(snapshot);
    return value;
}

static void test_resolvers(void **state)
{
    (void)state;
    crest_counter *a = messages_with("ping", "x"), *b = messages_with("x", "ping");
    assert_ptr_not_equal(a, b);
    assert_ptr_equal(messages_with("ping", "x"), a);
    char kind[] = "ping", peer[] = "x"; /* by content, not by address */
    assert_ptr_equal(messages_with(kind, peer), a);
    memset(kind, '?', sizeof kind);
    assert_ptr_equal(messages_with("ping", "x"), a);
    /* values that would be the same if they were just put together */
    assert_ptr_not_equal(messages_with("ab", "c"), messages_with("a", "bc"));
    assert_ptr_equal(messages_with(NULL, ""), messages_with("", NULL));
    crest_counter_add(a, 2);
    crest_counter_add(b, 3);
    crest_gauge_set(depths_with("in"), 4);
    crest_histogram_record(sizes_with("block"), 5);
    crest_timer_record(pings_with("x"), 6, CREST_OUTCOME_ERROR);
    crest_counter_inc(eight_with("1", "2", "3", "4", "5", "6", "7", "8"));
    assert_int_equal(family_value("test.messages", (const char *[]){"ping", "x"}, 2), 2);
    assert_int_equal(family_value("test.messages", (const char *[]){"x", "ping"}, 2), 3);
    assert_int_equal(family_value("test.messages", (const char *[]){"x"}, 1), UINT64_MAX);
    assert_int_equal(family_value("test.size", (const char *[]){"block"}, 1), 5);
    assert_int_equal(family_value("test.ping-time", (const char *[]){"x", "error"}, 2), 6);
    assert_int_equal(family_value("test.ping-time", (const char *[]){"x", "ok"}, 2), 0);
    assert_int_equal(
        family_value("test.eight", (const char *[]){"1", "2", "3", "4", "5", "6", "7", "8"}, 8), 1);
}

static void test_values(void **state)
{
    (void)state;
    uint64_t text = crest_misuse_value(CREST_MISUSE_TEXT);
    static const struct {
        const char *given, *kept;
        int changed;
    } cases[] = {
        {"", "", 0},
        {"a\"b\\c\nd", "a\"b\\c\nd", 0},
        {"\xe2\x82\xac", "\xe2\x82\xac", 0},
        {"\xff", "\xef\xbf\xbd", 1},
        {"a\xe2\x82", "a\xef\xbf\xbd", 1},
        {"\xc0\x80", "\xef\xbf\xbd\xef\xbf\xbd", 1},
        {"\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd", 1},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        crest_gauge *gauge = depths_with(cases[i].given);
        crest_gauge_set(gauge, (double)i + 1);
        text += (uint64_t)cases[i].changed;
        assert_int_equal(crest_misuse_value(CREST_MISUSE_TEXT), text);
        crest_snapshot *snapshot = fixture_snapshot(NULL);
        assert_true(fixture_series(snapshot, "test.depth", cases[i].kept).gauge == (double)i + 1);
        crest_snapshot_free(snapshot);
        assert_ptr_equal(depths_with(cases[i].kept), gauge);
    }
    /* too long: cut at a character, and the same for all that begin so */
    static char longest[100000];
    memset(longest, 'l', sizeof longest - 1);
    crest_gauge *gauge = depths_with(longest);
    assert_int_equal(crest_misuse_value(CREST_MISUSE_TEXT), text + 1);
    longest[CREST_LABEL_VALUE_BYTES_MAX] = '\0';
    assert_ptr_equal(depths_with(longest), gauge);
    assert_int_equal(crest_misuse_value(CREST_MISUSE_TEXT), text + 1);
    memcpy(longest + CREST_LABEL_VALUE_BYTES_MAX - 1, "\xe2\x82\xac", 4);
    gauge = depths_with(longest);
    longest[CREST_LABEL_VALUE_BYTES_MAX - 1] = '\0';
    assert_ptr_equal(depths_with(longest), gauge);
}

static void test_run_time(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry("r");
    char key[] = "peer";
    const char *keys[] = {key, "kind"};
    crest_metric_options options = {.name = "f"};
    crest_status status;
    crest_timer_family family = crest_timer_family_new(registry, &options, keys, 2, &status);
    assert_int_equal(status, CREST_OK);
    memset(key, 'x', 4);
    const char *values[] = {"a", "b"};
    crest_timer *timer = crest_timer_family_get(&family, values, 2);
    crest_timer_record(timer, 5, CREST_OUTCOME_CANCELLED);
    keys[0] = "peer";
    crest_timer_family again = crest_timer_family_new(registry, &options, keys, 2, &status);
    assert_ptr_equal(crest_timer_family_get(&again, values, 2), timer);
    crest_snapshot *snapshot = fixture_snapshot(registry);
    assert_int_equal(crest_snapshot_size(snapshot), 3);
    crest_series_view view;
    assert_int_equal(crest_snapshot_series(snapshot, 2, &view), CREST_OK);
    assert_int_equal(view.label_count, 3);
    assert_string_equal(view.label_keys[0], "peer");
    assert_string_equal(view.label_keys[2], "outcome");
    assert_string_equal(view.label_values[1], "b");
    assert_string_equal(view.label_values[2], "cancelled");
    crest_snapshot_free(snapshot);
    crest_registry_free(registry);
}

static void test_refused(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    static const char *const good[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i"};
    static const char *const bad[][2] = {{"le", "a"}, {"a", "a"}, {"a-b", "a"},    {"", "a"},
                                         {NULL, "a"}, {"1", "a"}, {"a", "outcome"}};
    crest_metric_options options = {.name = "f"};
    crest_status status;
    for (size_t i = 0; i < LENGTH(bad); i++) {
        crest_gauge_family_new(registry, &options, bad[i], 2, &status);
        assert_int_equal(status, CREST_INVALID_LABEL);
    }
    crest_gauge_family_new(registry, &options, good, 9, &status);
    assert_int_equal(status, CREST_INVALID_LABEL);
    crest_gauge_family_new(registry, &options, good, 0, &status);
    assert_int_equal(status, CREST_INVALID_LABEL);
    crest_gauge_family_new(registry, &options, NULL, 1, &status);
    assert_int_equal(status, CREST_INVALID_LABEL);
    crest_counter_family family = crest_counter_family_new(registry, &options, good, 2, &status);
    assert_int_equal(status, CREST_OK);
    crest_counter_family_new(registry, &options, good + 1, 2, &status);
    assert_int_equal(status, CREST_TYPE_CLASH);
    crest_counter_family_new(registry, &options, good, 1, &status);
    assert_int_equal(status, CREST_TYPE_CLASH);
    crest_counter_get(registry, &options, &status);
    assert_int_equal(status, CREST_TYPE_CLASH);
    crest_histogram_family wrong = crest_histogram_family_new(registry, &options, good, 2, &status);
    assert_int_equal(status, CREST_TYPE_CLASH);
    /* what was refused, and what is asked wrongly, records nowhere and is counted */
    uint64_t labels = crest_misuse_value(CREST_MISUSE_LABEL);
    assert_int_equal(crest_histogram_family_get(&wrong, good, 2)->handle.slot, 0);
    assert_int_equal(crest_counter_family_get(&family, good, 1)->handle.slot, 0);
    assert_int_equal(crest_counter_family_get(&family, good, 3)->handle.slot, 0);
    assert_int_equal(crest_counter_family_get(&family, NULL, 2)->handle.slot, 0);
    assert_int_equal(crest_misuse_value(CREST_MISUSE_LABEL), labels + 4);
    crest_counter_family alien = family;
    alien.family.abi = CREST_ABI + 1;
    uint64_t abi = crest_misuse_value(CREST_MISUSE_ABI);
    assert_int_equal(crest_counter_family_get(&alien, good, 2)->handle.slot, 0);
    assert_int_equal(crest_misuse_value(CREST_MISUSE_ABI), abi + 1);
    assert_int_equal(crest_family_register(NULL), CREST_INVALID_ARGUMENT);
    crest_registry_free(registry);
}

/* Past the limit everything new is one series; what was there goes on. */
static void test_overflow(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    static const char *const keys[] = {"a", "b"};
    crest_metric_options options = {.name = "f"};
    crest_timer_family family = crest_timer_family_new(registry, &options, keys, 2, NULL);
    uint64_t limit = crest_misuse_value(CREST_MISUSE_LIMIT);
    for (unsigned i = 0; i < CREST_FAMILY_SERIES_MAX + 100; i++) {
        char text[16];
        snprintf(text, sizeof text, "%u", i);
        const char *values[] = {"same", text};
        crest_timer_record(crest_timer_family_get(&family, values, 2), i + 1, CREST_OUTCOME_OK);
    }
    assert_int_equal(crest_misuse_value(CREST_MISUSE_LIMIT), limit + 100);
    const char *first[] = {"same", "0"}, *later[] = {"same", "2050"};
    crest_timer_record(crest_timer_family_get(&family, first, 2), 5, CREST_OUTCOME_OK);
    crest_timer_record(crest_timer_family_get(&family, later, 2), 7, CREST_OUTCOME_TIMEOUT);
    assert_int_equal(crest_misuse_value(CREST_MISUSE_LIMIT), limit + 101);
    crest_snapshot *snapshot = fixture_snapshot(registry);
    crest_series_view view;
    const char *overflow[] = {"overflow", "overflow", "ok"};
    assert_int_equal(crest_snapshot_find(snapshot, "f", overflow, 3, &view), CREST_OK);
    assert_int_equal(crest_distribution_count(view.distribution), 100);
    overflow[2] = "timeout";
    assert_int_equal(crest_snapshot_find(snapshot, "f", overflow, 3, &view), CREST_OK);
    assert_int_equal(crest_distribution_sum(view.distribution), 7);
    assert_int_equal(
        crest_snapshot_find(snapshot, "f", (const char *[]){"same", "0", "ok"}, 3, &view),
        CREST_OK);
    assert_int_equal(crest_distribution_sum(view.distribution), 6);
    assert_int_equal(crest_snapshot_size(snapshot), 2 * (CREST_FAMILY_SERIES_MAX + 1) + 1);
    crest_snapshot_free(snapshot);
    crest_registry_free(registry);
}

/* Each allocation fails in turn: what comes then records nowhere, and the next try succeeds. */
static void test_no_memory(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    static const char *const keys[] = {"a"};
    crest_metric_options options = {.name = "f"};
    crest_histogram_family family = crest_histogram_family_new(registry, &options, keys, 1, NULL);
    unsigned long most = 0;
    for (unsigned i = 0; i < 200; i++) {
        char text[16];
        snprintf(text, sizeof text, "%u", i);
        const char *value = text;
        uint32_t slot = 0;
        for (unsigned long n = 1; slot == 0; n++) {
            uint64_t lacked = crest_misuse_value(CREST_MISUSE_NO_MEMORY);
            crest_arena_fail_after(n);
            slot = crest_histogram_family_get(&family, &value, 1)->handle.slot;
            crest_arena_fail_after(0);
            assert_int_equal(crest_misuse_value(CREST_MISUSE_NO_MEMORY), lacked + (slot == 0));
            assert_true(n < 50);
            most = n > most ? n : most;
        }
    }
    assert_true(most > 3);
    crest_snapshot *snapshot = fixture_snapshot(registry);
    assert_int_equal(crest_snapshot_size(snapshot), 200);
    crest_snapshot_free(snapshot);
    crest_registry_free(registry);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_resolvers), cmocka_unit_test(test_values),
        cmocka_unit_test(test_run_time),  cmocka_unit_test(test_refused),
        cmocka_unit_test(test_overflow),  cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests_name("families", tests, NULL, NULL);
}
