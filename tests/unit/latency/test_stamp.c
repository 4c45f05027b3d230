/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stamps by their bytes: golden ones, bad ones, what is sent on, and what is recorded.
 */
#include "base/misuse.h"
#include "latency/peers/stamp_code.h"
#include "support/core_fixture.h"

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

/* Rounded up, by less than a thousandth; each number in one way only. */
static void test_error_codes(void **state)
{
    (void)state;
    const struct {
        uint64_t ns;
        uint16_t code;
    } golden[] = {
        {0, 0x0000},
        {1, 0x0001},
        {2047, 0x07ff},
        {2048, 0x0c00},
        {2049, 0x0c01},
        {2050, 0x0c01},
        {4094, 0x0fff},
        {4095, 0x1400},
        {1000000, 0x4fa2},
        {UINT64_C(2046) << 31, 0xfffe},
        {(UINT64_C(2046) << 31) + 1, 0xffff},
        {UINT64_MAX - 1, 0xffff},
        {CREST_STAMP_UNKNOWN, 0xffff},
    };
    for (size_t i = 0; i < sizeof golden / sizeof *golden; i++)
        assert_int_equal(crest_stamp_error_code(golden[i].ns), golden[i].code);
    assert_true(crest_stamp_error_of(0xffff) == CREST_STAMP_UNKNOWN);
    for (uint32_t code = 0; code < 0xffff; code++) {
        uint64_t ns = crest_stamp_error_of((uint16_t)code);
        int shortest = code < 2048 || (code & 2047) >= 1024;
        assert_int_equal(crest_stamp_error_code(ns) == code, shortest);
        uint64_t up = crest_stamp_error_of(crest_stamp_error_code(ns + 1));
        assert_true(up >= ns + 1 && (code == 0xfffe || (double)up <= (double)(ns + 1) * 1.001));
    }
}

static void test_bad(void **state)
{
    (void)state;
    const struct {
        const char *bytes, *why;
    } bad[] = {
        {"00010800 0000ffff 17979cfe3d85cd15 0000000000000007 0000000000000000", "version"},
        {"02010800 0000ffff 17979cfe3d85cd15 0000000000000007 0000000000000000", "version"},
        {"01000800 0000ffff 17979cfe3d85cd15 0000000000000007 0000000000000000", "kind"},
        {"01050800 0000ffff 17979cfe3d85cd15 0000000000000007 0000000000000000", "kind"},
        {"01810800 0000ffff 17979cfe3d85cd15 0000000000000007 0000000000000000", "kind"},
        {"01010700 0000ffff 17979cfe3d85cd15 0000000000000007 0000000000000000", "8 bytes"},
        {"01021100 0000ffff 17979cfe3d85cd15 0000000000000007 0000000000000007", "16 bytes"},
        {"01030000 0000ffff 17979cfe3d85cd15 0000000000000000 0000000000000000", "1 to 32"},
        {"01042100 0000ffff 17979cfe3d85cd15 0000000000000007 0000000000000000", "1 to 32"},
        {"01010800 0000ffff 17979cfe3d85cd15 0000000000000007 0000000000000001", "behind"},
        {"01030200 0000ffff 17979cfe3d85cd15 0102030000000000 0000000000000000", "behind"},
        {"01040300 0000ffff 17979cfe3d85cd15 6100620000000000 0000000000000000", "zero byte"},
        {"01010800 0800ffff 17979cfe3d85cd15 0000000000000007 0000000000000000", "shortest"},
        {"01010800 00000bff 17979cfe3d85cd15 0000000000000007 0000000000000000", "shortest"},
        {"01010800 0000ffff 0de0b6b3a763ffff 0000000000000007 0000000000000000", "time"},
        {"01010800 0000ffff 7facf7419d980001 0000000000000007 0000000000000000", "time"},
        {"01010800 0000ffff 0000000000000000 0000000000000007 0000000000000000", "time"},
        {"01010800 0000ffff ffffffffffffffff 0000000000000007 0000000000000000", "time"},
    };
    unsigned char bytes[CREST_STAMP_BYTES], zeros[sizeof(crest_stamp_view)] = {0};
    crest_stamp_view view;
    crest_error error;
    uint64_t misuse = crest_misuse_value(CREST_MISUSE_STAMP);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        stamp_from_digits(bad[i].bytes, bytes);
        memset(&view, 1, sizeof view);
        assert_int_equal(crest_stamp_read(bytes, sizeof bytes, &view, &error),
                         CREST_INVALID_ARGUMENT);
        assert_memory_equal(&view, zeros, sizeof view);
        if (strstr(error.message, bad[i].why) == NULL)
            fail_msg("%zu: %s", i, error.message);
    }
    stamp_from_digits("01010800 0000ffff 17979cfe3d85cd15 0000000000000007 0000000000000000",
                      bytes);
    assert_int_equal(crest_stamp_read(bytes, sizeof bytes, &view, &error), CREST_OK);
    assert_int_equal(crest_stamp_read(bytes, 31, &view, NULL), CREST_INVALID_ARGUMENT);
    assert_int_equal(crest_stamp_read(bytes, 0, &view, NULL), CREST_INVALID_ARGUMENT);
    assert_int_equal(crest_stamp_read(bytes, 33, &view, NULL), CREST_INVALID_ARGUMENT);
    assert_int_equal(crest_stamp_read(NULL, 32, &view, &error), CREST_INVALID_ARGUMENT);
    assert_int_equal(crest_misuse_value(CREST_MISUSE_STAMP) - misuse, sizeof bad / sizeof *bad + 4);
}

