/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The arithmetic of peer clocks, without clocks, threads and metrics: exchanges in, the best
 * estimate out. See <crest/peer_clock.h> for what it promises.
 *
 * Times are of two timelines: the peer's wall clock, and one's own that nobody sets ("steady"). An
 * offset here is the peer's wall clock minus one's own steady timeline.
 */
#ifndef CREST_PEER_FILTER_H
#define CREST_PEER_FILTER_H

#include <crest/peer_clock.h>

typedef struct crest_peer_sample {
    int64_t offset_ns;
    uint64_t error_ns; /* at the time `at_ns` */
    uint64_t delay_ns;
    int64_t at_ns; /* steady: when the response had come; negative before boot */
} crest_peer_sample;

/* Zeroed but for the settings, it is empty. */
typedef struct crest_peer_filter {
    unsigned size;      /* samples to keep, 1 to CREST_PEER_CLOCK_SAMPLES_MAX */
    unsigned drift_ppm; /* 0 to CREST_PEER_CLOCK_DRIFT_PPM_MAX */
    unsigned count, next;
    crest_peer_sample sample[CREST_PEER_CLOCK_SAMPLES_MAX];
} crest_peer_filter;

/* What the clocks may have drifted apart in this time, rounded up. */
uint64_t crest_peer_drift(unsigned drift_ppm, uint64_t ns);

/*
 * What an exchange says: t1 and t4 are steady, t2 and t3 the peer's, t1 <= t4, t2 <= t3, and the
 * offset within 63 bits. 0 for one that cannot have been, because the peer says that it took longer
 * than it all did.
 */
int crest_peer_exchange(int64_t t1, int64_t t2, int64_t t3, int64_t t4, unsigned drift_ppm,
                        crest_peer_sample *sample);

/* Takes a sample in, in place of the oldest; non-zero when one of those before cannot be true
 * beside it, upon which these are forgotten. */
int crest_peer_filter_add(crest_peer_filter *filter, const crest_peer_sample *sample);

/* The one with the least error, now and at any later time; NULL without any. */
const crest_peer_sample *crest_peer_filter_best(const crest_peer_filter *filter);

#endif
