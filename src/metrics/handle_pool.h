/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pool of the handles that the library makes: they lie among themselves.
 *
 * Recording reads a handle's slot and nothing else of a series. Beside the series' description,
 * each handle would cost a cache line of its own; a thousand of them exceed a first-level cache.
 * Packed, eight take three lines.
 *
 * Only the slow path writes them, when a series comes, leaves or comes back. So false sharing costs
 * nothing.
 */
#ifndef CREST_HANDLE_POOL_H
#define CREST_HANDLE_POOL_H

#include "metrics/metric_inside.h"

/* A new block is as large as all earlier blocks of its size together, within these bounds. */
#define CREST_OWN_HANDLES_BLOCK_MIN 384u
#define CREST_OWN_HANDLES_BLOCK_MAX 12288u

/* Under the lock: a zeroed handle of this kind; NULL without memory. It is never given back. */
crest_own_handle *crest_own_handle_new(crest_kind kind);

#endif
