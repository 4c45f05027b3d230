/* SPDX-License-Identifier: Apache-2.0 */
/*
 * number.h: by table, by properties over random bit patterns, and once more in locales whose
 * decimal point is none. Those are made here, as files, so that no locale has to be installed.
 */
#include "base/number.h"
#include "support/random_numbers.h"

#include <float.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])
#define ROUND_TRIPS 300000
#define SHORTEST_TRIALS 30000

typedef size_t print_fn(char *text, double value);

/* What the function wrote, after checking what every number function promises. */
static const char *printed(print_fn *print, double value)
{
    static char text[CREST_NUMBER_BYTES_MAX + 1];
    memset(text, '#', sizeof text);
    size_t length = print(text, value);
    assert_in_range(length, 1, CREST_NUMBER_BYTES_MAX - 1);
    assert_int_equal(strlen(text), length);
    assert_int_equal(text[CREST_NUMBER_BYTES_MAX], '#');
    return text;
}

static void test_integers(void **state)
{
    (void)state;
    char text[CREST_NUMBER_BYTES_MAX], wanted[CREST_NUMBER_BYTES_MAX];
    uint64_t power = 1;
    for (int digits = 1; digits <= 20; digits++, power *= 10) {
        const uint64_t around[] = {power - 1, power, power + 1, power * 7 / 3};
        for (size_t i = 0; i < LENGTH(around); i++) {
            snprintf(wanted, sizeof wanted, "%" PRIu64, around[i]);
            assert_int_equal(crest_number_u64(text, around[i]), strlen(wanted));
            assert_string_equal(text, wanted);
            snprintf(wanted, sizeof wanted, "%" PRId64, (int64_t)around[i]);
            assert_int_equal(crest_number_i64(text, (int64_t)around[i]), strlen(wanted));
            assert_string_equal(text, wanted);
            snprintf(wanted, sizeof wanted, "%" PRId64, (int64_t)-around[i]);
            crest_number_i64(text, (int64_t)-around[i]);
            assert_string_equal(text, wanted);
        }
    }
    assert_int_equal(crest_number_u64(text, UINT64_MAX), 20);
    assert_string_equal(text, "18446744073709551615");
    crest_number_i64(text, INT64_MIN);
    assert_string_equal(text, "-9223372036854775808");
}

/* Every group of four digits in each of its places, with zeros and with itself beside it. */
static void test_groups(void **state)
{
    (void)state;
    for (uint64_t four = 0; four < 10000; four++) {
        const uint64_t values[] = {four,
                                   four * 10000,
                                   four * 10000 + four,
                                   four * UINT64_C(100000000) + four,
                                   four * UINT64_C(1000000000000) + four * 10000,
                                   four * UINT64_C(100010001000) + 7};
        for (size_t i = 0; i < LENGTH(values); i++) {
            char text[CREST_NUMBER_BYTES_MAX], wanted[CREST_NUMBER_BYTES_MAX];
            snprintf(wanted, sizeof wanted, "%" PRIu64, values[i]);
            assert_int_equal(crest_number_u64(text, values[i]), strlen(wanted));
            assert_string_equal(text, wanted);
        }
    }
}

static void test_scaled(void **state)
{
    (void)state;
    static const struct {
        uint64_t value;
        unsigned decimals;
        const char *text;
    } numbers[] = {
        {0, 9, "0"},
        {0, 0, "0"},
        {1, 9, "0.000000001"},
        {10, 9, "0.00000001"},
        {1234567890, 9, "1.23456789"},
        {1000000000, 9, "1"},
        {999999999, 9, "0.999999999"},
        {12345, 3, "12.345"},
        {12300, 3, "12.3"},
        {100, 3, "0.1"},
        {7, 0, "7"},
        {1000001, 6, "1.000001"},
        {UINT64_C(9007199254740993), 9, "9007199.254740993"},
        {UINT64_MAX, 9, "18446744073.709551615"},
        {UINT64_MAX, 0, "18446744073709551615"},
        {UINT64_MAX, 19, "1.8446744073709551615"},
        {1, 19, "0.0000000000000000001"},
    };
    for (size_t i = 0; i < LENGTH(numbers); i++) {
        char text[CREST_NUMBER_BYTES_MAX];
        assert_int_equal(crest_number_scaled(text, numbers[i].value, numbers[i].decimals),
                         strlen(numbers[i].text));
        assert_string_equal(text, numbers[i].text);
    }
}

typedef struct spelling {
    double value;
    const char *text;
} spelling;

