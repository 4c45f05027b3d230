/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the pages of one snapshot into files, for test_openmetrics.py. NUMBER seeds the choice of
 * metrics, labels, texts and values:
 *
 *     page_program FOLDER NUMBER
 */
#include <crest/crest.h>
#include <crest/testing.h>

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/random_numbers.h"

#define PROGRAM_METRICS 40u
#define PROGRAM_CHILDREN 6u
#define PROGRAM_KEYS 3u

static uint64_t program_seed;

static unsigned program_draw(unsigned below)
{
    program_seed = random_step(program_seed);
    return (unsigned)((program_seed >> 33) % below);
}

/* Pieces that are most easily mishandled, mixed with harmless ones. */
static const char *program_text(char *text, unsigned pieces)
{
    static const char *const piece[] = {"\"",
                                        "\\",
                                        "\n",
                                        "\\n",
                                        "{",
                                        "}",
                                        ",",
                                        "=",
                                        " ",
                                        "#",
                                        "# EOF",
                                        "\xff",
                                        "\xc3",
                                        "\xf0\x9f\x8c\x8a",
                                        "\xe2\x82\xac",
                                        "\t",
                                        "\r",
                                        "le=\"",
                                        "a",
                                        "10.0.0.7:40400",
                                        "# {x=\"y\"} 1",
                                        "\x01",
                                        "NaN",
                                        "+Inf"};
    text[0] = '\0';
    for (unsigned i = 0; i < pieces; i++)
        strcat(text, piece[program_draw(sizeof piece / sizeof piece[0])]);
    return text;
}

static int64_t program_amount(void)
{
    return (int64_t)(((uint64_t)program_draw(1u << 31) << program_draw(12)) >> program_draw(31));
}

/* Without }: the parser that reads the pages takes it for the end of an exemplar's labels, even
 * within quotes. */
static crest_op program_text_op(void)
{
    char text[512];
    program_text(text, 1 + program_draw(12));
    for (char *at = text; (at = strchr(at, '}')) != NULL;)
        *at = ')';
    return crest_op_text(text);
}

static crest_op program_op(unsigned i)
{
    switch (program_draw(5)) {
    case 0: return crest_op_u64(i);
    case 1: return crest_op_u64x2(i, program_draw(1000));
    case 2: return crest_op_bytes("\xab\xcd\xef and more bytes than are kept exactly", 20 + i % 20);
    case 3: return program_text_op();
    default: return crest_op_none();
    }
}

typedef struct program_metric {
    crest_registry *registry;
    crest_metric_options options;
    const char *const *keys;
    unsigned key_count;
    const char *values[PROGRAM_KEYS];
} program_metric;

static void program_counter(program_metric *metric)
{
    crest_status status;
    crest_counter_family family = crest_counter_family_new(
        metric->registry, &metric->options, metric->keys, metric->key_count, &status);
    crest_counter_add(crest_counter_family_get(&family, metric->values, metric->key_count),
                      program_amount());
}

static void program_gauge(program_metric *metric)
{
    static const double special[] = {0, -0.0, 1e-300, -1e300, 0.1, 1.0 / 3};
    crest_status status;
    crest_gauge_family family = crest_gauge_family_new(metric->registry, &metric->options,
                                                       metric->keys, metric->key_count, &status);
    crest_gauge_set(crest_gauge_family_get(&family, metric->values, metric->key_count),
                    program_draw(2) ? special[program_draw(6)] : (double)program_amount() / 7);
}

static void program_histogram(program_metric *metric)
{
    crest_status status;
    crest_histogram_family family = crest_histogram_family_new(
        metric->registry, &metric->options, metric->keys, metric->key_count, &status);
    crest_histogram *histogram =
        crest_histogram_family_get(&family, metric->values, metric->key_count);
    for (unsigned i = program_draw(200); i-- > 0;)
        crest_histogram_record(histogram, program_amount());
}

static void program_timer(program_metric *metric)
{
    crest_status status;
    crest_timer_family family = crest_timer_family_new(metric->registry, &metric->options,
                                                       metric->keys, metric->key_count, &status);
    crest_timer *timer = crest_timer_family_get(&family, metric->values, metric->key_count);
    for (unsigned i = program_draw(30); i-- > 0;) {
        crest_op op = program_op(i);
        crest_timing timing = crest_timer_start(timer, op);
        crest_testing_clock_advance(1 + (uint64_t)program_amount() / 1000);
        crest_timing_end(&timing, op, (crest_outcome)program_draw(4));
    }
}

static void program_range_sampler(program_metric *metric)
{
    crest_status status;
    crest_range_sampler_family family = crest_range_sampler_family_new(
        metric->registry, &metric->options, metric->keys, metric->key_count, &status);
    crest_range_sampler *sampler =
        crest_range_sampler_family_get(&family, metric->values, metric->key_count);
    for (unsigned i = program_draw(5); i-- > 0;)
        crest_range_sampler_add(sampler, program_amount() - program_amount());
}

