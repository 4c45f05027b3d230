/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a metric asks of its native histograms: its page is, byte for byte, that of a metric that
 * asks for nothing on a page which is asked for the same; and what cannot be asked is refused.
 */
#include <crest/crest.h>
#include <crest/otlp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])
/* The time at which series began is on a page, in seconds. */
#define TRIES 20

typedef struct bytes {
    char text[16384];
    size_t length;
} bytes;

static int gather(void *context, const void *text, size_t length)
{
    bytes *into = context;
    assert_true(into->length + length <= sizeof into->text);
    memcpy(into->text + into->length, text, length);
    into->length += length;
    return 0;
}

static int gather_body(void *context, const crest_otlp_body *body)
{
    return gather(context, body->bytes, body->length);
}

static crest_snapshot *snapshot_of(crest_native_mode native, double factor)
{
    crest_registry *registry = crest_registry_new(NULL);
    const crest_metric_options options = {
        .name = "a.time", .description = "Time.", .native = native, .native_factor = factor};
    crest_status status;
    crest_timer *timer = crest_timer_get(registry, &options, &status);
    assert_int_equal(status, CREST_OK);
    for (int i = 1; i < 200; i++)
        crest_timer_record(timer, (uint64_t)i * 1234567, CREST_OUTCOME_OK);
    crest_snapshot *snapshot = crest_snapshot_take(registry);
    crest_registry_free(registry);
    return snapshot;
}

static void page_of(bytes *page, crest_native_mode native, double factor, int page_native,
                    double page_factor)
{
    crest_snapshot *snapshot = snapshot_of(native, factor);
    const crest_page_options options = {.native = page_native, .native_factor = page_factor};
    page->length = 0;
    assert_int_equal(crest_snapshot_write(snapshot, CREST_FORMAT_PROMETHEUS_PROTOBUF, &options,
                                          gather, page, NULL),
                     CREST_OK);
    crest_snapshot_free(snapshot);
}

static void test_a_metric_has_the_last_word(void **state)
{
    (void)state;
    const struct {
        crest_native_mode native;
        double factor;
        int page_native; /* of the page where the metric asks */
        int same_native; /* of the page where it does not */
        double same_factor;
    } cases[] = {
        {CREST_NATIVE_OFF, 0, CREST_PAGE_NATIVE_ON, CREST_PAGE_NATIVE_OFF, 0},
        {CREST_NATIVE_ON, 0, CREST_PAGE_NATIVE_ONLY, CREST_PAGE_NATIVE_ON, 0},
        {CREST_NATIVE_ONLY, 0, CREST_PAGE_NATIVE_OFF, CREST_PAGE_NATIVE_ONLY, 0},
        {CREST_NATIVE_ONLY, 2, CREST_PAGE_NATIVE_ON, CREST_PAGE_NATIVE_ONLY, 2},
        {CREST_NATIVE_DEFAULT, 4, CREST_PAGE_NATIVE_ON, CREST_PAGE_NATIVE_ON, 4},
        {CREST_NATIVE_DEFAULT, 4, CREST_PAGE_NATIVE_OFF, CREST_PAGE_NATIVE_OFF, 0},
    };
    static bytes asked, same, other;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        int equal = 0;
        for (int try = 0; try < TRIES && !equal; try++) {
            page_of(&asked, cases[i].native, cases[i].factor, cases[i].page_native, 0);
            page_of(&same, CREST_NATIVE_DEFAULT, 0, cases[i].same_native, cases[i].same_factor);
            equal = asked.length == same.length && memcmp(asked.text, same.text, same.length) == 0;
        }
        assert_true(equal);
        page_of(&other, CREST_NATIVE_DEFAULT, 0, cases[i].page_native, 0);
        assert_int_equal(other.length == asked.length, i == 5);
    }
}

/* Bodies of OTLP differ in start times, which have one length. */
static size_t otlp_of(crest_native_mode native, double factor, crest_otlp_histograms histograms,
                      double all_factor)
{
    static bytes body;
    crest_snapshot *snapshot = snapshot_of(native, factor);
    const crest_otlp_options options = {.histograms = histograms, .factor = all_factor};
    body.length = 0;
    assert_int_equal(crest_otlp_write(snapshot, &options, gather_body, &body, NULL), CREST_OK);
    crest_snapshot_free(snapshot);
    return body.length;
}

static void test_otlp_too(void **state)
{
    (void)state;
    size_t exponential = otlp_of(CREST_NATIVE_DEFAULT, 0, CREST_OTLP_EXPONENTIAL, 0);
    size_t explicit_bounds = otlp_of(CREST_NATIVE_DEFAULT, 0, CREST_OTLP_EXPLICIT, 0);
    assert_int_not_equal(exponential, explicit_bounds);
    assert_int_equal(otlp_of(CREST_NATIVE_OFF, 0, CREST_OTLP_EXPONENTIAL, 0), explicit_bounds);
    assert_int_equal(otlp_of(CREST_NATIVE_ONLY, 0, CREST_OTLP_EXPLICIT, 0), exponential);
    size_t coarse = otlp_of(CREST_NATIVE_DEFAULT, 0, CREST_OTLP_EXPONENTIAL, 4);
    assert_int_not_equal(exponential, coarse);
    assert_int_equal(otlp_of(CREST_NATIVE_DEFAULT, 4, CREST_OTLP_EXPONENTIAL, 0), coarse);
}

static void test_what_is_refused(void **state)
{
    (void)state;
    crest_registry *registry = crest_registry_new(NULL);
    const crest_metric_options wrong[] = {
        {.name = "a", .native = CREST_NATIVE_ONLY, .range = CREST_RANGE_NONE},
        {.name = "a", .native_factor = 1},
        {.name = "a", .native_factor = -2},
        {.name = "a", .native_factor = 65537},
        {.name = "a", .native = (crest_native_mode)4},
    };
    crest_status status;
    for (size_t i = 0; i < LENGTH(wrong); i++) {
        crest_histogram_get(registry, &wrong[i], &status);
        assert_int_equal(status, CREST_INVALID_ARGUMENT);
    }
    const crest_metric_options counter = {.name = "a", .native = CREST_NATIVE_ON};
    crest_counter_get(registry, &counter, &status);
    assert_int_equal(status, CREST_INVALID_ARGUMENT);
    crest_registry_free(registry);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_metric_has_the_last_word),
        cmocka_unit_test(test_otlp_too),
        cmocka_unit_test(test_what_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
