/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Updating the gauges of operations in flight (in_flight_gauges.h).
 */
#ifndef CREST_IN_FLIGHT_FIGURES_H
#define CREST_IN_FLIGHT_FIGURES_H

/* Expires overdue operations and updates the gauges: before each snapshot, and so with each tick.
 * Any thread; takes no lock that recording needs. */
void crest_in_flight_refresh(void);

#endif
