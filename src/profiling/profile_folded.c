/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A profile as folded text: what flame graphs are drawn of. See profile_pprof.h.
 */
#include "metrics/metric_inside.h"
#include "profiling/profile_pprof.h"

#include <stdio.h>

#define FOLDED_NAME_BYTES 1024u

/* A frame's name: no semicolon, no line's end. */
static void folded_put(crest_buffer *out, char *name, const char *after)
{
    for (char *at = name; *at != '\0'; at++)
        if (*at == ';' || (unsigned char)*at < ' ')
            *at = ':';
    crest_buffer_put_text(out, name);
    crest_buffer_put_text(out, after);
}

static void folded_row(crest_buffer *out, const crest_row *row, const crest_rows *rows,
                       const crest_code_places *places)
{
    char name[FOLDED_NAME_BYTES];
    if (row->thread != 0) {
        crest_buffer_put_text(out, "thread ");
        __builtin_memcpy(name, row->thread_name, sizeof row->thread_name);
        name[sizeof row->thread_name - 1] = '\0';
        folded_put(out, name, ";");
    }
    if (row->metric != NULL) {
        crest_buffer_put_char(out, '[');
        crest_buffer_put_text(out, row->metric->name);
        crest_buffer_put_text(out, "];");
    }
    if (crest_row_stage(row) != NULL) {
        crest_buffer_put_text(out, "[stage ");
        snprintf(name, sizeof name, "%s", crest_row_stage(row));
        folded_put(out, name, "];");
    }
    for (unsigned i = row->depth; i > 0; i--) {
        size_t number = crest_code_places_at(places, rows->frame[row->frames + i - 1]);
        crest_code_place_show(&places->place[number], rows, name, sizeof name);
        folded_put(out, name, i > 1 ? ";" : "");
    }
    if (row->depth == 0)
        crest_buffer_put_text(out, "[no stack]");
    crest_buffer_put_char(out, ' ');
    crest_buffer_put_u64(out, row->value[1] != 0 ? row->value[1] : row->value[0]);
    crest_buffer_put_char(out, '\n');
}

void crest_folded_write(crest_buffer *out, const crest_rows *rows, const crest_code_places *places)
{
    for (size_t i = 0; i < rows->count; i++)
        folded_row(out, &rows->row[i], rows, places);
}
