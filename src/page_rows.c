/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of a snapshot, for the encoder of pages. See page_source.h.
 */
#include "arena.h"
#include "made.h"
#include "page_source.h"
#include "reading.h"
#include "series.h"

#include <string.h>

/* So many series ahead memory is asked for, so that it is there when their turn comes: with a
 * million of them nothing is in a cache. */
#define PAGE_ROWS_AHEAD 12u

static void page_rows_metric(const crest_snapshot *snapshot, size_t index,
                             crest_page_metric *metric)
{
    crest_snapshot_series(snapshot, index, &metric->first);
    const crest_metric *own = snapshot->directory->series[index]->metric;
    metric->constants = own->state->constant_count;
    metric->identity = own;
}

/* The values' texts lie one behind the other in the child; a timer's outcome does not. */
static void page_rows_lengths(const crest_series *series, unsigned count, crest_page_row *row)
{
    row->plain = count == 0 || series->text_bytes != 0;
    if (count == 0 || !row->plain)
        return;
    for (unsigned i = 0; i + 1 < count; i++)
        row->lengths[i] = (uint16_t)(row->values[i + 1] - row->values[i] - 1);
    row->lengths[count - 1] =
        (uint16_t)(row->values[0] + series->text_bytes - row->values[count - 1] - 1);
}

static unsigned page_rows_fill(const crest_snapshot *snapshot, const crest_page_metric *metric,
                               size_t index, crest_page_row *rows, unsigned room)
{
    const crest_directory *directory = snapshot->directory;
    const crest_metric *own = metric->identity;
    size_t left = directory->count - index;
    crest_series *const *series = directory->series + index;
    unsigned count = 0;
    int timer = own->kind == CREST_KIND_TIMER;
    for (; count < room && count < left && series[count]->metric == own; count++) {
        crest_page_row *row = &rows[count];
        if (left - count > PAGE_ROWS_AHEAD) {
            const char *ahead = (const char *)series[count + PAGE_ROWS_AHEAD];
            __builtin_prefetch(ahead);
            __builtin_prefetch(ahead + CREST_LINE_BYTES);
        }
        row->values = crest_series_values(series[count]);
        row->counter = snapshot->values[index + count];
        if (own->layout != NULL)
            row->distribution = crest_snapshot_distribution(snapshot, index + count);
        row->made_s = metric->made ? crest_made_s(series[count]->slot) : 0;
        page_rows_lengths(series[count], own->label_count, row);
        if (timer)
            row->lengths[own->label_count] = (uint16_t)strlen(row->values[own->label_count]);
    }
    return count;
}

const crest_page_source crest_page_source_snapshot = {
    crest_snapshot_size,    page_rows_metric,        page_rows_fill,
    crest_snapshot_windows, crest_snapshot_window,   crest_distribution_count,
    crest_distribution_sum, crest_distribution_next,
};
