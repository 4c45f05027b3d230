/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The different addresses of a profile's rows, each with its module and, where the module's file
 * says so, its function's name. Files are read here, when a profile is written, and only where
 * their build id is still that of the loaded module.
 */
#ifndef CREST_PROFILING_PLACES_H
#define CREST_PROFILING_PLACES_H

#include "profiling/profile_rows.h"

#define CREST_PLACE_NO_MODULE SIZE_MAX

typedef struct crest_code_place {
    uint64_t pc;
    size_t module;    /* its number in the rows; CREST_PLACE_NO_MODULE: none */
    const char *name; /* as the file has it; NULL: not known */
    uint64_t symbol;  /* where the function begins, in the file's addresses */
} crest_code_place;

typedef struct crest_code_places {
    crest_code_place *place; /* by pc */
    size_t count;
    struct crest_code_place_text *texts; /* memory of the names */
} crest_code_places;

/* 0 without memory. Reads files. */
int crest_code_places_find(crest_code_places *places, const crest_rows *rows);
void crest_code_places_free(crest_code_places *places);

/* The number of the place with this address. */
size_t crest_code_places_at(const crest_code_places *places, uint64_t pc);

/* The name, in `text` of `size` bytes, as the file has it: what reads a profile demangles it.
 * "file+0x12" where there is none. */
void crest_code_place_show(const crest_code_place *place, const crest_rows *rows, char *text,
                           size_t size);

#endif
