/* SPDX-License-Identifier: Apache-2.0 */
/* See node_wire.h. */
#include "node_wire.h"

#include <stdlib.h>
#include <string.h>

#include "node_hash.h"

#define WIRE_DEPLOY_HEADER_BYTES 14

static uint8_t *wire_room(wire_out *out, size_t length)
{
    if (out->length + length > out->capacity) {
        out->capacity = (out->length + length) * 2 + 64;
        out->bytes = node_realloc(out->bytes, out->capacity);
    }
    out->length += length;
    return out->bytes + out->length - length;
}

static void wire_put_integer(wire_out *out, uint64_t value, size_t length)
{
    uint8_t *at = wire_room(out, length);
    for (size_t i = 0; i < length; i++)
        at[i] = (uint8_t)(value >> (8 * i));
}

void wire_put_u16(wire_out *out, uint16_t value)
{
    wire_put_integer(out, value, 2);
}

void wire_put_u32(wire_out *out, uint32_t value)
{
    wire_put_integer(out, value, 4);
}

void wire_put_u64(wire_out *out, uint64_t value)
{
    wire_put_integer(out, value, 8);
}

void wire_put_bytes(wire_out *out, const void *bytes, size_t length)
{
    if (length > 0)
        memcpy(wire_room(out, length), bytes, length);
}

void wire_out_free(wire_out *out)
{
    free(out->bytes);
    memset(out, 0, sizeof *out);
}

wire_in wire_read(const void *bytes, size_t length)
{
    const uint8_t *at = bytes;
    return (wire_in){at, at + length, false};
}

const uint8_t *wire_get_bytes(wire_in *in, size_t length)
{
    if (in->bad || (size_t)(in->end - in->at) < length) {
        in->bad = true;
        return NULL;
    }
    const uint8_t *bytes = in->at;
    in->at += length;
    return bytes;
}

static uint64_t wire_integer_at(const uint8_t *bytes, size_t length)
{
    uint64_t value = 0;
    for (size_t i = 0; i < length; i++)
        value |= (uint64_t)bytes[i] << (8 * i);
    return value;
}

static uint64_t wire_get_integer(wire_in *in, size_t length)
{
    const uint8_t *bytes = wire_get_bytes(in, length);
    return bytes != NULL ? wire_integer_at(bytes, length) : 0;
}

uint16_t wire_get_u16(wire_in *in)
{
    return (uint16_t)wire_get_integer(in, 2);
}

uint32_t wire_get_u32(wire_in *in)
{
    return (uint32_t)wire_get_integer(in, 4);
}

uint64_t wire_get_u64(wire_in *in)
{
    return wire_get_integer(in, 8);
}

bool wire_done(const wire_in *in)
{
    return !in->bad && in->at == in->end;
}

void wire_put_pong(wire_out *out, const wire_pong *pong)
{
    wire_put_u64(out, pong->nonce);
    wire_put_u64(out, pong->sent_ns);
    wire_put_u64(out, pong->come_ns);
    wire_put_u64(out, pong->answered_ns);
}

bool wire_get_pong(wire_in *in, wire_pong *pong)
{
    pong->nonce = wire_get_u64(in);
    pong->sent_ns = wire_get_u64(in);
    pong->come_ns = wire_get_u64(in);
    pong->answered_ns = wire_get_u64(in);
    return wire_done(in);
}

void wire_put_envelope(wire_out *out, const wire_envelope *envelope)
{
    wire_put_bytes(out, envelope->stamp, WIRE_STAMP_BYTES);
    wire_put_u64(out, envelope->truth_ns);
    wire_put_u64(out, envelope->apart_ns);
}

bool wire_get_envelope(wire_in *in, wire_envelope *envelope)
{
    envelope->stamp = wire_get_bytes(in, WIRE_STAMP_BYTES);
    envelope->truth_ns = wire_get_u64(in);
    envelope->apart_ns = wire_get_u64(in);
    return !in->bad;
}

