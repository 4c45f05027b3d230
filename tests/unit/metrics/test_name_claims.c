/* SPDX-License-Identifier: Apache-2.0 */
/*
 * name_claims.h against a plain list of all names of all metrics: of random metrics whose names are
 * put together from the words that exported names end in, exactly those are refused that share one,
 * or have a plain one that reads like a derived one.
 */
#include "metrics/metric_inside.h"
#include "names/derived_results.h"
#include "names/names.h"
#include "support/core_fixture.h"
#include "support/random_numbers.h"

#include <regex.h>

enum { NAMES_MAX = 200000 };

/* Every name of the metrics made so far. */
typedef struct oracle {
    char (*names)[CREST_EXPORTED_BYTES_MAX];
    size_t count;
} oracle;

static const unsigned all_windows[] = {60, 300, 900};

static unsigned names_of(const crest_metric_options *options, crest_kind kind,
                         char (*names)[CREST_EXPORTED_BYTES_MAX])
{
    crest_window_result results[CREST_WINDOW_RESULTS_MAX];
    unsigned count = crest_exported_claims(options->name, kind, options->unit, names, 40);
    unsigned derived = options->no_windows ? 0
                                           : crest_window_results_of(kind, options->quantiles,
                                                                     all_windows, 3, results);
    for (unsigned i = 0; i < derived; i++)
        crest_exported_name(options->name, kind, options->unit, results[i].qualifier,
                            names[count++], CREST_EXPORTED_BYTES_MAX);
    return count;
}

/* As the name claims' own, but by a regular expression. */
static int oracle_looks_derived(const char *name)
{
    static regex_t pattern;
    static int compiled;
    if (!compiled)
        assert_int_equal(regcomp(&pattern,
                                 "._((rate|peak|min|avg|max)|p[0-9]+_([0-9]+_)?)(1|5|15)m"
                                 "(_(bytes|seconds|ratio))?$",
                                 REG_EXTENDED | REG_NOSUB),
                         0);
    compiled = 1;
    return regexec(&pattern, name, 0, NULL, 0) == 0;
}

static int oracle_adds(oracle *all, const crest_metric_options *options, crest_kind kind)
{
    static char names[40][CREST_EXPORTED_BYTES_MAX];
    unsigned count = names_of(options, kind, names);
    unsigned plain = crest_exported_claims(options->name, kind, options->unit, NULL, 0);
    for (unsigned i = 0; i < plain; i++)
        if (oracle_looks_derived(names[i]))
            return 0;
    for (unsigned i = 0; i < count; i++)
        for (size_t other = 0; other < all->count; other++)
            if (strcmp(all->names[other], names[i]) == 0)
                return 0;
    assert_true(all->count + count <= NAMES_MAX);
    memcpy(all->names[all->count], names, count * sizeof names[0]);
    all->count += count;
    return 1;
}

static crest_status metric_make(crest_registry *registry, crest_kind kind,
                                const crest_metric_options *options)
{
    crest_status status;
    switch (kind) {
    case CREST_KIND_COUNTER: crest_counter_get(registry, options, &status); break;
    case CREST_KIND_GAUGE: crest_gauge_get(registry, options, &status); break;
    case CREST_KIND_HISTOGRAM: crest_histogram_get(registry, options, &status); break;
    case CREST_KIND_TIMER: crest_timer_get(registry, options, &status); break;
    default: crest_range_sampler_get(registry, options, &status); break;
    }
    return status;
}

static void random_name(uint64_t *random, char *name)
{
    static const char *const words[] = {"a",      "b",     "rate1m", "peak15m", "min5m", "avg1m",
                                        "max15m", "p99",   "9",      "1m",      "15m",   "p5",
                                        "bytes",  "total", "sum",    "seconds", "5m",    "p50"};
    unsigned count = 1 + (unsigned)(random_next(random) % 5);
    strcpy(name, random_next(random) % 2 ? "a" : "b");
    for (unsigned i = 1; i < count; i++) {
        strcat(name, random_next(random) % 2 ? "." : "_");
        strcat(name, words[random_next(random) % LENGTH(words)]);
    }
}

