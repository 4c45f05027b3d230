/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Making, closing and opening keyed series. See keyed_series.h.
 */
#include "instruments/keyed_series.h"
#include "base/arena.h"
#include "base/atomic.h"
#include "base/forked.h"
#include "base/hash.h"
#include "metrics/handles.h"
#include "registry/described.h"

/* Under the library's lock: the number of metrics of each share. */
static uint32_t keyed_metrics[CREST_IN_FLIGHT_SHARES];

/* The number of this process, counted from the first ancestor that loaded the library. */
static uint64_t keyed_process = 1;

static void keyed_forked(void)
{
    crest_atomic_store(&keyed_process, keyed_process + 1);
}
CREST_FORKED(KEYED, keyed_forked)

/* Closed in this process only. A series closed in another process was about to be retired when that
 * process forked; here it is open. */
int crest_in_flight_is_closed(const crest_keyed *keyed)
{
    uint64_t closed = crest_atomic_load(&keyed->closed);
    return closed != 0 && (closed == crest_atomic_load(&keyed_process) ||
                           crest_handle_dead(&keyed->timer->handle) != CREST_OK);
}

int crest_in_flight_close(crest_keyed *keyed)
{
    if (keyed == NULL || crest_in_flight_is_closed(keyed))
        return 0;
    crest_atomic_store(&keyed->closed, crest_atomic_load(&keyed_process));
    return 1;
}

/* The share with the fewest metrics. */
static uint32_t keyed_share_take(void)
{
    uint32_t least = 0;
    for (uint32_t i = 1; i < CREST_IN_FLIGHT_SHARES; i++)
        if (keyed_metrics[i] < keyed_metrics[least])
            least = i;
    keyed_metrics[least]++;
    return least;
}

static uint32_t keyed_share_of(crest_metric *metric)
{
    if (metric->in_flight_share == 0)
        metric->in_flight_share = keyed_share_take() + 1;
    return metric->in_flight_share - 1;
}

void crest_in_flight_open(crest_keyed *keyed)
{
    if (keyed == NULL)
        return;
    crest_atomic_store32(&keyed->share, keyed_share_of(keyed->metric));
    crest_atomic_store(&keyed->closed, 0);
}

void crest_in_flight_share_give(crest_metric *metric)
{
    if (metric->in_flight_share != 0)
        keyed_metrics[metric->in_flight_share - 1]--;
    metric->in_flight_share = 0;
}

crest_keyed *crest_in_flight_keyed_new(const crest_child *child)
{
    crest_metric *metric = child->first.metric;
    crest_keyed *keyed = crest_arena_take(CREST_ARENA_META, sizeof *keyed, _Alignof(crest_keyed));
    if (keyed == NULL)
        return NULL;
    *keyed = (crest_keyed){.timer = &child->own->timer,
                           .metric = metric,
                           .series = &child->first,
                           .deadline_ns = metric->deadline_ns,
                           .share = keyed_share_of(metric),
                           .hash = crest_hash_mix(crest_hash_seed(), (uint64_t)(uintptr_t)keyed)};
    crest_describe_keyed(child, keyed);
    return keyed;
}
