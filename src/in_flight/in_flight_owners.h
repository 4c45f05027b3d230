/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The owners of operations in flight: an owner can end all of its operations at once.
 */
#ifndef CREST_IN_FLIGHT_OWNERS_H
#define CREST_IN_FLIGHT_OWNERS_H

#include "instruments/keyed_series.h"

struct crest_in_flight_entry;

/* Ends all operations in flight of this owner, with the outcome; returns how many. */
size_t crest_in_flight_end_owned(const crest_op *owner, crest_outcome outcome);

/* Under the lock of the entry's shard. can_own: whether there is memory for an owner of an
 * operation in the entry. own: sets the owner of the operation just begun. */
int crest_in_flight_can_own(const struct crest_in_flight_entry *entry);
void crest_in_flight_own(const struct crest_in_flight_entry *entry, const crest_op *owner);

#endif
