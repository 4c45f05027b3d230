/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hash sets with lock-free readers and one writer under a lock (Concurrency Kit's ck_hs), whose
 * memory is the arena's.
 */
#ifndef CREST_BASE_ARENA_TABLE_H
#define CREST_BASE_ARENA_TABLE_H

#include <ck_hs.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * Under the library's lock: an empty set with room for `size` entries, a power of two; false
 * without memory. It grows by itself. An outgrown table stays, since a reader may be in it. Each
 * table is twice as large as its predecessor, so all outgrown ones together are no larger than the
 * last.
 */
bool crest_table_init(ck_hs_t *table, ck_hs_hash_cb_t *hash, ck_hs_compare_cb_t *same, size_t size);

#endif
