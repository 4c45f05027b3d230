/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Window results, of the windowed series alone. See snapshot_windows.h.
 */
#include "snapshot/snapshot_windows.h"
#include "base/alloc.h"

#include <string.h>

#define COPIES_WORD sizeof(uint64_t)
#define COPIES_WORDS(type) (sizeof(type) / COPIES_WORD)
#define COPIES_COUNTER (1u << 31)

/* The stored result of a counter's window. */
typedef struct copies_counter {
    double covered_s, per_second, peak;
    uint64_t events;
} copies_counter;

typedef struct copies_item {
    uint32_t index; /* of the series */
    uint32_t at;    /* place of its first window among the words, and whether it is a counter */
} copies_item;

struct crest_window_copies {
    unsigned windows;
    unsigned window_s[CREST_WINDOWS_MAX];
    size_t count;             /* items */
    size_t moved_from, moved; /* while narrowing: items looked at, items kept */
    int selected;
    size_t used; /* words */
    uint64_t *words;
    copies_item items[];
};

_Static_assert(sizeof(crest_window) % COPIES_WORD == 0, "a window is made of words");

/* ---- filling ---- */

crest_window_copies *crest_window_copies_new(const unsigned *window_s, unsigned windows,
                                             size_t counters, size_t others)
{
    size_t words =
        windows * (counters * COPIES_WORDS(copies_counter) + others * COPIES_WORDS(crest_window));
    size_t items = counters + others;
    crest_window_copies *copies =
        crest_alloc(1, sizeof *copies + items * sizeof(copies_item) + words * COPIES_WORD);
    if (copies == NULL)
        return NULL;
    copies->words = (uint64_t *)(copies->items + items);
    copies->windows = windows;
    memcpy(copies->window_s, window_s, windows * sizeof *window_s);
    return copies;
}

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

static size_t copies_words(int counter)
{
    return counter ? COPIES_WORDS(copies_counter) : COPIES_WORDS(crest_window);
}

void crest_window_copies_add(crest_window_copies *copies, uint32_t index, int counter)
{
    copies->items[copies->count++] =
        (copies_item){index, (uint32_t)copies->used | (counter ? COPIES_COUNTER : 0)};
    copies->used += copies->windows * copies_words(counter);
}

void crest_window_copies_put(crest_window_copies *copies, unsigned w, const crest_window *window)
{
    uint32_t at = copies->items[copies->count - 1].at;
    int counter = (at & COPIES_COUNTER) != 0;
    copies_put(copies->words + (at & ~COPIES_COUNTER) + w * copies_words(counter), counter, window);
}

/* ---- reading ---- */

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
