/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Peer clocks: how far the wall clock of another machine is from the local one, with a bound on the
 * error. Estimated by the calculation of NTP from requests and responses that the two exchange
 * anyway; it sends no packet and sets no clock.
 *
 *     crest_peer_clock *clock = crest_peer_clock_new(NULL, "10.0.0.7", NULL, &error);
 *     ...
 *     uint64_t t1 = crest_wall_now();     right before the request is sent
 *                                         the peer takes t2 when it has come, t3 right before the
 *                                         response is sent, and puts both into it
 *     uint64_t t4 = crest_wall_now();     right after the response has come
 *     crest_peer_clock_add(clock, t1, t2, t3, t4, NULL);
 *
 * With it, a time that the peer says can be compared with local times: see stamp.h.
 *
 * An exchange gives: offset ((t2 - t1) + (t3 - t4)) / 2, delay (t4 - t1) - (t3 - t2). However the
 * delay is divided between the two ways, the offset is wrong by at most half of it. So the error is
 * half the delay, plus the drift that two clocks may have had since t1 (.drift_ppm). Of the last
 * exchanges (.samples) the exchange with the least error by now is the estimate. All errors grow
 * alike, so a quick exchange stays until newer ones are better. (RFC 5905, sections 8 and 10,
 * chooses by delay and computes the error likewise.)
 *
 * Clock steps. When the local clock is set, the estimate follows at once, because offsets are kept
 * against CLOCK_BOOTTIME, which cannot be set. An exchange during which it was set is refused. When
 * the peer's clock is set, the next exchange contradicts the kept ones: these are forgotten, and
 * that is counted. Until then, and where the step is smaller than the errors of both exchanges
 * together, the estimate is wrong by more than it says. The same holds for clocks that drift apart
 * faster than .drift_ppm, as a slewed clock does (by up to 500 ppm).
 * of clocks that drift apart faster than .drift_ppm, as one does that is slewed (by up to 500 ppm).
 * Exported, label `peer`, unless .quiet: the gauges peer.clock-offset (the peer's clock minus the
 * local one) and peer.clock-error, both in seconds, as they are when a snapshot is taken, as long
 * as there is an estimate; the timer peer.clock-round-trip-time, the delays; and the counters
 * peer.clock-steps, peer.clock-exchanges-refused (by cause: impossible, clock-set),
 * peer.stamps-early (by whether they were recorded as 0: yes, no) and peer.stamps-without-offset.
 *
 * A peer is believed: one that lies about t2 and t3 gets the offset that it wants. So this is for
 * measuring, not for deciding anything.
 */
#ifndef CREST_PEER_CLOCK_H
#define CREST_PEER_CLOCK_H

#include <crest/registry.h>

/* Times of exchanges and stamps, nanoseconds since 1970: from September 2001 to July 2261. */
#define CREST_WALL_NS_MIN UINT64_C(1000000000000000000)
#define CREST_WALL_NS_MAX UINT64_C(9200000000000000000)

/* Exchanges that are kept. */
#define CREST_PEER_CLOCK_SAMPLES_DEFAULT 8u
#define CREST_PEER_CLOCK_SAMPLES_MAX 64u
/* How fast two clocks may drift apart, in parts per million; the default is two uncorrected
 * crystals. */
#define CREST_PEER_CLOCK_DRIFT_PPM_DEFAULT 50u
#define CREST_PEER_CLOCK_DRIFT_PPM_MAX 1000u
/* How long there is an estimate after the last exchange. */
#define CREST_PEER_CLOCK_AGE_S_DEFAULT 3600u
#define CREST_PEER_CLOCK_AGE_S_MAX 604800u

typedef struct crest_peer_clock crest_peer_clock;

typedef struct crest_peer_clock_options {
    /* exchanges that are kept; 0: CREST_PEER_CLOCK_SAMPLES_DEFAULT, at most _MAX */
    unsigned samples CREST_DEFAULT_(0);
    /* 0: CREST_PEER_CLOCK_DRIFT_PPM_DEFAULT, at most _MAX */
    unsigned drift_ppm CREST_DEFAULT_(0);
    /* seconds after the last exchange that the estimate is given up; 0:
       CREST_PEER_CLOCK_AGE_S_DEFAULT, at most _MAX */
    unsigned age_s CREST_DEFAULT_(0);
    /* non-zero: nothing is exported of this clock */
    int quiet CREST_DEFAULT_(0);
} crest_peer_clock_options;

/* The estimate. */
typedef struct crest_peer_clock_state {
    int64_t offset_ns; /* the peer's wall clock minus the local one, now */
    uint64_t error_ns; /* the true offset is this far from it at most; now, so it grows */
    uint64_t delay_ns; /* round trip of the exchange that it comes from */
    uint64_t age_ns;   /* since that exchange */
    unsigned samples;  /* exchanges kept */
} crest_peer_clock_state;

CREST_BEGIN_C

/*
 * A clock of the peer of this name, which is its label (copied). registry: NULL is the default one;
 * it must outlive the clock. options NULL for defaults. error: NULL if not wanted. Two clocks of
 * one name share their series, so a peer that comes back goes on counting. Owned by the caller,
 * freed with crest_peer_clock_free; it belongs to the process that made it, not to a fork's child.
 * NULL on failure: CREST_INVALID_ARGUMENT for options out of range and a name that is NULL or
 * empty, CREST_LIMIT (polls: CREST_POLLS_MAX), CREST_NO_MEMORY, or why a metric of one of these
 * names could not be made. Thread-safe; not for signal handlers. Cost: locks, allocates; registers
 * a poll (poll.h), so that figures are new in each snapshot; the first poll starts a thread.
 */
CREST_API crest_peer_clock *crest_peer_clock_new(crest_registry *registry, const char *peer,
                                                 const crest_peer_clock_options *options,
                                                 crest_error *error);

/* Releases its series (lifetime.h: they are exported once more) and frees it; no other thread may
 * be using it. NULL does nothing. Thread-safe; not for signal handlers. Cost: locks; blocks for the
 * poll. */
CREST_API void crest_peer_clock_free(crest_peer_clock *clock);

/*
 * Adds one exchange. t1, t4: the request was sent and the response came, by the local wall clock
 * (crest_wall_now()). t2, t3: the request came and the response was sent, by the peer's. A time
 * that is taken too late makes the delay longer, and so the error; one that is taken too early
 * makes both wrong.
 *
 * CREST_OK. Otherwise the exchange is not used, and is counted:
 *
 * - CREST_INVALID_ARGUMENT, an impossible exchange: a response before its request (t4 < t1, t3 <
 *   t2), a peer that took longer than the whole exchange, a t4 in the future, a time outside of
 *   CREST_WALL_NS_MIN to _MAX.
 * - CREST_MISMATCH: the local clock was set since the last exchange, and whether that was before t1
 *   is unknown.
 *
 * `error` says which; NULL if not wanted. Thread-safe; not for signal handlers. Cost: locks; a few
 * clock reads.
 */
CREST_API crest_status crest_peer_clock_add(crest_peer_clock *clock, uint64_t t1, uint64_t t2,
                                            uint64_t t3, uint64_t t4, crest_error *error);

/* Fills *state; CREST_NOT_FOUND, and zeros, while there is no estimate: before the first exchange,
 * and .age_s after the last. Any thread, any handler. Cost: call, three clock reads; no lock. */
CREST_API crest_status crest_peer_clock_read(const crest_peer_clock *clock,
                                             crest_peer_clock_state *state);

CREST_END_C

#ifdef CREST_DISABLE
#include <crest/off/peer_clock_off.h>
#endif

#endif
