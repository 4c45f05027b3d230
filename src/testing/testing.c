/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values by name and labels, marks, and the messages for a test that asks for a missing value. See
 * <crest/testing.h>. Reads through the public snapshots only; the clock and ticks are in
 * testing_time.c.
 */
#include <crest/testing.h>

#include "base/alloc.h"
#include "base/number.h"

#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Bytes of a series' text in a message. */
#define TESTING_SERIES_BYTES 200
/* Bytes of a list of near names. */
#define TESTING_LIST_BYTES 512
/* Least bytes of a name that is looked for inside a longer one. */
#define TESTING_PART_BYTES 4

struct crest_testing_mark {
    crest_registry *registry;
    crest_snapshot *snapshot;
};

/* What a test asks for: a name and labels. */
typedef struct testing_wanted {
    const char *name;
    unsigned count;
    const char *keys[CREST_TESTING_LABELS_MAX];
    const char *values[CREST_TESTING_LABELS_MAX];
} testing_wanted;

/* The series found: in the snapshot of now, and in that of the mark, which may lack it. */
typedef struct testing_found {
    crest_snapshot *snapshot;
    crest_series_view now;
    crest_series_view then;
} testing_found;

/* ---- texts ---- */

typedef struct testing_text {
    char *bytes;
    size_t size, used;
} testing_text;

__attribute__((format(printf, 2, 3))) static void testing_put(testing_text *text,
                                                              const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text->bytes + text->used, text->size - text->used, format, arguments);
    va_end(arguments);
    if (length > 0)
        text->used +=
            (size_t)length < text->size - text->used ? (size_t)length : text->size - text->used - 1;
}

static void testing_put_series(testing_text *text, const char *name, const char *const *keys,
                               const char *const *values, unsigned count)
{
    testing_put(text, "%s", name);
    for (unsigned i = 0; i < count; i++)
        testing_put(text, "%s%s=\"%s\"", i == 0 ? "{" : ",", keys[i], values[i]);
    if (count > 0)
        testing_put(text, "}");
}

static int testing_letter(char letter)
{
    return letter >= 'A' && letter <= 'Z' ? letter - 'A' + 'a' : letter;
}

/* Edit distance of two names: letters to change, add or leave out. Case does not matter. */
static unsigned testing_distance(const char *a, const char *b)
{
    unsigned row[CREST_NAME_BYTES_MAX + 1];
    size_t width = strlen(b);
    if (width > CREST_NAME_BYTES_MAX)
        return CREST_NAME_BYTES_MAX;
    for (size_t i = 0; i <= width; i++)
        row[i] = (unsigned)i;
    for (size_t line = 1; a[line - 1] != '\0'; line++) {
        unsigned corner = row[0];
        row[0] = (unsigned)line;
        for (size_t i = 1; i <= width; i++) {
            unsigned changed = corner + (testing_letter(a[line - 1]) != testing_letter(b[i - 1]));
            corner = row[i];
            unsigned least = row[i] < row[i - 1] ? row[i] + 1 : row[i - 1] + 1;
            row[i] = changed < least ? changed : least;
        }
    }
    return row[width];
}

/* Whether one of the names is part of the other, and long enough to mean something. */
static int testing_holds(const char *a, const char *b)
{
    const char *longer = strlen(a) > strlen(b) ? a : b, *shorter = longer == a ? b : a;
    return strlen(shorter) >= TESTING_PART_BYTES && strstr(longer, shorter) != NULL;
}

/* ---- looking ---- */

static crest_status testing_wanted_init(testing_wanted *wanted, const char *name, va_list labels,
                                        crest_error *error)
{
    memset(wanted, 0, sizeof *wanted);
    wanted->name = name;
    if (name == NULL)
        return crest_error_set(error, CREST_INVALID_ARGUMENT, "a metric's name is missing");
    for (;;) {
        const char *key = va_arg(labels, const char *);
        if (key == NULL)
            return CREST_OK;
        const char *value = va_arg(labels, const char *);
        if (value == NULL)
            return crest_error_set(error, CREST_INVALID_ARGUMENT,
                                   "%s: the label %s was given no value", name, key);
        if (wanted->count == CREST_TESTING_LABELS_MAX)
            return crest_error_set(error, CREST_INVALID_ARGUMENT, "%s: more than %u labels", name,
                                   CREST_TESTING_LABELS_MAX);
        wanted->keys[wanted->count] = key;
        wanted->values[wanted->count++] = value;
    }
}

/* Whether the series has the name and all the wanted labels. */
static int testing_matches(const crest_series_view *series, const testing_wanted *wanted)
{
    if (strcmp(series->name, wanted->name) != 0)
        return 0;
    unsigned same = 0;
    for (unsigned i = 0; i < wanted->count; i++)
        for (unsigned j = 0; j < series->label_count; j++)
            same += strcmp(series->label_keys[j], wanted->keys[i]) == 0 &&
                    strcmp(series->label_values[j], wanted->values[i]) == 0;
    return same == wanted->count;
}

