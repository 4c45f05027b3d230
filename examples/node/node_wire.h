/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How things look on the wire and in the store: little-endian integers, and the encodings of
 * deploys, blocks and votes. Reading never goes past the end: a reader that meets the end early
 * turns bad and gives zeros, and the caller asks once, at the end.
 *
 * A frame is {u32 length of what follows, u8 type, payload}.
 */
#ifndef NODE_WIRE_H
#define NODE_WIRE_H

#include <stdbool.h>

#include "node_base.h"

#define WIRE_HEADER_BYTES 5
/* Largest frame, its four length bytes left out. */
#define WIRE_FRAME_BYTES_MAX (1u << 20)
#define WIRE_MAGIC 0x32485243u /* "CRH2" */
#define WIRE_NOTE_BYTES 1024

typedef enum wire_type {
    WIRE_HELLO = 1, /* u32 magic, u16 index, u16 nodes */
    WIRE_PING,      /* u64 nonce, u64 wall clock when it was sent */
    WIRE_PONG,      /* wire_pong */
    WIRE_BURST,     /* u32 notes to send back */
    WIRE_DEPLOY,    /* wire_deploy */
    WIRE_BLOCK, /* wire_envelope, then a wire_block, from its proposer and as soon as it is made */
    WIRE_VOTE,  /* 32 hash, u16 voter */
    WIRE_HAVE,  /* wire_have: to the proposer, as soon as its block has come */
    WIRE_REQUEST, /* 32 hash of a block that is missing */
    WIRE_ANSWER,  /* wire_block, because it was asked for: however old it may be */
    WIRE_NOTE,    /* u32 which, u32 of how many, filling up to WIRE_NOTE_BYTES */
    WIRE_TYPE_COUNT
} wire_type;

/* ---- writing ---- */

typedef struct wire_out {
    uint8_t *bytes;
    size_t length, capacity;
} wire_out;

void wire_put_u16(wire_out *out, uint16_t value);
void wire_put_u32(wire_out *out, uint32_t value);
void wire_put_u64(wire_out *out, uint64_t value);
void wire_put_bytes(wire_out *out, const void *bytes, size_t length);
void wire_out_free(wire_out *out);

/* ---- reading ---- */

typedef struct wire_in {
    const uint8_t *at, *end;
    bool bad;
} wire_in;

wire_in wire_read(const void *bytes, size_t length);
uint16_t wire_get_u16(wire_in *in);
uint32_t wire_get_u32(wire_in *in);
uint64_t wire_get_u64(wire_in *in);
/* The next bytes, borrowed; NULL, and bad, when there are fewer. */
const uint8_t *wire_get_bytes(wire_in *in, size_t length);
/* All read and nothing missing. */
bool wire_done(const wire_in *in);

/* ---- times: nanoseconds of the sender's wall clock, since 1970 ---- */

typedef struct wire_pong {
    uint64_t nonce, sent_ns;       /* as they stand in the ping */
    uint64_t come_ns, answered_ns; /* by the clock of the peer that answers */
} wire_pong;

void wire_put_pong(wire_out *out, const wire_pong *pong);
/* Nothing may follow. */
bool wire_get_pong(wire_in *in, wire_pong *pong);

/*
 * What goes ahead of a block and is not part of it, nor of its hash: a stamp (<crest/stamp.h>), and
 * the truth to compare with, CLOCK_MONOTONIC of the proposer. That is the same clock for all nodes
 * as long as they run on one machine; a real network has no such clock.
 */
#define WIRE_STAMP_BYTES 32

typedef struct wire_envelope {
    const uint8_t *stamp; /* WIRE_STAMP_BYTES, borrowed */
    uint64_t truth_ns, apart_ns; /* how far the stamp's time may be from it */
} wire_envelope;

void wire_put_envelope(wire_out *out, const wire_envelope *envelope);
/* Leaves the reader at the block. */
bool wire_get_envelope(wire_in *in, wire_envelope *envelope);

/* "I had your block at this time." */
typedef struct wire_have {
    const uint8_t *hash; /* NODE_HASH_BYTES, borrowed */
    uint64_t come_ns, truth_ns, apart_ns; /* how far one may be from the other */
} wire_have;

void wire_put_have(wire_out *out, const wire_have *have);
/* Nothing may follow. */
bool wire_get_have(wire_in *in, wire_have *have);

/* ---- a deploy: its deployer, its number there, its transfers, and a seal over all that ---- */

#define WIRE_TRANSFERS_MAX 1000u
#define WIRE_TRANSFER_BYTES 8

typedef struct wire_transfer {
    uint16_t from, to;
    uint32_t amount;
} wire_transfer;

typedef struct wire_deploy {
    uint16_t origin;
    uint64_t sequence;
    uint32_t count;
    const uint8_t *transfers; /* borrowed; read with wire_deploy_transfer */
    const uint8_t *seal;      /* borrowed; SHA-256 of what comes before it */
    const uint8_t *bytes;
    size_t size; /* borrowed; the whole encoding */
} wire_deploy;

void wire_put_deploy(wire_out *out, uint16_t origin, uint64_t sequence,
                     const wire_transfer *transfers, uint32_t count);
/* False when it is malformed; the seal is not looked at. */
bool wire_get_deploy(wire_in *in, wire_deploy *deploy);
wire_transfer wire_deploy_transfer(const wire_deploy *deploy, uint32_t which);
bool wire_deploy_seal_holds(const wire_deploy *deploy);

/* ---- a block: header, then deploys one after the other; its hash is that of its encoding ---- */

#define WIRE_DEPLOYS_MAX 2000u

typedef struct wire_block {
    uint64_t slot;
    uint32_t height;
    uint16_t proposer;
    uint8_t parent[NODE_HASH_BYTES];
    uint8_t state[NODE_HASH_BYTES]; /* digest of the balances after it */
    uint32_t count;
} wire_block;

void wire_put_block(wire_out *out, const wire_block *block);
/* Leaves the reader at the first deploy. */
bool wire_get_block(wire_in *in, wire_block *block);

#endif
