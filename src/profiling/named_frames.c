/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of other runtimes' frames. See named_frames.h.
 *
 * A table of hashes, open and never emptied, of which half is used at most. It is made with the
 * first name; places are filled under a lock and read without one.
 */
#include "profiling/named_frames.h"
#include "base/alloc.h"
#include "base/atomic.h"
#include "base/forked.h"
#include "base/sync.h"

#include <string.h>

#define NAMED_PLACES (2u * CREST_PROFILE_NAMES_MAX)

typedef struct named_table {
    const char *name[CREST_PROFILE_NAMES_MAX]; /* by number; the first is for names beyond */
    uint32_t place[NAMED_PLACES];              /* number by hash; 0: free */
} named_table;

static pthread_mutex_t named_mutex = PTHREAD_MUTEX_INITIALIZER;
static named_table *named_all;
static uint32_t named_count; /* under the lock */
static uint32_t named_cover;

static void named_forked(void)
{
    crest_mutex_fresh(&named_mutex);
    crest_atomic_store32(&named_cover, 0);
}
CREST_FORKED(NAMED_FRAMES, named_forked)

static uint64_t named_hash(const char *name)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (; *name != '\0'; name++)
        hash = (hash ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
    return hash ^ hash >> 29;
}

/* Under the lock: the number of a name, 0 for one beyond the limits. */
static uint32_t named_number(named_table *table, const char *name)
{
    uint64_t at = named_hash(name);
    while (table->place[at % NAMED_PLACES] != 0) {
        uint32_t number = table->place[at % NAMED_PLACES];
        if (strcmp(table->name[number], name) == 0)
            return number;
        at++;
    }
    size_t bytes = strlen(name) + 1;
    if (named_count == CREST_PROFILE_NAMES_MAX || bytes > CREST_PROFILE_NAME_BYTES_MAX)
        return 0;
    char *copy = crest_alloc(1, bytes);
    if (copy == NULL)
        return 0;
    memcpy(copy, name, bytes);
    uint32_t number = named_count++;
    /* release: the copy; partner: the acquire load in crest_named_frame */
    crest_atomic_store_ptr_release((void **)(uintptr_t)&table->name[number], copy);
    table->place[at % NAMED_PLACES] = number;
    return number;
}

uint64_t crest_profile_frame(const char *name)
{
    uint64_t frame = 0;
    crest_forked_check();
    pthread_mutex_lock(&named_mutex);
    named_table *table = named_all;
    if (table == NULL) {
        table = crest_alloc(1, sizeof *table);
        if (table != NULL) {
            table->name[named_count++] = "[too many names]";
            /* partner: the acquire load in crest_named_frame */
            crest_atomic_store_ptr_release((void **)(uintptr_t)&named_all, table);
        }
    }
    if (table != NULL)
        frame = CREST_NAMED_FRAME + named_number(table, name);
    pthread_mutex_unlock(&named_mutex);
    return frame;
}

const char *crest_named_frame(uint64_t frame)
{
    if (frame < CREST_NAMED_FRAME || frame >= CREST_NAMED_FRAME_END)
        return NULL;
    /* acquire: partner of the release stores above */
    const named_table *table = crest_atomic_load_ptr_acquire((void **)(uintptr_t)&named_all);
    return table == NULL ? NULL
                         : crest_atomic_load_ptr_acquire(
                               (void *const *)(uintptr_t)&table->name[frame - CREST_NAMED_FRAME]);
}

void crest_profile_cover(int covered)
{
    crest_atomic_store32(&named_cover, covered != 0);
}

int crest_named_frames_cover(void)
{
    return crest_atomic_load32(&named_cover) != 0;
}
