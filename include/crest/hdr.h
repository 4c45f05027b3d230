/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Distributions as HdrHistogram's bytes, "V2", both ways: for files, messages and tools of that
 * family, in Java, Go, JavaScript, Python, Rust and C. The compressed form, and files of them, are
 * in libcrest-reporters (hlog.h).
 *
 *     size_t length;
 *     crest_distribution_encode(series.distribution, NULL, 0, &length);
 *     unsigned char *bytes = malloc(length);
 *     crest_distribution_encode(series.distribution, bytes, length, &length);
 *     crest_distribution *same = crest_distribution_decode(bytes, length, &error);
 *
 * What the bytes have: the range and the count of each cell. What they have not: the exact minimum,
 * maximum and sum, the unit, and a name. A decoded distribution has its counts cell by cell; its
 * minimum and maximum are the ends of the outermost cells that have records, and its sum is made
 * from the middles of cells, as HdrHistogram's own mean is.
 *
 * Nothing here locks, and nothing is for signal handlers.
 *
 * Source: HdrHistogram 2.2.2 for Java, AbstractHistogram.encodeIntoByteBuffer and ZigZagEncoding.
 */
#ifndef CREST_HDR_H
#define CREST_HDR_H

#include <crest/distribution.h>
#include <crest/status.h>

/* Bytes before the counts. */
#define CREST_HDR_HEADER_BYTES 40u
/* A count, or a run of zeros, takes so many at most. */
#define CREST_HDR_COUNT_BYTES_MAX 9u

CREST_BEGIN_C

/* Fills *range (never NULL) with the range that the distribution has: `lowest` as a power of two,
 * `highest` as one less than a power of two, and the fewest digits that are as fine. Digits 0:
 * CREST_RANGE_NONE. Thread-safe as reading is. Cost: a few instructions. */
CREST_API void crest_distribution_range(const crest_distribution *distribution, crest_range *range);

/*
 * Writes the distribution (NULL: CREST_INVALID_ARGUMENT) as V2 bytes, big-endian, to `bytes`, which
 * has `room` of them and may be NULL when that is 0. *length (never NULL) is how many it takes,
 * also when there is too little room: CREST_LIMIT then, and nothing useful is in `bytes`.
 * CREST_INVALID_ARGUMENT: it is of CREST_RANGE_NONE, which has no buckets. CREST_LIMIT with *length
 * 0: a count is past 2^63 - 1, which the format does not hold. Equal distributions give equal
 * bytes. At default digits a busy timer takes about 2 KiB. Thread-safe as reading is; allocates
 * nothing. Cost: a walk over the buckets.
 */
CREST_API crest_status crest_distribution_encode(const crest_distribution *distribution,
                                                 void *bytes, size_t room, size_t *length);

/*
 * Reads V2 bytes of any writer. The result is the caller's, freed with crest_distribution_free;
 * NULL with *error filled (error may be NULL): CREST_INVALID_ARGUMENT with a sentence that says
 * what is wrong and where (another version, cut short, a count below zero, more cells than the
 * range has), CREST_NO_MEMORY. Its range has the lowest value and the digits that the bytes name
 * (0 digits become 1), and reaches as far as they name or as their records lie. Bytes of a stranger
 * may be read: the memory taken is what the records of that range take, at most 64 MiB with 5
 * digits. Thread-safe; allocates.
 */
CREST_API crest_distribution *crest_distribution_decode(const void *bytes, size_t length,
                                                        crest_error *error);

CREST_END_C

#ifdef CREST_DISABLE
#include <crest/off/hdr_off.h>
#endif

#endif
