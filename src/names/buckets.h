/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Buckets: the upper bounds that a distribution is exported with, whether bounds are valid, and the
 * largest recorded integer within a bound. The presets themselves are public, in <crest/metric.h>.
 *
 * Counting values into buckets is the encoder's business.
 */
#ifndef CREST_BUCKETS_H
#define CREST_BUCKETS_H

#include <crest/metric.h>

/* Enough for any text of crest_buckets_check. */
#define CREST_BUCKETS_WHY_BYTES 120u

/* The default of a distribution whose options name no buckets; never NULL. */
const crest_buckets *crest_buckets_for_unit(crest_unit unit, crest_kind kind);

/*
 * CREST_OK for 1 to CREST_BUCKETS_MAX bounds that are finite, ascending and not negative (recorded
 * values are not). Otherwise CREST_INVALID_ARGUMENT; `why` (may be NULL) then says what is wrong,
 * as the end of a sentence.
 */
crest_status crest_buckets_check(const crest_buckets *buckets, char *why, size_t size);

/*
 * The largest integer in the recorded unit that is at most `bound`, given in the base unit. 0.005
 * (seconds) gives 5,000,000 nanoseconds, although neither double is exactly its decimal. So a
 * product within CREST_BUCKETS_SLACK, relatively, of an integer is that integer; others are rounded
 * down. Bounds beyond 2^64 - 1 give 2^64 - 1.
 */
uint64_t crest_buckets_limit(double bound, crest_unit unit);
#define CREST_BUCKETS_SLACK 1e-9

#endif
