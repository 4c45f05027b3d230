/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much memory a snapshot takes, and how much more the page of it, at most. The C library's
 * allocator says what is in use, and the system what was resident.
 */
#ifndef BENCH_READING_MEMORY_H
#define BENCH_READING_MEMORY_H

#include <cstdint>

class crest_side;

struct memory_reading {
    double snapshot_bytes;  /* of one more snapshot, a series */
    double directory_bytes; /* of what snapshots share, a series */
    double encoding_bytes;  /* the most in use beyond the snapshot while its page was written */
    double resident_bytes;  /* by how much the process had grown at most by then */
};

memory_reading memory_read(crest_side &side);

#endif
