/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The list of deliveries. See delivered.h.
 */
#include "metrics/delivered.h"
#include "base/atomic.h"
#include "base/forked.h"
#include "base/sync.h"

#include <pthread.h>

/* Guards the list. */
static pthread_mutex_t delivered_lock = PTHREAD_MUTEX_INITIALIZER;
static crest_delivery *delivered_all;

/* A child has none of the reporters' threads, so no reporter delivers there. */
static void delivered_forked(void)
{
    crest_mutex_fresh(&delivered_lock);
    delivered_all = NULL;
}
CREST_FORKED(DELIVERED, delivered_forked)

void crest_delivery_add(crest_delivery *delivery)
{
    pthread_mutex_lock(&delivered_lock);
    delivery->next = delivered_all;
    delivered_all = delivery;
    pthread_mutex_unlock(&delivered_lock);
}

void crest_delivery_remove(const crest_delivery *delivery)
{
    pthread_mutex_lock(&delivered_lock);
    crest_delivery **at = &delivered_all;
    while (*at != NULL && *at != delivery)
        at = &(*at)->next;
    if (*at != NULL)
        *at = delivery->next;
    pthread_mutex_unlock(&delivered_lock);
}

/* acquire: partner of the release store in registry.c */
static int delivered_is_of(const crest_delivery *delivery, const crest_registry_state *state)
{
    const crest_registry *registry = delivery->registry;
    return registry->abi == CREST_ABI &&
           crest_atomic_load_ptr_acquire(CREST_PTR(&registry->state)) == state;
}

void crest_deliveries_of(const crest_registry_state *state, uint64_t *delivered_ns,
                         uint64_t *longest_ns)
{
    pthread_mutex_lock(&delivered_lock);
    for (const crest_delivery *at = delivered_all; at != NULL; at = at->next) {
        if (!delivered_is_of(at, state))
            continue;
        uint64_t its_ns = crest_atomic_load(&at->delivered_ns);
        if (its_ns < *delivered_ns)
            *delivered_ns = its_ns;
        if (at->interval_ns > *longest_ns)
            *longest_ns = at->interval_ns;
    }
    pthread_mutex_unlock(&delivered_lock);
}
