/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The metrics of peer clocks. See peer_clock_inside.h and <crest/peer_clock.h>.
 *
 * Gauges exist only while there is an estimate: a reader would take an offset of 0 for a measured
 * one.
 */
#include "latency/peers/peer_clock_inside.h"
#include "metrics/handles.h"

#define PEER_SERIES_NS_PER_S 1e9

static const char *const peer_series_keys[] = {"peer"};
static const char *const peer_series_refused_keys[] = {"peer", "cause"};
static const char *const peer_series_early_keys[] = {"peer", "recorded"};
static const char *const peer_series_causes[] = {"impossible", "clock-set"};
static const char *const peer_series_recorded[] = {"no", "yes"};

static crest_status peer_series_gauges(crest_registry *registry, crest_peer_series *series)
{
    crest_metric_options offset = {
        .name = "peer.clock-offset",
        .description = "The peer's wall clock minus one's own, as estimated from exchanges.",
        .unit = CREST_SECONDS,
    };
    crest_metric_options error = {
        .name = "peer.clock-error",
        .description = "How far the true offset of the peer's clock may be from peer.clock-offset.",
        .unit = CREST_SECONDS,
    };
    crest_status status;
    series->offset_family = crest_gauge_family_new(registry, &offset, peer_series_keys, 1, &status);
    if (status == CREST_OK)
        series->error_family =
            crest_gauge_family_new(registry, &error, peer_series_keys, 1, &status);
    return status;
}

/* Makes a counter of a family with `count` keys, of which the first is the peer's name. */
static crest_status peer_series_counter(crest_registry *registry,
                                        const crest_metric_options *options,
                                        const char *const *keys, const char *const *values,
                                        unsigned count, crest_counter **counter)
{
    crest_status status;
    /* crest-lint: name peer.* */
    crest_counter_family family = crest_counter_family_new(registry, options, keys, count, &status);
    if (status != CREST_OK)
        return status;
    *counter = crest_counter_family_get(&family, values, count);
    return crest_handle_dead(&(*counter)->handle);
}

static crest_status peer_series_counters(crest_registry *registry, const char *peer,
                                         crest_peer_series *series)
{
    static const crest_metric_options steps = {
        .name = "peer.clock-steps",
        .description = "How often exchanges showed that the peer's clock had been set.",
    };
    static const crest_metric_options without = {
        .name = "peer.stamps-without-offset",
        .description =
            "Stamps that were not recorded because no offset was known of the peer's clock.",
    };
    static const crest_metric_options refused = {
        .name = "peer.clock-exchanges-refused",
        .description = "Exchanges that cannot have been, or during which one's own clock was set.",
    };
    static const crest_metric_options early = {
        .name = "peer.stamps-early",
        .description = "Stamps that came before they were sent, by the clocks: recorded as 0 when "
                       "the clocks' error explains it.",
    };
    crest_status status =
        peer_series_counter(registry, &steps, peer_series_keys, &peer, 1, &series->steps);
    if (status == CREST_OK)
        status = peer_series_counter(registry, &without, peer_series_keys, &peer, 1,
                                     &series->without_offset);
    for (unsigned i = 0; status == CREST_OK && i < CREST_PEER_REFUSALS; i++) {
        const char *values[] = {peer, peer_series_causes[i]};
        status = peer_series_counter(registry, &refused, peer_series_refused_keys, values, 2,
                                     &series->refused[i]);
    }
    for (unsigned i = 0; status == CREST_OK && i < 2; i++) {
        const char *values[] = {peer, peer_series_recorded[i]};
        status = peer_series_counter(registry, &early, peer_series_early_keys, values, 2,
                                     &series->early[i]);
    }
    return status;
}

static crest_status peer_series_timer(crest_registry *registry, const char *peer,
                                      crest_peer_series *series)
{
    crest_metric_options round_trip = {
        .name = "peer.clock-round-trip-time",
        .description = "Exchanges with a peer's clock, without the time that the peer took.",
        .buckets = CREST_BUCKETS_FAST,
    };
    crest_status status;
    crest_timer_family family =
        crest_timer_family_new(registry, &round_trip, peer_series_keys, 1, &status);
    if (status != CREST_OK)
        return status;
    series->round_trip = crest_timer_family_get(&family, &peer, 1);
    return crest_handle_dead(&series->round_trip->handle);
}

crest_status crest_peer_series_get(crest_registry *registry, const char *peer,
                                   crest_peer_series *series)
{
    crest_status status = peer_series_gauges(registry, series);
    if (status == CREST_OK)
        status = peer_series_timer(registry, peer, series);
    if (status == CREST_OK)
        status = peer_series_counters(registry, peer, series);
    return status;
}

static void peer_series_hide(crest_peer_series *series)
{
    if (series->shown) {
        crest_gauge_release(series->offset);
        crest_gauge_release(series->error);
    }
    series->shown = 0;
}

void crest_peer_series_show(crest_peer_series *series, const char *peer,
                            const crest_peer_clock_state *state)
{
    if (state == NULL) {
        peer_series_hide(series);
        return;
    }
    if (series->offset == NULL) {
        series->offset = crest_gauge_family_get(&series->offset_family, &peer, 1);
        series->error = crest_gauge_family_get(&series->error_family, &peer, 1);
    }
    crest_gauge_set(series->offset, (double)state->offset_ns / PEER_SERIES_NS_PER_S);
    crest_gauge_set(series->error, (double)state->error_ns / PEER_SERIES_NS_PER_S);
    series->shown = 1;
}

void crest_peer_series_release(crest_peer_series *series)
{
    peer_series_hide(series);
    crest_timer_release(series->round_trip);
    crest_counter_release(series->steps);
    crest_counter_release(series->without_offset);
    for (unsigned i = 0; i < CREST_PEER_REFUSALS; i++)
        crest_counter_release(series->refused[i]);
    for (unsigned i = 0; i < 2; i++)
        crest_counter_release(series->early[i]);
}
