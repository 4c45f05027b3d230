/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The steps of adoption. See adoption.h; what is added up is adopted_series.h's.
 */
#define _GNU_SOURCE
#include "adopt/adoption.h"
#include "adopt/adopted_report.h"
#include "adopt/adopted_series.h"
#include "base/alloc.h"
#include "base/atomic.h"
#include "base/lock.h"
#include "cells/cells.h"
#include "clock/clock_inside.h"
#include "registry/inherited.h"
#include "remains/dead_values.h"
#include "state/state_file.h"
#include "state/state_view.h"

#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

/* A dead file. `view` is NULL once it is done with. */
typedef struct adoption_file {
    crest_state_left left;
    crest_state_view *view;
} adoption_file;

typedef struct adoption_chain {
    const crest_state_place *place;
    adoption_file files[CREST_STATE_CHAIN_MAX]; /* oldest first */
    unsigned count;
} adoption_chain;

crest_adopt_step *crest_adopt_test;

static void adoption_step(int step)
{
    if (crest_adopt_test != NULL)
        crest_adopt_test(step);
}

/* ---- A1, A2 ---- */

static void adoption_read(adoption_chain *chain, crest_adoption *done)
{
    crest_state_left left[CREST_STATE_CHAIN_MAX];
    unsigned more, count = crest_state_place_left(chain->place, left, &more);
    done->left_out += more;
    for (unsigned i = 0; i < count; i++) {
        adoption_file *file = &chain->files[chain->count];
        crest_error error;
        int descriptor = crest_state_place_open(chain->place, left[i].file, O_RDONLY);
        crest_status status = CREST_IO;
        if (descriptor >= 0) {
            status = crest_state_view_read(descriptor, &file->view, &error);
            close(descriptor);
        }
        if (status != CREST_OK) {
            done->unreadable++;
            crest_state_place_done(chain->place, left[i].file);
            continue;
        }
        file->left = left[i];
        chain->count++;
    }
}

/* Marks the file ADOPTED, or removes it; 0 if neither can be done. */
static int adoption_mark(const adoption_chain *chain, const adoption_file *file)
{
    uint32_t phase = CREST_STATE_ADOPTED;
    int descriptor = crest_state_place_open(chain->place, file->left.file, O_WRONLY);
    int marked = descriptor >= 0 &&
                 pwrite(descriptor, &phase, sizeof phase, offsetof(crest_state_header, phase)) ==
                     (ssize_t)sizeof phase;
    if (descriptor >= 0)
        close(descriptor);
    char path[PATH_MAX];
    crest_state_place_path(chain->place, file->left.file, path, sizeof path);
    return marked || unlink(path) == 0;
}

static void adoption_drop(adoption_file *file)
{
    crest_state_view_free(file->view);
    file->view = NULL;
}

static void adoption_done_with(const adoption_chain *chain, adoption_file *file)
{
    crest_state_place_done(chain->place, file->left.file);
    adoption_drop(file);
}

/* Whether a readable file of the chain has committed the adoption of this id. */
static int adoption_is_named(const adoption_chain *chain, uint64_t file_id)
{
    for (unsigned i = 0; i < chain->count; i++) {
        const crest_state_header *header = chain->files[i].view->header;
        for (uint64_t n = 0; n < header->adopted && n < CREST_STATE_CHAIN_MAX; n++)
            if (header->adopted_ids[n] == file_id)
                return 1;
    }
    return 0;
}

/* A2: 0 if a file that counts no more cannot be marked. */
static int adoption_mark_named(const adoption_chain *chain, int named[CREST_STATE_CHAIN_MAX])
{
    for (unsigned i = 0; i < chain->count; i++) {
        const crest_state_header *header = chain->files[i].view->header;
        named[i] = adoption_is_named(chain, header->file_id);
        if (named[i] && header->phase != CREST_STATE_ADOPTED &&
            !adoption_mark(chain, &chain->files[i]))
            return 0;
    }
    return 1;
}

