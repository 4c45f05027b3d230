/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Deliveries: what reporters have had of a registry. Each reporter that reports of one says here
 * since when and how often, and the lifecycle of series reads all of them: a series that left is
 * exported until all have had it.
 */
#ifndef CREST_DELIVERED_H
#define CREST_DELIVERED_H

#include "registry/metric_inside.h"

/* Of one reporter. Its own memory; in the list from _add to _remove. */
typedef struct crest_delivery {
    struct crest_delivery *next;
    const crest_registry *registry;
    uint64_t interval_ns;  /* of its reports; as it was when it was added */
    uint64_t delivered_ns; /* crest_now() before the last that succeeded; 0: none did. Any thread */
} crest_delivery;

/* Any thread; take the deliveries' lock, under which no other is taken. Removing one that is not in
 * the list does nothing: in the child of a fork nothing is in it. */
void crest_delivery_add(crest_delivery *delivery);
void crest_delivery_remove(const crest_delivery *delivery);

/* Lowers *delivered_ns to when the reporter of this registry that is furthest behind took its last
 * snapshot that it reported with success, and raises *longest_ns to the longest interval. Any
 * thread; takes the deliveries' lock. */
void crest_deliveries_of(const crest_registry_state *state, uint64_t *delivered_ns,
                         uint64_t *longest_ns);

#endif
