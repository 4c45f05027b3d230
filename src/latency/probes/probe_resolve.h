/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looks up names for connect probes, each on a thread of its own: getaddrinfo has no deadline. All
 * under the prober's lock.
 */
#ifndef CREST_LATENCY_PROBE_RESOLVE_H
#define CREST_LATENCY_PROBE_RESOLVE_H

#include "latency/probes/prober.h"

/* Look-ups at a time; further probes wait for a turn. */
#define CREST_PROBE_RESOLVERS_MAX 8u

/* Splits HOST:PORT or [IPV6]:PORT. CREST_INVALID_ARGUMENT with *error filled. A pure function. */
crest_status crest_probe_split(const char *address, char host[CREST_PROBE_ADDRESS_BYTES_MAX + 1],
                               char port[8], crest_error *error);

/* The addresses of a numeric host; 0 when it is a name. Asks no name server. */
int crest_probe_resolve_numeric(const char *host, const char *port,
                                crest_probe_address addresses[CREST_PROBE_ADDRESSES_MAX]);

/* Starts a look-up; its thread wakes the prober when it is done. NULL when there is no turn, thread
 * or memory for it: the caller tries again later; *failure is then 0, or why it cannot be. */
crest_probe_question *crest_probe_resolve_begin(const char *host, const char *port, int *failure);

/* The caller is done with a question, answered or not. NULL does nothing. */
void crest_probe_resolve_end(crest_probe_question *question);

#endif
