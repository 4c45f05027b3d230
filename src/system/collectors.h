/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which collectors there are, in the order in which they run. A new one needs its file, a line
 * here, and its metrics in system.metrics.yaml; those of one group stand together.
 */
#ifndef CREST_COLLECTORS_H
#define CREST_COLLECTORS_H

#include "collector.h"

/* clang-format off: a line each */
#define CREST_COLLECTOR_TABLE(X)                                                                   \
    X(crest_process_collector)                                                                     \
    X(crest_process_threads_collector)                                                             \
    X(crest_process_memory_collector)                                                              \
    X(crest_malloc_collector)
/* clang-format on */

#define CREST_COLLECTOR_EXTERN_(name) extern const crest_collector_kind name;
CREST_COLLECTOR_TABLE(CREST_COLLECTOR_EXTERN_)
#undef CREST_COLLECTOR_EXTERN_

#endif
