/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of operations in flight: begun by crest_timer_begin and crest_stages_begin, not ended
 * by any call yet; by instrument and operation. It knows ids, times and deadlines. Instruments are
 * found by keyed_timers.c, gauges are in_flight_gauges.h's, walks over the whole table
 * in_flight_walks.h's, owners of operations in_flight_owners.h's.
 *
 * Invariant: each operation ends once. One compare-and-swap takes its entry's state word from begun
 * to ended or expired, and only the thread that succeeds records. An expired entry stays for a
 * while as a tombstone, which tells a late end from an end without a begin.
 */
#ifndef CREST_IN_FLIGHT_TABLE_H
#define CREST_IN_FLIGHT_TABLE_H

#include "instruments/keyed_series.h"

/*
 * The calls of <crest/in_flight.h> and <crest/stages.h>, for a series that uses them and a valid
 * op. They return the same, but count no misuse. Any thread; not for signal handlers.
 */
crest_status crest_in_flight_begin(crest_keyed *keyed, const crest_op *op);
crest_status crest_in_flight_begin_owned(crest_keyed *keyed, const crest_op *op,
                                         const crest_op *owner);
crest_status crest_in_flight_mark(crest_keyed *keyed, const crest_op *op, unsigned stage);
crest_status crest_in_flight_end(crest_keyed *keyed, const crest_op *op, crest_outcome outcome);

#endif
