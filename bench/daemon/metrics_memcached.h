/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What memcached.patch counts and times. A GET is five records (gets, hits, value_bytes,
 * value_size, request_time), a SET six and two pairs of the lock of the slabs (sets, stored and
 * the same three); each read and each answer that is sent adds one.
 */
#ifndef METRICS_MEMCACHED_H
#define METRICS_MEMCACHED_H

/* COUNTER(variable, name, description), and so on. */
#define METRICS(COUNTER, HISTOGRAM, TIMER, SAMPLER)                                                \
    COUNTER(gets, "memcached.gets", "Keys asked for.")                                             \
    COUNTER(hits, "memcached.hits", "Keys found.")                                                 \
    COUNTER(misses, "memcached.misses", "Keys not found.")                                         \
    COUNTER(sets, "memcached.sets", "Values received.")                                            \
    COUNTER(stored, "memcached.stored", "Values stored.")                                          \
    COUNTER(value_bytes, "memcached.value-bytes", "Bytes of values, both ways.")                   \
    COUNTER(received, "memcached.received", "Bytes read.")                                         \
    COUNTER(sent, "memcached.sent", "Bytes written.")                                              \
    HISTOGRAM(value_size, "memcached.value-size", "A value, both ways.")                           \
    TIMER(request_time, "memcached.request", "From the command's line to its answer.")             \
    SAMPLER(connections, "memcached.connections", "Clients connected.")

#endif