static const spelling doubles[] = {
    {0, "0"},
    {-0.0, "-0"},
    {1, "1"},
    {-1, "-1"},
    {0.1, "0.1"},
    {0.005, "0.005"},
    {-2.5, "-2.5"},
    {0.1 + 0.2, "0.30000000000000004"},
    {1.0 / 3, "0.3333333333333333"},
    {2.0 / 3, "0.6666666666666666"},
    {123456789.125, "123456789.125"},
    {1e6, "1000000"},
    {1e15, "1000000000000000"},
    {9007199254740991.0, "9007199254740991"},
    {9007199254740993.0, "9007199254740992"},
    {1e17, "100000000000000000"},
    {18446744073709551615.0, "18446744073709552000"},
    {1e20, "100000000000000000000"},
    {123456789012345680000.0, "123456789012345680000"},
    {1e21, "1e+21"},
    {1.5e21, "1.5e+21"},
    {1e22, "1e+22"},
    {1e23, "1e+23"},
    {1e100, "1e+100"},
    {0.00001, "0.00001"},
    {0.000012345678901234567, "0.000012345678901234568"},
    {-0.000012345678901234567, "-0.000012345678901234568"},
    {0.000001, "1e-06"},
    {1.25e-7, "1.25e-07"},
    {5e-324, "5e-324"},
    {1.5e-323, "1.5e-323"},
    {2.2250738585072009e-308, "2.225073858507201e-308"},
    {DBL_MIN, "2.2250738585072014e-308"},
    {DBL_MAX, "1.7976931348623157e+308"},
    {-DBL_MAX, "-1.7976931348623157e+308"},
    {DBL_EPSILON, "2.220446049250313e-16"},
    {5.684341886080802e-14, "5.684341886080802e-14"},
    {4.35, "4.35"},
    {1700000000.123456, "1700000000.123456"},
    {INFINITY, "+Inf"},
    {-INFINITY, "-Inf"},
    {NAN, "NaN"},
    {-NAN, "NaN"},
};

/* The expected texts are what Go's FormatFloat(v, 'g', -1, 64) gives, and .0 behind an integer. */
static const spelling bounds[] = {
    {0, "0.0"},
    {1, "1.0"},
    {10, "10.0"},
    {2.5, "2.5"},
    {0.005, "0.005"},
    {0.0001, "0.0001"},
    {0.00025, "0.00025"},
    {0.000099, "9.9e-05"},
    {10e-6, "1e-05"},
    {25e-6, "2.5e-05"},
    {512, "512.0"},
    {131072, "131072.0"},
    {100000, "100000.0"},
    {999999.5, "999999.5"},
    {1e6, "1e+06"},
    {1048576, "1.048576e+06"},
    {16777216, "1.6777216e+07"},
    {123456789, "1.23456789e+08"},
    {1e22, "1e+22"},
    {1e100, "1e+100"},
    {-1, "-1.0"},
    {INFINITY, "+Inf"},
    {-INFINITY, "-Inf"},
    {NAN, "NaN"},
};

static void test_doubles(void **state)
{
    (void)state;
    for (size_t i = 0; i < LENGTH(doubles); i++)
        assert_string_equal(printed(crest_number_double, doubles[i].value), doubles[i].text);
}

static void test_bounds(void **state)
{
    (void)state;
    for (size_t i = 0; i < LENGTH(bounds); i++)
        assert_string_equal(printed(crest_number_bound, bounds[i].value), bounds[i].text);
}

