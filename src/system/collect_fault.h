/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the collectors of host and control groups share beside collector.h: telling a parser's
 * fault, and the buckets of shares in percent.
 *
 *     uint64_t found = crest_vmstat_parse(text, values, &fault);
 *     crest_collect_blame(collect, "/proc/vmstat", &fault);
 */
#ifndef CREST_COLLECT_FAULT_H
#define CREST_COLLECT_FAULT_H

#include "system/collector.h"
#include "system/parse/proc_table.h"

/* Of histograms in percent of a whole. */
extern const crest_buckets crest_percent_buckets;

/* Counts and tells what was wrong with a file, if anything. Call it before the next file is read:
 * the text that it shows is in the same memory. */
void crest_collect_blame(crest_collect *collect, const char *file, const crest_fault *fault);

/* crest_figure_sample for a number of the kernel's; crest_figure_total for a number that counts so
 * many units at a time. A number larger than possible is garbage in `what`, and is not given. */
void crest_collect_level(crest_collect *collect, crest_place *place, unsigned figure,
                         const char *what, uint64_t value);
void crest_collect_total(crest_collect *collect, crest_place *place, unsigned figure,
                         const char *what, uint64_t count, uint64_t unit);

#endif
