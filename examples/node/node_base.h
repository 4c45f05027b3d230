/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every part of the node needs: the two clocks, memory, whose lack ends the process,
 * and one way to speak to the operator. Nothing here knows Crest.
 */
#ifndef NODE_BASE_H
#define NODE_BASE_H

#include <stddef.h>
#include <stdint.h>

/* Nodes of one network; a vote is a bit of a 64-bit word, a `peer` label has this many values. */
#define NODE_COUNT_MAX 16
#define NODE_HASH_BYTES 32
#define NODE_HEX_BYTES (2 * NODE_HASH_BYTES + 1)

#define NODE_NS_PER_MS UINT64_C(1000000)
#define NODE_NS_PER_S UINT64_C(1000000000)

/* Nanoseconds of CLOCK_MONOTONIC: what the node's own plain totals are measured with. */
uint64_t node_now_ns(void);

/* Milliseconds since 1970: slots are counted on it, so that all nodes agree whose turn it is. */
uint64_t node_wall_ms(void);

/* malloc, calloc, realloc and strdup that end the process with a message when there is no memory:
 * an example has nothing better to do. */
void *node_alloc(size_t size);
void *node_alloc_zero(size_t count, size_t size);
void *node_realloc(void *memory, size_t size);

/* "node-3: text" on stderr, one write a line. */
void node_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The name that node_say puts in front, and the exit report and labels use. */
void node_set_name(const char *name);
const char *node_name(void);

/* Lower case hexadecimal of a hash; `text` holds NODE_HEX_BYTES. Returns text. */
const char *node_hex(const uint8_t hash[NODE_HASH_BYTES], char *text);

#endif
