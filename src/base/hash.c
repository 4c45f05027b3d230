/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The seed of hash.h.
 */
#include "hash.h"

#include <sys/auxv.h>

uint64_t crest_hash_seed(void)
{
    uint64_t seed = 0;
    const void *random = (const void *)getauxval(AT_RANDOM); /* 16 bytes, lasting */
    if (random != NULL)
        memcpy(&seed, random, sizeof seed);
    return seed ^ UINT64_C(0x63726573742d3031);
}
