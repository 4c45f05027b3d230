/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hashing of names and label values for in-process tables: fast, seeded once a process, not for
 * anything that outlives it.
 */
#ifndef CREST_BASE_HASH_H
#define CREST_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* From the kernel's random bytes of the process, so that label values sent by a peer cannot be
 * chosen to collide. Any thread, any handler. */
uint64_t crest_hash_seed(void);

/* Folds the high half of the product in: in the low half alone a difference of the highest bit
 * would stay where it is, whatever the seed, for a chosen next word to undo. */
static inline uint64_t crest_hash_mix(uint64_t hash, uint64_t word)
{
    __extension__ typedef unsigned __int128 wide;
    wide product = (wide)(hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t crest_hash_bytes(uint64_t hash, const void *bytes, size_t length)
{
    const char *from = bytes;
    hash = crest_hash_mix(hash, length);
    for (; length >= 8; length -= 8, from += 8) {
        uint64_t word;
        memcpy(&word, from, 8);
        hash = crest_hash_mix(hash, word);
    }
    uint64_t rest = 0;
    if (length != 0)
        memcpy(&rest, from, length);
    return crest_hash_mix(hash, rest);
}

static inline uint64_t crest_hash_text(uint64_t hash, const char *text)
{
    return crest_hash_bytes(hash, text, strlen(text));
}

#endif