/* Version 2 is version 1 and the parent's span; each only in its own size. */
static void test_parent(void **state)
{
    (void)state;
    unsigned char bytes[CREST_STAMP_PARENT_BYTES] = {0};
    crest_stamp_view view;
    crest_stamp_parent stamp;
    crest_error error;
    crest_testing_clock_set_wall(STAMP_T0);
    assert_int_equal(crest_stamp_make_under(crest_op_u64(7), 0x0102030405060708, &stamp, &error),
                     CREST_OK);
    assert_int_equal(stamp.bytes[0], 2);
    for (unsigned i = 0; i < 8; i++)
        assert_int_equal(stamp.bytes[32 + i], i + 1);
    assert_int_equal(crest_stamp_read(&stamp, 40, &view, &error), CREST_OK);
    assert_true(view.parent == 0x0102030405060708);
    assert_true(view.origin_ns == STAMP_T0);
    /* what a reader of version 1 says of it, and what becomes of it as version 1 */
    uint64_t misuse = crest_misuse_value(CREST_MISUSE_STAMP);
    assert_int_equal(crest_stamp_read(&stamp, 32, &view, &error), CREST_INVALID_ARGUMENT);
    assert_non_null(strstr(error.message, "40 bytes"));
    memcpy(bytes, &stamp, sizeof bytes);
    bytes[0] = 1;
    assert_int_equal(crest_stamp_read(bytes, 40, &view, &error), CREST_INVALID_ARGUMENT);
    assert_non_null(strstr(error.message, "32 bytes"));
    assert_int_equal(crest_misuse_value(CREST_MISUSE_STAMP) - misuse, 2);
    assert_int_equal(crest_stamp_read(bytes, 32, &view, &error), CREST_OK);
    assert_true(view.parent == 0);
    bytes[0] = 3;
    assert_int_equal(crest_stamp_read(bytes, 40, &view, &error), CREST_INVALID_ARGUMENT);
    assert_int_equal(crest_stamp_make_under(crest_op_none(), 1, &stamp, &error),
                     CREST_INVALID_ARGUMENT);
    memset(bytes, 0, sizeof bytes);
    assert_memory_equal(&stamp, bytes, sizeof stamp);
    crest_testing_clock_real();
}

