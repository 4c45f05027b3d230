/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of unwinding from tables made by hand, byte by byte: what each operation of call frame
 * information does, expressions of PLTs and of aligned stacks, and tables that are cut or broken.
 */
#include "support/core_fixture.h"

#include "profiling/frame_expression.h"
#include "profiling/row_cache.h"
#include "profiling/stack_table.h"
#include "profiling/unwind_row.h"

/* Where the tables seem to lie. */
#define AT UINT64_C(0x400000)
#define CODE (AT + 0x1000)

typedef struct image {
    unsigned char bytes[512];
    size_t used;
} image;

static void put(image *to, const void *bytes, size_t length)
{
    memcpy(to->bytes + to->used, bytes, length);
    to->used += length;
}

static void put_u32(image *to, uint32_t value)
{
    put(to, &value, sizeof value);
}

/* A module with one function of 256 bytes at CODE, whose entry has these operations. The common
 * entry says CFA = rsp + 8, return address at CFA - 8. */
static image image_of(const void *operations, size_t length, const char *augmentation)
{
    static const unsigned char begin[] = {0x0c, 7, 8, 0x90, 1, 0, 0, 0};
    image made = {.used = 0};
    uint32_t common = 20, text = (uint32_t)strlen(augmentation) + 1;
    put(&made, "\x01\x1b\x03\x3b", 4);
    put_u32(&made, common - 4); /* .eh_frame, from here */
    put_u32(&made, 1);
    put_u32(&made, 0x1000);
    uint32_t entry = common + 4 + 4 + 1 + text + 3 + 2 + sizeof begin;
    put_u32(&made, entry);
    put_u32(&made, entry - common - 4);
    put_u32(&made, 0);
    put(&made, "\x01", 1);
    put(&made, augmentation, text);
    put(&made, "\x01\x78\x10\x01\x1b", 5); /* alignments 1 and -8, register 16, data: R = 0x1b */
    put(&made, begin, sizeof begin);
    assert_int_equal(made.used, entry);
    put_u32(&made, (uint32_t)(4 + 4 + 4 + 1 + length));
    put_u32(&made, (uint32_t)(made.used - common));
    put_u32(&made, (uint32_t)(CODE - (AT + made.used)));
    put_u32(&made, 256);
    put(&made, "\0", 1);
    put(&made, operations, length);
    return made;
}

static crest_unwind_row row_at(const image *tables, size_t bytes, uint64_t pc)
{
    crest_checked_memory memory = {AT, AT + bytes, (uint64_t)(uintptr_t)tables->bytes - AT, 0};
    crest_unwind_row row;
    crest_unwind_row_find(&memory, AT, AT, AT + bytes, pc, &row);
    return row;
}

#define ROW(pc, ...)                                                                               \
    row_of((const unsigned char[]){__VA_ARGS__}, sizeof((const unsigned char[]){__VA_ARGS__}), pc)

static crest_unwind_row row_of(const unsigned char *operations, size_t length, uint64_t pc)
{
    image made = image_of(operations, length, "zR");
    return row_at(&made, made.used, pc);
}

static void test_a_function_that_pushes(void **state)
{
    (void)state;
    /* push %rbp at 1, mov %rsp,%rbp at 4, push %rbx at 5, leave at 100 */
    static const unsigned char usual[] = {0x41, 0x0e, 16, 0x86, 2,    0x43, 0x0d, 6,    0x41, 0x83,
                                          3,    0x02, 95, 0x0a, 0x0c, 7,    8,    0xc6, 0x42, 0x0b};
    crest_unwind_row row = row_of(usual, sizeof usual, CODE);
    assert_int_equal(row.kind, CREST_UNWIND_CFA);
    assert_int_equal(row.base, CREST_REGISTER_RSP);
    assert_int_equal(row.offset, 8);
    assert_int_equal(row.saved[1], CREST_UNWIND_SAME);
    row = row_of(usual, sizeof usual, CODE + 1);
    assert_int_equal(row.offset, 16);
    assert_int_equal(row.saved[1], -2);
    row = row_of(usual, sizeof usual, CODE + 50);
    assert_int_equal(row.base, CREST_REGISTER_RBP);
    assert_int_equal(row.offset, 16);
    assert_int_equal(row.saved[0], -3);
    row = row_of(usual, sizeof usual, CODE + 100);
    assert_int_equal(row.base, CREST_REGISTER_RSP);
    assert_int_equal(row.offset, 8);
    assert_int_equal(row.saved[1], CREST_UNWIND_SAME);
    row = row_of(usual, sizeof usual, CODE + 102); /* what was remembered at 100 */
    assert_int_equal(row.base, CREST_REGISTER_RBP);
    assert_int_equal(row.saved[1], -2);
}