/* How many series match, with the first of them in *view and the first few in the list. */
static size_t testing_count(const crest_snapshot *snapshot, const testing_wanted *wanted,
                            crest_series_view *view, testing_text *list)
{
    size_t matching = 0;
    for (size_t i = 0; i < crest_snapshot_size(snapshot); i++) {
        crest_series_view series;
        crest_snapshot_series(snapshot, i, &series);
        if (!testing_matches(&series, wanted))
            continue;
        if (matching == 0 && view != NULL)
            *view = series;
        if (matching < CREST_TESTING_NEAR_MAX) {
            testing_put(list, "%s", matching ? ", " : "");
            testing_put_series(list, series.name, series.label_keys, series.label_values,
                               series.label_count);
        } else if (matching == CREST_TESTING_NEAR_MAX) {
            testing_put(list, ", ...");
        }
        matching++;
    }
    return matching;
}

/* Lists metrics whose names are close to this one or hold it, the closest first. */
static void testing_near(const crest_snapshot *snapshot, const char *name, testing_text *list)
{
    const size_t length = strnlen(name, CREST_NAME_BYTES_MAX + 1);
    if (length > CREST_NAME_BYTES_MAX)
        return; /* no metric's name comes close, and to compare them would take for ever */
    const unsigned enough = 2 + (unsigned)length / 5;
    unsigned shown = 0;
    for (unsigned distance = 0; distance <= enough + 1; distance++) {
        const char *before = NULL;
        for (size_t i = 0; i < crest_snapshot_size(snapshot); i++) {
            crest_series_view series;
            crest_snapshot_series(snapshot, i, &series);
            /* the series of a metric are adjacent */
            if (before != NULL && strcmp(before, series.name) == 0)
                continue;
            before = series.name;
            unsigned far = testing_distance(name, series.name);
            if (far > enough)
                far = testing_holds(name, series.name) ? enough + 1 : UINT_MAX;
            if (far == distance && shown < CREST_TESTING_NEAR_MAX)
                testing_put(list, "%s%s", shown++ ? ", " : "", series.name);
        }
    }
}

static crest_status testing_absent(const crest_snapshot *snapshot, const testing_wanted *wanted,
                                   crest_error *error)
{
    char list_bytes[TESTING_LIST_BYTES] = "", series_bytes[TESTING_SERIES_BYTES] = "";
    testing_text list = {list_bytes, sizeof list_bytes, 0};
    testing_text series = {series_bytes, sizeof series_bytes, 0};
    testing_put_series(&series, wanted->name, wanted->keys, wanted->values, wanted->count);
    testing_wanted any = {.name = wanted->name};
    if (testing_count(snapshot, &any, NULL, &list) > 0)
        return crest_error_set(error, CREST_NOT_FOUND, "there is no %s; there are: %s",
                               series_bytes, list_bytes);
    testing_near(snapshot, wanted->name, &list);
    if (list.used == 0)
        return crest_error_set(error, CREST_NOT_FOUND,
                               "there is no metric %s, nor one with a name like it (%zu series)",
                               wanted->name, crest_snapshot_size(snapshot));
    return crest_error_set(error, CREST_NOT_FOUND, "there is no metric %s; close to it: %s",
                           wanted->name, list_bytes);
}

/* Finds the one series that matches; the caller frees the snapshot, on failure too. */
static crest_status testing_find(crest_registry *registry, const crest_testing_mark *since,
                                 const testing_wanted *wanted, testing_found *found,
                                 crest_error *error)
{
    char list_bytes[TESTING_LIST_BYTES] = "";
    testing_text list = {list_bytes, sizeof list_bytes, 0};
    memset(found, 0, sizeof *found);
    found->snapshot = crest_snapshot_take(since != NULL ? since->registry : registry);
    if (found->snapshot == NULL)
        return crest_error_set(error, CREST_NO_MEMORY, "there is no memory for a snapshot");
    size_t matching = testing_count(found->snapshot, wanted, &found->now, &list);
    if (matching == 0)
        return testing_absent(found->snapshot, wanted, error);
    if (matching > 1)
        return crest_error_set(error, CREST_MISMATCH, "%s may be one of %zu series: %s",
                               wanted->name, matching, list_bytes);
    if (since != NULL)
        crest_snapshot_find(since->snapshot, found->now.name, found->now.label_values,
                            found->now.label_count, &found->then);
    return CREST_OK;
}

/* What was recorded since the mark; the caller frees it. NULL for kinds without distribution. A
 * series that lacks counts of the mark is a new series of the same name, and is left whole. */
static crest_status testing_grown(const testing_found *found, crest_distribution **grown,
                                  crest_error *error)
{
    *grown = crest_distribution_copy(found->now.distribution);
    if (*grown == NULL && found->now.distribution != NULL)
        return crest_error_set(error, CREST_NO_MEMORY, "there is no memory for a distribution");
    if (*grown != NULL)
        (void)crest_distribution_subtract(*grown, found->then.distribution);
    return CREST_OK;
}

