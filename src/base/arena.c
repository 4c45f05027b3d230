/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Regions from mmap, each with its own header. See arena.h.
 *
 * Pages are touched only when used: a region's size costs addresses, not memory. Huge pages are
 * refused: with them ten threads' cells cost 20 MiB instead of 40 KiB.
 */
#include "base/arena.h"
#include "base/atomic.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

/* Linux 5.14; older C libraries do not name it. */
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

#if defined(__SANITIZE_ADDRESS__)
#define ARENA_LEAK_ROOTS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARENA_LEAK_ROOTS 1
#endif
#endif
#ifdef ARENA_LEAK_ROOTS
#include <sanitizer/lsan_interface.h>
#endif

#define ARENA_MAGIC UINT64_C(0x43524553544152) /* CRESTAR */
#define ARENA_PAGE 4096u
#define ARENA_REGION_BYTES (UINT64_C(1) << 20)

/* At the start of each region, on a page of its own: so fork may zero everything behind it. */
typedef struct arena_region {
    uint64_t magic;
    uint64_t kind;
    uint64_t bytes; /* header included */
    uint64_t used;  /* header included */
    struct arena_region *older;
    int wiped_on_fork;
    int in_file; /* all behind this page is shared memory of a file */
} arena_region;

_Static_assert(sizeof(arena_region) <= ARENA_PAGE, "the header has a page of its own");

static arena_region *arena_newest[CREST_ARENA_KINDS];
static uint64_t arena_mapped[CREST_ARENA_KINDS];
static uint64_t arena_used[CREST_ARENA_KINDS];
static uint64_t arena_fail_after;
static crest_arena_file_map *arena_file_map; /* CELLS go into its file; NULL: nowhere */

/*
 * Free lists, by use and size. The links lie beside the free pieces and not in them: a thread
 * stopped in the middle of an update may still write into a piece. A fork copies the lists and
 * zeroes the pieces.
 */
typedef struct arena_given {
    struct arena_given *next;
    void *piece;
} arena_given;

typedef struct arena_list {
    struct arena_list *next;
    crest_arena_use use;
    uint64_t bytes;
    arena_given *first; /* crest_arena_has_given reads it without the lock */
} arena_list;

static arena_list *arena_lists;
static arena_given *arena_spare; /* links that hold no piece */

static int arena_must_fail(void)
{
    uint64_t left = crest_atomic_load(&arena_fail_after);
    if (left == 0)
        return 0;
    if (left > 1)
        crest_atomic_store(&arena_fail_after, left - 1);
    return left == 1;
}

/* What is behind a region's own page is zero in a child, if the kernel can be asked to. */
static void arena_wipe_on_fork(arena_region *region)
{
#ifdef MADV_WIPEONFORK
    region->wiped_on_fork =
        madvise((char *)region + ARENA_PAGE, region->bytes - ARENA_PAGE, MADV_WIPEONFORK) == 0;
#endif
}

/* Moves a region of cells into the file, if there is one that has room. */
static void arena_to_file(arena_region *region)
{
    if (arena_file_map == NULL || region->in_file)
        return;
    region->in_file = arena_file_map((char *)region + ARENA_PAGE, region->bytes - ARENA_PAGE,
                                     region->used - ARENA_PAGE);
    if (region->in_file)
        region->wiped_on_fork = 0; /* refused for shared memory */
}

static arena_region *arena_map(crest_arena_kind kind, uint64_t least)
{
    uint64_t bytes = ARENA_REGION_BYTES;
    while (bytes < least + ARENA_PAGE)
        bytes *= 2;
    void *address = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (address == MAP_FAILED)
        return NULL;
    madvise(address, bytes, MADV_NOHUGEPAGE); /* fails without huge pages: as wished */
    arena_region *region = address;
    region->magic = ARENA_MAGIC;
    region->kind = kind;
    region->bytes = bytes;
    region->used = ARENA_PAGE;
    region->older = arena_newest[kind];
    if (kind == CREST_ARENA_CELLS)
        arena_to_file(region);
    if (kind != CREST_ARENA_META && !region->in_file)
        arena_wipe_on_fork(region);
#ifdef ARENA_LEAK_ROOTS
    /* The leak checker does not scan mapped memory, which holds pointers into the heap. */
    if (kind == CREST_ARENA_META)
        __lsan_register_root_region(address, bytes);
#endif
    arena_newest[kind] = region;
    crest_atomic_add(&arena_mapped[kind], bytes);
    return region;
}

/* Any thread: the pieces of this use and size; NULL when none was ever given back. */
static arena_list *arena_list_of(crest_arena_use use, size_t bytes)
{
    /* acquire: partner of the release store in arena_list_made */
    arena_list *list = crest_atomic_load_ptr_acquire(CREST_PTR(&arena_lists));
    while (list != NULL && (list->use != use || list->bytes != bytes))
        list = list->next;
    return list;
}

static arena_list *arena_list_made(crest_arena_use use, size_t bytes)
{
    arena_list *list = arena_list_of(use, bytes);
    if (list != NULL)
        return list;
    list = crest_arena_take(CREST_ARENA_META, sizeof *list, _Alignof(arena_list));
    if (list == NULL)
        return NULL;
    *list = (arena_list){arena_lists, use, bytes, NULL};
    /* partner: the acquire load in arena_list_of */
    crest_atomic_store_ptr_release(CREST_PTR(&arena_lists), list);
    return list;
}

