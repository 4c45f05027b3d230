/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Addresses and their names. See places.h.
 *
 * A file's symbols are gone through once, and each is looked up among the addresses, which are few:
 * so nothing is sorted or kept of the symbols, which may be hundreds of thousands.
 */
#define _GNU_SOURCE
#include "profiling/places.h"
#include "base/alloc.h"
#include "profiling/elf_symbols.h"
#include "profiling/named_frames.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct crest_code_place_text {
    struct crest_code_place_text *next;
    char text[];
} crest_code_place_text;

/* The addresses of one module, while a file is gone through. */
typedef struct places_search {
    crest_code_places *places;
    crest_code_place *place;
    size_t count;
    uint64_t base;
    int failed; /* no memory */
} places_search;

static int places_order(const void *a, const void *b)
{
    uint64_t first = *(const uint64_t *)a, second = *(const uint64_t *)b;
    return first < second ? -1 : first > second;
}

/* ---- symbols ---- */

/* Of several names of a function, the one for people: with fewest underscores in front, then the
 * shortest, then the first in the alphabet. */
static int places_better(const char *name, const char *than)
{
    size_t low = strspn(name, "_"), low_than = strspn(than, "_");
    size_t length = strlen(name), length_than = strlen(than);
    if (low != low_than)
        return low < low_than;
    return length != length_than ? length < length_than : strcmp(name, than) < 0;
}

/* A crest_elf_each. */
static void places_symbol(void *context, uint64_t from, uint64_t bytes, const char *name)
{
    places_search *search = context;
    size_t low = 0;
    for (size_t high = search->count; low < high;) {
        size_t middle = low + (high - low) / 2;
        if (search->place[middle].pc - search->base < from)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < search->count && search->place[low].pc - search->base - from < bytes; low++) {
        crest_code_place *place = &search->place[low];
        if (place->name != NULL &&
            (place->symbol > from || (place->symbol == from && !places_better(name, place->name))))
            continue;
        place->name = name;
        place->symbol = from;
    }
}

/* A crest_elf_done: copies the names that lie there. */
static void places_keep(void *context, const char *names, size_t bytes)
{
    places_search *search = context;
    for (size_t i = 0; i < search->count; i++) {
        crest_code_place *place = &search->place[i];
        if (place->name < names || place->name >= names + bytes)
            continue;
        if (i > 0 && search->place[i - 1].symbol == place->symbol &&
            search->place[i - 1].name != NULL) {
            place->name = search->place[i - 1].name;
            continue;
        }
        size_t length = strlen(place->name) + 1;
        crest_code_place_text *text = crest_alloc(1, sizeof *text + length);
        if (text == NULL) {
            search->failed = 1;
            place->name = NULL;
            continue;
        }
        memcpy(text->text, place->name, length);
        text->next = search->places->texts;
        search->places->texts = text;
        place->name = text->text;
    }
}

/* ---- files ---- */

/* The kernel's own module is nowhere but in memory. */
static int places_is_vdso(const crest_module *module)
{
    return strncmp(module->path, "linux-vdso", 10) == 0 && !module->gone;
}

static int places_is_it(const crest_elf *elf, const crest_module *module)
{
    uint8_t id[CREST_BUILD_ID_MAX];
    size_t bytes = crest_elf_build_id(elf, id, sizeof id);
    return bytes == module->build_id_bytes && memcmp(id, module->build_id, bytes) == 0;
}

static void places_read(places_search *search, const crest_module *module, const char *path,
                        size_t *whole)
{
    crest_elf elf;
    if (!crest_elf_open(&elf, path))
        return;
    if (places_is_it(&elf, module))
        *whole = crest_elf_functions(&elf, places_symbol, places_keep, search);
    crest_elf_close(&elf);
}

/* Names the addresses of one module: from its file, and from the file of its debugging symbols
 * where the first is stripped. */
