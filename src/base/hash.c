/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The seed of hash.h.
 */
#include "base/hash.h"
#include "base/atomic.h"

#include <sys/auxv.h>

static uint64_t hash_seed; /* 0: not read yet; every thread computes the same */

uint64_t crest_hash_seed(void)
{
    uint64_t seed = crest_atomic_load(&hash_seed);
    if (seed != 0)
        return seed;
    const void *random = (const void *)getauxval(AT_RANDOM); /* 16 bytes, lasting */
    if (random != NULL)
        memcpy(&seed, random, sizeof seed);
    seed ^= UINT64_C(0x63726573742d3031);
    crest_atomic_store(&hash_seed, seed);
    return seed;
}
