/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the C library's allocator holds, has given out and has free, where it says so without
 * wrapping at 4 GiB: mallinfo2, of glibc 2.33 and later. With another allocator in its place it has
 * little, and the figures say that.
 *
 * mallinfo2 walks every free chunk of an arena under that arena's lock, 0.1 us for each, while
 * other threads' allocations there wait. So it is called at the slow interval only, and nowhere
 * else in the library. A program that leaves out the group `malloc` has none of that.
 */
#include "system/collectors.h"

#include <malloc.h>
#include <stdint.h>

#if defined(__GLIBC__) && defined(__GLIBC_PREREQ)
#if __GLIBC_PREREQ(2, 33)
#define MALLOC_COLLECTOR_KNOWS 1
#endif
#endif

enum {
    MALLOC_HELD,
    MALLOC_MAPPED,
    MALLOC_MAPPED_BLOCKS,
    MALLOC_USED,
    MALLOC_USED_READINGS,
    MALLOC_USED_RANGE,
    MALLOC_FREE,
    MALLOC_FREE_CHUNKS,
    MALLOC_TOP,
    MALLOC_PROCESS_HEAP
};

#define MALLOC_GAUGE(name_, description_, unit_)                                                   \
    {                                                                                              \
        .kind = CREST_KIND_GAUGE, .options = {                                                     \
            .name = name_,                                                                         \
            .description = description_,                                                           \
            .unit = unit_                                                                          \
        }                                                                                          \
    }

/* 1 MiB to 256 GiB */
static const double malloc_memories[] = {0x1p20, 0x1p22, 0x1p24, 0x1p26, 0x1p28,
                                         0x1p30, 0x1p32, 0x1p34, 0x1p36, 0x1p38};
static const crest_buckets malloc_memory_buckets = {malloc_memories, sizeof malloc_memories /
                                                                         sizeof *malloc_memories};

static const crest_figure malloc_collector_figures[] = {
    [MALLOC_HELD] =
        MALLOC_GAUGE("malloc.held-memory", "Memory taken from the system.", CREST_BYTES),
    [MALLOC_MAPPED] =
        MALLOC_GAUGE("malloc.mapped-memory", "Of that, in blocks mapped one by one.", CREST_BYTES),
    [MALLOC_MAPPED_BLOCKS] =
        MALLOC_GAUGE("malloc.mapped-blocks", "Blocks that are mapped one by one.", CREST_NONE),
    [MALLOC_USED] = MALLOC_GAUGE("malloc.used-memory", "Memory that is allocated.", CREST_BYTES),
    [MALLOC_USED_READINGS] = {.kind = CREST_KIND_HISTOGRAM,
                              .options = {.name = "malloc.used-memory-readings",
                                          .description = "Memory that was allocated, read once an "
                                                         "interval.",
                                          .unit = CREST_BYTES,
                                          .buckets = &malloc_memory_buckets}},
    [MALLOC_USED_RANGE] = {.kind = CREST_KIND_RANGE_SAMPLER,
                           .options = {.name = "malloc.memory-used",
                                       .description = "Memory allocated, with the extremes of what "
                                                      "readings saw.",
                                       .unit = CREST_BYTES}},
    [MALLOC_FREE] =
        MALLOC_GAUGE("malloc.free-memory", "Memory held and not allocated.", CREST_BYTES),
    [MALLOC_FREE_CHUNKS] =
        MALLOC_GAUGE("malloc.free-chunks", "Pieces that the free memory is in.", CREST_NONE),
    [MALLOC_TOP] = MALLOC_GAUGE("malloc.releasable-memory",
                                "Free memory at the top, which can be given back.", CREST_BYTES),
    [MALLOC_PROCESS_HEAP] = MALLOC_GAUGE(
        "process.heap", "Memory that the C library's allocator holds, used or not.", CREST_BYTES),
};

static void malloc_collector_collect(crest_collect *collect)
{
#ifdef MALLOC_COLLECTOR_KNOWS
    const struct mallinfo2 info = mallinfo2();
    crest_place *own = collect->own;
    /* blocks mapped one by one are in none of the other figures */
    size_t held = info.arena + info.hblkhd, used = info.uordblks + info.hblkhd;
    crest_figure_gauge(own, MALLOC_HELD, (double)held);
    crest_figure_gauge(own, MALLOC_PROCESS_HEAP, (double)held);
    crest_figure_gauge(own, MALLOC_MAPPED, (double)info.hblkhd);
    crest_figure_gauge(own, MALLOC_MAPPED_BLOCKS, (double)info.hblks);
    crest_figure_gauge(own, MALLOC_USED, (double)used);
    crest_figure_record(own, MALLOC_USED_READINGS, (int64_t)used);
    crest_figure_sample(own, MALLOC_USED_RANGE, (int64_t)used);
    crest_figure_gauge(own, MALLOC_FREE, (double)info.fordblks);
    crest_figure_gauge(own, MALLOC_FREE_CHUNKS, (double)info.ordblks);
    crest_figure_gauge(own, MALLOC_TOP, (double)info.keepcost);
#else
    crest_collect_fail(collect, CREST_CAUSE_MISSING, "mallinfo2", "the C library has none");
#endif
}

const crest_collector_kind crest_malloc_collector = {
    .name = "malloc",
    .group = "malloc",
    .cadence = CREST_CADENCE_SLOW,
    .collect = malloc_collector_collect,
    .figures = malloc_collector_figures,
    .figure_count = CREST_FIGURES(malloc_collector_figures),
};
