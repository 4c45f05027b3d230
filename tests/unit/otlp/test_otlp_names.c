/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names in OTLP: what Prometheus makes of them is the page's name.
 */
#include "otlp/otlp_names.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct wanted {
    const char *canonical;
    crest_kind kind;
    crest_unit unit;
    const char *qualifier, *name, *ucum;
} wanted;

#define COUNTER CREST_KIND_COUNTER
#define GAUGE CREST_KIND_GAUGE
#define TIMER CREST_KIND_TIMER

static const wanted names[] = {
    {"casper.seen-blocks", COUNTER, CREST_NONE, NULL, "casper.seen-blocks", ""},
    {"casper.add-block-time", TIMER, CREST_NONE, NULL, "casper.add-block-time", "s"},
    {"net.received-bytes", COUNTER, CREST_BYTES, NULL, "net.received-bytes", "By"},
    {"net.received", COUNTER, CREST_BYTES, NULL, "net.received", "By"},
    {"cpu.time.total", COUNTER, CREST_NANOSECONDS, NULL, "cpu.time.total", "s"},
    {"total", COUNTER, CREST_NONE, NULL, "total", ""},
    {"cache.hit", GAUGE, CREST_RATIO, NULL, "cache.hit", "1"},
    {"cache.hit-ratio", GAUGE, CREST_RATIO, NULL, "cache.hit-ratio", "1"},
    /* Prometheus gives a ratio's word to gauges only, and takes it out of the middle */
    {"cache.hit", CREST_KIND_HISTOGRAM, CREST_RATIO, NULL, "cache_hit_ratio", "1"},
    {"a.ratio.b", GAUGE, CREST_RATIO, NULL, "a_ratio_b_ratio", ""},
    /* a unit in the middle is a unit to it */
    {"a.seconds.b", GAUGE, CREST_MILLISECONDS, NULL, "a_seconds_b_seconds", "s"},
    {"a.bytes.b", COUNTER, CREST_BYTES, NULL, "a_bytes_b_bytes", "By"},
    /* windows */
    {"queue.depth", CREST_KIND_RANGE_SAMPLER, CREST_NONE, "min1m", "queue.depth.min1m", ""},
    {"net.received-bytes", COUNTER, CREST_BYTES, "rate1m", "net.received.rate1m", "By"},
    {"comm.ping", TIMER, CREST_NONE, "rate1m", "comm.ping.rate1m", ""},
    {"comm.ping", TIMER, CREST_NONE, "max15m", "comm.ping.max15m", "s"},
    {"comm.ping", TIMER, CREST_NONE, "p99_9_5m", "comm.ping.p99_9_5m", "s"},
    {"hit", GAUGE, CREST_RATIO, "max1m", "hit.max1m", "1"},
    /* no name gives these: it is the page's */
    {"a__b", GAUGE, CREST_NONE, NULL, "a__b", ""},
    {"a.total.b", COUNTER, CREST_NONE, NULL, "a_total_b", ""},
};

static void test_names(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        crest_otlp_name name;
        crest_otlp_name_of(&name, names[i].canonical, names[i].kind, names[i].unit,
                           names[i].qualifier);
        assert_string_equal(name.text, names[i].name);
        assert_int_equal(name.length, strlen(name.text));
        assert_string_equal(name.unit, names[i].ucum);
    }
}

static const char *translated(const char *name, const char *ucum, int counter, int gauge)
{
    static char text[64];
    size_t length = crest_otlp_translated(name, ucum, counter, gauge, text, sizeof text);
    assert_int_equal(length, strlen(text));
    return text;
}

static void test_translated(void **state)
{
    (void)state;
    assert_string_equal(translated("a.b-c", "", 0, 0), "a_b_c");
    assert_string_equal(translated("a..b__c_", "", 0, 0), "a_b_c");
    assert_string_equal(translated("x", "s", 0, 1), "x_seconds");
    assert_string_equal(translated("x.seconds", "s", 1, 0), "x_seconds_total");
    assert_string_equal(translated("x.total", "s", 1, 0), "x_seconds_total");
    assert_string_equal(translated("x.total.y", "By", 1, 0), "x_y_bytes_total");
    assert_string_equal(translated("x.total.y", "By", 0, 1), "x_total_y_bytes");
    assert_string_equal(translated("x.ratio.y", "1", 0, 1), "x_y_ratio");
    assert_string_equal(translated("x.ratio.y", "1", 0, 0), "x_ratio_y");
    assert_string_equal(translated("total", "", 1, 0), "total");
}

/* tests/golden/otlp_translated.txt has what Go's otlptranslator 1.0.0 makes of names, put together
 * of words that matter to it: name, unit ("-": none), kind (c, g, h), and the result. */
static void test_as_go_does(void **state)
{
    (void)state;
    char name[256], ucum[8], kind, result[256];
    unsigned lines = 0;
    FILE *file = fopen("tests/golden/otlp_translated.txt", "r");
    if (file == NULL)
        fail_msg("tests/golden cannot be read; run this in the root of the tree");
    while (fscanf(file, "%255s %7s %c %255s", name, ucum, &kind, result) == 4) {
        char text[256];
        crest_otlp_translated(name, strcmp(ucum, "-") == 0 ? "" : ucum, kind == 'c', kind == 'g',
                              text, sizeof text);
        assert_string_equal(text, result);
        lines++;
    }
    fclose(file);
    assert_in_range(lines, 400, 1000);
}

/* Cut to any size, the length stays that of the whole. */
static void test_cut(void **state)
{
    (void)state;
    char text[24];
    for (size_t size = 0; size <= sizeof text; size++) {
        memset(text, 'x', sizeof text);
        assert_int_equal(crest_otlp_translated("abc.def", "s", 1, 0, text, size), 21);
        if (size != 0)
            assert_string_equal(text + strlen(text), "");
        assert_int_equal(size != 0 ? strlen(text) : 0, size > 21 ? 21 : size != 0 ? size - 1 : 0);
    }
}

/* The longest name there is, with every qualifier, stays within its room. */
static void test_longest(void **state)
{
    (void)state;
    char canonical[CREST_NAME_BYTES_MAX + 1];
    memset(canonical, 'n', CREST_NAME_BYTES_MAX);
    canonical[CREST_NAME_BYTES_MAX] = '\0';
    for (int kind = CREST_KIND_COUNTER; kind <= CREST_KIND_RANGE_SAMPLER; kind++) {
        crest_otlp_name name;
        crest_otlp_name_of(&name, canonical, (crest_kind)kind, CREST_NANOSECONDS, "p99_999999_15m");
        assert_int_equal(name.length, CREST_NAME_BYTES_MAX + 15);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),      cmocka_unit_test(test_translated),
        cmocka_unit_test(test_as_go_does), cmocka_unit_test(test_cut),
        cmocka_unit_test(test_longest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
