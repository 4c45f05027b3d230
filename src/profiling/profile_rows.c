/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of a profile. See profile_rows.h.
 */
#include "profiling/profile_rows.h"
#include "base/alloc.h"
#include "metrics/metric_inside.h"

#include <string.h>

/* Makes room for `more` items behind `count`; 0 without memory. */
static int rows_grow(void **items, size_t *room, size_t count, size_t more, size_t size)
{
    if (*room - count >= more)
        return 1;
    size_t wanted = *room * 2 + more + 64;
    void *grown = crest_alloc_resize(*items, wanted, size);
    if (grown == NULL)
        return 0;
    *items = grown;
    *room = wanted;
    return 1;
}

void crest_rows_add(crest_rows *rows, const uint64_t *frames, unsigned depth, const crest_row *row)
{
    void *items = rows->row, *words = rows->frame;
    int grown = rows_grow(&items, &rows->room, rows->count, 1, sizeof *row);
    grown &= rows_grow(&words, &rows->frame_room, rows->frame_count, depth, sizeof *frames);
    rows->row = items;
    rows->frame = words;
    if (!grown) {
        rows->failed = 1;
        return;
    }
    crest_row *added = &rows->row[rows->count++];
    *added = *row;
    added->frames = rows->frame_count;
    added->depth = depth;
    if (depth > 0)
        memcpy(rows->frame + rows->frame_count, frames, depth * sizeof *frames);
    rows->frame_count += depth;
}

const char *crest_row_stage(const crest_row *row)
{
    return row->metric != NULL && row->stage > 0 && row->stage <= row->metric->stage_count
               ? row->metric->stages[row->stage - 1]
               : NULL;
}

void crest_rows_modules(crest_rows *rows, const crest_modules *modules)
{
    if (modules == NULL)
        return;
    rows->module = crest_alloc(modules->count + 1, sizeof *rows->module);
    if (rows->module == NULL) {
        rows->failed = 1;
        return;
    }
    memcpy(rows->module, modules->module, modules->count * sizeof *rows->module);
    rows->module_count = modules->count;
    rows->generation = modules->generation;
}

void crest_rows_free(crest_rows *rows)
{
    crest_alloc_free(rows->row);
    crest_alloc_free(rows->frame);
    crest_alloc_free(rows->module);
    *rows = (crest_rows){.row = NULL};
}
