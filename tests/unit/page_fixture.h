/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Snapshots made by hand for the tests of encoders, and somewhere for their pages to go.
 */
#ifndef CREST_TEST_PAGE_FIXTURE_H
#define CREST_TEST_PAGE_FIXTURE_H

#include "prometheus_text.h"

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
    size_t unreadable; /* the index that cannot be read, plus 1; 0: none */
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

static crest_status fake_series(const crest_snapshot *snapshot, size_t index,
                                crest_series_view *view)
{
    assert_in_range(index, 0, snapshot->size - 1);
    if (index + 1 == snapshot->unreadable)
        return CREST_INVALID_ARGUMENT;
    *view = snapshot->series[index];
    return CREST_OK;
}

static uint64_t fake_count(const crest_distribution *distribution)
{
    uint64_t count = 0;
    for (size_t i = 0; i < distribution->size; i++)
        count += distribution->buckets[i].count;
    return count;
}

static uint64_t fake_sum(const crest_distribution *distribution)
{
    return distribution->sum;
}

static int fake_next(const crest_distribution *distribution, size_t *cursor, crest_bucket *bucket)
{
    if (*cursor >= distribution->size)
        return 0;
    *bucket = distribution->buckets[(*cursor)++];
    return 1;
}

static const crest_page_source fake = {fake_size, fake_series, fake_count, fake_sum, fake_next};

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

static int sink_setup(void **state)
{
    sink *into = calloc(1, sizeof *into);
    into->bytes = calloc(1, PAGE_BYTES_MAX + 1);
    *state = into;
    return 0;
}

static int sink_teardown(void **state)
{
    sink *into = *state;
    free(into->bytes);
    free(into);
    return 0;
}

__attribute__((unused)) static const char *page_of(sink *into, const crest_series_view *series,
                                                   size_t size, const crest_page_options *options)
{
    const crest_snapshot snapshot = {series, size, 0};
    crest_error error;
    into->length = into->pieces = 0;
    assert_int_equal(crest_prometheus_text_write(&fake, &snapshot, CREST_FORMAT_PROMETHEUS_TEXT,
                                                 options, sink_write, into, &error),
                     CREST_OK);
    into->bytes[into->length] = '\0';
    assert_int_equal(strlen(into->bytes), into->length);
    return into->bytes;
}

#define SINK_TEST(function) cmocka_unit_test_setup_teardown(function, sink_setup, sink_teardown)

#endif
