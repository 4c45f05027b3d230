/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hides idle series: those into which nothing was recorded for some time. The ticker looks at each
 * tick for how long their counts have stood still. They need no windows for it.
 */
#ifndef CREST_WINDOW_IDLE_H
#define CREST_WINDOW_IDLE_H

#include "snapshot/snapshot_inside.h"

typedef struct crest_idle_watch {
    crest_series *series;
    uint64_t events;     /* recorded at the last reading */
    uint64_t changed_ns; /* the reading before which a record was last seen */
    uint64_t birth;
    uint32_t index; /* in the directory */
} crest_idle_watch;

typedef struct crest_idle {
    crest_idle_watch *watch; /* in the order of the directory */
    size_t count;
} crest_idle;

/* Watches the series of another directory from now on; 0 without memory, and nothing has
 * changed. */
int crest_idle_follow(crest_idle *idle, const crest_directory *directory);
/* Hides the series whose counts have stood still for too long at this reading. */
void crest_idle_look(crest_idle *idle, const crest_snapshot *snapshot);
void crest_idle_fini(crest_idle *idle);

#endif
