/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pseudo-random numbers, the same in each run, so that a failure can be reproduced. The caller
 * keeps the state; any seed is good.
 *
 *     uint64_t seed = 1;
 *     unsigned die = random_next(&seed) % 6;
 */
#ifndef CREST_TESTS_RANDOM_NUMBERS_H
#define CREST_TESTS_RANDOM_NUMBERS_H

#include <stdint.h>

/* A step of a linear congruential generator. The high bits of its result are good, the low bits are
 * not. Source: Knuth, MMIX. */
static inline uint64_t random_step(uint64_t state)
{
    return state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
}

/* The next number, all bits of which are good. Source of the mixing: Steele, Lea, Flood, "Fast
 * splittable pseudorandom number generators" (OOPSLA 2014). */
static inline uint64_t random_next(uint64_t *seed)
{
    uint64_t z = *seed = random_step(*seed);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

#endif
