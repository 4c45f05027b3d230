/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The store: blocks by hash in LMDB, each committed with fdatasync before the node goes on. A block
 * that the disk will not take is kept in memory, counted, logged for the operator, and tried again,
 * so that the node and its figures keep running through a full disk. Used by the worker only.
 */
#ifndef NODE_STORE_H
#define NODE_STORE_H

#include "node_report.h"

/* Blocks held in memory for a disk that is full; beyond that the oldest is given up, and told. */
#define STORE_UNSTORED_MAX 10000u
/* Between two attempts to store what is held. */
#define STORE_RETRY_NS NODE_NS_PER_S

/* Opens or creates the store; false after a message that says why. */
bool store_open(const char *directory, uint64_t map_bytes);
void store_close(void);

/* Stores the block, or holds it (takes a copy of `bytes`). */
void store_put(const uint8_t hash[NODE_HASH_BYTES], const uint8_t *bytes, size_t size);

/* A copy for the caller to free, or NULL when it is not there. */
uint8_t *store_get(const uint8_t hash[NODE_HASH_BYTES], size_t *size);

/* Tries what is held again, when it is time; `at_once` does not wait for that. */
void store_retry(bool at_once);

void store_report(report *r);

#endif
