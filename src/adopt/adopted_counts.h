/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an adoption did, in numbers, for the log and the gauges.
 */
#ifndef CREST_ADOPTED_COUNTS_H
#define CREST_ADOPTED_COUNTS_H

#include <stdint.h>

typedef struct crest_adoption {
    unsigned files;      /* whose totals go on */
    unsigned unreadable; /* files that could not be read */
    unsigned left_out;   /* ended by a reboot, or more than CREST_STATE_CHAIN_MAX */
    int stuck;           /* a file could not be marked: nothing was adopted */
    unsigned reported;   /* of whose last figures there is a page */
    unsigned unreported; /* of which there should be one */
    uint64_t series;
    uint64_t mismatched; /* series whose metric is of another kind, unit, range or labels now */
    uint64_t lacked;     /* series for which there was no memory */
    uint64_t duration_ns;
    uint64_t in_flight; /* operations of the newest dead run, and the age of the oldest at its */
    uint64_t oldest_ns; /* last beat; 0: none */
    char oldest[320];   /* its timer and id */
} crest_adoption;

#endif
