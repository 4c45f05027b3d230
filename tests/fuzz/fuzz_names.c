/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names, prefixes, sources and descriptions: any text is either refused, for the reason that the
 * rules of names give, or a metric that can be found, recorded into and read on a page.
 *
 * Input: one byte of choices, then prefix, name, another name and a description, each up to a NUL.
 */
#include "fuzz_page.h"
#include "names/lookalike_names.h"
#include "names/names.h"

#include <crest/by_name.h>
#include <crest/registry.h>
#include <crest/snapshot.h>

/* The rules of <crest/metric.h> in other words than src/names/names.c has for them. */
static int valid_name(const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    static const char words[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    size_t length = strlen(name);
    if (length == 0 || length > CREST_NAME_BYTES_MAX || strspn(name, letters) == 0)
        return 0;
    for (const char *at = name;;) {
        size_t word = strspn(at, words);
        if (word == 0)
            return 0;
        at += word;
        if (*at == '\0')
            return 1;
        if (*at != '.' && *at != '-')
            return 0;
        at++;
    }
}

/* Reserved names are valid by the grammar; of these only what was said about them is checked. */
static crest_status check_name(const char *name)
{
    char why[CREST_NAMES_WHY_BYTES];
    crest_status status = crest_name_check(name, why, sizeof why);
    FUZZ_WANTS(status == CREST_OK || status == CREST_INVALID_NAME);
    FUZZ_WANTS(status != CREST_OK || valid_name(name));
    FUZZ_WANTS((status == CREST_OK) == (why[0] == '\0'));
    if (status != CREST_OK && valid_name(name))
        FUZZ_WANTS(strstr(why, "is exported by Prometheus") != NULL);
    return status;
}

static void check_exported(const char *name, crest_kind kind, crest_unit unit)
{
    char names[CREST_EXPORTED_CLAIMS_MAX][CREST_EXPORTED_BYTES_MAX];
    unsigned count = crest_exported_claims(name, kind, unit, names, CREST_EXPORTED_CLAIMS_MAX);
    FUZZ_WANTS(count != 0 && count <= CREST_EXPORTED_CLAIMS_MAX);
    for (unsigned i = 0; i < count; i++) {
        FUZZ_WANTS(strlen(names[i]) < CREST_EXPORTED_BYTES_MAX - 1);
        for (const char *at = names[i]; *at != '\0'; at++)
            FUZZ_WANTS(fuzz_page_name_byte(*at, at == names[i]));
    }
    for (size_t size = 1; size < CREST_EXPORTED_BYTES_MAX; size += 17) {
        char cut[CREST_EXPORTED_BYTES_MAX], whole[CREST_EXPORTED_BYTES_MAX];
        size_t length = crest_exported_name(name, kind, unit, "rate1m", whole, sizeof whole);
        FUZZ_WANTS(length == strlen(whole));
        FUZZ_WANTS(crest_exported_name(name, kind, unit, "rate1m", cut, size) == length);
        FUZZ_WANTS(strlen(cut) == (length < size ? length : size - 1));
        FUZZ_WANTS(memcmp(cut, whole, strlen(cut)) == 0);
    }
}

static void count_samples(const fuzz_page_sample *sample, void *context)
{
    (void)sample;
    ++*(unsigned *)context;
}

/* Registers a metric of this kind; whether its handle records. */
static int get(crest_registry *registry, crest_kind kind, const crest_metric_options *options,
               crest_status *status)
{
    switch (kind) {
    case CREST_KIND_GAUGE: {
        crest_gauge *gauge = crest_gauge_get(registry, options, status);
        crest_gauge_set(gauge, -1.5);
        return gauge->handle.slot != 0;
    }
    case CREST_KIND_HISTOGRAM: {
        crest_histogram *histogram = crest_histogram_get(registry, options, status);
        crest_histogram_record(histogram, 70);
        return histogram->handle.slot != 0;
    }
    case CREST_KIND_TIMER: {
        crest_timer *timer = crest_timer_get(registry, options, status);
        crest_timing timing = crest_timer_start(timer, crest_op_u64(1));
        FUZZ_WANTS(crest_timing_stop(&timing, crest_op_u64(1)) == *status);
        return timer->handle.slot != 0;
    }
    default: {
        crest_counter *counter = crest_counter_get(registry, options, status);
        uint64_t before = crest_counter_value(counter);
        crest_counter_inc(counter);
        FUZZ_WANTS(crest_counter_value(counter) == before + (counter->handle.slot != 0));
        return counter->handle.slot != 0;
    }
    }
}

typedef struct named {
    const char *prefix, *name, *other, *description;
    crest_kind kind;
    crest_unit unit;
    int strict;
} named;

/* Prefix, dot and name, allocated. */
static char *compose(const char *prefix, const char *name)
{
    char *whole = malloc(strlen(prefix) + strlen(name) + 2);
    FUZZ_WANTS(whole != NULL);
    sprintf(whole, "%s%s%s", prefix, prefix[0] != '\0' ? "." : "", name);
    return whole;
}

static void check_second(const named *input, crest_registry *registry, const char *first,
                         const char *second)
{
    crest_metric_options options = {.name = input->other};
    crest_status expected = check_name(second), status;
    int records = get(registry, CREST_KIND_COUNTER, &options, &status);
    FUZZ_WANTS(records == (status == CREST_OK));
    if (expected != CREST_OK) {
        FUZZ_WANTS(status == expected);
    } else if (strcmp(first, second) == 0) {
        FUZZ_WANTS(status == (input->kind == CREST_KIND_COUNTER ? CREST_OK : CREST_TYPE_CLASH));
    } else {
        int split = crest_split_same(first, second);
        FUZZ_WANTS(split == crest_split_same(second, first));
        FUZZ_WANTS(!split || crest_split_hash(first) == crest_split_hash(second));
        FUZZ_WANTS(status == CREST_OK || status == CREST_NAME_CLASH || status == CREST_SPLIT_NAME);
        FUZZ_WANTS((status == CREST_SPLIT_NAME) <= (split && input->strict));
        FUZZ_WANTS(!(split && input->strict) || status != CREST_OK);
    }
}

static void check_registry(const named *input)
{
    crest_registry_options options = {.prefix = input->prefix, .strict = input->strict};
    crest_registry *registry = crest_registry_new(&options);
    FUZZ_WANTS(registry != NULL);
    char *first = compose(input->prefix, input->name),
         *second = compose(input->prefix, input->other);
    crest_metric_options metric = {
        .name = input->name, .description = input->description, .unit = input->unit};
    crest_status expected = check_name(first), status;
    if (expected == CREST_OK && strlen(input->description) > CREST_DESCRIPTION_BYTES_MAX)
        expected = CREST_INVALID_ARGUMENT;
    int records = get(registry, input->kind, &metric, &status);
    /* by what it exports a metric may still be one that others make up */
    FUZZ_WANTS(status == expected || (expected == CREST_OK && status == CREST_NAME_CLASH));
    FUZZ_WANTS(records == (status == CREST_OK));
    if (status == CREST_OK) {
        check_exported(first, input->kind, input->unit);
        check_second(input, registry, first, second);
        crest_snapshot *snapshot = crest_snapshot_take(registry);
        crest_series_view view;
        const char *ok = "ok";
        FUZZ_WANTS(crest_snapshot_find(snapshot, first, &ok, input->kind == CREST_KIND_TIMER,
                                       &view) == CREST_OK);
        crest_snapshot_free(snapshot);
        unsigned samples = 0;
        fuzz_page_check(registry, count_samples, &samples);
        FUZZ_WANTS(samples != 0);
    }
    free(first);
    free(second);
    crest_registry_free(registry);
}

/* By name: the same handle as by the whole name, or none. */
static void check_by_name(const char *source, const char *name)
{
    char *whole = compose(source, name);
    crest_counter *under = crest_counter_by_name_in(crest_source_get(source), name);
    crest_counter *plain = crest_counter_by_name_in(NULL, whole);
    if (under->handle.slot != 0) {
        FUZZ_WANTS(under == plain && check_name(whole) == CREST_OK);
        FUZZ_WANTS(crest_counter_by_name_in(crest_source_get(source), name) == under);
        uint64_t before = crest_counter_value(plain);
        crest_increment_counter_in(crest_source_get(source), name);
        FUZZ_WANTS(crest_counter_value(plain) == before + 1);
    }
    free(whole);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static unsigned registries;
    fuzz_input input = {data, data + size};
    uint8_t choice = fuzz_byte(&input);
    char *texts[4];
    for (size_t i = 0; i < 4; i++)
        texts[i] = fuzz_text(&input);
    named named_input = {.prefix = texts[0],
                         .name = texts[1],
                         .other = texts[2],
                         .description = texts[3],
                         .kind = (crest_kind)(CREST_KIND_COUNTER + (choice & 3)),
                         .unit = (crest_unit)((choice >> 2 & 7) % (CREST_RATIO + 1)),
                         .strict = choice >> 5 & 1};
    check_name(texts[1]);
    if (registries++ < FUZZ_REGISTRIES_MAX)
        check_registry(&named_input);
    check_by_name(texts[0], texts[2]);
    for (size_t i = 0; i < 4; i++)
        free(texts[i]);
    return 0;
}
