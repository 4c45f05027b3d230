/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What series of a directory hold now, read into a flat array of words.
 */
#ifndef CREST_READ_VALUES_H
#define CREST_READ_VALUES_H

#include "distributions/distribution_inside.h"
#include "snapshot/directory.h"

#include <crest/snapshot.h>

/* Reads the current values of `count` series from `index` on, all of one kind without
 * distributions: a counter's sum, a gauge's bits, a range sampler's current value. Any thread that
 * is a reader of the directory; takes no lock. */
void crest_snapshot_read_values(const crest_directory *directory, crest_kind kind, size_t index,
                                size_t count, uint64_t *values);

/* Puts such a word into a view of the kind. */
void crest_view_set_value(crest_series_view *view, uint64_t value);

#endif
