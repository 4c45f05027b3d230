/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arena.h: zeroed, aligned, apart from each other; what fork copies and what it zeroes; failing as
 * told.
 */
#include "base/arena.h"
#include "support/core_fixture.h"
#include "base/lock.h"

#include <sys/wait.h>

static void *take(crest_arena_kind kind, size_t bytes, size_t align)
{
    crest_lock_saved saved;
    crest_lock_take(&saved);
    void *memory = crest_arena_take(kind, bytes, align);
    crest_lock_drop(&saved);
    return memory;
}

static void test_aligned_and_zeroed(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 7, 8, 63, 64, 65, 4095, 4096, 4097, 100000, 1 << 20, 3 << 20};
    unsigned char *last = NULL;
    size_t last_bytes = 0;
    for (int kind = 0; kind < CREST_ARENA_KINDS; kind++)
        for (size_t i = 0; i < LENGTH(sizes); i++)
            for (size_t align = 1; align <= 4096; align *= 4) {
                uint64_t used = crest_arena_used((crest_arena_kind)kind);
                unsigned char *memory = take((crest_arena_kind)kind, sizes[i], align);
                assert_non_null(memory);
                assert_int_equal((uintptr_t)memory % align, 0);
                assert_true(crest_arena_used((crest_arena_kind)kind) >= used + sizes[i]);
                assert_true(crest_arena_mapped((crest_arena_kind)kind) >=
                            crest_arena_used((crest_arena_kind)kind));
                for (size_t at = 0; at<sizes[i]; at += sizes[i]> 5000 ? 997 : 1)
                    assert_int_equal(memory[at], 0);
                memset(memory, 0xee, sizes[i]);
                if (last != NULL) /* what was taken before is as it was */
                    assert_true(last[0] == 0xee && last[last_bytes - 1] == 0xee);
                last = memory;
                last_bytes = sizes[i];
            }
    assert_null(take(CREST_ARENA_META, SIZE_MAX, 1));
    assert_null(take(CREST_ARENA_META, SIZE_MAX / 2, 64));
}

static void test_copy(void **state)
{
    (void)state;
    crest_lock_saved saved;
    crest_lock_take(&saved);
    char *copy = crest_arena_copy("text and more", 4), *none = crest_arena_copy("", 0);
    crest_lock_drop(&saved);
    assert_string_equal(copy, "text");
    assert_string_equal(none, "");
    assert_ptr_not_equal(copy, none);
}

static void test_fork(void **state)
{
    (void)state;
    char *meta = take(CREST_ARENA_META, 100, 1);
    uint64_t *cell = take(CREST_ARENA_CELLS, 64, 64), *big = take(CREST_ARENA_CELLS, 5 << 20, 64);
    strcpy(meta, "described");
    *cell = 7;
    big[0] = big[(5 << 20) / 8 - 1] = 8;
    pid_t child = fork();
    if (child == 0) {
        int fine = strcmp(meta, "described") == 0 && *cell == 0 && big[0] == 0 &&
                   big[(5 << 20) / 8 - 1] == 0;
        uint64_t *more = take(CREST_ARENA_CELLS, 64, 64);
        fine &= more != NULL && more != cell && *more == 0;
        *cell = 1;
        _exit(fine ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(*cell, 7);
    assert_int_equal(big[0], 8);
}

static void test_failing(void **state)
{
    (void)state;
    crest_arena_fail_after(3);
    assert_non_null(take(CREST_ARENA_META, 8, 8));
    assert_non_null(take(CREST_ARENA_CELLS, 8, 8));
    for (int i = 0; i < 3; i++) {
        assert_null(take(CREST_ARENA_META, 8, 8));
        assert_null(take(CREST_ARENA_CELLS, 8, 8));
    }
    crest_arena_fail_after(0);
    assert_non_null(take(CREST_ARENA_META, 8, 8));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_aligned_and_zeroed),
        cmocka_unit_test(test_copy),
        cmocka_unit_test(test_fork),
        cmocka_unit_test(test_failing),
    };
    return cmocka_run_group_tests_name("arena", tests, NULL, NULL);
}
