/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers as text, the same in every locale: nothing here asks for a decimal point.
 *
 * Each function writes at most CREST_NUMBER_BYTES_MAX bytes into the caller's text, the last of
 * them a NUL, and returns the length without it. Not for signal handlers: some doubles need
 * snprintf.
 */
#ifndef CREST_BASE_NUMBER_H
#define CREST_BASE_NUMBER_H

#include <stddef.h>
#include <stdint.h>

#define CREST_NUMBER_BYTES_MAX 32u

size_t crest_number_u64(char *text, uint64_t value);
size_t crest_number_i64(char *text, int64_t value);

/*
 * The fewest digits that a correctly rounding reader turns back into this double; NaN, +Inf and
 * -Inf as Prometheus writes them. Plain decimals between 1e-5 and 1e21, else with an exponent.
 */
size_t crest_number_double(char *text, double value);

/*
 * The same in the form that OpenMetrics fixes for bounds of buckets ("canonical numbers"), so that
 * a series keeps one identity across all exporters. It is Go's %g, with an exponent below 1e-4 and
 * from 1e6 on, and always recognisable as a float: 0.005, 1.0, 2.5, 1.048576e+06, +Inf.
 */
size_t crest_number_bound(char *text, double value);

/* value / 10^decimals, exactly: 1234567890 with 9 decimals is 1.23456789. decimals: 0 to 19. */
size_t crest_number_scaled(char *text, uint64_t value, unsigned decimals);

#endif