/* Atomically: a stopped reader or writer may still access the piece. */
static void arena_zero(void *piece, size_t bytes)
{
    uint64_t *words = piece;
    for (size_t i = 0; i < bytes / sizeof *words; i++)
        crest_atomic_store(&words[i], 0);
}

void crest_arena_give(crest_arena_use use, void *piece, size_t bytes)
{
    arena_list *list = arena_list_made(use, bytes);
    arena_given *given = arena_spare;
    if (given != NULL)
        arena_spare = given->next;
    else
        given = crest_arena_take(CREST_ARENA_META, sizeof *given, _Alignof(arena_given));
    if (list == NULL || given == NULL)
        return;
    arena_zero(piece, bytes);
    *given = (arena_given){list->first, piece};
    /* partner, as of every store of `first`: the acquire load in crest_arena_has_given */
    crest_atomic_store_ptr_release(CREST_PTR(&list->first), given);
}

int crest_arena_has_given(crest_arena_use use, size_t bytes)
{
    arena_list *list = arena_list_of(use, bytes);
    return list != NULL && crest_atomic_load_ptr_acquire(CREST_PTR(&list->first)) != NULL;
}

void *crest_arena_take_given(crest_arena_use use, size_t bytes)
{
    arena_list *list = arena_list_of(use, bytes);
    arena_given *given = list != NULL ? list->first : NULL;
    if (given == NULL || arena_must_fail())
        return NULL;
    crest_atomic_store_ptr_release(CREST_PTR(&list->first), given->next);
    void *piece = given->piece;
    given->next = arena_spare;
    arena_spare = given;
    if (bytes <= ARENA_PAGE)
        arena_zero(piece, bytes);
    return piece;
}

void *crest_arena_take_again(crest_arena_use use, size_t bytes)
{
    void *given = crest_arena_take_given(use, bytes);
    return given != NULL ? given : crest_arena_take(CREST_ARENA_CELLS, bytes, CREST_LINE_BYTES);
}

void *crest_arena_take(crest_arena_kind kind, size_t bytes, size_t align)
{
    if (arena_must_fail() || bytes > (SIZE_MAX >> 2))
        return NULL;
    arena_region *region = arena_newest[kind];
    uint64_t start = region ? (region->used + align - 1) & ~(uint64_t)(align - 1) : 0;
    if (region == NULL || start + bytes > region->bytes) {
        region = arena_map(kind, bytes);
        if (region == NULL)
            return NULL;
        start = region->used;
    }
    crest_atomic_add(&arena_used[kind], start + bytes - region->used);
    region->used = start + bytes;
    return (char *)region + start;
}

void crest_arena_populate(void *start, size_t bytes)
{
    static uint32_t refused; /* after one refusal never again: unsupported, or no memory */
    int error_number = errno;
    size_t before = (uintptr_t)start % ARENA_PAGE; /* round to whole pages */
    size_t pages = (before + bytes + ARENA_PAGE - 1) / ARENA_PAGE;
    if (!crest_atomic_load32(&refused) &&
        madvise((char *)start - before, pages * ARENA_PAGE, MADV_POPULATE_WRITE) != 0)
        crest_atomic_store32(&refused, 1);
    errno = error_number;
}

char *crest_arena_copy(const char *text, size_t bytes)
{
    char *copy = crest_arena_take(CREST_ARENA_META, bytes + 1, 1);
    if (copy != NULL && bytes != 0)
        memcpy(copy, text, bytes);
    return copy;
}

uint64_t crest_arena_mapped(crest_arena_kind kind)
{
    return crest_atomic_load(&arena_mapped[kind]);
}

uint64_t crest_arena_used(crest_arena_kind kind)
{
    return crest_atomic_load(&arena_used[kind]);
}

void crest_arena_back(crest_arena_file_map *map)
{
    arena_file_map = map;
    for (arena_region *region = arena_newest[CREST_ARENA_CELLS]; region; region = region->older)
        arena_to_file(region);
}

/* The child's own zeros in place of the parent's shared memory, at the same address. */
static void arena_leave_file(arena_region *region)
{
    char *start = (char *)region + ARENA_PAGE;
    uint64_t bytes = region->bytes - ARENA_PAGE;
    if (mmap(start, bytes, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED)
        return; /* the address range was mapped before, so this needs no memory */
    madvise(start, bytes, MADV_NOHUGEPAGE);
    region->in_file = 0;
    arena_wipe_on_fork(region);
}

void crest_arena_forked(void)
{
    arena_file_map = NULL;
    for (int kind = CREST_ARENA_CELLS; kind < CREST_ARENA_KINDS; kind++)
        for (arena_region *region = arena_newest[kind]; region; region = region->older) {
            if (region->in_file)
                arena_leave_file(region);
            else if (!region->wiped_on_fork)
                madvise((char *)region + ARENA_PAGE, region->bytes - ARENA_PAGE, MADV_DONTNEED);
        }
}

void crest_arena_fail_after(unsigned long after)
{
    crest_atomic_store(&arena_fail_after, after);
}
