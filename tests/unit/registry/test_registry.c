/* SPDX-License-Identifier: Apache-2.0 */
/*
 * <crest/registry.h>: find or create, what is refused and with which status, prefixes, freeing, and
 * what a lack of memory leaves behind.
 */
#include "base/arena.h"
#include "base/misuse.h"
#include "metrics/metric_inside.h"
#include "support/core_fixture.h"

CREST_REGISTRY(static_registry, .prefix = "embedded");
CREST_COUNTER(in_default, "test.in-default", "Declared before the registry was changed.");
#define CREST_REGISTRY_HERE &static_registry
CREST_COUNTER(in_static, "hits", "Declared in a static registry.");
CREST_GAUGE(gauge_in_static, "level", "A gauge there.");
CREST_TIMER(timer_in_static, "wait-time", "A timer there.");
CREST_HISTOGRAM(histogram_in_static, "size", "A histogram there.", .unit = CREST_BYTES);
CREST_COUNTER_FAMILY(family_in_static, "sent", "A family there.", kind);

static void test_found_again(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    crest_counter *counter = fixture_counter(registry, "a.counter");
    crest_gauge *gauge = fixture_gauge(registry, "a.gauge");
    crest_histogram *histogram = fixture_histogram(registry, "a.histogram");
    crest_timer *timer = fixture_timer(registry, "a.wait-time");
    assert_ptr_equal(fixture_counter(registry, "a.counter"), counter);
    assert_ptr_equal(fixture_gauge(registry, "a.gauge"), gauge);
    assert_ptr_equal(fixture_histogram(registry, "a.histogram"), histogram);
    assert_ptr_equal(fixture_timer(registry, "a.wait-time"), timer);
    crest_registry *other = fixture_registry(NULL);
    assert_ptr_not_equal(fixture_counter(other, "a.counter"), counter);
    crest_counter_add(counter, 5);
    assert_int_equal(crest_counter_value(fixture_counter(other, "a.counter")), 0);
    crest_registry_free(other);
    crest_registry_free(registry);
}

/* Found metrics keep what they were first given. */
static void test_settings_stay(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    char name[] = "b.size", description[] = "First.";
    double bounds[] = {1, 2, 3};
    crest_buckets buckets = {bounds, 3};
    crest_metric_options options = {
        .name = name, .description = description, .unit = CREST_BYTES, .buckets = &buckets};
    assert_non_null(crest_histogram_get(registry, &options, NULL));
    memset(name, 'x', sizeof name - 1);
    memset(description, 'x', sizeof description - 1);
    bounds[0] = bounds[1] = bounds[2] = 77;
    options = (crest_metric_options){.name = "b.size", .description = "Second."};
    crest_status status;
    crest_histogram_get(registry, &options, &status);
    assert_int_equal(status, CREST_OK);
    crest_snapshot *snapshot = fixture_snapshot(registry);
    crest_series_view view = fixture_series(snapshot, "b.size", NULL);
    assert_string_equal(view.description, "First.");
    assert_int_equal(view.unit, CREST_BYTES);
    assert_int_equal(view.buckets->count, 3);
    assert_true(view.buckets->bounds[0] == 1 && view.buckets->bounds[2] == 3);
    crest_snapshot_free(snapshot);
    crest_registry_free(registry);
}

static void assert_refused(crest_registry *registry, crest_kind kind, const char *name,
                           crest_status wanted, crest_misuse cause)
{
    crest_metric_options options = {.name = name};
    crest_status status = CREST_OK;
    uint64_t before = crest_misuse_value(cause);
    const crest_handle *handle;
    switch (kind) {
    case CREST_KIND_COUNTER:
        handle = &crest_counter_get(registry, &options, &status)->handle;
        break;
    case CREST_KIND_GAUGE: handle = &crest_gauge_get(registry, &options, &status)->handle; break;
    case CREST_KIND_HISTOGRAM:
        handle = &crest_histogram_get(registry, &options, &status)->handle;
        break;
    default: handle = &crest_timer_get(registry, &options, &status)->handle;
    }
    if (status != wanted)
        fail_msg("%s: '%s' instead of '%s'", name ? name : "NULL", crest_status_text(status),
                 crest_status_text(wanted));
    assert_non_null(handle);
    assert_int_equal(handle->slot, 0);
    assert_int_equal(crest_misuse_value(cause), before + 1);
}

