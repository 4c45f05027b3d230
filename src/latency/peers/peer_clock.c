/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Peer clocks: exchanges in, an estimate out that any thread may read at any time. The arithmetic
 * is in peer_filter.c, the metrics are in peer_series.c. See <crest/peer_clock.h>.
 *
 * The estimate is published by a seqcount latch: two copies, each with a version, and `valid`.
 *
 *   writer, under the lock                       reader, any thread or signal handler
 *   1. make the other copy's version odd         1. load `valid`, and that copy's version
 *   2. store the words                           2. load the words
 *   3. make the version even                     3. load the version again
 *   4. store `valid` = the other copy            4. even and unchanged: done; else from 1
 *
 * Invariant: the writer never stores to the copy that is valid at the time. So a reader never waits
 * for a writer, not even a signal handler that interrupted it. The writer's steps 3 and 4 pair with
 * the reader's step 1. Its step 2 pairs with the reader's 2 and 3: after a new word, a reader finds
 * the version changed. No model.
 */
#include "base/alloc.h"
#include "base/atomic.h"
#include "base/error.h"
#include "base/misuse.h"
#include "base/sync.h"
#include "base/uncancelled.h"
#include "latency/peers/peer_clock_inside.h"
#include "latency/peers/peer_filter.h"

#include <inttypes.h>
#include <pthread.h>

/* Readings of wall and steady clock whose difference moves by more: the wall clock was set. */
#define PEER_CLOCK_SET_NS 1000u
/* Processors' clocks may differ by so much: a t4 newer than that lies in the future. */
#define PEER_CLOCK_SKEW_NS 1000u

/* The published estimate. All are words, so that a reader can load them while the writer stores. */
typedef struct peer_clock_words {
    uint64_t samples; /* 0: no estimate */
    uint64_t offset_ns;
    uint64_t error_ns;
    uint64_t delay_ns;
    uint64_t at_ns;
    uint64_t newest_ns; /* time of the last exchange */
} peer_clock_words;
#define PEER_CLOCK_WORDS (sizeof(peer_clock_words) / sizeof(uint64_t))

typedef struct peer_clock_copy {
    uint64_t version; /* odd while the writer stores */
    union {
        peer_clock_words named;
        uint64_t word[PEER_CLOCK_WORDS];
    } estimate;
} peer_clock_copy;

struct crest_peer_clock {
    char *peer;
    uint64_t age_max_ns;
    unsigned drift_ppm;
    int quiet;
    crest_poll *poll;
    pthread_mutex_t lock; /* guards what follows, and writing the copies */
    crest_peer_filter filter;
    int64_t base_ns; /* wall minus steady clock, when last looked at */
    uint64_t base_apart_ns;
    crest_peer_series series;
    uint32_t valid; /* index of the valid copy */
    peer_clock_copy copy[2];
};

/* ---- the published estimate ---- */

static void peer_clock_publish(crest_peer_clock *clock, const crest_peer_sample *newest)
{
    const crest_peer_sample *best = crest_peer_filter_best(&clock->filter);
    peer_clock_words words = {
        .samples = clock->filter.count,
        .offset_ns = (uint64_t)best->offset_ns,
        .error_ns = best->error_ns,
        .delay_ns = best->delay_ns,
        .at_ns = (uint64_t)best->at_ns,
        .newest_ns = (uint64_t)newest->at_ns,
    };
    uint64_t from[PEER_CLOCK_WORDS];
    __builtin_memcpy(from, &words, sizeof from);
    uint32_t other = 1 - crest_atomic_load32(&clock->valid);
    peer_clock_copy *copy = &clock->copy[other];
    crest_atomic_store(&copy->version, copy->version + 1);
    for (size_t i = 0; i < PEER_CLOCK_WORDS; i++) /* release: after the version is odd */
        crest_atomic_store_release(&copy->estimate.word[i], from[i]);
    /* release: after the words; partner: the acquire loads in peer_clock_estimate */
    crest_atomic_store_release(&copy->version, copy->version + 1);
    crest_atomic_store32_release(&clock->valid, other);
}

