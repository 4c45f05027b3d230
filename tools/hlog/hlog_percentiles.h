/* SPDX-License-Identifier: Apache-2.0 */
/* HdrHistogram's table of percentiles. */
#ifndef CREST_TOOLS_HLOG_PERCENTILES_H
#define CREST_TOOLS_HLOG_PERCENTILES_H

#include <crest/hdr.h>

#include <stdio.h>

/* The value at or below which the fraction q of the records lies, as HdrHistogram says it: the
 * highest value of its bucket. 0 without records. */
uint64_t hlog_value_at(const crest_distribution *distribution, double q);

/* Prints the table, byte for byte as HdrHistogram's outputPercentileDistribution for Java does,
 * with `ticks` lines to each half of what is left, and values divided by `ratio`. */
void hlog_percentiles_print(const crest_distribution *distribution, unsigned ticks, double ratio,
                            FILE *to);

/* `value` with so many decimals, halves up, as Java prints it; `text` has room for it. */
#define HLOG_DECIMAL_BYTES 400
void hlog_decimal(char text[HLOG_DECIMAL_BYTES], double value, unsigned decimals);

#endif
