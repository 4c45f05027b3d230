/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Native histograms from distributions. See native_cells.h.
 */
#include "distributions/native_cells.h"

/* A bucket is 2^(2^-s) - 1 of its lower bound wide; a cell at most 2^-bits of its lowest value. The
 * former is larger as long as s is below bits. */
int crest_native_schema_within(int schema, const crest_layout *layout)
{
    int finest = (int)layout->bits - 1;
    return schema < finest ? schema : finest;
}

/* Cuts the cells of a block above the lowest into runs. */
static void native_cut(crest_native_runs *runs, unsigned s)
{
    const crest_layout *layout = &runs->layout;
    uint64_t first = crest_layout_first_cell(layout, s), end = crest_layout_end_cell(layout);
    unsigned shift = crest_layout_shift(layout, s), used = 0;
    uint64_t half = (UINT64_C(1) << shift) / 2;
    for (uint64_t cell = first, to; cell < end; cell = to) {
        int index =
            crest_native_index((double)((cell << shift) + half) / runs->divisor, runs->schema);
        to = ((crest_native_upper(index, runs->schema, runs->divisor) - half) >> shift) + 1;
        to = to < end ? to : end;
        runs->run[s][used++] = (crest_native_run){(uint32_t)(to - first), index};
    }
    runs->cut |= UINT64_C(1) << s;
}

/* Whether blocks of this layout can be cut for this schema. */
static int native_runs_begin(crest_native *native, const crest_layout *layout)
{
    crest_native_runs *runs = &native->runs;
    if (native->schema > CREST_NATIVE_RUNS_SCHEMA_MAX || layout->blocks > CREST_NATIVE_BLOCKS)
        return 0;
    if (runs->cut == 0 || runs->schema != native->schema || runs->divisor != native->divisor ||
        !crest_layout_equal(&runs->layout, layout)) {
        runs->layout = *layout;
        runs->schema = native->schema;
        runs->divisor = native->divisor;
        runs->cut = 0;
    }
    return 1;
}

/* Adds runs of which each is a bucket of the present schema, where all of them have room. A run may
 * go on with the bucket before. */
static void native_add_plain_runs(crest_native *native, const crest_native_run *run,
                                  const uint64_t *counts, uint32_t cells)
{
    crest_native_bucket *next = native->bucket + native->used;
    uint64_t all = 0;
    uint32_t from = 0;
    if (native->used != 0 && next[-1].index == run->index) {
        all = crest_distribution_total(counts, run->end);
        next[-1].count += all;
        from = run++->end;
    }
    for (; from < cells; from = run++->end) {
        uint64_t count = crest_distribution_total(counts + from, run->end - from);
        *next = (crest_native_bucket){run->index, count};
        next += count != 0;
        all += count;
    }
    native->used = (unsigned)(next - native->bucket);
    native->count += all;
    native->upper = 0; /* not known */
}

/* Adds a block above the lowest. All counts together stay within 64 bits. */
static void native_add_runs(crest_native *native, unsigned s, const uint64_t *counts,
                            uint32_t cells)
{
    crest_native_runs *runs = &native->runs;
    if ((runs->cut >> s & 1) == 0)
        native_cut(runs, s);
    const crest_native_run *run = runs->run[s];
    if (native->schema == runs->schema && native->used + CREST_NATIVE_RUNS <= native->limit) {
        native_add_plain_runs(native, run, counts, cells);
        return;
    }
    for (uint32_t from = 0; from < cells; from = run++->end) {
        uint64_t count = crest_distribution_total(counts + from, run->end - from);
        if (count != 0)
            crest_native_add_bucket(native, runs->schema, run->index, count);
    }
}

static void native_add_cells(crest_native *native, const crest_distribution *distribution,
                             unsigned s)
{
    const crest_layout *layout = &distribution->layout;
    const uint64_t *counts = distribution->block[s];
    uint64_t first = crest_layout_first_cell(layout, s), end = crest_layout_end_cell(layout);
    for (uint64_t cell = first; cell < end; cell++)
        if (counts[cell - first] != 0)
            crest_native_add(native, crest_layout_lowest(layout, s, cell),
                             crest_layout_highest(layout, s, cell), counts[cell - first]);
}

int crest_native_of(crest_native *native, int schema, unsigned limit, unsigned decimals,
                    const crest_layout *layout, const crest_distribution *distribution)
{
    if (layout->unit == CREST_LAYOUT_UNIT_NONE)
        return 0;
    crest_native_begin(native, crest_native_schema_within(schema, layout), limit, decimals,
                       crest_layout_highest(layout, 0, 0));
    if (distribution == NULL)
        return 1;
    int in_runs = native_runs_begin(native, layout) && distribution->count != UINT64_MAX;
    for (unsigned s = 0; s < layout->blocks; s++) {
        if (distribution->block[s] == NULL)
            continue;
        if (in_runs && s != 0)
            native_add_runs(native, s, distribution->block[s],
                            (uint32_t)crest_distribution_cells(distribution, s));
        else
            native_add_cells(native, distribution, s);
    }
    return 1;
}