/* The receiver's spans are below the sender's; a relay puts its own there. */
static void test_parent_followed(void **state)
{
    (void)state;
    unsigned char hash[32];
    memset(hash, 0xab, sizeof hash);
    crest_op op = crest_op_bytes(hash, sizeof hash);
    crest_stamp_parent stamp;
    crest_stamp_view view;
    crest_testing_clock_set_wall(STAMP_T0);
    assert_int_equal(crest_stamp_make_under(op, 5, &stamp, NULL), CREST_OK);
    assert_int_equal(crest_stamp_read(&stamp, sizeof stamp, &view, NULL), CREST_OK);
    crest_span_context context = crest_stamp_context(&view, op);
    crest_trace_id trace = crest_trace_id_of(op);
    assert_memory_equal(&context.trace, &trace, sizeof trace);
    assert_true(context.span == 5);
    assert_int_equal(context.remote, 1);
    context = crest_stamp_context(&view, crest_op_u64(7)); /* another operation */
    assert_false(crest_span_context_valid(&context));
    assert_int_equal(crest_stamp_relay_under(&view, NULL, UINT64_MAX, &stamp), CREST_OK);
    assert_int_equal(crest_stamp_read(&stamp, sizeof stamp, &view, NULL), CREST_OK);
    assert_int_equal(view.hops, 1);
    assert_true(view.parent == UINT64_MAX);
    crest_stamp first; /* to a peer that reads version 1 alone */
    assert_int_equal(crest_stamp_relay(&view, NULL, &first), CREST_OK);
    assert_int_equal(crest_stamp_read(&first, sizeof first, &view, NULL), CREST_OK);
    context = crest_stamp_context(&view, op);
    assert_false(crest_span_context_valid(&context));
    memset(&view, 0, sizeof view);
    assert_int_equal(crest_stamp_relay_under(&view, NULL, 5, &stamp), CREST_INVALID_ARGUMENT);
    assert_int_equal(stamp.bytes[0] | stamp.bytes[39], 0);
    crest_testing_clock_real();
}

static void test_unmakeable(void **state)
{
    (void)state;
    char text[40];
    memset(text, 'x', sizeof text);
    const struct {
        crest_op op;
        uint64_t wall_ns;
        const char *why;
    } bad[] = {
        {crest_op_none(), STAMP_T0, "no id"},
        {crest_op_bytes(text, 33), STAMP_T0, "more than 32 bytes"},
        {crest_op_u64(1), 0, "the time is none"},
        {crest_op_u64(1), CREST_WALL_NS_MIN - 1, "the time is none"},
        {crest_op_u64(1), CREST_WALL_NS_MAX + 1, "the time is none"},
        {{{1}, 8, 9}, STAMP_T0, "no id"},
    };
    crest_stamp stamp, zeros;
    crest_error error;
    memset(&zeros, 0, sizeof zeros);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        memset(&stamp, 1, sizeof stamp);
        assert_int_equal(crest_stamp_make_at(bad[i].op, bad[i].wall_ns, 0, &stamp, &error),
                         CREST_INVALID_ARGUMENT);
        assert_memory_equal(&stamp, &zeros, sizeof stamp);
        if (strstr(error.message, bad[i].why) == NULL)
            fail_msg("%zu: %s", i, error.message);
    }
    /* now, by the clock as it is */
    crest_stamp_view view;
    crest_testing_clock_set_wall(STAMP_T0 + 5);
    assert_int_equal(crest_stamp_make(crest_op_u64(3), &stamp, &error), CREST_OK);
    crest_testing_clock_real();
    assert_int_equal(crest_stamp_read(&stamp, sizeof stamp, &view, &error), CREST_OK);
    assert_true(view.origin_ns == STAMP_T0 + 5);
    assert_true(view.clock_error_ns == CREST_STAMP_UNKNOWN);
}

static crest_stamp_view stamp_view_of(crest_op op, uint64_t wall_ns, uint64_t error_ns)
{
    crest_stamp stamp;
    crest_stamp_view view;
    assert_int_equal(crest_stamp_make_at(op, wall_ns, error_ns, &stamp, NULL), CREST_OK);
    assert_int_equal(crest_stamp_read(&stamp, sizeof stamp, &view, NULL), CREST_OK);
    return view;
}

/* Without a peer clock the time stays, and nobody knows how wrong it is; 255 times at most. */
static void test_relayed_blindly(void **state)
{
    (void)state;
    crest_stamp stamp;
    crest_stamp_view view = stamp_view_of(crest_op_u64(1), STAMP_T0, 1000);
    crest_testing_clock_set_wall(STAMP_T0);
    for (unsigned hop = 1; hop <= CREST_STAMP_HOPS_MAX; hop++) {
        assert_int_equal(crest_stamp_relay(&view, NULL, &stamp), CREST_OK);
        assert_int_equal(crest_stamp_read(&stamp, sizeof stamp, &view, NULL), CREST_OK);
        assert_int_equal(view.hops, hop);
        assert_true(view.origin_ns == STAMP_T0);
        assert_true(view.path_error_ns == CREST_STAMP_UNKNOWN);
        assert_true(view.clock_error_ns == CREST_STAMP_UNKNOWN);
    }
    uint64_t misuse = crest_misuse_value(CREST_MISUSE_STAMP);
    assert_int_equal(crest_stamp_relay(&view, NULL, &stamp), CREST_LIMIT);
    assert_int_equal(stamp.bytes[0], 0);
    memset(&view, 0, sizeof view);
    assert_int_equal(crest_stamp_relay(&view, NULL, &stamp), CREST_INVALID_ARGUMENT);
    assert_int_equal(crest_misuse_value(CREST_MISUSE_STAMP) - misuse, 2);
    crest_testing_clock_real();
}