static void test_expressions(void **state)
{
    (void)state;
    /* of a PLT: rsp + 8 + ((rip & 15) >= 11) * 8 */
    crest_unwind_row row =
        ROW(CODE + 10, 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22);
    assert_int_equal(row.kind, CREST_UNWIND_CFA);
    assert_int_equal(row.offset, 8);
    row = ROW(CODE + 11, 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22);
    assert_int_equal(row.offset, 16);
    /* of OpenSSL: *(rsp - 8) + 8 */
    row = ROW(CODE, 0x0f, 5, 0x77, 0x78, 0x06, 0x23, 8);
    assert_int_equal(row.kind, CREST_UNWIND_DEREF);
    assert_int_equal(row.base, CREST_REGISTER_RSP);
    assert_int_equal(row.offset, -8);
    assert_int_equal(row.second, 8);
    /* of an aligned stack: *(rbp - 8), with r12 at rbp - 16 and rbp at rbp */
    row = ROW(CODE, 0x0f, 3, 0x76, 0x78, 0x06, 0x10, 12, 2, 0x76, 0x70, 0x10, 6, 2, 0x76, 0);
    assert_int_equal(row.kind, CREST_UNWIND_DEREF);
    assert_int_equal(row.saved[2], -2);
    assert_int_equal(row.saved[1], 0);
    assert_int_equal(row.by_base, 1u << 2 | 1u << 1);
    /* what is no register and a constant: two registers, a multiplied one, too few */
    assert_int_equal(ROW(CODE, 0x0f, 5, 0x77, 8, 0x76, 8, 0x22).kind, CREST_UNWIND_NONE);
    assert_int_equal(ROW(CODE, 0x0f, 4, 0x77, 8, 0x32, 0x1e).kind, CREST_UNWIND_NONE);
    assert_int_equal(ROW(CODE, 0x0f, 1, 0x22).kind, CREST_UNWIND_NONE);
}

static void test_ends_and_signals(void **state)
{
    (void)state;
    assert_int_equal(ROW(CODE, 0x07, 16).kind, CREST_UNWIND_END);
    assert_int_equal(ROW(CODE, 0x90, 2).kind, CREST_UNWIND_NONE); /* the address lies elsewhere */
    image made = image_of("", 0, "zRS");
    assert_int_equal(row_at(&made, made.used, CODE).kind, CREST_UNWIND_SIGNAL);
    crest_unwind_row row = ROW(CODE, 0x83, 2, 0x8c, 3, 0x07, 3, 0x08, 12, 0x09, 13, 0);
    assert_int_equal(row.saved[0], CREST_UNWIND_LOST);
    assert_int_equal(row.saved[2], CREST_UNWIND_SAME);
    assert_int_equal(row.saved[3], CREST_UNWIND_LOST);
}

