/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread_arena.h: pieces apart from each other and zeroed, how much is taken ahead, what has been
 * given back first, large ones, and no memory.
 */
#include "base/arena.h"
#include "support/core_fixture.h"
#include "base/lock.h"
#include "cells/thread_arena.h"

#include <sys/mman.h>

static uint64_t reserve_left(const crest_reserve *reserve)
{
    return reserve->end - reserve->next;
}

static void test_pieces(void **state)
{
    (void)state;
    static const size_t sizes[] = {sizeof(uint64_t), 64, 65, 544, 1024, CREST_RESERVE_PIECE_MAX};
    static unsigned char *pieces[3000];
    crest_reserve reserve = {0, 0, 0, 0};
    uint64_t used = crest_arena_used(CREST_ARENA_CELLS), asked = 0;
    for (size_t i = 0; i < LENGTH(pieces); i++) {
        size_t bytes = sizes[i % LENGTH(sizes)];
        pieces[i] = crest_reserve_take(&reserve, CREST_ARENA_COUNTS, bytes);
        assert_non_null(pieces[i]);
        assert_int_equal((uintptr_t)pieces[i] % CREST_LINE_BYTES, 0);
        for (size_t at = 0; at < bytes; at++)
            assert_int_equal(pieces[i][at], 0);
        memset(pieces[i], (int)(i % 255 + 1), bytes);
        asked += (bytes + CREST_LINE_BYTES - 1) / CREST_LINE_BYTES * CREST_LINE_BYTES;
        /* the bound of docs/limits.md: a quarter of what there was, within the two limits */
        uint64_t ahead = asked / 4 < CREST_RESERVE_BYTES_MIN ? CREST_RESERVE_BYTES_MIN : asked / 4;
        assert_true(reserve_left(&reserve) <= ahead);
        assert_true(reserve_left(&reserve) <= CREST_RESERVE_BYTES_MAX);
    }
    for (size_t i = 0; i < LENGTH(pieces); i++)
        for (size_t at = 0; at < sizes[i % LENGTH(sizes)]; at++)
            assert_int_equal(pieces[i][at], i % 255 + 1);
    assert_true(asked > 8 * CREST_RESERVE_BYTES_MAX);
    /* of a stretch no more is left over than is too little for a piece, where a region ends */
    uint64_t taken = crest_arena_used(CREST_ARENA_CELLS) - used;
    uint64_t regions = taken / (UINT64_C(1) << 20) + 1;
    assert_in_range(taken - asked - reserve_left(&reserve), 0, regions * CREST_RESERVE_PIECE_MAX);
    assert_int_equal(taken, reserve.taken);
}

static void test_resident(void **state)
{
    (void)state;
    crest_reserve reserve = {0, 0, 0, 0};
    unsigned char there[CREST_RESERVE_BYTES_MAX / 4096 + 1];
    char *more;
    /* whether the system has it at all */
    void *probe = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int asks = madvise(probe, 4096, 23) == 0;
    munmap(probe, 4096);
    while (reserve_left(&reserve) < CREST_RESERVE_BYTES_MAX - CREST_RESERVE_PIECE_MAX)
        assert_non_null(crest_reserve_take(&reserve, CREST_ARENA_COUNTS, 1024));
    more = (char *)(uintptr_t)((reserve.next + 4095) & ~UINT64_C(4095));
    size_t pages = (reserve.end - (uintptr_t)more) / 4096, resident = 0;
    assert_int_equal(mincore(more, pages * 4096, there), 0);
    for (size_t i = 0; i < pages; i++)
        resident += there[i] & 1;
    print_message("%zu of %zu pages are there\n", resident, pages);
    assert_int_equal(resident, asks ? pages : 0);
}

static void test_given_back(void **state)
{
    (void)state;
    crest_reserve reserve = {0, 0, 0, 0};
    enum { BYTES = 7 * CREST_LINE_BYTES };
    unsigned char *piece = crest_reserve_take(&reserve, CREST_ARENA_COUNTS, BYTES);
    assert_non_null(piece);
    piece[3] = 1;
    crest_reserve_give(CREST_ARENA_COUNTS, piece, BYTES);
    /* whoever wants as many bytes is to ask the arena, which has them */
    assert_null(crest_reserve_take(&reserve, CREST_ARENA_COUNTS, BYTES));
    assert_non_null(crest_reserve_take(&reserve, CREST_ARENA_COUNTS, BYTES + 1));
    crest_lock_saved saved;
    crest_lock_take(&saved);
    unsigned char *again = crest_arena_take_again(CREST_ARENA_COUNTS, BYTES);
    crest_lock_drop(&saved);
    assert_ptr_equal(again, piece);
    assert_int_equal(again[3], 0);
    assert_non_null(crest_reserve_take(&reserve, CREST_ARENA_COUNTS, BYTES));
}

static void test_large(void **state)
{
    (void)state;
    crest_reserve reserve = {0, 0, 0, 0};
    assert_null(crest_reserve_take(&reserve, CREST_ARENA_COUNTS, CREST_RESERVE_PIECE_MAX + 1));
    assert_int_equal(reserve.taken, 0);
}

static void test_no_memory(void **state)
{
    (void)state;
    crest_reserve reserve = {0, 0, 0, 0};
    crest_arena_fail_after(1);
    assert_null(crest_reserve_take(&reserve, CREST_ARENA_COUNTS, 1024));
    crest_arena_fail_after(0);
    assert_non_null(crest_reserve_take(&reserve, CREST_ARENA_COUNTS, 1024));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces),     cmocka_unit_test(test_resident),
        cmocka_unit_test(test_given_back), cmocka_unit_test(test_large),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests_name("reserves", tests, NULL, NULL);
}