static void program_fill(crest_registry *registry, unsigned round)
{
    static const char *const keys[] = {"a", "b", "quite_long_key"};
    static void (*const kinds[])(program_metric *) = {
        program_counter, program_gauge, program_histogram, program_timer, program_range_sampler};
    for (unsigned i = 0; i < PROGRAM_METRICS; i++) {
        char name[64], description[512], text[PROGRAM_KEYS][512];
        static const char *const ends[] = {"", "-total", ".bytes", "-seconds", ".x_ratio"};
        /* the same in every round, whatever is drawn for the children */
        uint64_t kept = program_seed;
        program_seed = i * 7919 + 1;
        unsigned kind = program_draw(5);
        program_metric metric = {.registry = registry, .keys = keys, .key_count = program_draw(4)};
        snprintf(name, sizeof name, "m%u.some-name%s", i, ends[program_draw(5)]);
        metric.options.name = name;
        metric.options.unit = (crest_unit)program_draw(CREST_RATIO + 1);
        metric.options.description = program_text(description, program_draw(10));
        program_seed = kept + round;
        for (unsigned child = 0; child < PROGRAM_CHILDREN; child++) {
            for (unsigned label = 0; label < metric.key_count; label++)
                metric.values[label] = program_text(text[label], program_draw(6));
            kinds[kind](&metric);
        }
    }
}

static int program_write(void *stream, const void *bytes, size_t length)
{
    return fwrite(bytes, 1, length, stream) == length ? 0 : 1;
}

static int program_page(const crest_snapshot *snapshot, const char *folder, const char *name,
                        crest_format format, const crest_page_options *options)
{
    char path[1024];
    crest_error error = {CREST_OK, ""};
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *stream = fopen(path, "wb");
    if (stream == NULL ||
        crest_snapshot_write(snapshot, format, options, program_write, stream, &error) !=
            CREST_OK ||
        fclose(stream) != 0) {
        fprintf(stderr, "%s: %s\n", path, error.message);
        return 1;
    }
    return 0;
}

static int program_pages(crest_registry *registry, const char *folder)
{
    char text[256];
    const crest_page_label target[] = {{"service", "page program"},
                                       {"version", program_text(text, 9)}};
    const crest_page_options all = {
        .windows = CREST_PAGE_WINDOWS_ALL, .target = target, .target_count = 2};
    crest_page_options with = all;
    with.created = 1;
    const char *const names[] = {"page_m1_some_name", "page_m2_some_name_total",
                                 "page_m3_some_name_bytes"};
    crest_page_options narrow = all;
    narrow.names = names;
    narrow.name_count = 3;
    crest_snapshot *snapshot = crest_snapshot_take(registry);
    if (snapshot == NULL)
        return 1;
    int wrong =
        program_page(snapshot, folder, "all.txt", CREST_FORMAT_PROMETHEUS_TEXT, &all) +
        program_page(snapshot, folder, "all.om", CREST_FORMAT_OPENMETRICS, &all) +
        program_page(snapshot, folder, "created.om", CREST_FORMAT_OPENMETRICS, &with) +
        program_page(snapshot, folder, "scrape.txt", CREST_FORMAT_PROMETHEUS_TEXT, NULL) +
        program_page(snapshot, folder, "scrape.om", CREST_FORMAT_OPENMETRICS, NULL) +
        program_page(snapshot, folder, "narrow.txt", CREST_FORMAT_PROMETHEUS_TEXT, &narrow) +
        program_page(snapshot, folder, "narrow.om", CREST_FORMAT_OPENMETRICS, &narrow);
    crest_snapshot_free(snapshot);
    return wrong;
}

int main(int count, char **arguments)
{
    if (count != 3) {
        fprintf(stderr, "usage: page_program FOLDER NUMBER\n");
        return 2;
    }
    setlocale(LC_ALL, "");
    program_seed = strtoull(arguments[2], NULL, 10) * 1000003;
    char text[256];
    crest_registry_options options = {.prefix = "page"};
    if (program_draw(2))
        options.labels[0] = (crest_label){"site", program_text(text, 1 + program_draw(9))};
    crest_registry *registry = crest_registry_new(&options);
    crest_testing_clock_set(UINT64_C(1000000000));
    crest_testing_clock_set_wall(UINT64_C(1700000000000000000));
    program_fill(registry, 0);
    int wrong = crest_testing_tick(registry) != CREST_OK;
    crest_testing_clock_advance(1000000000);
    program_fill(registry, 1);
    wrong += crest_testing_tick(registry) != CREST_OK;
    wrong += program_pages(registry, arguments[1]);
    crest_registry_free(registry);
    return wrong != 0;
}
