/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The owners of operations in flight: an owner ends all of its own at once.
 */
#ifndef CREST_IN_FLIGHT_OWNERS_H
#define CREST_IN_FLIGHT_OWNERS_H

#include "instruments/keyed_series.h"

struct crest_in_flight_entry;

/* Ends all operations in flight of this owner under the outcome; returns how many. */
size_t crest_in_flight_end_owned(const crest_op *owner, crest_outcome outcome);

/* Under the lock of the entry's shard: whether there is memory for an owner of
 * what is begun in it; and that the operation which was just begun has this one. */
int crest_in_flight_can_own(const struct crest_in_flight_entry *entry);
void crest_in_flight_own(const struct crest_in_flight_entry *entry, const crest_op *owner);

#endif
