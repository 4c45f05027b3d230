/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What of this process' memory is its own share, and what is swapped out: PROC/self/smaps_rollup.
 * The kernel walks all pages for it, 20 ms for each GiB of small pages, so it is read at the slow
 * interval only.
 */
#include "system/collectors.h"

enum { MEMORY_PROPORTIONAL, MEMORY_SWAPPED };

static const crest_figure process_memory_figures[] = {
    [MEMORY_PROPORTIONAL] = {.kind = CREST_KIND_GAUGE,
                             .options = {.name = "process.proportional-memory",
                                         .description = "Memory in RAM, what is shared divided by "
                                                        "the processes that share it.",
                                         .unit = CREST_BYTES}},
    [MEMORY_SWAPPED] = {.kind = CREST_KIND_GAUGE,
                        .options = {.name = "process.swapped-memory",
                                    .description = "Memory that is swapped out.",
                                    .unit = CREST_BYTES}},
};

/* "Pss:    1234 kB" */
static void process_memory_give(crest_collect *collect, crest_text text, const char *key,
                                unsigned figure)
{
    crest_text rest, unit;
    uint64_t kilobytes;
    if (crest_text_field(text, key, &rest) && crest_text_u64(&rest, &kilobytes) &&
        crest_text_word(&rest, &unit) && crest_text_is(unit, "kB"))
        crest_figure_gauge(collect->own, figure, 1024.0 * (double)kilobytes);
    else
        crest_collect_garbage(collect, "self/smaps_rollup", text);
}

static void process_memory_collect(crest_collect *collect)
{
    crest_text text;
    if (!crest_collect_read(collect, CREST_ROOT_PROC, "self/smaps_rollup", 0, &text))
        return;
    process_memory_give(collect, text, "Pss:", MEMORY_PROPORTIONAL);
    process_memory_give(collect, text, "Swap:", MEMORY_SWAPPED);
}

const crest_collector_kind crest_process_memory_collector = {
    .name = "process-memory",
    .group = "process",
    .cadence = CREST_CADENCE_SLOW,
    .collect = process_memory_collect,
    .figures = process_memory_figures,
    .figure_count = CREST_FIGURES(process_memory_figures),
};
