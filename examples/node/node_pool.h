/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pool: deploys known to this node, each waiting for a block or included in one of the main
 * chain's last blocks. A deploy is known by its deployer and its number there. Used by the worker
 * only.
 */
#ifndef NODE_POOL_H
#define NODE_POOL_H

#include "node_wire.h"

/* Deploys that may wait; new ones beyond are refused. */
#define POOL_WAITING_MAX 100000u

typedef enum pool_answer { POOL_ADDED, POOL_KNOWN, POOL_FULL } pool_answer;

/* Copies the deploy. */
pool_answer pool_add(const wire_deploy *deploy);

/* A block with this deploy joined or left the main chain, or is so deep that it never will. */
void pool_included(const wire_deploy *deploy);
void pool_returned(const wire_deploy *deploy);
void pool_forget(const wire_deploy *deploy);

/* Appends the oldest waiting deploys, at most so many and so many bytes; returns how many. They
 * stay. */
uint32_t pool_choose(wire_out *out, uint32_t count_max, size_t bytes_max);

uint32_t pool_waiting(void);
void pool_close(void);

#endif
