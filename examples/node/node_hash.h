/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SHA-256 (FIPS 180-4): the identity of blocks, the digest of balances, the seal of deploys. Plain
 * and portable; its cost is part of the node's honest work.
 *
 *     node_hash(bytes, length, digest);
 */
#ifndef NODE_HASH_H
#define NODE_HASH_H

#include "node_base.h"

void node_hash(const void *bytes, size_t length, uint8_t digest[NODE_HASH_BYTES]);

#endif