static void test_against_all_names(void **state)
{
    (void)state;
    static const double quantiles[][CREST_QUANTILES_MAX + 1] = {
        {0}, {0.5, 0.99}, {0.999}, {0.05, 0.999, 0.99, 0.5}};
    oracle all = {calloc(NAMES_MAX, CREST_EXPORTED_BYTES_MAX), 0};
    unsigned refused = 0, made = 0;
    for (uint64_t round = 0; round < 30; round++) {
        uint64_t random = round + 1;
        crest_registry *registry = fixture_registry(NULL);
        all.count = 0;
        for (int i = 0; i < 150; i++) {
            char name[100];
            random_name(&random, name);
            crest_kind kind = (crest_kind)(1 + random_next(&random) % 5);
            crest_metric_options options = {.name = name,
                                            .unit = (crest_unit)(random_next(&random) % 4),
                                            .no_windows = random_next(&random) % 8 == 0};
            if (kind == CREST_KIND_TIMER)
                options.unit = CREST_NANOSECONDS;
            if ((kind == CREST_KIND_TIMER || kind == CREST_KIND_HISTOGRAM) && !options.no_windows)
                memcpy(options.quantiles, quantiles[random_next(&random) % LENGTH(quantiles)],
                       sizeof options.quantiles);
            if (crest_metric_find(registry->state, name) != NULL)
                continue;
            int wanted = oracle_adds(&all, &options, kind);
            crest_status status = metric_make(registry, kind, &options);
            if (status != (wanted ? CREST_OK : CREST_NAME_CLASH))
                fail_msg("round %d, metric %d: %s of kind %d, unit %d: %s", (int)round, i, name,
                         (int)kind, (int)options.unit, crest_status_text(status));
            made += wanted != 0;
            refused += !wanted;
        }
        crest_registry_free(registry);
    }
    assert_true(made > 1000 && refused > 100);
    free(all.names);
}

/* Whether or not there is a metric that derives them; and what only reads nearly so is free. */
static void test_derived_and_plain(void **state)
{
    (void)state;
    static const char *const refused[] = {"x.rate1m", "x.avg15m-seconds", "x.p99_9_1m_seconds",
                                          "x.p5.15m", "load.avg5m.ratio", "x_y.min1m-bytes",
                                          "a.p9.9.5m"};
    static const char *const free_names[] = {
        "rate1m",  "load.1m",     "load1m",        "x.rate10m",   "x.rate",
        "x.9.1m",  "p9_1m",       "x.avg1m.max",   "x.quirate1m", "x.p99_9_9_1m",
        "x.pq_1m", "load.avg-1m", "x.rate1m.rows", "x.p_1m",      "x.rate1mm"};
    crest_registry *registry = fixture_registry(NULL);
    const crest_metric_options timer = {.name = "x", .quantiles = {0.999}};
    for (int with = 0; with < 2; with++) {
        for (size_t i = 0; i < LENGTH(refused); i++) {
            const crest_metric_options gauge = {.name = refused[i]};
            assert_int_equal(metric_make(registry, CREST_KIND_GAUGE, &gauge), CREST_NAME_CLASH);
        }
        for (size_t i = 0; i < LENGTH(free_names); i++) {
            const crest_metric_options gauge = {.name = free_names[i]};
            assert_int_equal(metric_make(registry, CREST_KIND_GAUGE, &gauge), CREST_OK);
        }
        assert_int_equal(metric_make(registry, CREST_KIND_TIMER, &timer), CREST_OK);
    }
    crest_registry_free(registry);
}

/* Their families have two names, and their rates one; and the way out. */
static void test_rates_without_unit(void **state)
{
    (void)state;
    const crest_metric_options timer = {.name = "x.seconds"}, counter = {.name = "x"},
                               bytes = {.name = "x", .unit = CREST_BYTES},
                               none = {.name = "x", .no_windows = 1}, gauge = {.name = "x"};
    crest_registry *registry = fixture_registry(NULL);
    assert_int_equal(metric_make(registry, CREST_KIND_TIMER, &timer), CREST_OK);
    assert_int_equal(metric_make(registry, CREST_KIND_COUNTER, &counter), CREST_NAME_CLASH);
    assert_int_equal(metric_make(registry, CREST_KIND_COUNTER, &none), CREST_OK);
    crest_registry_free(registry);
    registry = fixture_registry(NULL);
    assert_int_equal(metric_make(registry, CREST_KIND_COUNTER, &counter), CREST_OK);
    assert_int_equal(metric_make(registry, CREST_KIND_TIMER, &timer), CREST_NAME_CLASH);
    crest_registry_free(registry);
    registry = fixture_registry(NULL);
    assert_int_equal(metric_make(registry, CREST_KIND_COUNTER, &bytes), CREST_OK);
    assert_int_equal(metric_make(registry, CREST_KIND_TIMER, &timer), CREST_OK);
    crest_registry_free(registry);
    registry = fixture_registry(NULL);
    assert_int_equal(metric_make(registry, CREST_KIND_GAUGE, &gauge), CREST_OK);
    assert_int_equal(metric_make(registry, CREST_KIND_TIMER, &timer), CREST_OK);
    crest_registry_free(registry);
}

