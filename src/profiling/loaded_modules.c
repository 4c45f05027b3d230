/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Snapshots of what is loaded. See loaded_modules.h.
 */
#define _GNU_SOURCE
#include "profiling/loaded_modules.h"
#include "base/alloc.h"
#include "base/atomic.h"

#include <link.h>
#include <string.h>
#include <unistd.h>

static crest_modules *modules_now;
static unsigned long long modules_adds, modules_subs;

typedef struct modules_path {
    struct modules_path *next;
    char text[];
} modules_path;

static modules_path *modules_paths;

typedef struct modules_look {
    crest_modules *made;
    size_t room;
    int failed;
    unsigned long long adds, subs;
} modules_look;

const crest_modules *crest_modules_now(void)
{
    /* acquire: partner of the release store in modules_publish */
    return crest_atomic_load_ptr_acquire(CREST_PTR(&modules_now));
}

const crest_module *crest_modules_find(const crest_modules *modules, uint64_t pc)
{
    size_t low = 0;
    if (modules == NULL)
        return NULL;
    for (size_t high = modules->count; low < high;) {
        size_t middle = low + (high - low) / 2;
        if (modules->module[middle].low <= pc)
            low = middle + 1;
        else
            high = middle;
    }
    const crest_module *found = low > 0 ? &modules->module[low - 1] : NULL;
    return found != NULL && pc < found->high ? found : NULL;
}

/* ---- looking ---- */

static void modules_build_id(crest_module *module, const char *notes, size_t bytes)
{
    while (bytes >= 12) {
        uint32_t words[3];
        memcpy(words, notes, sizeof words);
        size_t name = (words[0] + 3u) & ~(size_t)3, value = (words[1] + 3u) & ~(size_t)3;
        if (name > bytes - 12 || value > bytes - 12 - name)
            return;
        if (words[2] == 3 && words[0] == 4 && memcmp(notes + 12, "GNU", 4) == 0) {
            module->build_id_bytes =
                (uint8_t)(words[1] < CREST_BUILD_ID_MAX ? words[1] : CREST_BUILD_ID_MAX);
            memcpy(module->build_id, notes + 12 + name, module->build_id_bytes);
            return;
        }
        notes += 12 + name + value;
        bytes -= 12 + name + value;
    }
}

/* One copy of each path, for good: what is loaded again and again has the same. NULL without
 * memory. */
static const char *modules_path_of(const char *name)
{
    modules_path *path = modules_paths;
    while (path != NULL && strcmp(path->text, name) != 0)
        path = path->next;
    if (path != NULL)
        return path->text;
    size_t bytes = strlen(name) + 1;
    path = crest_alloc(1, sizeof *path + bytes);
    if (path == NULL)
        return NULL;
    memcpy(path->text, name, bytes);
    path->next = modules_paths;
    modules_paths = path;
    return path->text;
}

/* The program's own path; names of the others are the loader's. */
static const char *modules_name(const char *name, int first)
{
    char path[4096];
    if (!first || name[0] != '\0')
        return modules_path_of(name);
    /* the thread's: that of the process is gone once main() has ended by pthread_exit */
    ssize_t bytes = readlink("/proc/thread-self/exe", path, sizeof path - 1);
    path[bytes > 0 ? bytes : 0] = '\0';
    return modules_path_of(bytes > 0 ? path : "[program]");
}

static int modules_add(modules_look *look, const crest_module *module)
{
    crest_modules *made = look->made;
    if (made == NULL || made->count == look->room) {
        look->room = look->room * 2 + 32;
        made = crest_alloc_resize(look->made, sizeof *made + look->room * sizeof *module, 1);
        if (made == NULL)
            return 0;
        if (look->made == NULL)
            *made = (crest_modules){0, 0, NULL};
        look->made = made;
    }
    if (made->count == CREST_MODULES_MAX)
        return 1;
    made->module[made->count++] = *module;
    return 1;
}

