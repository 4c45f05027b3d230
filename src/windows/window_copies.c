/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copying window results. See window_copies.h.
 */
#include "windows/window_copies.h"

/* The walk over the entries, and what it does with each. */
typedef struct copies_walk {
    const crest_windows *windows;
    crest_window_copies *copies; /* NULL: only count */
    int ranges_only;
    size_t counters, others;
} copies_walk;

static void copies_visit(copies_walk *walk, const crest_window_entry *entry)
{
    const crest_window_times *times = &walk->windows->times;
    crest_kind kind = crest_windows_entry_kind(walk->windows, entry);
    /* timers: a page shows their slowest operations as exemplars */
    if (walk->ranges_only && kind != CREST_KIND_RANGE_SAMPLER && kind != CREST_KIND_TIMER)
        return;
    int counter = kind == CREST_KIND_COUNTER;
    if (walk->copies == NULL) {
        walk->counters += counter;
        walk->others += !counter;
        return;
    }
    crest_window_copies_add(walk->copies, entry->index, counter);
    for (unsigned w = 0; w < times->windows; w++) {
        crest_window window;
        crest_windows_entry_result(walk->windows, entry, &times->span[w], &window);
        crest_window_copies_put(walk->copies, w, &window);
    }
}

/* Walks by the entries when they are of this directory, else by the series. */
static void copies_visit_all(copies_walk *walk, const crest_directory *directory)
{
    const crest_windows *windows = walk->windows;
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
    unsigned window_s[CREST_WINDOWS_MAX];
    for (unsigned w = 0; w < windows->times.windows; w++)
        window_s[w] = windows->times.span[w].window_s;
    walk.copies =
        crest_window_copies_new(window_s, windows->times.windows, walk.counters, walk.others);
    if (walk.copies != NULL)
        copies_visit_all(&walk, directory);
    return walk.copies;
}
