/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The arithmetic of peer clocks, without clocks, threads and metrics: exchanges in, the best
 * estimate out. See <crest/peer_clock.h> for what it promises.
 *
 * Two timelines: the peer's wall clock, and this machine's steady clock, which is never set. An
 * offset is the peer's wall clock minus the steady clock.
 */
#ifndef CREST_PEER_FILTER_H
#define CREST_PEER_FILTER_H

#include <crest/peer_clock.h>

typedef struct crest_peer_sample {
    int64_t offset_ns;
    uint64_t error_ns; /* at the time `at_ns` */
    uint64_t delay_ns;
    int64_t at_ns; /* steady: when the response arrived; negative before boot */
} crest_peer_sample;

/* An empty filter is zeroed but for its settings. */
typedef struct crest_peer_filter {
    unsigned size;      /* samples to keep, 1 to CREST_PEER_CLOCK_SAMPLES_MAX */
    unsigned drift_ppm; /* 0 to CREST_PEER_CLOCK_DRIFT_PPM_MAX */
    unsigned count, next;
    crest_peer_sample sample[CREST_PEER_CLOCK_SAMPLES_MAX];
} crest_peer_filter;

/* How far the clocks may have drifted apart in this time, rounded up. */
uint64_t crest_peer_drift(unsigned drift_ppm, uint64_t ns);

/*
 * The sample of an exchange. t1 and t4 are steady times, t2 and t3 the peer's; t1 <= t4, t2 <= t3,
 * and the offset fits 63 bits. 0 for an impossible exchange: the peer says that it took longer than
 * the whole exchange did.
 */
int crest_peer_exchange(int64_t t1, int64_t t2, int64_t t3, int64_t t4, unsigned drift_ppm,
                        crest_peer_sample *sample);

/* Takes a sample in, in place of the oldest. Non-zero when earlier samples cannot be true beside
 * it; these are then forgotten. */
int crest_peer_filter_add(crest_peer_filter *filter, const crest_peer_sample *sample);

/* The sample with the least error, now and at any later time; NULL without any. */
const crest_peer_sample *crest_peer_filter_best(const crest_peer_filter *filter);

#endif