static int modules_one(struct dl_phdr_info *info, size_t size, void *context)
{
    modules_look *look = context;
    crest_module module = {.image_low = UINT64_MAX, .low = UINT64_MAX, .base = info->dlpi_addr};
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        uint64_t from = info->dlpi_addr + part->p_vaddr, to = from + part->p_memsz;
        if (part->p_type == PT_GNU_EH_FRAME)
            module.header = from;
        else if (part->p_type == PT_NOTE && module.build_id_bytes == 0)
            modules_build_id(&module, (const char *)(uintptr_t)from, part->p_memsz);
        if (part->p_type != PT_LOAD)
            continue;
        module.image_low = from < module.image_low ? from : module.image_low;
        module.image_high = to > module.image_high ? to : module.image_high;
        if ((part->p_flags & PF_X) == 0)
            continue;
        if (from < module.low) {
            module.low = from;
            module.file_offset = part->p_offset;
        }
        module.high = to > module.high ? to : module.high;
    }
    if (module.low >= module.high)
        return 0;
    module.path = modules_name(info->dlpi_name, look->made == NULL || look->made->count == 0);
    look->failed = module.path == NULL || !modules_add(look, &module);
    return look->failed;
}

static int modules_counts(struct dl_phdr_info *info, size_t size, void *context)
{
    modules_look *look = context;
    if (size >= offsetof(struct dl_phdr_info, dlpi_subs) + sizeof info->dlpi_subs) {
        look->adds = info->dlpi_adds;
        look->subs = info->dlpi_subs;
    }
    return 1;
}

/* ---- putting together ---- */

static int modules_overlap(const crest_modules *made, size_t count, const crest_module *old)
{
    for (size_t i = 0; i < count; i++)
        if (made->module[i].low < old->high && old->low < made->module[i].high)
            return 1;
    return 0;
}

/* Whether both snapshots have it. */
static int modules_same(const crest_module *a, const crest_module *b)
{
    return a->low == b->low && a->high == b->high && a->base == b->base && !a->gone && !b->gone &&
           a->build_id_bytes == b->build_id_bytes &&
           memcmp(a->build_id, b->build_id, a->build_id_bytes) == 0 && a->path == b->path;
}

/* Carries over what is not loaded any more and whose place nothing else has. */
static int modules_carry(modules_look *look, const crest_modules *before)
{
    size_t loaded = look->made->count;
    for (size_t i = 0; before != NULL && i < before->count; i++) {
        crest_module old = before->module[i];
        size_t same = 0;
        while (same < loaded && !modules_same(&look->made->module[same], &old))
            same++;
        if (same < loaded || modules_overlap(look->made, loaded, &old))
            continue;
        old.gone = 1;
        old.header = 0;
        if (!modules_add(look, &old))
            return 0;
    }
    return 1;
}

static void modules_sort(crest_modules *made)
{
    for (size_t i = 1; i < made->count; i++) {
        crest_module module = made->module[i];
        size_t at = i;
        for (; at > 0 && made->module[at - 1].low > module.low; at--)
            made->module[at] = made->module[at - 1];
        made->module[at] = module;
    }
}

int crest_modules_look(void)
{
    modules_look look = {0};
    dl_iterate_phdr(modules_counts, &look);
    crest_modules *before = modules_now;
    if (before != NULL && look.adds == modules_adds && look.subs == modules_subs && look.adds != 0)
        return 0;
    modules_adds = look.adds;
    modules_subs = look.subs;
    dl_iterate_phdr(modules_one, &look);
    if (look.made == NULL || look.failed || !modules_carry(&look, before)) {
        crest_alloc_free(look.made);
        return 0;
    }
    modules_sort(look.made);
    look.made->older = before;
    look.made->generation = before != NULL ? before->generation + 1 : 1;
    /* partner: the acquire load in crest_modules_now */
    crest_atomic_store_ptr_release(CREST_PTR(&modules_now), look.made);
    return 1;
}

void crest_modules_free_old(void)
{
    crest_modules *old = modules_now != NULL ? modules_now->older : NULL;
    if (old == NULL)
        return;
    modules_now->older = NULL;
    while (old != NULL) {
        crest_modules *older = old->older;
        crest_alloc_free(old);
        old = older;
    }
}
