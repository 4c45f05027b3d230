/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inherited series: identities that a dead run's totals belong to, each with a slot in this run. A
 * series of the same identity that is made later gets the slot, and so begins at the old total.
 * What was inherited lies in a table of cells of no thread (cells.h), so sums have it anyway; here
 * is kept what the takers of differences must not deliver a second time: what the dead run's
 * receivers had.
 *
 *     state       the slot                         what moves it on
 *     waiting     has cells, no series             crest_inherited_slot: a series takes it
 *     taken       of a series of that birth        the life ends: its next one inherits nothing
 *
 * All of it under the lock, but for crest_inherited_of.
 */
#ifndef CREST_INHERITED_H
#define CREST_INHERITED_H

#include "metrics/metric_inside.h"
#include <crest/distribution.h>

/* What makes a series the same in two runs. Keys without a value count as absent, and order does
 * not count. */
typedef struct crest_identity {
    const char *name;
    crest_kind kind;
    crest_unit unit;
    uint32_t layout_bits, layout_unit; /* 0 without a distribution */
    uint64_t layout_highest;
    unsigned outcome;
    unsigned constant_count, key_count;
    const char *const *constants; /* keys and values in turn */
    const char *const *keys;
    const char *const *values;
} crest_identity;

typedef struct crest_inherited {
    struct crest_inherited *next; /* in its chain */
    crest_identity identity;
    uint64_t hash;
    uint64_t birth;           /* of the life that took it; 0: waiting */
    uint64_t delivered;       /* what of it receivers of differences had: of a counter */
    crest_distribution *past; /* and of a distribution; NULL: no records. Freed never */
    uint32_t slot;
} crest_inherited;

/* The entry of an identity, made if need be with the slot of the series that there is, or with a
 * new one. NULL: no memory or slots, or, *mismatch, a metric of the name is of another make. */
crest_inherited *crest_inherited_made(const crest_identity *identity, int *mismatch);

/* The metric that an entry's series belong to, if it exists already; NULL. */
crest_metric *crest_inherited_metric(const crest_identity *identity, int *mismatch);

/* For inherited_made.c: hashes and compares identities, makes that of a metric, without values;
 * finds and makes entries, and counts one that waits. */
typedef const char *crest_identity_constants[2 * CREST_CONSTANT_LABELS_MAX];
uint64_t crest_identity_hash(const crest_identity *identity);
const char *crest_identity_value(const crest_identity *identity, const char *key);
int crest_identity_same_constants(const crest_identity *a, const crest_identity *b);
int crest_identity_same_make(const crest_identity *a, const crest_identity *b);
crest_identity crest_identity_of(const crest_metric *metric, crest_identity_constants constants);
crest_inherited *crest_inherited_find(const crest_identity *identity, uint64_t hash);
crest_inherited *crest_inherited_new(const crest_identity *identity, uint64_t hash, uint32_t slot);
void crest_inherited_wait(void);

/* The slot that waits for this series, which takes it; 0: none. */
uint32_t crest_inherited_slot(const crest_series *series);
/* The series that took it has this birth. */
void crest_inherited_taken(const crest_series *series);

/* What is inherited counts from now on. */
void crest_inherited_commit(void);

/* What the present life of a series inherited; NULL: nothing. Any thread. */
const crest_inherited *crest_inherited_of(const crest_series *series);

/* Entries, and those that wait. Any thread. */
uint64_t crest_inherited_count(void);
uint64_t crest_inherited_waiting(void);

#endif
