/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Buckets: which upper bounds of exported buckets a distribution gets, whether bounds are valid,
 * and the largest recorded integer that lies within one. The presets themselves are public, in
 * <crest/metric.h>.
 *
 * Counting values into them is the encoder's business.
 */
#ifndef CREST_BUCKETS_H
#define CREST_BUCKETS_H

#include <crest/metric.h>

/* Enough for any text of the check below. */
#define CREST_BUCKETS_WHY_BYTES 120u

/* What a distribution gets that asks for none; never NULL. */
const crest_buckets *crest_buckets_for_unit(crest_unit unit, crest_kind kind);

/*
 * CREST_OK when there are 1 to CREST_BUCKETS_MAX bounds, finite, not negative (recorded values are
 * not) and ascending. CREST_INVALID_ARGUMENT otherwise; `why` (may be NULL) then says what is
 * wrong, as the end of a sentence.
 */
crest_status crest_buckets_check(const crest_buckets *buckets, char *why, size_t size);

/*
 * The largest integer in the recorded unit that is at most `bound`, which is in the base unit:
 * 0.005 (seconds) is 5,000,000 nanoseconds, although neither double is the decimal it stands for.
 * So a product within CREST_BUCKETS_SLACK of an integer, relatively, is that integer; others are
 * rounded down. Bounds beyond 2^64 - 1 become that.
 */
uint64_t crest_buckets_limit(double bound, crest_unit unit);
#define CREST_BUCKETS_SLACK 1e-9

#endif
