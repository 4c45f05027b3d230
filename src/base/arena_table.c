/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hash sets in the arena. See arena_table.h.
 */
#include "base/arena_table.h"
#include "base/arena.h"
#include "base/hash.h"

static void *arena_table_take(size_t bytes)
{
    return crest_arena_take(CREST_ARENA_META, bytes, CREST_LINE_BYTES);
}

static void arena_table_drop(void *table, size_t bytes, bool defer)
{
    (void)table, (void)bytes, (void)defer;
}

static struct ck_malloc arena_table_memory = {.malloc = arena_table_take, .free = arena_table_drop};

bool crest_table_init(ck_hs_t *table, ck_hs_hash_cb_t *hash, ck_hs_compare_cb_t *same, size_t size)
{
    return ck_hs_init(table, CK_HS_MODE_SPMC | CK_HS_MODE_OBJECT, hash, same, &arena_table_memory,
                      size, crest_hash_seed());
}
