/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The encoder of StatsD lines and its numbers: exact texts, exact counts, and what a partial report
 * leaves for the next one.
 */
#include "common/decimal.h"
#include "support/decimal_comma.h"
#include "support/random_numbers.h"
#include "support/statsd_fixture.h"

#include <math.h>
#include <stdio.h>

static const crest_statsd_form etsy = {.dialect = CREST_STATSD_ETSY,
                                       .prefix = "",
                                       .tags = "",
                                       .line_bytes_max = 1432,
                                       .samples = 1000};
static const crest_statsd_form datadog = {
    .dialect = CREST_STATSD_DATADOG, .prefix = "", .tags = "", .line_bytes_max = 1432};

/* ---- numbers ---- */

static void numbers_are_the_shortest_that_read_back(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *text;
    } cases[] = {{0, "0"},
                 {-0.0, "0"},
                 {1, "1"},
                 {-7.25, "-7.25"},
                 {0.1, "0.1"},
                 {1e6, "1000000"},
                 {1e15, "1e15"},
                 {123456789012345680.0, "123456789012345680"},
                 {1.5e300, "1.5e300"},
                 {-2.5e-300, "-2.5e-300"},
                 {0.000001, "0.000001"},
                 {1e-9, "1e-9"},
                 {5e-324, "5e-324"},
                 {1.7976931348623157e308, "1.7976931348623157e308"},
                 {0.30000000000000004, "0.30000000000000004"},
                 {1795311279.608, "1795311279.608"}};
    char text[CREST_DECIMAL_BYTES];
    for (size_t i = 0; i < LENGTH(cases); i++) {
        assert_int_equal(crest_decimal_shortest(text, cases[i].value), strlen(cases[i].text));
        assert_string_equal(text, cases[i].text);
        assert_true(strtod(text, NULL) == cases[i].value);
    }
    assert_int_equal(crest_decimal_shortest(text, NAN), 0);
    assert_int_equal(crest_decimal_shortest(text, INFINITY), 0);
    assert_int_equal(crest_decimal_shortest(text, -INFINITY), 0);
    assert_int_equal(crest_decimal_scaled(text, 1234567, 6), 8);
    assert_string_equal(text, "1.234567");
    crest_decimal_scaled(text, 1000000, 6);
    assert_string_equal(text, "1");
    crest_decimal_scaled(text, UINT64_MAX, 9);
    assert_string_equal(text, "18446744073.709551615");
    crest_decimal_scaled(text, 50, 9);
    assert_string_equal(text, "0.00000005");
}

/* "0.001" and no other: an exponent would be read as a rate of 1. */
static void rates_are_plain_and_exact(void **state)
{
    (void)state;
    char text[CREST_DECIMAL_BYTES];
    crest_decimal_rate(text, 1000);
    assert_string_equal(text, "0.001");
    crest_decimal_rate(text, 1);
    assert_string_equal(text, "1");
    assert_int_equal(crest_decimal_rate(text, 49), 0);
    assert_int_equal(crest_decimal_rate(text, 0), 0);
    assert_int_equal(crest_decimal_weight(49), 48);
    assert_int_equal(crest_decimal_weight(0), 0);
    for (uint64_t wanted = 1; wanted < UINT64_C(1) << 53; wanted += wanted / 97 + 1) {
        uint64_t weight = crest_decimal_weight(wanted);
        assert_true(weight <= wanted && wanted - weight <= wanted / 4);
        size_t length = crest_decimal_rate(text, weight);
        assert_true(length > 0 && length < CREST_DECIMAL_BYTES);
        assert_int_equal(strspn(text, "0123456789."), length);
        volatile double rate = strtod(text, NULL);
        volatile double back = 1 / rate;
        assert_true(back == (double)weight);
    }
    crest_decimal_rate(text, UINT64_C(1) << 53);
    assert_string_equal(text, "0.00000000000000011102230246251565");
}

