/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What series of a directory hold now, read into a flat array of words.
 */
#ifndef CREST_READ_VALUES_H
#define CREST_READ_VALUES_H

#include "cells/distribution_inside.h"
#include "snapshot/directory.h"

/* Reads the current values of `count` series from `index` on, all of one kind without
 * distributions: a counter's sum, a gauge's bits, a range sampler's current value. Any thread that
 * is a reader of the directory; takes no lock. */
void crest_snapshot_read_values(const crest_directory *directory, crest_kind kind, size_t index,
                                size_t count, uint64_t *values);

#endif