static void test_clashes(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    fixture_counter(registry, "c.events");
    fixture_timer(registry, "c.wait-time");
    fixture_gauge(registry, "c.depth");
    static const struct {
        crest_kind kind;
        const char *name;
        crest_status status;
    } cases[] = {
        {CREST_KIND_GAUGE, "c.events", CREST_TYPE_CLASH},
        {CREST_KIND_HISTOGRAM, "c.events", CREST_TYPE_CLASH},
        {CREST_KIND_TIMER, "c.events", CREST_TYPE_CLASH},
        {CREST_KIND_COUNTER, "c.wait-time", CREST_TYPE_CLASH},
        {CREST_KIND_HISTOGRAM, "c.wait-time", CREST_TYPE_CLASH},
        {CREST_KIND_COUNTER, "c-events", CREST_NAME_CLASH}, /* both c_events_total */
        {CREST_KIND_TIMER, "c.wait.time", CREST_NAME_CLASH},
        {CREST_KIND_GAUGE, "c-depth", CREST_NAME_CLASH},
        {CREST_KIND_GAUGE, "c.wait-time.seconds.sum", CREST_NAME_CLASH}, /* derived of a timer */
    };
    for (size_t i = 0; i < LENGTH(cases); i++)
        assert_refused(registry, cases[i].kind, cases[i].name, cases[i].status,
                       cases[i].status == CREST_TYPE_CLASH ? CREST_MISUSE_TYPE_CLASH
                                                           : CREST_MISUSE_NAME_CLASH);
    /* names of others */
    crest_metric_options options = {.name = "push-time", .unit = CREST_SECONDS};
    crest_status status;
    crest_gauge_get(registry, &options, &status);
    assert_int_equal(status, CREST_INVALID_NAME);
    assert_refused(registry, CREST_KIND_GAUGE, "up", CREST_INVALID_NAME, CREST_MISUSE_NAME);
    /* what was refused left nothing behind */
    crest_snapshot *snapshot = fixture_snapshot(registry);
    assert_int_equal(crest_snapshot_size(snapshot), 4);
    crest_snapshot_free(snapshot);
    crest_registry_free(registry);
}

static void test_names(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry("abc");
    char longest[CREST_NAME_BYTES_MAX + 2];
    memset(longest, 'n', sizeof longest);
    longest[CREST_NAME_BYTES_MAX - 4] = '\0'; /* "abc." before it */
    fixture_counter(registry, longest);
    longest[CREST_NAME_BYTES_MAX - 4] = 'n';
    longest[CREST_NAME_BYTES_MAX - 3] = '\0';
    const char *const refused[] = {NULL,  "",         ".",  "a..b", "a.", ".a",  "a b",
                                   "a\n", "\xc3\xa4", "a{", "-a",   "a-", "1a.", longest};
    for (size_t i = 0; i < LENGTH(refused); i++)
        assert_refused(registry, CREST_KIND_COUNTER, refused[i], CREST_INVALID_NAME,
                       CREST_MISUSE_NAME);
    crest_snapshot *snapshot = fixture_snapshot(registry);
    assert_int_equal(crest_snapshot_size(snapshot), 1);
    crest_series_view view;
    assert_int_equal(crest_snapshot_series(snapshot, 0, &view), CREST_OK);
    assert_int_equal(strlen(view.name), CREST_NAME_BYTES_MAX);
    assert_memory_equal(view.name, "abc.n", 5);
    crest_snapshot_free(snapshot);
    crest_registry_free(registry);

    char prefix[1000];
    memset(prefix, 'p', sizeof prefix);
    prefix[sizeof prefix - 1] = '\0';
    registry = fixture_registry(prefix);
    assert_refused(registry, CREST_KIND_COUNTER, "a", CREST_INVALID_NAME, CREST_MISUSE_NAME);
    crest_registry_free(registry);
    registry = fixture_registry("not a name");
    assert_refused(registry, CREST_KIND_COUNTER, "a", CREST_INVALID_NAME, CREST_MISUSE_NAME);
    crest_registry_free(registry);
    registry = fixture_registry("");
    fixture_counter(registry, "a");
    crest_registry_free(registry);
}

