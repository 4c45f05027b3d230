/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Split metrics: two names of one thing, written in two ways. Which names are that close, and the
 * pairs that were found, kept for the log. Finding them, and refusing them in strict mode, is the
 * registry's business.
 */
#ifndef CREST_LOOKALIKE_NAMES_H
#define CREST_LOOKALIKE_NAMES_H

#include <crest/status.h>

/* Pairs whose names are kept for the log; further ones are only counted. */
#define CREST_SPLITS_MAX 64u

/*
 * Whether two valid names differ in nothing but case and separators: "comm.block-seen",
 * "comm.block_seen", "Comm.BlockSeen" and "comm.blockseen" are all one. Separators between two
 * digits count, so that shard-1-2 is not shard-12. Equal names have equal hashes.
 */
int crest_split_same(const char *a, const char *b);
uint64_t crest_split_hash(const char *name);

typedef enum crest_split_kind {
    CREST_SPLIT_ADDED,   /* the new name is there beside the known one */
    CREST_SPLIT_REFUSED, /* strict: it is not */
    CREST_SPLIT_CLASH,   /* it is not, because its exported name is the known one's */
    CREST_SPLIT_TAKEN    /* it is not, as its exported name is no metric's to have; known: "" */
} crest_split_kind;

/* Keeps a pair, once. What was added is counted as misuse; a refusal is counted by the caller that
 * gets its status. Under the lock. */
void crest_split_keep(crest_split_kind kind, const char *added, const char *known);

/* Tells the log callback the pairs that it has not been told. Locks nothing. */
void crest_split_tell(void);

#endif
