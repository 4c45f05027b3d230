/* SPDX-License-Identifier: Apache-2.0 */
/*
 * <crest/hdr.h>: bytes that HdrHistogram for Java made are made and read here too; every range
 * comes back cell by cell; bytes that are wrong in any place get a sentence.
 */
#include "base/alloc.h"
#include "support/core_fixture.h"
#include "support/random_numbers.h"

#include <crest/hdr.h>

#include <stdlib.h>

static unsigned char *hdr_encoded(const crest_distribution *d, size_t *length)
{
    assert_int_equal(crest_distribution_encode(d, NULL, 0, length), CREST_LIMIT);
    unsigned char *bytes = malloc(*length);
    assert_non_null(bytes);
    assert_int_equal(crest_distribution_encode(d, bytes, *length, length), CREST_OK);
    return bytes;
}

static crest_distribution *hdr_decoded(const void *bytes, size_t length)
{
    crest_error error = {0};
    crest_distribution *d = crest_distribution_decode(bytes, length, &error);
    if (d == NULL)
        fail_msg("%s", error.message);
    return d;
}

/* The same cells, and sum and extremes within them. */
static void hdr_same(const crest_distribution *found, const crest_distribution *wanted)
{
    crest_bucket x, y;
    size_t at = 0, beside = 0;
    uint64_t least = 0, most = 0;
    int any = 0;
    while (crest_distribution_next(wanted, &beside, &y)) {
        assert_true(crest_distribution_next(found, &at, &x));
        assert_true(x.lowest == y.lowest && x.highest == y.highest && x.count == y.count);
        if (!any)
            assert_int_equal(crest_distribution_min(found), x.lowest);
        any = 1;
        least += x.lowest * x.count;
        most += x.highest * x.count;
        assert_true(x.highest >= crest_distribution_max(wanted) ||
                    x.highest < crest_distribution_max(found));
    }
    assert_false(crest_distribution_next(found, &at, &x));
    assert_int_equal(crest_distribution_count(found), crest_distribution_count(wanted));
    assert_in_range(crest_distribution_sum(found), least, most);
    if (any) {
        assert_true(crest_distribution_max(found) >= crest_distribution_max(wanted));
        assert_true(crest_distribution_min(found) <= crest_distribution_min(wanted));
    }
}

static void hdr_round(const crest_distribution *d)
{
    size_t length, again;
    unsigned char *bytes = hdr_encoded(d, &length);
    crest_distribution *same = hdr_decoded(bytes, length);
    hdr_same(same, d);
    unsigned char *anew = hdr_encoded(same, &again);
    assert_int_equal(again, length);
    assert_memory_equal(anew, bytes, length);
    crest_distribution_free(same);
    free(anew);
    free(bytes);
}

static void hdr_record(crest_distribution *d, int64_t value, uint64_t times)
{
    assert_int_equal(crest_distribution_record(d, value, times), CREST_OK);
}

/* ---- bytes of HdrHistogram for Java ---- */

/* new Histogram(1, 4398046511103L, 2), with recordValueWithCount of the pairs below. */
static const unsigned char hdr_java[] = {
    0x1c, 0x84, 0x93, 0x13, 0, 0, 0, 24, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 1,
    0, 0, 3, 0xff, 0xff, 0xff, 0xff, 0xff, 0x3f, 0xf0, 0, 0, 0, 0, 0, 0,
};

static crest_distribution *hdr_sample(void)
{
    crest_distribution *d = crest_distribution_new(NULL);
    assert_non_null(d);
    hdr_record(d, 0, 3);
    hdr_record(d, 1, 1);
    hdr_record(d, 3, 64);
    hdr_record(d, 255, 2);
    hdr_record(d, 256, 1);
    hdr_record(d, 1000000, 70);
    hdr_record(d, 4398046511103, 1);
    hdr_record(d, 77777, 1000000);
    return d;
}

static void test_java(void **state)
{
    (void)state;
    static const unsigned char counts[] = {
        /* 3, 1, 0, 64, 251 zeros, 2, 1, zeros, 1000000, zeros, 70, zeros, 1 */
        0x06, 0x02, 0x00, 0x80, 0x01, 0xf5, 0x03, 0x04, 0x02, 0xab, 0x10, 0x80, 0x89, 0x7a, 0xb7,
        0x07, 0x8c, 0x01, 0x93, 0x2c, 0x02};
    crest_distribution *d = hdr_sample();
    size_t length;
    unsigned char *bytes = hdr_encoded(d, &length);
    assert_int_equal(length, sizeof hdr_java + sizeof counts);
    unsigned char head[sizeof hdr_java];
    memcpy(head, hdr_java, sizeof head);
    head[7] = sizeof counts;
    assert_memory_equal(bytes, head, sizeof head);
    assert_memory_equal(bytes + sizeof head, counts, sizeof counts);
    hdr_round(d);
    free(bytes);
    crest_distribution_free(d);
}

/* ---- every range ---- */

