/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CPU time by function. See function_counters.h.
 *
 * A reading: 1. names of addresses that are new   2. each row's functions get its samples
 *            3. those that have grown enough get a counter   4. counters are added to
 */
#include "profiling/function_counters.h"
#include "base/alloc.h"
#include "metrics/metric_inside.h"
#include "profiling/places.h"

#include <crest/family.h>
#include <float.h>
#include <stdlib.h>
#include <string.h>

/* Addresses whose function is known; a power of two. All are forgotten when it is full, or when
 * modules come and go. */
#define FUNCTIONS_KNOWN 16384u
#define FUNCTIONS_NAME_BYTES 200u
#define FUNCTIONS_PROBES 256u
#define FUNCTIONS_OTHER "other"
#define FUNCTIONS_NO_TIMER "none"

enum { FUNCTIONS_SELF, FUNCTIONS_TOTAL, FUNCTIONS_KINDS };

static const char *const functions_kinds[FUNCTIONS_KINDS] = {"self", "total"};

typedef struct functions_known {
    uint64_t pc;
    char *name; /* NULL: free */
} functions_known;

/* A function in a timer. */
typedef struct functions_seen {
    const crest_metric *metric;
    char *name;     /* NULL: free */
    uint64_t stamp; /* the last row that it was in */
    double recent[FUNCTIONS_KINDS];
    uint64_t fresh[FUNCTIONS_KINDS]; /* samples of this reading */
    crest_counter *counter[FUNCTIONS_KINDS];
} functions_seen;

static struct {
    unsigned most, counted[FUNCTIONS_KINDS];
    crest_counter_family family;
    crest_counter *other;
    functions_seen *seen; /* CREST_FUNCTIONS_SEEN, open addressing */
    functions_known *known;
    size_t known_count;
    uint32_t generation; /* of the modules that they are of */
    double recent;       /* of all */
} functions;

static uint64_t functions_hash(const char *name)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (; *name != '\0'; name++)
        hash = (hash ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
    return hash | 1;
}

int crest_function_counters_make(unsigned most)
{
    static const char *const keys[] = {"function", "timer", "kind"};
    static const char *const other[] = {FUNCTIONS_OTHER, FUNCTIONS_NO_TIMER, "self"};
    functions.most = most;
    if (functions.seen != NULL)
        return 1;
    functions.known = crest_alloc(FUNCTIONS_KNOWN, sizeof *functions.known);
    functions.seen =
        functions.known != NULL ? crest_alloc(CREST_FUNCTIONS_SEEN, sizeof *functions.seen) : NULL;
    if (functions.seen == NULL) {
        crest_alloc_free(functions.known);
        return 0;
    }
    functions.family = crest_counter_family_new(
        NULL,
        &(crest_metric_options){.name = "crest.profile-cpu",
                                .unit = CREST_NANOSECONDS,
                                .description = "CPU time that the profiler's samples were of, by "
                                               "function."},
        keys, 3, NULL);
    functions.other = crest_counter_family_get(&functions.family, other, 3);
    return 1;
}

/* ---- 1. names of addresses ---- */

static functions_known *functions_known_at(uint64_t pc)
{
    uint64_t at = (pc * UINT64_C(0x9e3779b97f4a7c15)) >> 40;
    while (functions.known[at % FUNCTIONS_KNOWN].name != NULL &&
           functions.known[at % FUNCTIONS_KNOWN].pc != pc)
        at++;
    return &functions.known[at % FUNCTIONS_KNOWN];
}

/* "file+0x12" is file: addresses without names would be functions without number. What the compiler
 * calls its copies of a function, "store.part.0", is the function. */
static void functions_name(const crest_code_place *place, const crest_rows *rows, char *name)
{
    static const char *const copies[] = {".constprop.", ".isra.", ".part.", ".cold", ".lto_priv."};
    crest_code_place_show(place, rows, name, FUNCTIONS_NAME_BYTES);
    char *end = place->name == NULL ? strstr(name, "+0x") : NULL;
    if (end != NULL)
        *end = '\0';
    for (size_t i = 0; place->name != NULL && i < sizeof copies / sizeof copies[0]; i++)
        if ((end = strstr(name, copies[i])) != NULL && end != name)
            *end = '\0';
}

static void functions_forget(void)
{
    for (size_t i = 0; i < FUNCTIONS_KNOWN; i++)
        crest_alloc_free(functions.known[i].name);
    memset(functions.known, 0, FUNCTIONS_KNOWN * sizeof *functions.known);
    functions.known_count = 0;
}

static void functions_learn(const crest_code_place *place, const crest_rows *rows)
{
    char name[FUNCTIONS_NAME_BYTES];
    functions_known *known = functions_known_at(place->pc);
    if (known->name != NULL || functions.known_count >= FUNCTIONS_KNOWN / 4 * 3)
        return;
    functions_name(place, rows, name);
    known->name = crest_alloc(1, strlen(name) + 1);
    if (known->name == NULL)
        return;
    memcpy(known->name, name, strlen(name) + 1);
    known->pc = place->pc;
    functions.known_count++;
}

/* Looks the new addresses up: as rows of one frame each, with the same modules. */
static void functions_look_up(const crest_rows *rows)
{
    crest_rows fresh = {.row = NULL};
    crest_code_places places;
    if (rows->generation != functions.generation || functions.known_count >= FUNCTIONS_KNOWN / 2)
        functions_forget();
    functions.generation = rows->generation;
    for (size_t i = 0; i < rows->frame_count; i++)
        if (functions_known_at(rows->frame[i])->name == NULL)
            crest_rows_add(&fresh, &rows->frame[i], 1, &(crest_row){.value = {1, 0}});
    fresh.module = rows->module;
    fresh.module_count = rows->module_count;
    if (fresh.count > 0 && crest_code_places_find(&places, &fresh)) {
        for (size_t i = 0; i < places.count; i++)
            functions_learn(&places.place[i], rows);
        crest_code_places_free(&places);
    }
    fresh.module = NULL; /* the caller's */
    crest_rows_free(&fresh);
}

