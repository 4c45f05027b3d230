/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the handles lie that the library makes: among themselves.
 *
 * Recording reads the slot of a handle and nothing else of what describes a series. A handle beside
 * the description would bring a cache line of its own with each record: a thousand of them are more
 * than a first-level cache has. Packed they take three lines for eight.
 *
 * Only the slow path writes them, when a series comes, leaves or comes back, so that handles which
 * share a line cost each other nothing.
 */
#ifndef CREST_HANDLE_POOL_H
#define CREST_HANDLE_POOL_H

#include "registry/metric_inside.h"

/* Blocks of handles are as large as all before them of that size together, between these. */
#define CREST_OWN_HANDLES_BLOCK_MIN 384u
#define CREST_OWN_HANDLES_BLOCK_MAX 12288u

/* Under the lock: a zeroed handle of this kind; NULL without memory. Nobody gives it back. */
crest_own_handle *crest_own_handle_new(crest_kind kind);

#endif