static void test_ranges(void **state)
{
    (void)state;
    static const uint64_t lowest[] = {1, 2, 1000, UINT64_C(1) << 40};
    static const uint64_t factor[] = {2, 100, 3600000, UINT64_C(1) << 21, UINT64_C(1) << 61};
    uint64_t seed = 17;
    for (unsigned digits = 1; digits <= 5; digits++)
        for (size_t i = 0; i < 4; i++)
            for (size_t j = 0; j < 5; j++) {
                crest_range range = {lowest[i], 0, digits};
                if (__builtin_mul_overflow(lowest[i], factor[j], &range.highest) ||
                    range.highest > UINT64_C(1) << 62)
                    continue;
                crest_distribution *d = crest_distribution_new(&range);
                assert_non_null(d);
                hdr_round(d);
                for (unsigned n = 0; n < 40; n++) {
                    uint64_t value = random_next(&seed) >> (2 + n % 60);
                    if (value <= range.highest)
                        hdr_record(d, (int64_t)value, n < 8 ? 1 : 1 + (n == 37 ? 1000000 : n % 3));
                }
                hdr_round(d);
                crest_distribution_free(d);
            }
}

/* A unit that leaves too few bits: the cells are HdrHistogram's finer ones. */
static void test_high_units(void **state)
{
    (void)state;
    const crest_range range = {UINT64_C(1) << 52, UINT64_C(1) << 62, 5};
    crest_distribution *d = crest_distribution_new(&range);
    hdr_record(d, INT64_C(1) << 52, 1);
    hdr_record(d, (INT64_C(5) << 52) + 77, 3);
    size_t length;
    unsigned char *bytes = hdr_encoded(d, &length);
    crest_distribution *finer = hdr_decoded(bytes, length);
    crest_bucket bucket;
    size_t cursor = 0;
    assert_true(crest_distribution_next(finer, &cursor, &bucket));
    assert_true(bucket.lowest == UINT64_C(1) << 52 && bucket.count == 1);
    assert_true(crest_distribution_next(finer, &cursor, &bucket));
    assert_true(bucket.lowest == UINT64_C(5) << 52 && bucket.count == 3);
    assert_false(crest_distribution_next(finer, &cursor, &bucket));
    assert_int_equal(crest_distribution_add(d, finer), CREST_OK);
    assert_int_equal(crest_distribution_count(d), 8);
    crest_distribution_free(finer);
    crest_distribution_free(d);
    free(bytes);
}

static void test_limits(void **state)
{
    (void)state;
    unsigned char bytes[64];
    size_t length = 9;
    assert_int_equal(crest_distribution_encode(NULL, bytes, 64, &length), CREST_INVALID_ARGUMENT);
    assert_int_equal(length, 0);
    crest_distribution *none = crest_distribution_new(CREST_RANGE_NONE);
    assert_int_equal(crest_distribution_encode(none, bytes, 64, &length), CREST_INVALID_ARGUMENT);
    crest_distribution_free(none);
    crest_distribution *d = crest_distribution_new(NULL);
    assert_int_equal(crest_distribution_encode(d, bytes, 40, &length), CREST_LIMIT);
    assert_int_equal(length, 41);
    assert_int_equal(crest_distribution_encode(d, bytes, 41, &length), CREST_OK);
    hdr_record(d, 0, INT64_MAX);
    assert_int_equal(crest_distribution_encode(d, bytes, 64, &length), CREST_OK);
    assert_int_equal(length, 49);
    hdr_round(d);
    hdr_record(d, 0, 1);
    assert_int_equal(crest_distribution_encode(d, bytes, 64, &length), CREST_LIMIT);
    assert_int_equal(length, 0);
    crest_distribution_free(d);
}

/* ---- wrong bytes ---- */

static void hdr_refused(const void *bytes, size_t length, const char *sentence)
{
    crest_error error = {0};
    assert_null(crest_distribution_decode(bytes, length, &error));
    assert_int_equal(error.status, CREST_INVALID_ARGUMENT);
    if (strstr(error.message, sentence) == NULL)
        fail_msg("\"%s\" says nothing of \"%s\"", error.message, sentence);
    assert_null(crest_distribution_decode(bytes, length, NULL));
}

