/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What reporters of differences have delivered, told to the state file, so that the differences of
 * the next run begin there: the inside of crest_report_delivered and _delivered_counts in
 * <crest/reporter.h>.
 */
#ifndef CREST_CONFIRMED_H
#define CREST_CONFIRMED_H

#include <crest/snapshot.h>

/* All counters, histograms and timers of the snapshot were delivered as it has them. Without a
 * state file nothing. Takes the lock. */
void crest_confirmed_all(const crest_snapshot *snapshot);

#endif