static void test_arguments(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    crest_status status = CREST_OK;
    assert_non_null(crest_counter_get(registry, NULL, &status));
    assert_int_equal(status, CREST_INVALID_ARGUMENT);
    assert_non_null(crest_counter_get(registry, NULL, NULL));
    static char description[CREST_DESCRIPTION_BYTES_MAX + 2];
    memset(description, 'd', sizeof description - 1);
    crest_metric_options options = {.name = "d", .description = description};
    crest_counter_get(registry, &options, &status);
    assert_int_equal(status, CREST_INVALID_ARGUMENT);
    description[CREST_DESCRIPTION_BYTES_MAX] = '\0';
    crest_counter_get(registry, &options, &status);
    assert_int_equal(status, CREST_OK);
    options = (crest_metric_options){.name = "e", .unit = (crest_unit)99};
    crest_counter_get(registry, &options, &status);
    assert_int_equal(status, CREST_INVALID_ARGUMENT);
    static const double bad[][2] = {{2, 1}, {1, 1}, {NAN, 1}, {1, INFINITY}};
    for (size_t i = 0; i < LENGTH(bad); i++) {
        crest_buckets buckets = {bad[i], 2};
        options = (crest_metric_options){.name = "f", .buckets = &buckets};
        crest_histogram_get(registry, &options, &status);
        assert_int_equal(status, CREST_INVALID_ARGUMENT);
    }
    crest_buckets none = {bad[0], 0}, nowhere = {NULL, 1};
    options = (crest_metric_options){.name = "f", .buckets = &none};
    crest_timer_get(registry, &options, &status);
    assert_int_equal(status, CREST_INVALID_ARGUMENT);
    options.buckets = &nowhere;
    crest_timer_get(registry, &options, &status);
    assert_int_equal(status, CREST_INVALID_ARGUMENT);
    crest_registry_free(registry);
    crest_registry_free(NULL);
}

/* Bad bytes in a description become U+FFFD, and that is counted; good UTF-8 stays. */
static void test_descriptions(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    crest_metric_options options = {.name = "g.good",
                                    .description = "Größe \xe2\x82\xac \xf0\x9f\x8c\x8a"};
    uint64_t before = crest_misuse_value(CREST_MISUSE_TEXT);
    crest_counter_get(registry, &options, NULL);
    assert_int_equal(crest_misuse_value(CREST_MISUSE_TEXT), before);
    options = (crest_metric_options){.name = "g.bad",
                                     .description = "a\xff"
                                                    "b"};
    crest_counter_get(registry, &options, NULL);
    assert_int_equal(crest_misuse_value(CREST_MISUSE_TEXT), before + 1);
    static char all_bad[CREST_DESCRIPTION_BYTES_MAX + 1];
    memset(all_bad, '\xff', CREST_DESCRIPTION_BYTES_MAX);
    options = (crest_metric_options){.name = "g.worst", .description = all_bad};
    crest_status status;
    crest_counter_get(registry, &options, &status);
    assert_int_equal(status, CREST_OK);
    crest_snapshot *snapshot = fixture_snapshot(registry);
    assert_string_equal(fixture_series(snapshot, "g.good", NULL).description,
                        "Größe \xe2\x82\xac \xf0\x9f\x8c\x8a");
    assert_string_equal(fixture_series(snapshot, "g.bad", NULL).description, "a\xef\xbf\xbd"
                                                                             "b");
    assert_int_equal(strlen(fixture_series(snapshot, "g.worst", NULL).description),
                     3 * CREST_DESCRIPTION_BYTES_MAX);
    crest_snapshot_free(snapshot);
    crest_registry_free(registry);
}

