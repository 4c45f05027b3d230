/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which collectors there are, in the order in which they run. A new collector needs its file, a
 * line here, and its metrics in system.metrics.yaml. Collectors of one group stand together.
 */
#ifndef CREST_COLLECTORS_H
#define CREST_COLLECTORS_H

#include "system/collector.h"

/* clang-format off: a line each */
#define CREST_COLLECTOR_TABLE(X)                                                                   \
    X(crest_process_collector)                                                                     \
    X(crest_process_threads_collector)                                                             \
    X(crest_process_memory_collector)                                                              \
    X(crest_malloc_collector)                                                                      \
    X(crest_cpu_collector)                                                                         \
    X(crest_load_collector)                                                                        \
    X(crest_memory_collector)                                                                      \
    X(crest_paging_collector)                                                                      \
    X(crest_disks_collector)                                                                       \
    X(crest_filesystems_collector)                                                                 \
    X(crest_network_collector)                                                                     \
    X(crest_tcp_collector)                                                                         \
    X(crest_pressure_collector)                                                                    \
    X(crest_cgroup_collector)                                                                      \
    X(crest_cgroup_io_collector)                                                                   \
    X(crest_cgroup_pressure_collector)

#define CREST_COLLECTOR_EXTERN_(name) extern const crest_collector_kind name;
CREST_COLLECTOR_TABLE(CREST_COLLECTOR_EXTERN_)
#undef CREST_COLLECTOR_EXTERN_

#endif