static void no_locale_changes_a_number(void **state)
{
    (void)state;
    char text[CREST_DECIMAL_BYTES];
    decimal_comma();
    crest_decimal_shortest(text, 1.5);
    setlocale(LC_NUMERIC, "C");
    assert_string_equal(text, "1.5");
}

/* ---- lines ---- */

static char *one_counter(const crest_statsd_form *form, const crest_series_view *series,
                         uint64_t amount)
{
    gathered all = {NULL, 0, 0, 0, 0};
    crest_statsd_identity *identity = identity_new();
    crest_statsd_identify(form, series, identity);
    assert_int_equal(crest_statsd_put_counter(form, series, identity, amount, gather, &all), 0);
    assert_int_equal(all.done, amount);
    free(identity);
    return all.text;
}

static void check_counter(const crest_statsd_form *form, const crest_series_view *series,
                          uint64_t amount, const char *wanted)
{
    char *text = one_counter(form, series, amount);
    assert_string_equal(text, wanted);
    free(text);
}

static void counters_and_their_names(void **state)
{
    (void)state;
    static const char *const keys[] = {"kind", "peer"};
    const char *values[] = {"a|b:c@d#e,f", "10.0.0.7\n"};
    crest_series_view series = {.name = "comm.msg-sent", .kind = CREST_KIND_COUNTER};
    check_counter(&etsy, &series, 7, "comm.msg-sent:7|c\n");
    check_counter(&etsy, &series, 0, "comm.msg-sent:0|c\n");
    check_counter(&datadog, &series, 7, "comm.msg_sent:7|c\n");
    series.label_count = 2;
    series.label_keys = keys;
    series.label_values = values;
    check_counter(&etsy, &series, 1, "comm.msg-sent.kind.a_b_c_d_e_f.peer.10_0_0_7_:1|c\n");
    check_counter(&datadog, &series, 1, "comm.msg_sent:1|c|#kind:a_b:c_d_e_f,peer:10.0.0.7_\n");
    values[0] = "";
    values[1] = "caf\xc3\xa9 \xff";
    check_counter(&etsy, &series, 1, "comm.msg-sent.kind._.peer.caf___:1|c\n");
    check_counter(&datadog, &series, 1, "comm.msg_sent:1|c|#peer:caf\xc3\xa9__\n");
    /* of an open family that is a label which the series has not got */
    series.open = 1;
    check_counter(&etsy, &series, 1, "comm.msg-sent.peer.caf___:1|c\n");
    series.open = 0;
    crest_statsd_form form = datadog;
    form.prefix = "node-7.";
    form.tags = "env:prod,service:x";
    values[0] = "k";
    values[1] = "";
    check_counter(&form, &series, 1, "node_7.comm.msg_sent:1|c|#env:prod,service:x,kind:k\n");
    form.dialect = CREST_STATSD_ETSY;
    form.prefix = "node-7";
    series.label_count = 0;
    check_counter(&form, &series, 1, "node-7.comm.msg-sent:1|c\n");
    series.unit = CREST_NANOSECONDS;
    check_counter(&etsy, &series, 1500000000, "comm.msg-sent:1.5|c\n");
    series.unit = CREST_NONE;
    /* no double has more than 2^53 exactly */
    check_counter(&etsy, &series, (UINT64_C(1) << 54) + 1,
                  "comm.msg-sent:9007199254740992|c\ncomm.msg-sent:9007199254740992|c\n"
                  "comm.msg-sent:1|c\n");
}

