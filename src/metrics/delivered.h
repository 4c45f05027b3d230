/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Deliveries: which snapshots reporters have delivered of a registry. Each reporter publishes here
 * its last success and its interval. The lifecycle of series reads them: a series that left is
 * exported until every reporter has delivered it.
 */
#ifndef CREST_DELIVERED_H
#define CREST_DELIVERED_H

#include "metrics/metric_inside.h"

/* One reporter's entry. The reporter's memory; in the list from _add to _remove. */
typedef struct crest_delivery {
    struct crest_delivery *next;
    const crest_registry *registry;
    uint64_t interval_ns;  /* between its reports; fixed when added */
    uint64_t delivered_ns; /* crest_now() before the last success; 0: none yet. Any thread */
} crest_delivery;

/* Any thread; take the deliveries' lock, under which no other lock is taken. Removing an entry that
 * is not in the list does nothing: in the child of a fork the list is empty. */
void crest_delivery_add(crest_delivery *delivery);
void crest_delivery_remove(const crest_delivery *delivery);

/* Over the reporters of this registry: lowers *delivered_ns to the time of the oldest "last
 * snapshot delivered", and raises *longest_ns to the longest interval. Any thread; takes the
 * deliveries' lock. */
void crest_deliveries_of(const crest_registry_state *state, uint64_t *delivered_ns,
                         uint64_t *longest_ns);

#endif