void wire_put_have(wire_out *out, const wire_have *have)
{
    wire_put_bytes(out, have->hash, NODE_HASH_BYTES);
    wire_put_u64(out, have->come_ns);
    wire_put_u64(out, have->truth_ns);
    wire_put_u64(out, have->apart_ns);
}

bool wire_get_have(wire_in *in, wire_have *have)
{
    have->hash = wire_get_bytes(in, NODE_HASH_BYTES);
    have->come_ns = wire_get_u64(in);
    have->truth_ns = wire_get_u64(in);
    have->apart_ns = wire_get_u64(in);
    return wire_done(in);
}

void wire_put_deploy(wire_out *out, uint16_t origin, uint64_t sequence,
                     const wire_transfer *transfers, uint32_t count)
{
    size_t start = out->length;
    wire_put_u16(out, origin);
    wire_put_u64(out, sequence);
    wire_put_u32(out, count);
    for (uint32_t i = 0; i < count; i++) {
        wire_put_u16(out, transfers[i].from);
        wire_put_u16(out, transfers[i].to);
        wire_put_u32(out, transfers[i].amount);
    }
    uint8_t seal[NODE_HASH_BYTES];
    node_hash(out->bytes + start, out->length - start, seal);
    wire_put_bytes(out, seal, sizeof seal);
}

bool wire_get_deploy(wire_in *in, wire_deploy *deploy)
{
    const uint8_t *start = in->at;
    deploy->origin = wire_get_u16(in);
    deploy->sequence = wire_get_u64(in);
    deploy->count = wire_get_u32(in);
    if (in->bad || deploy->count > WIRE_TRANSFERS_MAX || deploy->origin >= NODE_COUNT_MAX) {
        in->bad = true;
        return false;
    }
    deploy->transfers = wire_get_bytes(in, (size_t)deploy->count * WIRE_TRANSFER_BYTES);
    deploy->seal = wire_get_bytes(in, NODE_HASH_BYTES);
    deploy->bytes = start;
    deploy->size = (size_t)(in->at - start);
    return !in->bad;
}

wire_transfer wire_deploy_transfer(const wire_deploy *deploy, uint32_t which)
{
    const uint8_t *at = deploy->transfers + (size_t)which * WIRE_TRANSFER_BYTES;
    return (wire_transfer){(uint16_t)wire_integer_at(at, 2), (uint16_t)wire_integer_at(at + 2, 2),
                           (uint32_t)wire_integer_at(at + 4, 4)};
}

bool wire_deploy_seal_holds(const wire_deploy *deploy)
{
    uint8_t seal[NODE_HASH_BYTES];
    node_hash(deploy->bytes, WIRE_DEPLOY_HEADER_BYTES + (size_t)deploy->count * WIRE_TRANSFER_BYTES,
              seal);
    return memcmp(seal, deploy->seal, sizeof seal) == 0;
}

void wire_put_block(wire_out *out, const wire_block *block)
{
    wire_put_u64(out, block->slot);
    wire_put_u32(out, block->height);
    wire_put_u16(out, block->proposer);
    wire_put_bytes(out, block->parent, NODE_HASH_BYTES);
    wire_put_bytes(out, block->state, NODE_HASH_BYTES);
    wire_put_u32(out, block->count);
}

bool wire_get_block(wire_in *in, wire_block *block)
{
    block->slot = wire_get_u64(in);
    block->height = wire_get_u32(in);
    block->proposer = wire_get_u16(in);
    const uint8_t *parent = wire_get_bytes(in, NODE_HASH_BYTES);
    const uint8_t *state = wire_get_bytes(in, NODE_HASH_BYTES);
    block->count = wire_get_u32(in);
    if (in->bad || block->count > WIRE_DEPLOYS_MAX) {
        in->bad = true;
        return false;
    }
    memcpy(block->parent, parent, NODE_HASH_BYTES);
    memcpy(block->state, state, NODE_HASH_BYTES);
    return true;
}