/* ---- 2. samples of functions ---- */

/* Where the function is, or a free place; NULL: there is none, or no memory for its name. */
static functions_seen *functions_find(const char *name, const crest_metric *metric)
{
    uint64_t hash = (functions_hash(name) ^ (uintptr_t)metric) * UINT64_C(0x9e3779b97f4a7c15);
    for (unsigned i = 0; i < FUNCTIONS_PROBES; i++) {
        functions_seen *seen = &functions.seen[((hash >> 32) + i) % CREST_FUNCTIONS_SEEN];
        if (seen->name != NULL && seen->metric == metric && strcmp(seen->name, name) == 0)
            return seen;
        if (seen->name != NULL)
            continue;
        seen->name = crest_alloc(1, strlen(name) + 1);
        if (seen->name == NULL)
            return NULL;
        memcpy(seen->name, name, strlen(name) + 1);
        seen->metric = metric;
        return seen;
    }
    return NULL;
}

/* Gives the row's samples to the innermost function, and to each of all once; returns the samples
 * for whose innermost function there is no place. */
static uint64_t functions_row(const crest_rows *rows, const crest_row *row, uint64_t *stamp)
{
    uint64_t left = row->value[0];
    ++*stamp;
    for (unsigned i = 0; i < row->depth; i++) {
        const char *name = functions_known_at(rows->frame[row->frames + i])->name;
        functions_seen *seen = functions_find(name != NULL ? name : "[unknown]", row->metric);
        if (seen == NULL || seen->stamp == *stamp)
            continue;
        seen->stamp = *stamp;
        seen->fresh[FUNCTIONS_TOTAL] += row->value[0];
        if (i == 0) {
            seen->fresh[FUNCTIONS_SELF] += row->value[0];
            left = 0;
        }
    }
    return left;
}

/* ---- 3. and 4. counters ---- */

static void functions_admit(functions_seen *seen, unsigned kind)
{
    const char *values[] = {seen->name,
                            seen->metric != NULL ? seen->metric->name : FUNCTIONS_NO_TIMER,
                            functions_kinds[kind]};
    if (functions.counted[kind] >= functions.most || seen->recent[kind] < CREST_FUNCTIONS_SAMPLES ||
        seen->recent[kind] < CREST_FUNCTIONS_SHARE * functions.recent)
        return;
    seen->counter[kind] = crest_counter_family_get(&functions.family, values, 3);
    functions.counted[kind]++;
}

/* Forgets functions that have no counter and fewer samples than this, so that others find room:
 * places of the table are probed one after the other, so it is made anew. */
static void functions_thin_out(double least)
{
    functions_seen *all = crest_alloc(CREST_FUNCTIONS_SEEN, sizeof *all), *old = functions.seen;
    if (all == NULL)
        return;
    functions.seen = all;
    for (unsigned i = 0; i < CREST_FUNCTIONS_SEEN; i++) {
        functions_seen *seen = &old[i];
        int kept = seen->counter[FUNCTIONS_SELF] != NULL ||
                   seen->counter[FUNCTIONS_TOTAL] != NULL || seen->recent[FUNCTIONS_TOTAL] >= least;
        functions_seen *place =
            kept && seen->name != NULL ? functions_find(seen->name, seen->metric) : NULL;
        if (place != NULL) {
            char *name = place->name;
            *place = *seen;
            place->name = name;
        }
        crest_alloc_free(seen->name);
    }
    crest_alloc_free(old);
}

/* The samples of this reading that no counter of a function has. */
static uint64_t functions_count(functions_seen *seen, uint64_t period_ns)
{
    uint64_t left = 0;
    for (unsigned kind = 0; kind < FUNCTIONS_KINDS; kind++) {
        uint64_t fresh = seen->fresh[kind];
        seen->fresh[kind] = 0;
        seen->recent[kind] = seen->recent[kind] * CREST_FUNCTIONS_DECAY + (double)fresh;
        if (seen->counter[kind] == NULL && fresh != 0) /* else its timer may be gone */
            functions_admit(seen, kind);
        if (seen->counter[kind] != NULL)
            crest_counter_add(seen->counter[kind], (int64_t)(fresh * period_ns));
        else if (kind == FUNCTIONS_SELF)
            left = fresh;
    }
    return left;
}

void crest_function_counters_add(const crest_rows *rows, uint64_t period_ns)
{
    static uint64_t stamp;
    uint64_t left = 0, all = 0;
    unsigned used = 0;
    functions_look_up(rows);
    for (size_t i = 0; i < rows->count; i++) {
        all += rows->row[i].value[0];
        left += functions_row(rows, &rows->row[i], &stamp);
    }
    functions.recent = functions.recent * CREST_FUNCTIONS_DECAY + (double)all;
    for (unsigned i = 0; i < CREST_FUNCTIONS_SEEN; i++)
        if (functions.seen[i].name != NULL) {
            used++;
            left += functions_count(&functions.seen[i], period_ns);
        }
    crest_counter_add(functions.other, (int64_t)(left * period_ns));
    if (used > CREST_FUNCTIONS_SEEN / 2)
        functions_thin_out(1);
}

void crest_function_counters_rest(void)
{
    if (functions.seen == NULL)
        return;
    functions_forget();
    functions.recent = 0;
    functions_thin_out(DBL_MAX);
}
