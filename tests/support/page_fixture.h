/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Snapshots made by hand for the tests of encoders, and sinks for their pages.
 */
#ifndef CREST_TEST_PAGE_FIXTURE_H
#define CREST_TEST_PAGE_FIXTURE_H

#include "base/utf8.h"
#include "page/exposition.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])
#define VALUES(...) ((const char *const[]){__VA_ARGS__})
#define PAGE_BYTES_MAX (4u << 20)

/* ---- a snapshot made by hand ---- */

struct crest_snapshot {
    const crest_series_view *series;
    size_t size;
    unsigned constants; /* how many first labels are the same in all series */
    uint32_t made_s;
    unsigned windows; /* 0: one, of a minute */
};

struct crest_distribution {
    uint64_t sum;
    const crest_bucket *buckets;
    size_t size;
};

static size_t fake_size(const crest_snapshot *snapshot)
{
    return snapshot->size;
}

static void fake_metric(const crest_snapshot *snapshot, size_t index, crest_page_metric *metric)
{
    assert_in_range(index, 0, snapshot->size - 1);
    metric->first = snapshot->series[index];
    metric->constants = snapshot->constants;
    metric->identity = snapshot->series[index].name;
}

/* Whether a value is plain, as in a real snapshot: short, and without anything to escape. */
static int fake_plain(const char *value)
{
    return strlen(value) < 2000 && strpbrk(value, "\\\"\n") == NULL && crest_utf8_is_valid(value);
}

static void fake_row(const crest_series_view *series, unsigned constants, crest_page_row *row)
{
    memset(row, 0xee, sizeof *row);
    row->values = series->label_values + constants;
    row->plain = 1;
    row->bytes = 0;
    for (unsigned i = 0; i < series->label_count - constants; i++) {
        row->lengths[i] = (uint16_t)strlen(row->values[i]);
        row->bytes = (uint16_t)(row->bytes + row->lengths[i]);
        row->plain &= fake_plain(row->values[i]);
    }
    switch (series->kind) {
    case CREST_KIND_COUNTER: row->counter = series->counter; break;
    case CREST_KIND_GAUGE: row->gauge = series->gauge; break;
    case CREST_KIND_RANGE_SAMPLER: row->current = series->current; break;
    default: break;
    }
}

static unsigned fake_rows(const crest_snapshot *snapshot, const crest_page_metric *metric,
                          size_t index, crest_page_row *rows, unsigned room)
{
    unsigned count = 0;
    for (; count < room && index + count < snapshot->size; count++) {
        const crest_series_view *series = &snapshot->series[index + count];
        if (strcmp(series->name, metric->identity) != 0)
            break;
        fake_row(series, snapshot->constants, &rows[count]);
        rows[count].made_s = metric->made ? snapshot->made_s : 0;
    }
    return count;
}

static unsigned fake_windows(const crest_snapshot *snapshot, unsigned window_s[CREST_WINDOWS_MAX])
{
    for (unsigned i = 0; i < CREST_WINDOWS_MAX; i++)
        window_s[i] = i == 0 ? 60 : i == 1 ? 300 : 900;
    return snapshot->windows != 0 ? snapshot->windows : 1;
}

/* Longer windows say the same, or a tenth of it. */
static crest_status fake_window(const crest_snapshot *snapshot, size_t index, unsigned window_s,
                                crest_window *window)
{
    assert_in_range(index, 0, snapshot->size - 1);
    *window = snapshot->series[index].window;
    if (window_s != 60)
        window->per_second /= 10;
    return window->covered_s > 0 ? CREST_OK : CREST_NOT_FOUND;
}

static void fake_totals(const crest_snapshot *snapshot, size_t index, const uint64_t *limits,
                        unsigned count, crest_totals *totals)
{
    static const crest_distribution nothing;
    const crest_distribution *distribution = snapshot->series[index].distribution;
    if (distribution == NULL)
        distribution = &nothing;
    memset(totals, 0, sizeof *totals);
    totals->sum = distribution->sum;
    for (size_t k = 0; k < distribution->size; k++) {
        const crest_bucket *bucket = &distribution->buckets[k];
        totals->count += bucket->count;
        for (unsigned i = 0; i < count; i++)
            totals->below[i] += bucket->lowest <= limits[i] ? bucket->count : 0;
    }
}

static int fake_native(const crest_snapshot *snapshot, size_t index, int schema, unsigned limit,
                       unsigned decimals, crest_native *native)
{
    const crest_distribution *distribution = snapshot->series[index].distribution;
    crest_native_begin(native, schema, limit, decimals, 0);
    for (size_t k = 0; distribution != NULL && k < distribution->size; k++) {
        const crest_bucket *bucket = &distribution->buckets[k];
        crest_native_add(native, bucket->lowest, bucket->highest, bucket->count);
    }
    return distribution != NULL;
}

static uint64_t fake_wall_ns(const crest_snapshot *snapshot)
{
    assert_non_null(snapshot);
    return UINT64_C(1700000000123456789);
}

static void fake_extremes(const crest_snapshot *snapshot, size_t index, uint64_t *minimum,
                          uint64_t *maximum)
{
    const crest_distribution *distribution = snapshot->series[index].distribution;
    int any = distribution != NULL && distribution->size != 0;
    *minimum = any ? distribution->buckets[0].lowest : 0;
    *maximum = any ? distribution->buckets[distribution->size - 1].highest : 0;
}

static const crest_page_source fake = {
    fake_size,   fake_metric, fake_rows,    fake_windows,  fake_window,
    fake_totals, fake_native, fake_wall_ns, fake_extremes,
};

/* ---- where pages go ---- */

typedef struct sink {
    char *bytes;
    size_t length;
    unsigned pieces;
    unsigned refuse_at; /* the piece to refuse; 0: none */
} sink;

static int sink_write(void *context, const void *bytes, size_t length)
{
    sink *into = context;
    assert_in_range(length, 1, CREST_PAGE_PIECE_BYTES);
    assert_true(into->refuse_at == 0 || into->pieces < into->refuse_at);
    if (++into->pieces == into->refuse_at)
        return -5;
    assert_in_range(into->length + length, 1, PAGE_BYTES_MAX);
    memcpy(into->bytes + into->length, bytes, length);
    into->length += length;
    return 0;
}

__attribute__((unused)) static int sink_setup(void **state)
{
    sink *into = calloc(1, sizeof *into);
    into->bytes = calloc(1, PAGE_BYTES_MAX + 1);
    *state = into;
    return 0;
}

__attribute__((unused)) static int sink_teardown(void **state)
{
    sink *into = *state;
    free(into->bytes);
    free(into);
    return 0;
}

__attribute__((unused)) static const char *page_in(sink *into, const crest_snapshot *snapshot,
                                                   crest_format format,
                                                   const crest_page_options *options)
{
    crest_error error;
    into->length = into->pieces = 0;
    assert_int_equal(
        crest_exposition_write(&fake, snapshot, format, options, sink_write, into, &error),
        CREST_OK);
    into->bytes[into->length] = '\0';
    assert_int_equal(strlen(into->bytes), into->length);
    return into->bytes;
}

__attribute__((unused)) static const char *page_of(sink *into, const crest_series_view *series,
                                                   size_t size, const crest_page_options *options)
{
    const crest_snapshot snapshot = {series, size, 0, 0, 0};
    return page_in(into, &snapshot, CREST_FORMAT_PROMETHEUS_TEXT, options);
}

#define SINK_TEST(function) cmocka_unit_test_setup_teardown(function, sink_setup, sink_teardown)

#endif
