/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hash.h: spreads, and cannot be made to collide without knowing the seed.
 */
#include "support/core_fixture.h"
#include "base/hash.h"
#include "support/random_numbers.h"

/* The next of some seeds, such as a process draws. */
static uint64_t next_seed(uint64_t seed)
{
    return random_step(seed);
}

static void test_lengths(void **state)
{
    (void)state;
    static const char zeros[200];
    uint64_t seed = crest_hash_seed();
    for (int round = 0; round < 20; round++, seed = next_seed(seed))
        for (size_t a = 0; a < sizeof zeros; a++)
            for (size_t b = 0; b < a; b++)
                assert_int_not_equal(crest_hash_bytes(seed, zeros, a),
                                     crest_hash_bytes(seed, zeros, b));
    assert_int_equal(crest_hash_text(7, "abc"), crest_hash_bytes(7, "abc", 3));
    assert_int_not_equal(crest_hash_text(7, "abc"), crest_hash_text(8, "abc"));
    assert_int_equal(crest_hash_seed(), crest_hash_seed());
}

/* Texts of which the ends are the same words but for what the lengths differ by: were the length
 * added to a word, they would collide under every seed. */
static void test_lengths_are_not_undone(void **state)
{
    (void)state;
    uint64_t seed = crest_hash_seed();
    for (int round = 0; round < 200; round++, seed = next_seed(seed))
        for (size_t a = 9; a <= 16; a++)
            for (size_t b = 9; b < a; b++) {
                char one[17] = "pppppppppppppppp", other[17] = "pppppppppppppppp";
                other[0] = (char)('p' ^ a ^ b);
                assert_int_not_equal(crest_hash_bytes(seed, one, a),
                                     crest_hash_bytes(seed, other, b));
            }
}

/* Each byte counts, wherever it stands and however long the text is. */
static void test_each_byte_counts(void **state)
{
    (void)state;
    char text[80], other[80];
    for (size_t length = 1; length < sizeof text; length++)
        for (size_t at = 0; at < length; at++) {
            memset(text, 'a', sizeof text);
            memcpy(other, text, sizeof text);
            other[at] = 'b';
            assert_int_not_equal(crest_hash_bytes(crest_hash_seed(), text, length),
                                 crest_hash_bytes(crest_hash_seed(), other, length));
            crest_ends a = crest_ends_of(text, length), b = crest_ends_of(other, length);
            int same = a.first == b.first && a.last == b.last &&
                       crest_before_ends_same(text, other, length);
            assert_int_equal(same, 0);
            other[at] = 'a';
            if (length < sizeof text)
                other[length] = 'b'; /* beyond it nothing does */
            b = crest_ends_of(other, length);
            assert_true(a.first == b.first && a.last == b.last &&
                        crest_before_ends_same(text, other, length));
        }
}

/* Two texts that differ in few bits of two neighbouring words: under no seed do they collide more
 * often than by chance. A multiplication alone keeps the highest bit's difference whatever the
 * seed, and the next word can undo it. */
static void test_differences_are_not_undone(void **state)
{
    (void)state;
    uint64_t seed = crest_hash_seed();
    for (int round = 0; round < 200; round++) {
        seed = next_seed(seed);
        for (unsigned shift = 1; shift < 64; shift++) {
            uint64_t a[2] = {seed, ~seed}, b[2];
            b[0] = a[0] ^ UINT64_C(1) << 63;
            b[1] = a[1] ^ UINT64_C(1) << 63 ^ UINT64_C(1) << (63 - shift);
            assert_int_not_equal(crest_hash_bytes(seed, a, sizeof a),
                                 crest_hash_bytes(seed, b, sizeof b));
        }
    }
}

/* Names as they come fall evenly into the low bits, which tables go by. */
static void test_spread(void **state)
{
    (void)state;
    enum { NAMES = 1 << 14, PLACES = 1 << 10 };
    static unsigned place[PLACES];
    for (unsigned i = 0; i < NAMES; i++) {
        char name[32];
        snprintf(name, sizeof name, "peer-10.0.%u.%u", i >> 8, i & 255);
        place[crest_hash_text(crest_hash_seed(), name) % PLACES]++;
    }
    for (unsigned i = 0; i < PLACES; i++)
        assert_in_range(place[i], 1, 48); /* 16 on average */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lengths),          cmocka_unit_test(test_lengths_are_not_undone),
        cmocka_unit_test(test_each_byte_counts), cmocka_unit_test(test_differences_are_not_undone),
        cmocka_unit_test(test_spread),
    };
    return cmocka_run_group_tests_name("hash", tests, NULL, NULL);
}
