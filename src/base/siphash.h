/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SipHash-2-4 with 128 bits of output, under a key drawn once per process. It stands for identities
 * longer than Crest keeps: a peer that chooses identities must not be able to make two collide.
 *
 * Source: J.-P. Aumasson, D. J. Bernstein, "SipHash: a fast short-input PRF", 2012, and its 128-bit
 * variant.
 */
#ifndef CREST_BASE_SIPHASH_H
#define CREST_BASE_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

typedef struct crest_siphash {
    uint64_t v[4];
    uint64_t word;  /* bytes not yet mixed in */
    uint64_t bytes; /* seen so far */
} crest_siphash;

void crest_siphash_begin(crest_siphash *hash);
void crest_siphash_byte(crest_siphash *hash, unsigned char byte);
void crest_siphash_end(crest_siphash *hash, uint64_t out[2]);

/* All at once. */
void crest_siphash128(const void *bytes, size_t length, uint64_t out[2]);

/* Begins a hash that every process makes alike, of ids that travel: under the public key "crest
 * wire stamp". A peer that chooses the bytes can make two of one hash. */
void crest_siphash_begin_public(crest_siphash *hash);

/* Ends it: its 16 bytes, as its authors print them. */
void crest_siphash_end_bytes(crest_siphash *hash, unsigned char digest[16]);

/* For tests against published vectors: under this key instead of the process's. */
void crest_siphash_begin_key(crest_siphash *hash, uint64_t k0, uint64_t k1);

#endif
