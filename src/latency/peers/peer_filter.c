/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which of a peer's exchanges to believe, and by how much. See peer_filter.h.
 *
 * Why the error is a bound. Let m be the steady timeline and m + o(m) the peer's clock. Its offset
 * o changes by no more than drift * |m - m'| between m and m'.
 *
 *   1. The request comes at m2 >= t1:     t2 - t1 >= o(m2) >= o(t4) - drift * (t4 - t1).
 *   2. The response is sent at m3 <= t4:  t3 - t4 <= o(m3) <= o(t4) + drift * (t4 - t1).
 *   3. So o(t4) lies between t3 - t4 and t2 - t1, give or take drift * (t4 - t1): around the middle
 *      of the two, by half of their difference, which is the delay.
 *
 * Nothing is presumed of how the delay is divided.
 */
#include "latency/peers/peer_filter.h"

#define PEER_FILTER_MILLION UINT64_C(1000000)

uint64_t crest_peer_drift(unsigned drift_ppm, uint64_t ns)
{
    uint64_t rest = (ns % PEER_FILTER_MILLION * drift_ppm + PEER_FILTER_MILLION - 1);
    return ns / PEER_FILTER_MILLION * drift_ppm + rest / PEER_FILTER_MILLION;
}

int crest_peer_exchange(int64_t t1, int64_t t2, int64_t t3, int64_t t4, unsigned drift_ppm,
                        crest_peer_sample *sample)
{
    __extension__ typedef __int128 wide;
    uint64_t all = (uint64_t)(t4 - t1), held = (uint64_t)(t3 - t2);
    uint64_t drift = crest_peer_drift(drift_ppm, all);
    /* the clock that measured `held` may be slower than the clock that measured `all` */
    if (held > all && held - all > drift)
        return 0;
    uint64_t delay = held < all ? all - held : 0;
    wide twice = (wide)t2 - (wide)t1 + (wide)t3 - (wide)t4;
    *sample = (crest_peer_sample){
        .offset_ns = (int64_t)(twice / 2),
        .error_ns = delay / 2 + drift + 1, /* both halves were rounded */
        .delay_ns = delay,
        .at_ns = t4,
    };
    return 1;
}

/* Whether both samples may be true. */
static int peer_filter_agree(unsigned drift_ppm, const crest_peer_sample *a,
                             const crest_peer_sample *b)
{
    uint64_t apart = a->offset_ns > b->offset_ns ? (uint64_t)a->offset_ns - (uint64_t)b->offset_ns
                                                 : (uint64_t)b->offset_ns - (uint64_t)a->offset_ns;
    uint64_t passed = (uint64_t)(a->at_ns > b->at_ns ? a->at_ns - b->at_ns : b->at_ns - a->at_ns);
    return apart <= a->error_ns + b->error_ns + crest_peer_drift(drift_ppm, passed);
}

int crest_peer_filter_add(crest_peer_filter *filter, const crest_peer_sample *sample)
{
    int stepped = 0;
    for (unsigned i = 0; i < filter->count; i++)
        stepped |= !peer_filter_agree(filter->drift_ppm, &filter->sample[i], sample);
    if (stepped)
        filter->count = filter->next = 0;
    filter->sample[filter->next] = *sample;
    filter->next = (filter->next + 1) % filter->size;
    if (filter->count < filter->size)
        filter->count++;
    return stepped;
}

const crest_peer_sample *crest_peer_filter_best(const crest_peer_filter *filter)
{
    const crest_peer_sample *best = NULL;
    for (unsigned i = 0; i < filter->count; i++) {
        const crest_peer_sample *one = &filter->sample[i];
        if (best == NULL) {
            best = one;
            continue;
        }
        /* the errors grow alike, each from its own time on: compare them at the later of the two */
        uint64_t a = one->error_ns, b = best->error_ns;
        if (one->at_ns < best->at_ns)
            a += crest_peer_drift(filter->drift_ppm, (uint64_t)(best->at_ns - one->at_ns));
        else
            b += crest_peer_drift(filter->drift_ppm, (uint64_t)(one->at_ns - best->at_ns));
        if (a < b || (a == b && one->at_ns > best->at_ns))
            best = one;
    }
    return best;
}
