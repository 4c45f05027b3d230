/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The operations in flight: what crest_timer_begin and crest_stages_begin have begun and no call
 * has ended yet, by instrument and operation. It knows ids, times and deadlines; what an instrument
 * is and how it is found is in keyed_timers.c, what is exported of it in in_flight_gauges.h. The
 * walks over all of it are in in_flight_walks.h, the owners of operations in in_flight_owners.h.
 *
 * Each operation ends once: its entry's state word goes from begun to ended or expired by one
 * compare-and-swap, and only the thread that did that records. An expired entry stays for a while
 * as a tombstone, so that a late end is told from one that never began.
 */
#ifndef CREST_IN_FLIGHT_TABLE_H
#define CREST_IN_FLIGHT_TABLE_H

#include "instruments/keyed_series.h"

/*
 * The calls of <crest/in_flight.h> and <crest/stages.h>, for a series that uses them and an op
 * that is one.
 * They return what those return, but count no misuse. Any thread; not for signal handlers.
 */
crest_status crest_in_flight_begin(crest_keyed *keyed, const crest_op *op);
crest_status crest_in_flight_begin_owned(crest_keyed *keyed, const crest_op *op,
                                         const crest_op *owner);
crest_status crest_in_flight_mark(crest_keyed *keyed, const crest_op *op, unsigned stage);
crest_status crest_in_flight_end(crest_keyed *keyed, const crest_op *op, crest_outcome outcome);

#endif