/* What is not said waits for the next time: nothing is lost, and nothing said twice. */
static void whole_seconds_keep_what_is_left_over(void **state)
{
    (void)state;
    static const struct {
        crest_unit unit;
        uint64_t second;
    } units[] = {
        {CREST_NANOSECONDS, 1000000000}, {CREST_MICROSECONDS, 1000000}, {CREST_MILLISECONDS, 1000}};
    crest_statsd_form form = datadog;
    crest_series_view series = {.name = "t", .kind = CREST_KIND_COUNTER};
    form.whole_seconds = 1;
    for (size_t i = 0; i < LENGTH(units); i++) {
        uint64_t second = units[i].second;
        series.unit = units[i].unit;
        assert_int_equal(crest_statsd_amount(&form, &series, second - 1), 0);
        assert_int_equal(crest_statsd_amount(&form, &series, second * 7 / 2), 3 * second);
        assert_int_equal(crest_statsd_amount(&datadog, &series, second - 1), second - 1);
        check_counter(&form, &series, 3 * second, "t:3|c\n");
        /* a line of at most 2^53 is whole too */
        uint64_t step = CREST_STATSD_STEP_MAX / second;
        char wanted[100];
        snprintf(wanted, sizeof wanted, "t:%llu|c\nt:1|c\n", (unsigned long long)step);
        check_counter(&form, &series, (step + 1) * second, wanted);
    }
    series.unit = CREST_SECONDS;
    assert_int_equal(crest_statsd_amount(&form, &series, 3), 3);
    series.unit = CREST_BYTES;
    assert_int_equal(crest_statsd_amount(&form, &series, 1234567), 1234567);
    check_counter(&form, &series, 1234567, "t:1234567|c\n");
}

static void long_tags_are_cut_at_characters(void **state)
{
    (void)state;
    char tags[2048], value[1001];
    for (size_t i = 0; i < 1000; i += 2)
        memcpy(value + i, "\xc3\xa9", 2);
    value[1000] = '\0';
    size_t length = crest_statsd_tag(tags, 0, sizeof tags, "key", value);
    /* 200 characters, four of them one byte */
    assert_int_equal(length, 4 + 2 * 196);
    assert_int_equal(crest_statsd_tag(tags, length, sizeof tags, "key", NULL), length);
    assert_int_equal(crest_statsd_tag(tags, length, sizeof tags, "key", ""), length);
    assert_int_equal(crest_statsd_tag(tags, length, length + 3, "key", "v"), length);
    assert_int_equal(tags[length], '\0');
}

static void check_gauge(const crest_statsd_form *form, double value, const char *suffix,
                        const char *wanted)
{
    gathered all = {NULL, 0, 0, 0, 0};
    crest_series_view series = {.name = "a.b", .kind = CREST_KIND_GAUGE};
    crest_statsd_identity *identity = identity_new();
    crest_statsd_identify(form, &series, identity);
    assert_int_equal(crest_statsd_put_gauge(form, identity, suffix, value, gather, &all), 0);
    if (wanted == NULL) {
        assert_int_equal(all.lines, 0);
    } else {
        assert_int_equal(all.lines, 1);
        assert_string_equal(all.text, wanted);
    }
    free(all.text);
    free(identity);
}

static void gauges_below_zero_take_two_lines(void **state)
{
    (void)state;
    check_gauge(&etsy, 7, "", "a.b:7|g\n");
    check_gauge(&etsy, -7, ".avg1m", "a.b.avg1m:0|g\na.b.avg1m:-7|g\n");
    check_gauge(&datadog, -7, "", "a.b:0|g\na.b:-7|g\n");
    crest_statsd_form form = datadog;
    form.tags = "env:prod";
    check_gauge(&form, -0.5, ".avg1m", "a.b.avg1m:0|g|#env:prod\na.b.avg1m:-0.5|g|#env:prod\n");
    check_gauge(&etsy, -0.0, "", "a.b:0|g\n");
    check_gauge(&etsy, NAN, "", NULL);
    check_gauge(&etsy, -INFINITY, "", NULL);
}

/* ---- distributions ---- */

static gathered put(const crest_statsd_form *form, crest_unit unit, const crest_distribution *grown,
                    unsigned stop_at)
{
    gathered all = {NULL, 0, 0, stop_at, 0};
    crest_series_view series = {.name = "h", .kind = CREST_KIND_HISTOGRAM, .unit = unit};
    crest_statsd_identity *identity = identity_new();
    crest_statsd_identify(form, &series, identity);
    int stopped = crest_statsd_put_distribution(form, &series, identity, grown, gather, &all);
    assert_int_equal(stopped, all.lines + 1 == stop_at ? 7 : 0);
    free(identity);
    return all;
}

