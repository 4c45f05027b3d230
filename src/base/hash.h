/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hashing of names and label values for in-process tables: fast, seeded once per process. Not for
 * anything that outlives the process.
 */
#ifndef CREST_BASE_HASH_H
#define CREST_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Drawn from the kernel's random bytes of the process, so that a peer cannot choose label values
 * that collide. Any thread, any handler. */
uint64_t crest_hash_seed(void);

/* Folds the high half of the product into the low half. In the low half alone a difference in the
 * highest bit would stay where it is under any seed, and a chosen next word could undo it. */
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

/* The last sixteen bytes of a text, or all bytes of a shorter one. Two texts of up to 16 bytes with
 * the same length and ends are equal. */
typedef struct crest_ends {
    uint64_t first, last;
} crest_ends;

/* Short texts load some bytes twice: cheaper than branching on the exact length. */
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

/* Whether two texts of this length are the same in front of their ends. */
static inline int crest_before_ends_same(const char *text, const char *other, size_t length)
{
    uint64_t differ = 0;
    for (size_t at = 0; at + 16 < length; at += 16)
        differ |= (crest_hash_word(text + at) ^ crest_hash_word(other + at)) |
                  (crest_hash_word(text + at + 8) ^ crest_hash_word(other + at + 8));
    return differ == 0;
}

/*
 * Takes more bytes into a hash: sixteen per multiplication, as wyhash does it
 * (github.com/wangyi-fudan/wyhash, public domain).
 *
 * Both factors depend on the hash so far, so no text makes one of them zero. One factor is rotated
 * by the length. Adding the length to a word instead could be undone by a text: the same byte may
 * stand in both ends, and a longer text would collide with it under any seed.
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

/* Finishes the hash of one text, or of several taken in by `more`, for use as a table's index: each
 * of its bits depends on each bit of the input. */
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
