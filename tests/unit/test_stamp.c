/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stamps by their bytes: golden ones, bad ones, what is sent on, and what is recorded.
 */
#include "core_fixture.h"
#include "misuse.h"
#include "stamp_code.h"

#include <crest/testing.h>

CREST_REGISTRY(stamp_metrics);
#define CREST_REGISTRY_HERE &stamp_metrics
CREST_TIMER(propagation, "casper.block-propagation-time", "Origin to receipt.");

#define STAMP_T0 UINT64_C(1700000000123456789) /* 0x17979cfe3d85cd15 */

static unsigned stamp_digit(char c)
{
    return (unsigned)(c >= 'a' ? c - 'a' + 10 : c - '0');
}

/* Bytes from hexadecimal digits, spaces between them. */
static void stamp_from_digits(const char *digits, unsigned char bytes[CREST_STAMP_BYTES])
{
    unsigned at = 0;
    for (; *digits != '\0'; digits++) {
        if (*digits == ' ')
            continue;
        assert_true(at < CREST_STAMP_BYTES);
        bytes[at++] = (unsigned char)(stamp_digit(digits[0]) << 4 | stamp_digit(digits[1]));
        digits++;
    }
    assert_int_equal(at, CREST_STAMP_BYTES);
}

static crest_op stamp_counted(size_t length)
{
    unsigned char bytes[CREST_OP_EXACT_BYTES];
    for (size_t i = 0; i < length; i++)
        bytes[i] = (unsigned char)i;
    return crest_op_bytes(bytes, length);
}

static void test_golden(void **state)
{
    (void)state;
    const struct {
        crest_op op;
        uint64_t wall_ns, error_ns;
        const char *bytes;
    } golden[] = {
        {crest_op_u64(7), STAMP_T0, CREST_STAMP_UNKNOWN,
         "01010800 0000ffff 17979cfe3d85cd15 0000000000000007 0000000000000000"},
        {crest_op_u64x2(0x0102030405060708, 0xfffefdfcfbfaf9f8), STAMP_T0, 0,
         "01021000 00000000 17979cfe3d85cd15 0102030405060708 fffefdfcfbfaf9f8"},
        {crest_op_text("block 1"), CREST_WALL_NS_MIN, 2047,
         "01040700 000007ff 0de0b6b3a7640000 626c6f636b203100 0000000000000000"},
        {stamp_counted(16), CREST_WALL_NS_MAX, 2049,
         "01031000 00000c01 7facf7419d980000 0001020304050607 08090a0b0c0d0e0f"},
    };
    /* digests: by another implementation of SipHash-2-4-128, in Python */
    const struct {
        crest_op op;
        const char *bytes;
    } digests[] = {
        {stamp_counted(17), "01031100 00000000 17979cfe3d85cd15 bae51f709fd26054 af828d4ff321d785"},
        {stamp_counted(32), "01032000 00000000 17979cfe3d85cd15 5c5e476c3f8643cd b1efb7d45fa9d667"},
        {crest_op_text("a text of more than 16"),
         "01041600 00000000 17979cfe3d85cd15 5682c0edc21d8907 fc3ec9f020c811ca"},
    };
    for (size_t i = 0; i < sizeof golden / sizeof *golden; i++) {
        unsigned char wanted[CREST_STAMP_BYTES];
        crest_stamp stamp;
        crest_stamp_view view;
        stamp_from_digits(golden[i].bytes, wanted);
        assert_int_equal(
            crest_stamp_make_at(golden[i].op, golden[i].wall_ns, golden[i].error_ns, &stamp, NULL),
            CREST_OK);
        assert_memory_equal(stamp.bytes, wanted, sizeof wanted);
        assert_int_equal(crest_stamp_read(wanted, sizeof wanted, &view, NULL), CREST_OK);
        assert_true(view.origin_ns == golden[i].wall_ns);
        assert_int_equal(view.hops, 0);
        assert_true(view.path_error_ns == 0);
        assert_true(view.clock_error_ns >= golden[i].error_ns);
        assert_true(crest_op_equal(&view.op, &golden[i].op));
        assert_true(crest_stamp_names(&view, &golden[i].op));
    }
    for (size_t i = 0; i < sizeof digests / sizeof *digests; i++) {
        unsigned char wanted[CREST_STAMP_BYTES];
        crest_stamp stamp;
        crest_stamp_view view;
        stamp_from_digits(digests[i].bytes, wanted);
        assert_int_equal(crest_stamp_make_at(digests[i].op, STAMP_T0, 0, &stamp, NULL), CREST_OK);
        assert_memory_equal(stamp.bytes, wanted, sizeof wanted);
        assert_int_equal(crest_stamp_read(wanted, sizeof wanted, &view, NULL), CREST_OK);
        assert_int_equal(view.op.kind, CREST_OP_NONE);
        for (size_t j = 0; j < sizeof digests / sizeof *digests; j++)
            assert_int_equal(crest_stamp_names(&view, &digests[j].op), i == j);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
