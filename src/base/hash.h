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
static inline uint64_t crest_hash_fold(uint64_t a, uint64_t b)
{
    __extension__ typedef unsigned __int128 wide;
    wide product = (wide)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t crest_hash_mix(uint64_t hash, uint64_t word)
{
    return crest_hash_fold(hash ^ word, UINT64_C(0x9e3779b97f4a7c15));
}

static inline uint64_t crest_hash_word(const char *from)
{
    uint64_t word;
    memcpy(&word, from, sizeof word);
    return word;
}

static inline uint64_t crest_hash_half(const char *from)
{
    uint32_t half;
    memcpy(&half, from, sizeof half);
    return half;
}

/* The last sixteen bytes of a text or, of a shorter one, all of them: one with the same length and
 * the same ends is the same. */
typedef struct crest_ends {
    uint64_t first, last;
} crest_ends;

/* Some bytes are there twice: that takes less than to go by the exact length. */
static inline crest_ends crest_ends_of(const char *text, size_t length)
{
    const char *end = text + length;
    if (length > 16)
        return (crest_ends){crest_hash_word(end - 16), crest_hash_word(end - 8)};
    if (length >= 8)
        return (crest_ends){crest_hash_word(text), crest_hash_word(end - 8)};
    if (length >= 4)
        return (crest_ends){crest_hash_half(text), crest_hash_half(end - 4)};
    if (length == 0)
        return (crest_ends){0, 0};
    return (crest_ends){(uint64_t)(unsigned char)text[length / 2] << 8 | (unsigned char)text[0],
                        (unsigned char)end[-1]};
}

/* Whether what is before the ends of two texts of this length is the same. */
static inline int crest_before_ends_same(const char *text, const char *other, size_t length)
{
    uint64_t differ = 0;
    for (size_t at = 0; at + 16 < length; at += 16)
        differ |= (crest_hash_word(text + at) ^ crest_hash_word(other + at)) |
                  (crest_hash_word(text + at + 8) ^ crest_hash_word(other + at + 8));
    return differ == 0;
}

/*
 * Takes more bytes into a hash: sixteen a multiplication, as wyhash does it
 * (github.com/wangyi-fudan/wyhash, public domain).
 *
 * Both factors depend on what the hash was, so that no text makes one of them zero. The length says
 * how far one of them is turned: added to a word, a text could be made to undo it, because the same
 * byte may stand in both ends, and so collide with a longer one under any seed.
 */
static inline uint64_t crest_hash_more(uint64_t hash, const char *text, size_t length,
                                       crest_ends ends)
{
    unsigned turn = (unsigned)(length + 32) % 64;
    uint64_t other = hash << turn | hash >> (-turn % 64);
    for (size_t at = 0; at + 16 < length; at += 16)
        hash = crest_hash_fold(crest_hash_word(text + at) ^ hash,
                               crest_hash_word(text + at + 8) ^ other);
    return crest_hash_fold(ends.first ^ hash, ends.last ^ other);
}

/* The hash of one text, or what `more` has come to, for a table to go by: each bit of it depends on
 * each bit of the bytes. */
static inline uint64_t crest_hash_done(uint64_t hash)
{
    return crest_hash_mix(hash, 0);
}

static inline uint64_t crest_hash_bytes(uint64_t hash, const void *bytes, size_t length)
{
    return crest_hash_done(crest_hash_more(hash, bytes, length, crest_ends_of(bytes, length)));
}

static inline uint64_t crest_hash_text(uint64_t hash, const char *text)
{
    return crest_hash_bytes(hash, text, strlen(text));
}

#endif