/* What a metric may not ask for. */
static void test_quantiles(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    static const double bad[][CREST_QUANTILES_MAX + 1] = {
        {1},
        {-0.5},
        {0.5, 1.5},
        {0.5, 0.5},
        {0.5, 0.5 + 1e-10},
        {1e-10},
        {1 - 1e-10},
        {0.1, 0.2, 0.3, 0.4, 0.5},
        {NAN},
    };
    for (size_t i = 0; i < LENGTH(bad); i++) {
        crest_metric_options options = {.name = "bad"};
        memcpy(options.quantiles, bad[i], sizeof bad[i]);
        assert_int_equal(metric_make(registry, CREST_KIND_TIMER, &options), CREST_INVALID_ARGUMENT);
    }
    const crest_metric_options counter = {.name = "c", .quantiles = {0.5}},
                               none = {.name = "n", .range = CREST_RANGE_NONE, .quantiles = {0.5}},
                               without = {.name = "w", .no_windows = 1, .quantiles = {0.5}},
                               good = {.name = "g", .quantiles = {0.5, 0.9, 0.99, 0.99999999}};
    assert_int_equal(metric_make(registry, CREST_KIND_COUNTER, &counter), CREST_INVALID_ARGUMENT);
    assert_int_equal(metric_make(registry, CREST_KIND_HISTOGRAM, &none), CREST_INVALID_ARGUMENT);
    assert_int_equal(metric_make(registry, CREST_KIND_TIMER, &without), CREST_INVALID_ARGUMENT);
    assert_int_equal(metric_make(registry, CREST_KIND_TIMER, &good), CREST_OK);
    crest_registry_free(registry);
}

static void test_results(void **state)
{
    (void)state;
    static const double quantiles[] = {0.5, 0.999, 0.05, 0.99999999, 0};
    crest_series_view view = {.kind = CREST_KIND_TIMER, .quantiles = quantiles};
    crest_window_result results[CREST_WINDOW_RESULTS_MAX];
    assert_int_equal(crest_window_results(&view, all_windows, 3, results), 24);
    static const char *const names[] = {
        "rate1m", "peak1m",        "avg1m",   "max1m",         "p50_1m",  "p99_9_1m",
        "p5_1m",  "p99_999999_1m", "rate5m",  "peak5m",        "avg5m",   "max5m",
        "p50_5m", "p99_9_5m",      "p5_5m",   "p99_999999_5m", "rate15m", "peak15m",
        "avg15m", "max15m",        "p50_15m", "p99_9_15m",     "p5_15m",  "p99_999999_15m"};
    for (size_t i = 0; i < LENGTH(names); i++) {
        assert_string_equal(results[i].qualifier, names[i]);
        assert_int_equal(results[i].window_s, all_windows[i / 8]);
    }
    assert_string_equal(results[0].meaning, "Recorded per second, over the last minute");
    assert_string_equal(results[13].meaning, "99.9 % were at most this, over the last 5 minutes");
    assert_int_equal(results[13].offset, offsetof(crest_window, quantiles) + sizeof(double));
    view = (crest_series_view){.kind = CREST_KIND_RANGE_SAMPLER};
    assert_int_equal(crest_window_results(&view, all_windows, 2, results), 6);
    assert_string_equal(results[4].qualifier, "avg5m");
    assert_string_equal(results[4].meaning, "Average over the last 5 minutes, weighted by time");
    view.kind = CREST_KIND_GAUGE;
    assert_int_equal(crest_window_results(&view, all_windows, 3, results), 0);
    view.kind = CREST_KIND_COUNTER;
    assert_int_equal(crest_window_results(&view, all_windows, 0, results), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_all_names),
        cmocka_unit_test(test_derived_and_plain),
        cmocka_unit_test(test_rates_without_unit),
        cmocka_unit_test(test_quantiles),
        cmocka_unit_test(test_results),
    };
    return cmocka_run_group_tests_name("claims", tests, NULL, NULL);
}
