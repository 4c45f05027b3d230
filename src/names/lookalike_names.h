/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Split metrics: two spellings of one name, which split one metric into two. Which names are that
 * close, and the pairs found, kept for the log. The registry finds them, and refuses them in strict
 * mode.
 */
#ifndef CREST_LOOKALIKE_NAMES_H
#define CREST_LOOKALIKE_NAMES_H

#include <crest/status.h>

/* Pairs whose names are kept for the log; later pairs are only counted. */
#define CREST_SPLITS_MAX 64u

/*
 * Whether two valid names differ in nothing but case and separators: "comm.block-seen",
 * "comm.block_seen", "Comm.BlockSeen" and "comm.blockseen" are the same. Separators between two
 * digits count, so that shard-1-2 is not shard-12. Equal names have equal hashes.
 */
int crest_split_same(const char *a, const char *b);
uint64_t crest_split_hash(const char *name);

typedef enum crest_split_kind {
    CREST_SPLIT_ADDED,   /* the new name exists beside the known one */
    CREST_SPLIT_REFUSED, /* strict: the new name was refused */
    CREST_SPLIT_CLASH,   /* refused: the known one has its exported name */
    CREST_SPLIT_TAKEN    /* refused: its exported name is reserved; known: "" */
} crest_split_kind;

/* Keeps a pair, once. CREST_SPLIT_ADDED counts as misuse; a refusal is counted by the caller that
 * gets its status. Under the lock. */
void crest_split_keep(crest_split_kind kind, const char *added, const char *known);

/* Tells the log callback the pairs that it has not been told. Locks nothing. */
void crest_split_tell(void);

#endif
