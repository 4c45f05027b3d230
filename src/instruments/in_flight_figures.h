/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bringing the gauges of operations in flight (in_flight_gauges.h) up to date.
 */
#ifndef CREST_IN_FLIGHT_FIGURES_H
#define CREST_IN_FLIGHT_FIGURES_H

/* Expires what is overdue and brings the gauges up to date: before each snapshot, and so with each
 * tick. Any thread; locks nothing that recording needs. */
void crest_in_flight_refresh(void);

#endif