static void test_recording(void **state)
{
    (void)state;
    const uint64_t day_ns = CREST_STAMP_AGE_MAX_S * UINT64_C(1000000000);
    const struct {
        uint64_t received_ns;
        crest_outcome outcome;
        crest_op op;
        crest_status status;
    } cases[] = {
        {STAMP_T0 + 70, CREST_OUTCOME_OK, crest_op_u64(1), CREST_OK},
        {STAMP_T0 + 70, CREST_OUTCOME_ERROR, crest_op_u64(1), CREST_OK},
        {STAMP_T0, CREST_OUTCOME_OK, crest_op_u64(1), CREST_OK},
        {STAMP_T0 + 70, CREST_OUTCOME_OK, crest_op_u64(2), CREST_MISMATCH},
        {STAMP_T0 + 70, CREST_OUTCOME_OK, crest_op_none(), CREST_MISMATCH},
        {STAMP_T0 - 1, CREST_OUTCOME_OK, crest_op_u64(1), CREST_NEGATIVE},
        {STAMP_T0 + day_ns + 1, CREST_OUTCOME_OK, crest_op_u64(1), CREST_LIMIT},
        {STAMP_T0 - day_ns - 1, CREST_OUTCOME_OK, crest_op_u64(1), CREST_LIMIT},
        {STAMP_T0, CREST_OUTCOME_COUNT, crest_op_u64(1), CREST_INVALID_ARGUMENT},
        {0, CREST_OUTCOME_OK, crest_op_u64(1), CREST_INVALID_ARGUMENT},
    };
    crest_stamp_view view = stamp_view_of(crest_op_u64(1), STAMP_T0, 0), none;
    memset(&none, 0, sizeof none);
    crest_testing_mark *mark = crest_testing_mark_take(&stamp_metrics);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(crest_stamp_record_at(&propagation, cases[i].received_ns, &view, NULL,
                                               cases[i].outcome, &cases[i].op, NULL),
                         cases[i].status);
    assert_int_equal(crest_stamp_record(&propagation, &none, NULL, CREST_OUTCOME_OK, NULL, NULL),
                     CREST_INVALID_ARGUMENT);
    crest_error error;
    if (crest_testing_grew(mark, 2, &error, "casper.block-propagation-time", "outcome", "ok",
                           NULL) != CREST_OK ||
        crest_testing_grew(mark, 1, &error, "casper.block-propagation-time", "outcome", "error",
                           NULL) != CREST_OK)
        fail_msg("%s", error.message);
    crest_testing_mark_free(mark);
    /* the operation that the stamp itself names is found as the slowest */
    assert_int_equal(crest_testing_tick(&stamp_metrics), CREST_OK);
    view = stamp_view_of(crest_op_text("slow"), STAMP_T0, 0);
    assert_int_equal(crest_stamp_record_at(&propagation, STAMP_T0 + 1000000, &view, NULL,
                                           CREST_OUTCOME_OK, NULL, NULL),
                     CREST_OK);
    assert_int_equal(crest_testing_tick(&stamp_metrics), CREST_OK);
    crest_window window = crest_timer_window(&propagation, CREST_OUTCOME_OK, 60);
    crest_op slow = crest_op_text("slow");
    assert_true(crest_op_equal(&window.slowest, &slow));
    crest_ticker_detach(&stamp_metrics);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden),
        cmocka_unit_test(test_error_codes),
        cmocka_unit_test(test_bad),
        cmocka_unit_test(test_parent),
        cmocka_unit_test(test_parent_followed),
        cmocka_unit_test(test_unmakeable),
        cmocka_unit_test(test_relayed_blindly),
        cmocka_unit_test(test_recording),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