static void check_lines(const crest_statsd_form *form, crest_unit unit,
                        const crest_distribution *grown, const char *wanted)
{
    gathered all = put(form, unit, grown, 0);
    assert_string_equal(all.text != NULL ? all.text : "", wanted);
    free(all.text);
}

static void few_records_are_lines_of_their_own(void **state)
{
    (void)state;
    crest_distribution *grown = crest_distribution_new(NULL);
    check_lines(&etsy, CREST_NONE, grown, "");
    check_lines(&datadog, CREST_NONE, grown, "");
    crest_distribution_record(grown, 1234567, 1);
    check_lines(&etsy, CREST_NANOSECONDS, grown, "h:1.234567|ms\n");
    check_lines(&etsy, CREST_MICROSECONDS, grown, "h:1234.567|ms\n");
    check_lines(&etsy, CREST_MILLISECONDS, grown, "h:1234567|ms\n");
    check_lines(&etsy, CREST_SECONDS, grown, "h:1234567000|ms\n");
    check_lines(&etsy, CREST_BYTES, grown, "h:1234567|ms\n");
    check_lines(&datadog, CREST_NANOSECONDS, grown, "h:0.001234567|d\n");
    crest_statsd_form form = datadog;
    form.host_histograms = 1;
    check_lines(&form, CREST_BYTES, grown, "h:1234567|h\n");
    crest_distribution_record(grown, 5, 2);
    crest_distribution_record(grown, 20, 1);
    check_lines(&etsy, CREST_NONE, grown, "h:5|ms\nh:5|ms\nh:20|ms\nh:1234567|ms\n");
    check_lines(&datadog, CREST_NONE, grown, "h:5|d|@0.5\nh:20:1234567|d\n");
    form.line_bytes_max = 12;
    check_lines(&form, CREST_NONE, grown, "h:5|h|@0.5\nh:20|h\nh:1234567|h\n");
    form = datadog;
    form.unpacked = 1;
    check_lines(&form, CREST_NONE, grown, "h:5|d|@0.5\nh:20|d\nh:1234567|d\n");
    form.no_rates = 1;
    check_lines(&form, CREST_NONE, grown, "h:5|d\nh:5|d\nh:20|d\nh:1234567|d\n");
    crest_distribution_free(grown);
}

static void a_server_counts_exactly(void **state)
{
    (void)state;
    uint64_t random = 1;
    for (unsigned round = 0; round < 60; round++) {
        crest_distribution *grown = crest_distribution_new(round % 3 ? NULL : CREST_RANGE_LOOSE);
        uint64_t count = 0;
        for (unsigned i = 0; i < 40; i++) {
            uint64_t times = random_next(&random) % (1u << (round % 24)) + 1;
            uint32_t value = (uint32_t)random_next(&random);
            crest_distribution_record(grown, value >> (i % 28), times);
            count += times;
        }
        crest_statsd_form form = etsy;
        form.samples = 1 + round * 17;
        gathered lines = put(&form, CREST_NANOSECONDS, grown, 0);
        assert_true(said_records(&lines) == (double)count);
        assert_int_equal(lines.done, count);
        /* not many more than were asked for: those that make up for weights without a rate */
        assert_true(lines.lines <= form.samples + 3 + form.samples / 16);
        gathered packed = put(&datadog, CREST_NANOSECONDS, grown, 0);
        assert_true(said_records(&packed) == (double)count);
        assert_int_equal(packed.done, count);
        free(lines.text);
        free(packed.text);
        crest_distribution_free(grown);
    }
}