static peer_clock_words peer_clock_estimate(const crest_peer_clock *clock)
{
    for (;;) {
        /* acquire: partner of the release stores above */
        const peer_clock_copy *copy = &clock->copy[crest_atomic_load32_acquire(&clock->valid)];
        uint64_t version = crest_atomic_load_acquire(&copy->version);
        uint64_t to[PEER_CLOCK_WORDS];
        for (size_t i = 0; i < PEER_CLOCK_WORDS; i++) /* acquire: before the second look */
            to[i] = crest_atomic_load_acquire(&copy->estimate.word[i]);
        if (version % 2 == 0 && crest_atomic_load(&copy->version) == version) {
            peer_clock_words words;
            __builtin_memcpy(&words, to, sizeof words);
            return words;
        }
    }
}

/* Time between two steady times. */
static uint64_t peer_clock_since(uint64_t then_ns, uint64_t now_ns)
{
    return (int64_t)now_ns > (int64_t)then_ns ? now_ns - then_ns : 0;
}

crest_status crest_peer_clock_at(const crest_peer_clock *clock, const crest_clock_wall *now,
                                 crest_peer_clock_state *state, unsigned *drift_ppm)
{
    peer_clock_words words = peer_clock_estimate(clock);
    *state = (crest_peer_clock_state){.samples = 0};
    *drift_ppm = clock->drift_ppm;
    if (words.samples == 0 || peer_clock_since(words.newest_ns, now->steady_ns) > clock->age_max_ns)
        return CREST_NOT_FOUND;
    int64_t base_ns = (int64_t)(now->wall_ns - now->steady_ns);
    uint64_t age_ns = peer_clock_since(words.at_ns, now->steady_ns);
    *state = (crest_peer_clock_state){
        .offset_ns = (int64_t)words.offset_ns - base_ns,
        .error_ns = words.error_ns + crest_peer_drift(clock->drift_ppm, age_ns) + now->apart_ns,
        .delay_ns = words.delay_ns,
        .age_ns = age_ns,
        .samples = (unsigned)words.samples,
    };
    return CREST_OK;
}

crest_status crest_peer_clock_read(const crest_peer_clock *clock, crest_peer_clock_state *state)
{
    unsigned drift_ppm;
    crest_clock_wall now = crest_clock_wall_read();
    return crest_peer_clock_at(clock, &now, state, &drift_ppm);
}

/* ---- exchanges ---- */

/* Under the lock: sets the gauges to the present estimate. */
static void peer_clock_show(crest_peer_clock *clock)
{
    crest_peer_clock_state state;
    int known = crest_peer_clock_read(clock, &state) == CREST_OK;
    crest_peer_series_show(&clock->series, clock->peer, known ? &state : NULL);
}

/* Polled with each snapshot. The counter is counted where its steps happen: this adds nothing. */
static uint64_t peer_clock_polled(void *context)
{
    crest_peer_clock *clock = context;
    pthread_mutex_lock(&clock->lock);
    peer_clock_show(clock);
    pthread_mutex_unlock(&clock->lock);
    return CREST_POLL_NO_COUNT;
}

static int peer_clock_in_range(uint64_t ns)
{
    return ns >= CREST_WALL_NS_MIN && ns <= CREST_WALL_NS_MAX;
}

/* Under the lock: whether this machine's wall clock was set since the last look. */
static int peer_clock_was_set(crest_peer_clock *clock, const crest_clock_wall *now)
{
    int64_t base_ns = (int64_t)(now->wall_ns - now->steady_ns);
    uint64_t moved_ns = base_ns > clock->base_ns ? (uint64_t)base_ns - (uint64_t)clock->base_ns
                                                 : (uint64_t)clock->base_ns - (uint64_t)base_ns;
    int set = moved_ns > now->apart_ns + clock->base_apart_ns + PEER_CLOCK_SET_NS;
    if (set || now->apart_ns < clock->base_apart_ns) {
        clock->base_ns = base_ns;
        clock->base_apart_ns = now->apart_ns;
    }
    return set;
}

typedef struct peer_clock_times {
    uint64_t t1, t2, t3, t4;
} peer_clock_times;

