/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adding what the series of a dead file counted to the table of what is adopted, and telling what
 * was in flight. The inside of adoption.h.
 */
#ifndef CREST_ADOPTED_SERIES_H
#define CREST_ADOPTED_SERIES_H

#include "adopt/adopted_counts.h"
#include "state/state_view.h"

/* Adds the totals of a file; counts series in *done. Not under the lock, which it takes for each
 * series. */
void crest_adopt_series(crest_state_view *view, crest_adoption *done);

/* Fills in what was in flight. */
void crest_adopt_in_flight(crest_state_view *view, crest_adoption *done);

#endif