static double random_bits(uint64_t *seed)
{
    double value;
    uint64_t bits = random_next(seed);
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* A mean or a rate as windows make them. */
static double random_quotient(uint64_t *seed)
{
    return (double)(random_next(seed) >> 30) / (double)(1 + (random_next(seed) >> 50));
}

static double random_decimal(uint64_t *seed)
{
    char text[64];
    snprintf(text, sizeof text, "%" PRIu64 "e%d", random_next(seed) >> (random_next(seed) % 64),
             (int)(random_next(seed) % 60) - 40);
    return strtod(text, NULL);
}

static double random_subnormal(uint64_t *seed)
{
    double value;
    uint64_t bits = random_next(seed) >> (12 + random_next(seed) % 52);
    memcpy(&value, &bits, sizeof value);
    return value;
}

typedef double random_fn(uint64_t *seed);
static random_fn *const randoms[] = {random_bits, random_quotient, random_decimal,
                                     random_subnormal};

static void test_round_trips(void **state)
{
    (void)state;
    uint64_t seed = 88172645463325252u;
    for (int i = 0; i < ROUND_TRIPS; i++) {
        double value = randoms[(unsigned)i % LENGTH(randoms)](&seed);
        if (isnan(value))
            continue;
        print_fn *print = i & 4 ? crest_number_bound : crest_number_double;
        const char *text = printed(print, value);
        double back = strtod(text, NULL);
        if (back != value || signbit(back) != signbit(value))
            fail_msg("%a is printed as %s, which is %a", value, text, back);
        if (print == crest_number_bound && strpbrk(text, ".eI") == NULL)
            fail_msg("bound %a is printed as the integer %s", value, text);
    }
}

/* Significant digits of a printed number. */
static int significant(const char *text)
{
    int count = 0, zeros = 0;
    for (; *text != '\0' && *text != 'e'; text++) {
        if (*text < '0' || *text > '9')
            continue;
        if (*text == '0') {
            zeros += count != 0;
        } else {
            count += zeros + 1;
            zeros = 0;
        }
    }
    return count;
}

static void test_no_shorter_one(void **state)
{
    (void)state;
    uint64_t seed = 1181783497276652981u;
    for (int i = 0; i < SHORTEST_TRIALS; i++) {
        double value = randoms[(unsigned)i % LENGTH(randoms)](&seed);
        if (!isfinite(value) || value == 0)
            continue;
        int digits = 1;
        char longer[64];
        for (; digits <= 17; digits++) {
            snprintf(longer, sizeof longer, "%.*e", digits - 1, value);
            if (strtod(longer, NULL) == value)
                break;
        }
        const char *text = printed(crest_number_double, value);
        if (significant(text) != significant(longer))
            fail_msg("%a is printed as %s, but %s would do", value, text, longer);
    }
}

/* Where doubles lie closer on one side than on the other: 2^-44 needs 16 digits, not 17. */
static void test_powers_of_two(void **state)
{
    (void)state;
    double value = 0x1p-1074;
    int fewer = 0;
    for (int exponent = -1074; exponent <= 1023; exponent++, value *= 2) {
        char longer[64];
        int digits = 1;
        for (; digits <= 17; digits++) {
            snprintf(longer, sizeof longer, "%.*e", digits - 1, value);
            if (strtod(longer, NULL) == value)
                break;
        }
        const char *text = printed(crest_number_double, value);
        assert_true(strtod(text, NULL) == value);
        assert_in_range(significant(text), 1, digits);
        fewer += significant(text) < digits;
    }
    assert_true(isinf(value));
    assert_in_range(fewer, 1, 100);
}

/* ---- locales ---- */

/* An LC_NUMERIC file of glibc: a magic number, a count, offsets, and what they point at. */
static size_t locale_make(unsigned char *file, const char *point)
{
    const uint32_t magic = 0x20031114, count = 6, data = 32;
    size_t length = data;
    uint32_t offsets[6];
    const char *const texts[] = {point, ".", "\3\3"};
    memset(file, 0, 128);
    for (int i = 0; i < 3; i++) {
        offsets[i] = (uint32_t)length;
        strcpy((char *)file + length, texts[i]);
        length += strlen(texts[i]) + 1;
    }
    length = (length + 3) & ~(size_t)3;
    for (int i = 3; i < 5; i++, length += 4) {
        offsets[i] = (uint32_t)length;
        file[length] = ',';
    }
    offsets[5] = (uint32_t)length;
    strcpy((char *)file + length, "UTF-8");
    length += sizeof "UTF-8";
    memcpy(file, &magic, 4);
    memcpy(file + 4, &count, 4);
    memcpy(file + 8, offsets, sizeof offsets);
    return length;
}

/* Switches to a locale with this decimal point; 0 when the C library does not take it. */
static int locale_enter(const char *point)
{
    char folder[] = "/tmp/crest-locale-XXXXXX", inner[64], path[80];
    assert_non_null(mkdtemp(folder));
    snprintf(inner, sizeof inner, "%s/made-up", folder);
    snprintf(path, sizeof path, "%s/LC_NUMERIC", inner);
    assert_int_equal(mkdir(inner, 0700), 0);
    unsigned char bytes[128];
    size_t length = locale_make(bytes, point);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
    setenv("LOCPATH", folder, 1);
    int entered = setlocale(LC_NUMERIC, "made-up") != NULL;
    unsetenv("LOCPATH");
    unlink(path);
    rmdir(inner);
    rmdir(folder);
    return entered && strcmp(localeconv()->decimal_point, point) == 0;
}

static void in_locale(const char *point)
{
    if (!locale_enter(point)) {
        setlocale(LC_NUMERIC, "C");
        print_message("skipped: this C library takes no LC_NUMERIC file of glibc's format\n");
        skip();
    }
    char proof[32], wanted[32];
    snprintf(proof, sizeof proof, "%.1f", 1.5);
    snprintf(wanted, sizeof wanted, "1%s5", point);
    int foreign = strcmp(proof, wanted) == 0;

    size_t wrong = 0;
    char text[CREST_NUMBER_BYTES_MAX];
    for (size_t i = 0; i < LENGTH(doubles); i++) {
        crest_number_double(text, doubles[i].value);
        wrong += strcmp(text, doubles[i].text) != 0;
    }
    for (size_t i = 0; i < LENGTH(bounds); i++) {
        crest_number_bound(text, bounds[i].value);
        wrong += strcmp(text, bounds[i].text) != 0;
    }
    setlocale(LC_NUMERIC, "C");
    assert_true(foreign);
    assert_int_equal(wrong, 0);
}

static void test_decimal_comma(void **state)
{
    (void)state;
    in_locale(",");
}

static void test_decimal_point_of_two_bytes(void **state)
{
    (void)state;
    in_locale("\xd9\xab"); /* U+066B, the Arabic decimal separator */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_integers),       cmocka_unit_test(test_groups),
        cmocka_unit_test(test_scaled),         cmocka_unit_test(test_doubles),
        cmocka_unit_test(test_bounds),         cmocka_unit_test(test_round_trips),
        cmocka_unit_test(test_no_shorter_one), cmocka_unit_test(test_powers_of_two),
        cmocka_unit_test(test_decimal_comma),  cmocka_unit_test(test_decimal_point_of_two_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