/* What is wrong with these times; NULL: nothing that shows without a calculation. */
static const char *peer_clock_wrong(const crest_peer_clock *clock, const peer_clock_times *t,
                                    const crest_clock_wall *now)
{
    if (!peer_clock_in_range(t->t1) || !peer_clock_in_range(t->t4))
        return "t1 or t4 is no time since 1970 in nanoseconds, as crest_wall_now() is";
    if (!peer_clock_in_range(t->t2) || !peer_clock_in_range(t->t3))
        return "t2 or t3, which the peer sent, is no time since 1970 in nanoseconds";
    if (t->t4 < t->t1)
        return "the response came (t4) before the request was sent (t1)";
    if (t->t3 < t->t2)
        return "the peer answered (t3) before the request had come (t2)";
    if (t->t4 > now->wall_ns + now->apart_ns + PEER_CLOCK_SKEW_NS)
        return "the response came (t4) at a time that is yet to come";
    if (now->wall_ns > t->t1 && now->wall_ns - t->t1 > clock->age_max_ns)
        return "the request was sent (t1) so long ago that the exchange says nothing any more";
    return NULL;
}

static crest_status peer_clock_refuse(crest_peer_clock *clock, crest_peer_refusal why,
                                      const peer_clock_times *t, const char *text,
                                      crest_error *error)
{
    if (!clock->quiet)
        crest_counter_inc(clock->series.refused[why]);
    if (why == CREST_PEER_IMPOSSIBLE)
        crest_misuse_count(CREST_MISUSE_EXCHANGE, clock->peer);
    crest_status status = why == CREST_PEER_IMPOSSIBLE ? CREST_INVALID_ARGUMENT : CREST_MISMATCH;
    return crest_error_set(error, status,
                           "An exchange with the clock of '%s' is not used: %s "
                           "(t1 %" PRIu64 ", t2 %" PRIu64 ", t3 %" PRIu64 ", t4 %" PRIu64 ").",
                           clock->peer, text, t->t1, t->t2, t->t3, t->t4);
}

/* Under the lock. */
static crest_status peer_clock_take(crest_peer_clock *clock, const peer_clock_times *t,
                                    crest_error *error)
{
    crest_clock_wall now = crest_clock_wall_read();
    if (peer_clock_was_set(clock, &now))
        return peer_clock_refuse(clock, CREST_PEER_CLOCK_SET, t,
                                 "this machine's own clock was set since the last one", error);
    const char *wrong = peer_clock_wrong(clock, t, &now);
    uint64_t base_ns = now.wall_ns - now.steady_ns;
    crest_peer_sample sample;
    if (wrong == NULL &&
        !crest_peer_exchange((int64_t)(t->t1 - base_ns), (int64_t)t->t2, (int64_t)t->t3,
                             (int64_t)(t->t4 - base_ns), clock->drift_ppm, &sample))
        wrong = "the peer says that it took longer (t3 - t2) than it all did (t4 - t1)";
    if (wrong != NULL)
        return peer_clock_refuse(clock, CREST_PEER_IMPOSSIBLE, t, wrong, error);
    sample.error_ns += now.apart_ns;
    int stepped = crest_peer_filter_add(&clock->filter, &sample);
    peer_clock_publish(clock, &sample);
    if (!clock->quiet) {
        crest_timer_record(clock->series.round_trip, (int64_t)sample.delay_ns, CREST_OUTCOME_OK);
        if (stepped)
            crest_counter_inc(clock->series.steps);
        peer_clock_show(clock);
    }
    return CREST_OK;
}

crest_status crest_peer_clock_add(crest_peer_clock *clock, uint64_t t1, uint64_t t2, uint64_t t3,
                                  uint64_t t4, crest_error *error)
{
    crest_error_clear(error);
    if (clock == NULL)
        return crest_error_set(error, CREST_INVALID_ARGUMENT,
                               "An exchange was to be added to a peer clock that is NULL.");
    peer_clock_times times = {t1, t2, t3, t4};
    pthread_mutex_lock(&clock->lock);
    crest_status status = peer_clock_take(clock, &times, error);
    pthread_mutex_unlock(&clock->lock);
    return status;
}

/* ---- what stamps count ---- */

void crest_peer_clock_count_early(const crest_peer_clock *clock, int recorded)
{
    if (!clock->quiet)
        crest_counter_inc(clock->series.early[recorded != 0]);
}

void crest_peer_clock_count_without(const crest_peer_clock *clock)
{
    if (!clock->quiet)
        crest_counter_inc(clock->series.without_offset);
}

