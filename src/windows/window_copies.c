/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies of window results. See window_copies.h.
 */
#include "windows/window_copies.h"
#include "base/alloc.h"

#include <string.h>

#define COPIES_WORD sizeof(uint64_t)
#define COPIES_WORDS(type) (sizeof(type) / COPIES_WORD)
#define COPIES_COUNTER (1u << 31)

/* All that a counter's window says. */
typedef struct copies_counter {
    double covered_s, per_second, peak;
    uint64_t events;
} copies_counter;

typedef struct copies_item {
    uint32_t index; /* of the series */
    uint32_t at;    /* of its first window among the words, and whether it is a counter */
} copies_item;

struct crest_window_copies {
    unsigned windows;
    unsigned window_s[CREST_WINDOWS_MAX];
    size_t count;
    size_t moved_from, moved; /* of a selection: items looked at, items kept */
    int selected;
    uint64_t *words;
    copies_item items[];
};

_Static_assert(sizeof(crest_window) % COPIES_WORD == 0, "a window is made of words");

/* What a walk over the entries does with each. */
typedef struct copies_walk {
    const crest_windows *windows;
    crest_window_copies *copies; /* NULL: it only counts */
    int ranges_only;
    size_t items, words;
} copies_walk;

static void copies_put(uint64_t *to, int counter, const crest_window *window)
{
    if (!counter) {
        memcpy(to, window, sizeof *window);
        return;
    }
    const copies_counter small = {window->covered_s, window->per_second, window->peak,
                                  window->events};
    memcpy(to, &small, sizeof small);
}

static void copies_visit(copies_walk *walk, const crest_window_entry *entry)
{
    const crest_window_times *times = &walk->windows->times;
    crest_kind kind = crest_windows_entry_kind(walk->windows, entry);
    /* timers: a page has their slowest operations as exemplars */
    if (walk->ranges_only && kind != CREST_KIND_RANGE_SAMPLER && kind != CREST_KIND_TIMER)
        return;
    int counter = kind == CREST_KIND_COUNTER;
    size_t each = counter ? COPIES_WORDS(copies_counter) : COPIES_WORDS(crest_window);
    if (walk->copies != NULL) {
        walk->copies->items[walk->items] =
            (copies_item){entry->index, (uint32_t)walk->words | (counter ? COPIES_COUNTER : 0)};
        for (unsigned w = 0; w < times->windows; w++) {
            crest_window window;
            crest_windows_entry_result(walk->windows, entry, &times->span[w], &window);
            copies_put(walk->copies->words + walk->words + w * each, counter, &window);
        }
    }
    walk->items++;
    walk->words += each * times->windows;
}

/* By the entries when they are of this directory, else by the series. */
static void copies_visit_all(copies_walk *walk, const crest_directory *directory)
{
    const crest_windows *windows = walk->windows;
    walk->items = walk->words = 0;
    if (windows->last != NULL && windows->last->directory == directory &&
        windows->entries != NULL) {
        for (size_t i = 0; i < windows->entry_count; i++)
            copies_visit(walk, &windows->entries[i]);
        return;
    }
    for (size_t i = 0; i < directory->count; i++) {
        crest_window_entry entry = {.index = (uint32_t)i};
        if (crest_windows_entry_of(windows, directory->series[i], &entry))
            copies_visit(walk, &entry);
    }
}

crest_window_copies *crest_windows_copy(const crest_windows *windows,
                                        const crest_directory *directory, int ranges_only)
{
    copies_walk walk = {.windows = windows, .ranges_only = ranges_only};
    copies_visit_all(&walk, directory);
    size_t items_bytes = walk.items * sizeof(copies_item);
    crest_window_copies *copies =
        crest_alloc(1, sizeof *copies + items_bytes + walk.words * COPIES_WORD);
    if (copies == NULL)
        return NULL;
    copies->words = (uint64_t *)(copies->items + walk.items);
    copies->windows = windows->times.windows;
    for (unsigned w = 0; w < copies->windows; w++)
        copies->window_s[w] = windows->times.span[w].window_s;
    walk.copies = copies;
    copies_visit_all(&walk, directory);
    copies->count = walk.items;
    return copies;
}

unsigned crest_window_copies_windows(const crest_window_copies *copies,
                                     unsigned window_s[CREST_WINDOWS_MAX])
{
    if (copies == NULL)
        return 0;
    memcpy(window_s, copies->window_s, copies->windows * sizeof *window_s);
    return copies->windows;
}

static const copies_item *copies_item_of(const crest_window_copies *copies, size_t index)
{
    size_t from = 0, to = copies->selected ? copies->moved : copies->count;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (copies->items[middle].index < index)
            from = middle + 1;
        else
            to = middle;
    }
    size_t count = copies->selected ? copies->moved : copies->count;
    return from < count && copies->items[from].index == index ? &copies->items[from] : NULL;
}

int crest_window_copies_find(const crest_window_copies *copies, size_t index, unsigned window_s,
                             crest_window *window)
{
    memset(window, 0, sizeof *window);
    const copies_item *item = copies != NULL ? copies_item_of(copies, index) : NULL;
    unsigned w = 0;
    while (item != NULL && w < copies->windows && copies->window_s[w] != window_s)
        w++;
    if (item == NULL || w == copies->windows)
        return 0;
    const uint64_t *words = copies->words + (item->at & ~COPIES_COUNTER);
    if (item->at & COPIES_COUNTER) {
        copies_counter small;
        memcpy(&small, words + w * COPIES_WORDS(copies_counter), sizeof small);
        window->covered_s = small.covered_s;
        window->per_second = small.per_second;
        window->peak = small.peak;
        window->events = small.events;
    } else {
        memcpy(window, words + w * COPIES_WORDS(crest_window), sizeof *window);
    }
    return window->covered_s > 0;
}

void crest_window_copies_move(crest_window_copies *copies, size_t from, size_t to)
{
    if (copies == NULL)
        return;
    if (to == 0) {
        if (copies->selected)
            copies->count = copies->moved;
        copies->moved_from = copies->moved = 0;
        copies->selected = 1;
    }
    while (copies->moved_from < copies->count && copies->items[copies->moved_from].index < from)
        copies->moved_from++;
    if (copies->moved_from == copies->count || copies->items[copies->moved_from].index != from)
        return;
    copies->items[copies->moved] = copies->items[copies->moved_from++];
    copies->items[copies->moved++].index = (uint32_t)to;
}