static void test_static_registry(void **state)
{
    (void)state;
    crest_counter_add(&in_static, 3);
    crest_counter_add(&in_default, 4);
    crest_gauge_set(&gauge_in_static, -1);
    crest_timer_record(&timer_in_static, 5, CREST_OUTCOME_OK);
    crest_histogram_record(&histogram_in_static, 6);
    crest_counter_inc(family_in_static_with("x"));
    crest_snapshot *snapshot = fixture_snapshot(&static_registry);
    assert_int_equal(fixture_series(snapshot, "embedded.hits", NULL).counter, 3);
    assert_true(fixture_series(snapshot, "embedded.level", NULL).gauge == -1);
    assert_int_equal(fixture_series(snapshot, "embedded.sent", "x").counter, 1);
    assert_int_equal(crest_snapshot_size(snapshot), 6);
    crest_series_view view;
    assert_int_equal(crest_snapshot_find(snapshot, "test.in-default", NULL, 0, &view),
                     CREST_NOT_FOUND);
    crest_snapshot_free(snapshot);
    snapshot = fixture_snapshot(NULL);
    assert_int_equal(fixture_series(snapshot, "test.in-default", NULL).counter, 4);
    assert_int_equal(crest_snapshot_find(snapshot, "embedded.hits", NULL, 0, &view),
                     CREST_NOT_FOUND);
    crest_snapshot_free(snapshot);
    /* neither is on the heap: freeing does nothing */
    crest_registry_free(&static_registry);
    crest_registry_free(crest_default_registry());
    crest_counter_inc(&in_static);
    assert_int_equal(crest_counter_value(&in_static), 4);
}

/* A snapshot taken before outlives its registry; handles into it become no-ops and are counted. */
static void test_freed(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry("freed");
    crest_counter *counter = fixture_counter(registry, "events");
    crest_gauge *gauge = fixture_gauge(registry, "level");
    crest_histogram *histogram = fixture_histogram(registry, "size");
    crest_timer *timer = fixture_timer(registry, "wait-time");
    static const char *const keys[] = {"k"};
    crest_metric_options options = {.name = "family"};
    crest_counter_family family = crest_counter_family_new(registry, &options, keys, 1, NULL);
    const char *value = "v", *other = "w";
    crest_counter *child = crest_counter_family_get(&family, &value, 1);
    crest_timing timing = crest_timer_start(timer, crest_op_u64(1));
    crest_counter_add(counter, 7);
    crest_counter_add(child, 8);
    crest_histogram_record(histogram, 9);
    crest_snapshot *snapshot = fixture_snapshot(registry);
    crest_registry_free(registry);

    uint64_t late = crest_misuse_value(CREST_MISUSE_LATE);
    crest_counter_inc(counter);
    crest_counter_inc(child);
    crest_gauge_set(gauge, 1);
    crest_gauge_add(gauge, 1);
    crest_histogram_record(histogram, 1);
    crest_timer_record(timer, 1, CREST_OUTCOME_OK);
    crest_timer_record(timer, 1, CREST_OUTCOME_TIMEOUT);
    assert_int_equal(crest_timing_stop(&timing, crest_op_u64(1)), CREST_NOT_FOUND);
    assert_int_equal(crest_misuse_value(CREST_MISUSE_LATE), late + 8);
    crest_counter *dead = crest_counter_family_get(&family, &other, 1);
    assert_int_equal(dead->handle.slot, 0);
    assert_int_equal(crest_misuse_value(CREST_MISUSE_LATE), late + 9);
    assert_int_equal(crest_counter_value(counter), 0);
    assert_true(crest_gauge_value(gauge) == 0);

    assert_int_equal(fixture_series(snapshot, "freed.events", NULL).counter, 7);
    assert_int_equal(fixture_series(snapshot, "freed.family", "v").counter, 8);
    assert_int_equal(
        crest_distribution_sum(fixture_series(snapshot, "freed.size", NULL).distribution), 9);
    crest_snapshot_free(snapshot);
}

