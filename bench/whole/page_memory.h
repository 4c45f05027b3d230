/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much memory a snapshot takes, and how much more the page of it, at most. The C library's
 * allocator says what is in use, and the system what was resident.
 */
#ifndef BENCH_PAGE_MEMORY_H
#define BENCH_PAGE_MEMORY_H

#include "own_process.h"

class crest_side;

/*
 * `snapshot-memory-`: of one more snapshot, a series; `snapshot-shared-memory-`: of what snapshots
 * share, a series; `encoding-memory-`: the most in use beyond the snapshot while its page was
 * written; `encoding-resident-`: by how much the process had grown at most by then.
 */
own_process_values page_memory(crest_side &side);

#endif