/* Whatever line a report stops before, what it has said and what is left are the whole. */
static void check_every_stop(const crest_statsd_form *form)
{
    crest_distribution *all = crest_distribution_new(NULL);
    for (int64_t value = 1; value < 400000; value = value * 5 / 4 + 3)
        crest_distribution_record(all, value, (uint64_t)(value % 37 + 1));
    gathered whole = put(form, CREST_NONE, all, 0);
    for (unsigned stop = 1; stop <= whole.lines; stop++) {
        gathered part = put(form, CREST_NONE, all, stop);
        crest_distribution *sent = crest_distribution_new(NULL);
        crest_distribution *left = crest_distribution_copy(all);
        assert_int_equal(crest_statsd_said(form, all, part.done, sent), CREST_OK);
        assert_int_equal(crest_distribution_count(sent), part.done);
        assert_int_equal(crest_distribution_subtract(left, sent), CREST_OK);
        gathered rest = put(form, CREST_NONE, left, 0);
        double said = (part.text != NULL ? said_records(&part) : 0) + said_records(&rest);
        assert_true(said == (double)crest_distribution_count(all));
        free(part.text);
        free(rest.text);
        crest_distribution_free(sent);
        crest_distribution_free(left);
    }
    free(whole.text);
    crest_distribution_free(all);
}

static void a_report_may_stop_anywhere(void **state)
{
    (void)state;
    crest_statsd_form form = etsy;
    form.samples = 60;
    check_every_stop(&form);
    form = datadog;
    form.line_bytes_max = 64;
    check_every_stop(&form);
    form.unpacked = 1;
    check_every_stop(&form);
}

/* The server that keeps one value a line finds quantiles within a bucket and 1/samples of the
 * ranks; extremes are exact. */
static void quantiles_of_lines_are_those_of_records(void **state)
{
    (void)state;
    crest_distribution *all = crest_distribution_new(NULL);
    for (int64_t i = 1; i <= 100003; i++)
        crest_distribution_record(all, i * i, 1);
    gathered lines = put(&etsy, CREST_NONE, all, 0);
    double *values = calloc(lines.lines, sizeof *values);
    unsigned count = 0;
    for (const char *at = lines.text; *at != '\0'; at = strchr(at, '\n') + 1)
        values[count++] = strtod(at + 2, NULL);
    for (unsigned i = 1; i < count; i++)
        assert_true(values[i - 1] <= values[i]);
    assert_true(values[0] == 1);
    assert_true(values[count - 1] == 100003.0 * 100003.0);
    for (unsigned percent = 1; percent < 100; percent++) {
        double found = values[(unsigned)(percent / 100.0 * count + 0.5) - 1];
        double low = (percent / 100.0 - 0.0015) * 100003,
               high = (percent / 100.0 + 0.0015) * 100003;
        assert_true(found >= low * low * 0.99 && found <= high * high * 1.01);
    }
    free(values);
    free(lines.text);
    crest_distribution_free(all);
}

static void one_bucket_gives_its_mean(void **state)
{
    (void)state;
    crest_distribution *none = crest_distribution_new(CREST_RANGE_NONE);
    crest_distribution_record(none, 10, 1);
    crest_distribution_record(none, 20, 2);
    crest_distribution_record(none, 50, 1);
    check_lines(&etsy, CREST_NONE, none, "h:10|ms\nh:25|ms\nh:25|ms\nh:50|ms\n");
    check_lines(&datadog, CREST_NONE, none, "h:50|d|@0.25\n");
    crest_distribution_free(none);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_the_shortest_that_read_back),
        cmocka_unit_test(rates_are_plain_and_exact),
        cmocka_unit_test(no_locale_changes_a_number),
        cmocka_unit_test(counters_and_their_names),
        cmocka_unit_test(whole_seconds_keep_what_is_left_over),
        cmocka_unit_test(long_tags_are_cut_at_characters),
        cmocka_unit_test(gauges_below_zero_take_two_lines),
        cmocka_unit_test(few_records_are_lines_of_their_own),
        cmocka_unit_test(a_server_counts_exactly),
        cmocka_unit_test(a_report_may_stop_anywhere),
        cmocka_unit_test(quantiles_of_lines_are_those_of_records),
        cmocka_unit_test(one_bucket_gives_its_mean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