static void test_what_is_not_there(void **state)
{
    (void)state;
    assert_int_equal(ROW(CODE - 1, 0).kind, CREST_UNWIND_NONE);
    assert_int_equal(ROW(CODE + 256, 0).kind, CREST_UNWIND_NONE);
    assert_int_equal(ROW(CODE + 255, 0).kind, CREST_UNWIND_CFA);
    assert_int_equal(ROW(CODE, 0x3f).kind, CREST_UNWIND_NONE);        /* no such operation */
    assert_int_equal(ROW(CODE, 0x0b).kind, CREST_UNWIND_NONE);        /* nothing remembered */
    assert_int_equal(ROW(CODE, 0x0e, 0x80).kind, CREST_UNWIND_NONE);  /* a number that is cut */
    assert_int_equal(ROW(CODE, 0x0c, 16, 8).kind, CREST_UNWIND_NONE); /* the CFA from rip */
}

static void test_cut_and_broken_tables(void **state)
{
    (void)state;
    image made = image_of("\x41\x0e\x10\x86\x02", 5, "zR");
    for (size_t bytes = 0; bytes < made.used; bytes++)
        assert_int_equal(row_at(&made, bytes, CODE + 1).kind, CREST_UNWIND_NONE);
    for (size_t at = 0; at < made.used; at++)
        for (int value = 0; value < 256; value++) {
            image broken = made;
            broken.bytes[at] = (unsigned char)value;
            crest_unwind_row row = row_at(&broken, broken.used, CODE + 1);
            assert_true(row.kind <= CREST_UNWIND_END && row.base < CREST_REGISTER_RIP);
        }
}

static void test_rows_are_remembered(void **state)
{
    crest_unwind_row row = {.kind = CREST_UNWIND_CFA, .offset = 24}, found;
    (void)state;
    assert_int_equal(crest_row_cache_get(CODE, 7, &found), 0);
    crest_row_cache_put(CODE, 7, &row);
    assert_int_equal(crest_row_cache_get(CODE, 7, &found), 1);
    assert_memory_equal(&row, &found, sizeof row);
    assert_int_equal(crest_row_cache_get(CODE, 8, &found), 0); /* other modules */
    assert_int_equal(crest_row_cache_get(CODE + 1, 7, &found), 0);
}

static void test_a_table_that_fills(void **state)
{
    (void)state;
    crest_stack_table *table = calloc(1, sizeof *table);
    uint64_t frames[4] = {1, 2, 3, 0};
    uint32_t first = crest_stack_table_add(table, frames, 4, 5, 2);
    assert_int_equal(crest_stack_table_add(table, frames, 4, 5, 3), first);
    assert_int_not_equal(crest_stack_table_add(table, frames, 4, 6, 1), first); /* another label */
    assert_int_not_equal(crest_stack_table_add(table, frames, 3, 5, 1), first);
    const uint64_t *there = NULL;
    assert_int_equal(crest_stack_table_frames(table, first, &there), 4);
    assert_memory_equal(there, frames, sizeof frames);
    assert_int_equal(table->entry[first].count, 5);
    uint64_t stored = 7, refused = 0;
    for (uint64_t i = 0; i < 2 * CREST_STACKS_MAX; i++) {
        frames[3] = i + 1;
        if (crest_stack_table_add(table, frames, 4, 5, 1) == CREST_STACK_REFUSED)
            refused++;
        else
            stored++;
    }
    uint64_t sum = 0;
    for (uint32_t i = 0; i < CREST_STACKS_MAX; i++)
        sum += table->entry[i].count;
    assert_int_equal(sum, stored);
    assert_true(refused >= CREST_STACKS_MAX && crest_stack_table_fills(table));
    crest_stack_table_clear(table);
    assert_int_equal(crest_stack_table_fills(table), 0);
    assert_int_equal(crest_stack_table_frames(table, first, &there), 0);
    free(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_function_that_pushes), cmocka_unit_test(test_expressions),
        cmocka_unit_test(test_ends_and_signals),       cmocka_unit_test(test_what_is_not_there),
        cmocka_unit_test(test_cut_and_broken_tables),  cmocka_unit_test(test_rows_are_remembered),
        cmocka_unit_test(test_a_table_that_fills),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