/* Whether the file's totals go on. */
static int adoption_wants(const crest_state_header *header, crest_adopt_which which,
                          crest_adoption *done)
{
    char boot_id[40];
    if (header->phase == CREST_STATE_ADOPTED || which == CREST_ADOPT_NONE ||
        (header->phase == CREST_STATE_FAREWELL && which != CREST_ADOPT_ALL))
        return 0;
    crest_state_boot_id(boot_id);
    if (strcmp(header->boot_id, boot_id) == 0)
        return 1;
    done->left_out++; /* what a reboot left on a disk may be of several moments */
    return 0;
}

/* ---- A3 to A5 ---- */

static void adoption_commit(const adoption_chain *chain)
{
    crest_state_header *own = crest_state_header_own();
    uint64_t count = 0;
    for (unsigned i = 0; i < chain->count; i++)
        if (chain->files[i].view != NULL)
            crest_atomic_store(&own->adopted_ids[count++], chain->files[i].view->header->file_id);
    adoption_step(4);
    /* release: a reader that sees it sees the ids and the table */
    crest_atomic_store_release(&own->adopted, count);
    adoption_step(5);
    crest_lock_saved saved;
    crest_lock_take(&saved);
    crest_inherited_commit();
    crest_cells_adopted_publish();
    crest_lock_drop(&saved);
}

static int adoption_table_made(void)
{
    crest_lock_saved saved;
    crest_lock_take(&saved);
    int made = crest_cells_adopted() != NULL;
    crest_lock_drop(&saved);
    return made;
}

static void adoption_add(adoption_chain *chain, crest_adoption *done)
{
    for (unsigned i = 0; i < chain->count; i++)
        if (chain->files[i].view != NULL) {
            crest_adopt_series(chain->files[i].view, done);
            done->files++;
            adoption_step(3);
        }
    if (done->files != 0)
        adoption_commit(chain);
    for (unsigned i = 0; i < chain->count; i++) {
        if (chain->files[i].view == NULL)
            continue;
        adoption_mark(chain, &chain->files[i]);
        adoption_step(6);
        adoption_done_with(chain, &chain->files[i]);
        adoption_step(7);
    }
}

/* With state.adopt=report, in place of A3 to A5: pages, the newest run's first; then the files are
 * done with. A kill in between makes the next start write them again. */
static void adoption_report(adoption_chain *chain, crest_adoption *done)
{
    unsigned rank = 0;
    for (unsigned i = chain->count; i-- > 0;)
        if (chain->files[i].view != NULL) {
            int written = crest_adopt_report(chain->place, chain->files[i].left.file, ++rank);
            done->reported += written;
            done->unreported += !written;
            adoption_step(3);
        }
    for (unsigned i = 0; i < chain->count; i++)
        if (chain->files[i].view != NULL) {
            adoption_done_with(chain, &chain->files[i]);
            adoption_step(7);
        }
}

/* Files that are left out are done with, oldest first. */
static void adoption_choose(adoption_chain *chain, const int named[CREST_STATE_CHAIN_MAX],
                            crest_adopt_which which, crest_adoption *done)
{
    for (unsigned i = 0; i < chain->count; i++)
        if (named[i] || !adoption_wants(chain->files[i].view->header, which, done))
            adoption_done_with(chain, &chain->files[i]);
}

void crest_adopt(crest_adopt_which which, crest_adoption *done)
{
    uint64_t began_ns = crest_now();
    adoption_chain *chain = crest_alloc(1, sizeof *chain);
    int named[CREST_STATE_CHAIN_MAX] = {0};
    *done = (crest_adoption){0};
    if (chain == NULL || crest_state_header_own() == NULL)
        return;
    chain->place = crest_state_place_own();
    if (chain->place->twin != 1)
        which = CREST_ADOPT_NONE;
    adoption_read(chain, done);
    adoption_step(1);
    if (chain->count != 0)
        crest_adopt_in_flight(chain->files[chain->count - 1].view, done);
    done->stuck = !adoption_mark_named(chain, named) ||
                  (which < CREST_ADOPT_REPORT && chain->count != 0 && !adoption_table_made());
    adoption_step(2);
    if (!done->stuck) {
        adoption_choose(chain, named, which, done);
        if (which == CREST_ADOPT_REPORT)
            adoption_report(chain, done);
        else
            adoption_add(chain, done);
    }
    for (unsigned i = 0; i < chain->count; i++)
        adoption_drop(&chain->files[i]);
    crest_alloc_free(chain);
    done->duration_ns = crest_now() - began_ns;
}