static void testing_fill(const testing_found *found, const crest_distribution *grown,
                         crest_testing_reading *reading)
{
    const crest_series_view *now = &found->now;
    uint64_t then = found->then.counter;
    reading->kind = now->kind;
    /* less than before: a new series of the same name */
    reading->counter = now->counter >= then ? now->counter - then : now->counter;
    reading->gauge = now->gauge;
    reading->current = now->current;
    reading->count = crest_distribution_count(grown);
    reading->sum = crest_distribution_sum(grown);
    reading->minimum = crest_distribution_min(grown);
    reading->maximum = crest_distribution_max(grown);
    reading->window = now->window;
}

/* ---- the public functions ---- */

crest_testing_mark *crest_testing_mark_take(crest_registry *registry)
{
    crest_testing_mark *mark = crest_alloc(1, sizeof *mark);
    if (mark == NULL)
        return NULL;
    mark->registry = registry;
    mark->snapshot = crest_snapshot_take(registry);
    if (mark->snapshot != NULL)
        return mark;
    crest_alloc_free(mark);
    return NULL;
}

void crest_testing_mark_free(crest_testing_mark *mark)
{
    if (mark != NULL)
        crest_snapshot_free(mark->snapshot);
    crest_alloc_free(mark);
}

static crest_status testing_read(crest_registry *registry, const crest_testing_mark *since,
                                 crest_testing_reading *reading, crest_error *error,
                                 const testing_wanted *wanted)
{
    testing_found found;
    crest_distribution *grown = NULL;
    crest_status status = testing_find(registry, since, wanted, &found, error);
    if (status == CREST_OK)
        status = testing_grown(&found, &grown, error);
    if (status == CREST_OK)
        testing_fill(&found, grown, reading);
    crest_distribution_free(grown);
    crest_snapshot_free(found.snapshot);
    return status;
}

crest_status crest_testing_read(crest_registry *registry, const crest_testing_mark *since,
                                crest_testing_reading *reading, crest_error *error,
                                const char *name, ...)
{
    testing_wanted wanted;
    memset(reading, 0, sizeof *reading);
    va_list labels;
    va_start(labels, name);
    crest_status status = testing_wanted_init(&wanted, name, labels, error);
    va_end(labels);
    return status == CREST_OK ? testing_read(registry, since, reading, error, &wanted) : status;
}

crest_status crest_testing_quantile(crest_registry *registry, const crest_testing_mark *since,
                                    double q, uint64_t *value, crest_error *error, const char *name,
                                    ...)
{
    testing_wanted wanted;
    testing_found found;
    crest_distribution *grown = NULL;
    *value = 0;
    va_list labels;
    va_start(labels, name);
    crest_status status = testing_wanted_init(&wanted, name, labels, error);
    va_end(labels);
    if (status != CREST_OK)
        return status;
    if (!(q >= 0 && q <= 1))
        return crest_error_set(error, CREST_INVALID_ARGUMENT, "%s: a quantile lies between 0 and 1",
                               name);
    status = testing_find(registry, since, &wanted, &found, error);
    if (status == CREST_OK && found.now.distribution == NULL)
        status = crest_error_set(error, CREST_TYPE_CLASH, "%s has no distribution", name);
    if (status == CREST_OK)
        status = testing_grown(&found, &grown, error);
    if (status == CREST_OK)
        *value = crest_distribution_quantile(grown, q);
    crest_distribution_free(grown);
    crest_snapshot_free(found.snapshot);
    return status;
}

crest_status crest_testing_grew(const crest_testing_mark *since, uint64_t by, crest_error *error,
                                const char *name, ...)
{
    testing_wanted wanted;
    crest_testing_reading reading;
    va_list labels;
    va_start(labels, name);
    crest_status status = testing_wanted_init(&wanted, name, labels, error);
    va_end(labels);
    if (status == CREST_OK && since == NULL)
        status = crest_error_set(error, CREST_INVALID_ARGUMENT, "%s: growth since no mark", name);
    if (status == CREST_OK)
        status = testing_read(NULL, since, &reading, error, &wanted);
    if (status != CREST_OK)
        return status;
    if (reading.kind != CREST_KIND_COUNTER && reading.kind != CREST_KIND_HISTOGRAM &&
        reading.kind != CREST_KIND_TIMER)
        return crest_error_set(error, CREST_TYPE_CLASH,
                               "%s is no counter, histogram or timer, which alone grow", name);
    uint64_t grown = reading.counter + reading.count;
    if (grown == by)
        return CREST_OK;
    char bytes[TESTING_SERIES_BYTES] = "";
    testing_text series = {bytes, sizeof bytes, 0};
    testing_put_series(&series, wanted.name, wanted.keys, wanted.values, wanted.count);
    return crest_error_set(error, CREST_MISMATCH, "%s grew by %" PRIu64 ", not by %" PRIu64, bytes,
                           grown, by);
}
