/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What series of a directory hold now, read into a flat array of words.
 */
#ifndef CREST_READ_VALUES_H
#define CREST_READ_VALUES_H

#include "cells/distribution_inside.h"
#include "snapshot/directory.h"

/* What `count` series from `index` on hold now, all of one kind that has no distributions: of a
 * counter its sum, of a gauge its bits, of a range sampler its current value. Any thread, which is
 * a reader of the directory; takes no lock. */
void crest_snapshot_read_values(const crest_directory *directory, crest_kind kind, size_t index,
                                size_t count, uint64_t *values);

#endif