static void places_module(places_search *search, const crest_module *module)
{
    char path[sizeof "/usr/lib/debug/.build-id/xx/.debug" + 2 * CREST_BUILD_ID_MAX];
    size_t whole = 0;
    search->base = module->base;
    if (places_is_vdso(module)) {
        crest_elf elf = {(const unsigned char *)(uintptr_t)module->image_low, -1,
                         module->image_high - module->image_low};
        crest_elf_functions(&elf, places_symbol, places_keep, search);
        return;
    }
    places_read(search, module, module->path, &whole);
    if (whole != 0 || module->build_id_bytes < 2)
        return;
    int at = snprintf(path, sizeof path, "/usr/lib/debug/.build-id/%02x/", module->build_id[0]);
    for (unsigned i = 1; i < module->build_id_bytes; i++)
        at += snprintf(path + at, sizeof path - (size_t)at, "%02x", module->build_id[i]);
    snprintf(path + at, sizeof path - (size_t)at, ".debug");
    places_read(search, module, path, &whole);
}

/* ---- all ---- */

/* The different addresses, in order. 0 without memory. */
static int places_collect(crest_code_places *places, const crest_rows *rows)
{
    uint64_t *pcs = crest_alloc(rows->frame_count + 1, sizeof *pcs);
    places->place = crest_alloc(rows->frame_count + 1, sizeof *places->place);
    if (pcs == NULL || places->place == NULL) {
        crest_alloc_free(pcs);
        return 0;
    }
    if (rows->frame_count > 0)
        memcpy(pcs, rows->frame, rows->frame_count * sizeof *pcs);
    qsort(pcs, rows->frame_count, sizeof *pcs, places_order);
    for (size_t i = 0, module = 0; i < rows->frame_count; i++) {
        if (i > 0 && pcs[i] == pcs[i - 1])
            continue;
        while (module < rows->module_count && rows->module[module].high <= pcs[i])
            module++;
        int inside = module < rows->module_count && rows->module[module].low <= pcs[i];
        places->place[places->count++] =
            (crest_code_place){.pc = pcs[i],
                               .module = inside ? module : CREST_PLACE_NO_MODULE,
                               .name = crest_named_frame(pcs[i]),
                               .symbol = pcs[i]};
    }
    crest_alloc_free(pcs);
    return 1;
}

int crest_code_places_find(crest_code_places *places, const crest_rows *rows)
{
    *places = (crest_code_places){.place = NULL};
    int good = places_collect(places, rows);
    for (size_t i = 0; good && i < places->count;) {
        places_search search = {.places = places, .place = &places->place[i], .count = 1};
        while (i + search.count < places->count &&
               places->place[i + search.count].module == places->place[i].module)
            search.count++;
        if (places->place[i].module != CREST_PLACE_NO_MODULE)
            places_module(&search, &rows->module[places->place[i].module]);
        good = !search.failed;
        i += search.count;
    }
    if (!good)
        crest_code_places_free(places);
    return good;
}

void crest_code_places_free(crest_code_places *places)
{
    for (crest_code_place_text *text = places->texts; text != NULL;) {
        crest_code_place_text *next = text->next;
        crest_alloc_free(text);
        text = next;
    }
    crest_alloc_free(places->place);
    *places = (crest_code_places){.place = NULL};
}

size_t crest_code_places_at(const crest_code_places *places, uint64_t pc)
{
    size_t low = 0;
    for (size_t high = places->count; low < high;) {
        size_t middle = low + (high - low) / 2;
        if (places->place[middle].pc < pc)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void crest_code_place_show(const crest_code_place *place, const crest_rows *rows, char *text,
                           size_t size)
{
    if (place->name == NULL) {
        const crest_module *module =
            place->module != CREST_PLACE_NO_MODULE ? &rows->module[place->module] : NULL;
        const char *path = module != NULL ? module->path : "[unknown]";
        const char *slash = strrchr(path, '/');
        snprintf(text, size, "%s+0x%llx", slash != NULL ? slash + 1 : path,
                 (unsigned long long)(place->pc - (module != NULL ? module->base : 0)));
        return;
    }
    snprintf(text, size, "%s", place->name);
}