/* A registry made by code with another ABI is not looked into. */
static void test_abi(void **state)
{
    (void)state;
    crest_registry alien = {.abi = CREST_ABI + 1};
    assert_refused(&alien, CREST_KIND_COUNTER, "a", CREST_ABI_MISMATCH, CREST_MISUSE_ABI);
    assert_null(crest_snapshot_take(&alien));
    assert_null(alien.state);
}

/* Each allocation fails in turn: the call says so, and the next one finds nothing in its way. */
static void test_no_memory(void **state)
{
    (void)state;
    static const char *const keys[] = {"a", "b"};
    static const char *const values[] = {"x", "y"};
    for (unsigned kind = CREST_KIND_COUNTER; kind <= CREST_KIND_RANGE_SAMPLER + 1; kind++) {
        crest_registry *registry = fixture_registry("memory");
        crest_metric_options options = {.name = "m", .description = "With a text."};
        crest_status status = CREST_NO_MEMORY;
        unsigned long n = 0;
        while (status != CREST_OK) {
            crest_arena_fail_after(++n);
            switch (kind) {
            case CREST_KIND_COUNTER: crest_counter_get(registry, &options, &status); break;
            case CREST_KIND_GAUGE: crest_gauge_get(registry, &options, &status); break;
            case CREST_KIND_HISTOGRAM: crest_histogram_get(registry, &options, &status); break;
            case CREST_KIND_TIMER: crest_timer_get(registry, &options, &status); break;
            case CREST_KIND_RANGE_SAMPLER:
                crest_range_sampler_get(registry, &options, &status);
                break;
            default: {
                crest_counter_family family =
                    crest_counter_family_new(registry, &options, keys, 2, &status);
                if (status != CREST_OK)
                    break;
                crest_counter *counter = crest_counter_family_get(&family, values, 2);
                status = counter->handle.slot ? CREST_OK : CREST_NO_MEMORY;
            }
            }
            crest_arena_fail_after(0);
            if (status != CREST_OK && status != CREST_NO_MEMORY)
                fail_msg("kind %u, allocation %lu: %s", kind, n, crest_status_text(status));
            assert_true(n < 100);
        }
        assert_true(n > 5);
        crest_snapshot *snapshot = fixture_snapshot(registry);
        assert_int_equal(crest_snapshot_size(snapshot), kind == CREST_KIND_TIMER ? 2 : 1);
        crest_snapshot_free(snapshot);
        crest_registry_free(registry);
    }
}

/* The same while the tables grow, which a single metric does not make them do. */
static void test_no_memory_for_tables(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry("tables");
    unsigned failed = 0;
    for (unsigned i = 0; i < 1500; i++) {
        char name[16];
        snprintf(name, sizeof name, "t%u", i);
        crest_metric_options options = {.name = name};
        crest_status status = CREST_NO_MEMORY;
        for (unsigned long n = 12; status != CREST_OK; n++) {
            crest_arena_fail_after(n);
            crest_histogram_get(registry, &options, &status);
            crest_arena_fail_after(0);
            if (status != CREST_OK && status != CREST_NO_MEMORY)
                fail_msg("%s: %s", name, crest_status_text(status));
            failed += status != CREST_OK;
        }
    }
    assert_true(failed > 0);
    crest_snapshot *snapshot = fixture_snapshot(registry);
    assert_int_equal(crest_snapshot_size(snapshot), 1500);
    crest_snapshot_free(snapshot);
    crest_registry_free(registry);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_found_again),
        cmocka_unit_test(test_settings_stay),
        cmocka_unit_test(test_clashes),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_arguments),
        cmocka_unit_test(test_descriptions),
        cmocka_unit_test(test_static_registry),
        cmocka_unit_test(test_freed),
        cmocka_unit_test(test_abi),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_no_memory_for_tables),
    };
    return cmocka_run_group_tests_name("registry", tests, NULL, NULL);
}
