/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a profile consists of: rows, each a stack with its labels and values, in memory of its own.
 * Whatever the profiler does meanwhile, an ended profile stays as it is.
 *
 *     crest_rows_add(&rows, frames, depth, &(crest_row){.metric = metric, .value = {2, 20}});
 *     …
 *     crest_rows_free(&rows);
 */
#ifndef CREST_PROFILING_PROFILE_ROWS_H
#define CREST_PROFILING_PROFILE_ROWS_H

#include "profiling/loaded_modules.h"
#include <crest/profile.h>

/* Bytes of a thread's name; of a state's. */
#define CREST_ROW_THREAD_BYTES 16u

typedef struct crest_row {
    size_t frames; /* the number of the first one in crest_rows.frame; set by crest_rows_add */
    unsigned depth;
    const struct crest_metric *metric; /* NULL: in no operation */
    uint32_t stage;                    /* of the operation, 1 + its index; 0: no label */
    crest_op op;                       /* of kind CREST_OP_NONE: no label */
    uint64_t age_ns;                   /* of the operation, up to now or its end; 0: no label */
    int thread;                        /* its number; 0: no label */
    char thread_name[CREST_ROW_THREAD_BYTES];
    const char *state; /* static; NULL: no label */
    uint64_t value[2];
} crest_row;

typedef struct crest_rows {
    crest_row *row;
    size_t count, room;
    uint64_t *frame;
    size_t frame_count, frame_room;
    crest_module *module; /* a copy, by `low` */
    size_t module_count;
    uint32_t generation; /* of the modules */
    int failed;          /* memory ran out: rows are missing */
} crest_rows;

/* Adds a copy; sets `failed` without memory. */
void crest_rows_add(crest_rows *rows, const uint64_t *frames, unsigned depth, const crest_row *row);

/* The name of the row's stage; NULL: it has none. */
const char *crest_row_stage(const crest_row *row);

/* Copies which modules there are. */
void crest_rows_modules(crest_rows *rows, const crest_modules *modules);

void crest_rows_free(crest_rows *rows);

#endif
