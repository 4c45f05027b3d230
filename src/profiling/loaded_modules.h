/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The executable and the libraries that are loaded, as the profiler needs them: which code belongs
 * to which file, and where that file's tables of unwinding lie. A snapshot is immutable and is
 * published by a pointer. The profiler's thread makes a new one when something was loaded or
 * unloaded; signal handlers read the present one.
 *
 * What was unloaded stays in later snapshots without tables, so that older samples keep their
 * names. An old snapshot is freed only after crest_modules_quiet: see its callers.
 */
#ifndef CREST_PROFILING_LOADED_MODULES_H
#define CREST_PROFILING_LOADED_MODULES_H

#include <stddef.h>
#include <stdint.h>

#define CREST_MODULES_MAX 4096u
#define CREST_BUILD_ID_MAX 20u

typedef struct crest_module {
    uint64_t low, high;             /* its code: executable memory */
    uint64_t image_low, image_high; /* all of it */
    uint64_t base;                  /* what is added to the file's addresses */
    uint64_t header;                /* of .eh_frame_hdr; 0: none, or unloaded */
    uint64_t file_offset;           /* of `low` in the file */
    const char *path;               /* for good */
    uint8_t build_id[CREST_BUILD_ID_MAX];
    uint8_t build_id_bytes; /* 0: none */
    uint8_t gone;           /* unloaded since */
} crest_module;

typedef struct crest_modules {
    size_t count;
    uint32_t generation;
    struct crest_modules *older; /* retired, not freed yet */
    crest_module module[];       /* by `low`; of those that had the same place, the last loaded */
} crest_modules;

/* Takes a new snapshot if anything was loaded or unloaded since the last one; non-zero if so. One
 * thread at a time; allocates. */
int crest_modules_look(void);

/* Frees retired snapshots. The caller knows that no handler reads them any more. */
void crest_modules_free_old(void);

/* The present snapshot; NULL before the first look. Any handler. */
const crest_modules *crest_modules_now(void);

/* The module with this code; NULL if there is none. Any handler. */
const crest_module *crest_modules_find(const crest_modules *modules, uint64_t pc);

#endif