const char *crest_peer_clock_name(const crest_peer_clock *clock)
{
    return clock->peer;
}

/* ---- making ---- */

static int peer_clock_options_fit(const crest_peer_clock_options *options)
{
    return options->samples <= CREST_PEER_CLOCK_SAMPLES_MAX &&
           options->drift_ppm <= CREST_PEER_CLOCK_DRIFT_PPM_MAX &&
           options->age_s <= CREST_PEER_CLOCK_AGE_S_MAX;
}

static unsigned peer_clock_or(unsigned value, unsigned otherwise)
{
    return value != 0 ? value : otherwise;
}

/* Makes a clock with its settings, without series; NULL without memory. */
static crest_peer_clock *peer_clock_make(const char *peer, const crest_peer_clock_options *options)
{
    crest_peer_clock *clock = crest_alloc(1, sizeof *clock);
    char *name = crest_alloc_text(peer);
    if (clock == NULL || name == NULL) {
        crest_alloc_free(clock);
        crest_alloc_free(name);
        return NULL;
    }
    clock->peer = name;
    clock->quiet = options->quiet != 0;
    clock->age_max_ns =
        peer_clock_or(options->age_s, CREST_PEER_CLOCK_AGE_S_DEFAULT) * CREST_NS_PER_S;
    clock->drift_ppm = peer_clock_or(options->drift_ppm, CREST_PEER_CLOCK_DRIFT_PPM_DEFAULT);
    clock->filter.size = peer_clock_or(options->samples, CREST_PEER_CLOCK_SAMPLES_DEFAULT);
    clock->filter.drift_ppm = clock->drift_ppm;
    pthread_mutex_init(&clock->lock, NULL);
    crest_clock_wall now = crest_clock_wall_read();
    clock->base_ns = (int64_t)(now.wall_ns - now.steady_ns);
    clock->base_apart_ns = now.apart_ns;
    return clock;
}

static void peer_clock_discard(crest_peer_clock *clock)
{
    pthread_mutex_destroy(&clock->lock);
    crest_alloc_free(clock->peer);
    crest_alloc_free(clock);
}

static crest_status peer_clock_export(crest_peer_clock *clock, crest_registry *registry)
{
    crest_status status = crest_peer_series_get(registry, clock->peer, &clock->series);
    if (status == CREST_OK)
        clock->poll =
            crest_counter_poll(clock->series.steps, peer_clock_polled, clock, NULL, &status);
    return status;
}

crest_peer_clock *crest_peer_clock_new(crest_registry *registry, const char *peer,
                                       const crest_peer_clock_options *options, crest_error *error)
{
    CREST_UNCANCELLED;
    static const crest_peer_clock_options defaults = {.samples = 0};
    crest_error_clear(error);
    options = options != NULL ? options : &defaults;
    if (peer == NULL || peer[0] == '\0' || !peer_clock_options_fit(options)) {
        crest_error_set(error, CREST_INVALID_ARGUMENT,
                        "A clock of the peer '%s' cannot be made: it needs a name, at most %u "
                        "samples, a drift of at most %u ppm and an age of at most %u s.",
                        peer != NULL ? peer : "", CREST_PEER_CLOCK_SAMPLES_MAX,
                        CREST_PEER_CLOCK_DRIFT_PPM_MAX, CREST_PEER_CLOCK_AGE_S_MAX);
        return NULL;
    }
    crest_peer_clock *clock = peer_clock_make(peer, options);
    crest_status status = clock != NULL ? CREST_OK : CREST_NO_MEMORY;
    if (status == CREST_OK && !clock->quiet)
        status = peer_clock_export(clock, registry);
    if (status == CREST_OK)
        return clock;
    crest_error_set(error, status, "A clock of the peer '%s' cannot be made: %s.", peer,
                    crest_status_text(status));
    if (clock != NULL)
        peer_clock_discard(clock);
    return NULL;
}

void crest_peer_clock_free(crest_peer_clock *clock)
{
    CREST_UNCANCELLED;
    if (clock == NULL)
        return;
    crest_poll_stop(clock->poll);
    if (!clock->quiet)
        crest_peer_series_release(&clock->series);
    peer_clock_discard(clock);
}