static void test_wrong(void **state)
{
    (void)state;
    static const struct {
        size_t at;
        unsigned char byte;
        const char *sentence;
    } wrong[] = {
        {0, 0x1d, "it begins with 0x1d849313 instead of 0x1c849313"},
        {3, 0x14, "these are its compressed bytes"},
        {3, 0x11, "bytes of version 0 or 1"},
        {4, 0x80, "its counts are to take -2147483"},
        {7, 0x10, "its counts are to take 16 bytes, and 21 follow"},
        {15, 6, "it has 6 significant digits"},
        {12, 0x80, "it has -2147483646 significant digits"},
        {23, 0, "its range is 0 to 4398046511103"},
        {16, 0x80, "its range is -92233720368547758"},
        {18, 0x03, "its range is 3298534883329 to 4398046511103"},
        {24, 0x80, "its range is 1 to -92233"},
        {60, 0x80, "its counts end within one, after 21 bytes"},
    };
    crest_distribution *d = hdr_sample();
    size_t length;
    unsigned char *bytes = hdr_encoded(d, &length);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        unsigned char kept = bytes[wrong[i].at];
        bytes[wrong[i].at] = wrong[i].byte;
        hdr_refused(bytes, length, wrong[i].sentence);
        bytes[wrong[i].at] = kept;
    }
    bytes[11] = bytes[39] = 1; /* as JavaScript's writer has it */
    bytes[32] = bytes[33] = 0;
    crest_distribution_free(hdr_decoded(bytes, length));
    hdr_refused(NULL, 0, "There are no bytes");
    hdr_refused(bytes, 3, "3 bytes are too few");
    hdr_refused("\x0c\x72\x12\x4e", 4, "a DoubleHistogram's bytes");
    for (size_t cut = 0; cut < length; cut++) {
        hdr_refused(bytes, cut, "");
        if (cut < 40)
            continue;
        bytes[7] = (unsigned char)(cut - 40); /* as if written so: whole counts are a histogram */
        crest_distribution_free(crest_distribution_decode(bytes, cut, NULL));
    }
    free(bytes);
    crest_distribution_free(d);
}

/* A run of zeros, or of counts, that goes past what the range can have. */
static void test_too_many_cells(void **state)
{
    (void)state;
    unsigned char bytes[64];
    static const unsigned char most[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
    memcpy(bytes, hdr_java, sizeof hdr_java);
    bytes[7] = 10;
    memcpy(bytes + 40, most, 9); /* -2^63 */
    bytes[49] = 2;
    hdr_refused(bytes, 50, "it has counts of more than the 7296 cells of its range");
    bytes[40] = 0xff, bytes[41] = 0x71, bytes[42] = 2; /* -7296, and one more */
    bytes[7] = 3;
    hdr_refused(bytes, 43, "it has counts of more than the 7296 cells");
    bytes[40] = 0xfd; /* -7295: the last cell, which is past the range that is named */
    crest_distribution *d = hdr_decoded(bytes, 43);
    assert_int_equal(crest_distribution_count(d), 1);
    assert_int_equal(crest_distribution_max(d), INT64_MAX);
    crest_distribution_free(d);
}

/* Every byte changed in eight ways: a sentence, or a distribution that goes back and forth. */
static void test_flipped(void **state)
{
    (void)state;
    crest_distribution *d = hdr_sample();
    size_t length;
    unsigned char *bytes = hdr_encoded(d, &length);
    unsigned read = 0;
    for (size_t at = 0; at < length; at++)
        for (unsigned bit = 0; bit < 8; bit++) {
            bytes[at] ^= (unsigned char)(1u << bit);
            crest_error error = {0};
            crest_distribution *other = crest_distribution_decode(bytes, length, &error);
            assert_true((other != NULL) != (error.message[0] != '\0'));
            if (other != NULL && bytes[15] != 0)
                hdr_round(other);
            read += other != NULL;
            crest_distribution_free(other);
            bytes[at] ^= (unsigned char)(1u << bit);
        }
    assert_in_range(read, 100, length * 8 - 100);
    free(bytes);
    crest_distribution_free(d);
}

/* Zero digits: powers of two, which go to a cell of their middle. */
static void test_no_digits(void **state)
{
    (void)state;
    unsigned char bytes[64];
    memcpy(bytes, hdr_java, sizeof hdr_java);
    bytes[15] = 0;
    bytes[7] = 5;
    memcpy(bytes + 40, "\x02\x04\x06\x11\x08", 5); /* 1, 2, 3, 9 zeros, 4 */
    crest_distribution *d = hdr_decoded(bytes, 45);
    assert_int_equal(crest_distribution_count(d), 10);
    assert_int_equal(crest_distribution_min(d), 0);
    assert_int_equal(crest_distribution_max(d), 4095);
    assert_int_equal(crest_distribution_sum(d), 2 + 3 * 3 + 4 * 3072);
    crest_distribution_free(d);
}

static void test_no_memory(void **state)
{
    (void)state;
    crest_distribution *d = hdr_sample();
    size_t length;
    unsigned char *bytes = hdr_encoded(d, &length);
    unsigned failed = 0;
    for (unsigned left = 0; left < 20; left++) {
        crest_error error = {0};
        crest_alloc_fail_after(left + 1);
        crest_distribution *same = crest_distribution_decode(bytes, length, &error);
        crest_alloc_fail_after(0);
        if (same == NULL)
            assert_int_equal(error.status, CREST_NO_MEMORY);
        failed += same == NULL;
        crest_distribution_free(same);
    }
    assert_in_range(failed, 2, 10);
    free(bytes);
    crest_distribution_free(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_java),      cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_high_units), cmocka_unit_test(test_limits),
        cmocka_unit_test(test_wrong),     cmocka_unit_test(test_too_many_cells),
        cmocka_unit_test(test_flipped),   cmocka_unit_test(test_no_digits),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
