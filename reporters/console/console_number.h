/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers for people: three significant digits and a unit that fits, the same in every locale.
 * What is exported to machines is printed elsewhere, exactly.
 */
#ifndef CREST_REPORTERS_CONSOLE_NUMBER_H
#define CREST_REPORTERS_CONSOLE_NUMBER_H

#include <crest/metric.h>

/* Enough for any of these, NUL included. */
#define CREST_CONSOLE_NUMBER_BYTES 32u

/* A quantity in `unit`: "1.24 ms", "17 KiB", "0.25"; bare numbers with six digits. */
void crest_console_quantity(char text[CREST_CONSOLE_NUMBER_BYTES], double value, crest_unit unit);

/* The same a second: "1.24 KiB/s". */
void crest_console_rate(char text[CREST_CONSOLE_NUMBER_BYTES], double per_second, crest_unit unit);

/* A count: bare numbers exactly, others as quantities. */
void crest_console_count(char text[CREST_CONSOLE_NUMBER_BYTES], uint64_t value, crest_unit unit);

#endif
