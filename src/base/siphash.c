/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SipHash-2-4-128. See siphash.h.
 */
#include "base/siphash.h"

#include <string.h>
#include <sys/auxv.h>

static inline uint64_t siphash_rotate(uint64_t x, int bits)
{
    return x << bits | x >> (64 - bits);
}

static void siphash_rounds(uint64_t v[4], int rounds)
{
    while (rounds-- > 0) {
        v[0] += v[1];
        v[1] = siphash_rotate(v[1], 13) ^ v[0];
        v[0] = siphash_rotate(v[0], 32);
        v[2] += v[3];
        v[3] = siphash_rotate(v[3], 16) ^ v[2];
        v[0] += v[3];
        v[3] = siphash_rotate(v[3], 21) ^ v[0];
        v[2] += v[1];
        v[1] = siphash_rotate(v[1], 17) ^ v[2];
        v[2] = siphash_rotate(v[2], 32);
    }
}

static void siphash_word(crest_siphash *hash, uint64_t word)
{
    hash->v[3] ^= word;
    siphash_rounds(hash->v, 2);
    hash->v[0] ^= word;
}

void crest_siphash_begin_key(crest_siphash *hash, uint64_t k0, uint64_t k1)
{
    *hash = (crest_siphash){
        .v = {k0 ^ UINT64_C(0x736f6d6570736575), k1 ^ UINT64_C(0x646f72616e646f6d) ^ 0xee,
              k0 ^ UINT64_C(0x6c7967656e657261), k1 ^ UINT64_C(0x7465646279746573)}};
}

void crest_siphash_begin(crest_siphash *hash)
{
    /* the kernel's 16 random bytes of this process; read each time, so there is no shared state to
     * race on */
    uint64_t key[2] = {0, 0};
    const void *random = (const void *)getauxval(AT_RANDOM);
    if (random != NULL)
        memcpy(key, random, sizeof key);
    crest_siphash_begin_key(hash, key[0], key[1]);
}

void crest_siphash_begin_public(crest_siphash *hash)
{
    /* "crest wire stamp", little-endian */
    crest_siphash_begin_key(hash, UINT64_C(0x6977207473657263), UINT64_C(0x706d617473206572));
}

void crest_siphash_byte(crest_siphash *hash, unsigned char byte)
{
    hash->word |= (uint64_t)byte << (hash->bytes % 8 * 8);
    if (++hash->bytes % 8 == 0) {
        siphash_word(hash, hash->word);
        hash->word = 0;
    }
}

void crest_siphash_end(crest_siphash *hash, uint64_t out[2])
{
    siphash_word(hash, hash->word | hash->bytes << 56);
    hash->v[2] ^= 0xee;
    siphash_rounds(hash->v, 4);
    out[0] = hash->v[0] ^ hash->v[1] ^ hash->v[2] ^ hash->v[3];
    hash->v[1] ^= 0xdd;
    siphash_rounds(hash->v, 4);
    out[1] = hash->v[0] ^ hash->v[1] ^ hash->v[2] ^ hash->v[3];
}

void crest_siphash_end_bytes(crest_siphash *hash, unsigned char digest[16])
{
    uint64_t out[2];
    crest_siphash_end(hash, out);
    for (int i = 0; i < 16; i++)
        digest[i] = (unsigned char)(out[i / 8] >> (i % 8 * 8));
}

void crest_siphash128(const void *bytes, size_t length, uint64_t out[2])
{
    crest_siphash hash;
    crest_siphash_begin(&hash);
    const unsigned char *at = bytes;
    for (size_t i = 0; i < length; i++)
        crest_siphash_byte(&hash, at[i]);
    crest_siphash_end(&hash, out);
}
