/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opening the state file at load and at the start. See state_run.h.
 */
#define _GNU_SOURCE
#include "run/state_run.h"
#include "adopt/adoption.h"
#include "base/arena.h"
#include "base/atomic.h"
#include "base/error.h"
#include "base/lock.h"
#include "cells/cells.h"
#include "clock/clock_inside.h"
#include "in_flight/in_flight_entries.h"
#include "registry/described.h"
#include "state/directory_records.h"
#include "state/state_file.h"
#include <crest/counter.h>
#include <crest/family.h>
#include <crest/gauge.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

CREST_COUNTER_FAMILY(state_run_ends, "crest.previous-ends",
                     "How the runs before ended, of which this run found the state file.", how);
CREST_GAUGE(state_run_bytes, "crest.state-size", "Size of the state file.", .unit = CREST_BYTES);
CREST_GAUGE(state_run_refused, "crest.state-outside",
            "Memory of cells that had no room in the state file.", .unit = CREST_BYTES);
CREST_GAUGE(state_run_adopted, "crest.adopted-series",
            "Series that go on from where a dead run left them.");
CREST_GAUGE(state_run_lost, "crest.adopted-not", "Series of dead runs that could not go on.");

/* Why there was no file at load. Written by the constructor, read by starts. */
static crest_error state_run_at_load;

crest_status crest_state_options_read(const crest_options *options, crest_state_options *read,
                                      crest_error *error)
{
    const char *dir = crest_option(options, "state"), *adopt = crest_option(options, "state.adopt");
    *read = (crest_state_options){.none_asked = dir == NULL};
    read->wish.name = crest_option(options, "state.name");
    if (dir != NULL && strcmp(dir, "on") == 0) {
        dir = secure_getenv("RUNTIME_DIRECTORY"); /* systemd's; several are separated by colons */
        if (dir == NULL || dir[0] == '\0' || strchr(dir, ':') != NULL)
            return crest_error_set(error, CREST_INVALID_OPTIONS,
                                   "state=on %s: there is no RUNTIME_DIRECTORY of one directory, "
                                   "as systemd sets for a unit with RuntimeDirectory=; name a "
                                   "directory on tmpfs instead",
                                   crest_option_origin(options, "state"));
    }
    if (dir != NULL && strcmp(dir, "off") != 0 && dir[0] != '\0')
        read->wish.dir = dir;
    crest_status status = crest_option_switch(options, "state.disk", &read->wish.disk, error);
    if (status != CREST_OK || adopt == NULL || strcmp(adopt, "continue") == 0)
        return status;
    read->adopt = strcmp(adopt, "off") == 0      ? CREST_ADOPT_NONE
                  : strcmp(adopt, "report") == 0 ? CREST_ADOPT_REPORT
                                                 : CREST_ADOPT_ALL;
    if (read->adopt != CREST_ADOPT_ALL || strcmp(adopt, "always") == 0)
        return CREST_OK;
    return crest_error_set(error, CREST_INVALID_OPTIONS,
                           "state.adopt=%.100s %s is not continue, report, always or off", adopt,
                           crest_option_origin(options, "state.adopt"));
}

/* Threads of this process; 0 where /proc does not say. */
static unsigned state_run_threads(void)
{
    struct stat tasks;
    return stat("/proc/self/task", &tasks) == 0 && tasks.st_nlink > 2 ? (unsigned)tasks.st_nlink - 2
                                                                      : 0;
}

/* Moves what there is into the file, and describes it. */
static uint64_t state_run_begin(void)
{
    crest_lock_saved saved;
    crest_lock_take(&saved);
    uint64_t refused = crest_state_begin();
    crest_state_directory_open();
    crest_cells_describe();
    crest_describe_all();
    crest_in_flight_describe();
    crest_lock_drop(&saved);
    return refused;
}

/* Opens the file; CREST_OK also when there was one. */
static crest_status state_run_open(const crest_state_wish *wish, crest_error *error)
{
    unsigned threads = state_run_threads();
    if (crest_arena_used(CREST_ARENA_CELLS) != 0 && threads != 1)
        return crest_error_set(error, CREST_PARTIAL,
                               "state=%s: this process has %u threads already, and moving what "
                               "they count into a file would lose some of it; name it in the "
                               "environment (CREST_OPTS=state=%s), which is read at load",
                               wish->dir, threads, wish->dir);
    crest_status status = crest_state_prepare(wish, error);
    if (status == CREST_ALREADY)
        return CREST_OK;
    if (status == CREST_OK)
        state_run_begin();
    return status;
}

/* ---- the run before ---- */

static const char *const state_run_how[] = {[CREST_STATE_END_NONE] = "none",
                                            [CREST_STATE_END_FAREWELL] = "farewell",
                                            [CREST_STATE_END_KILLED] = "killed",
                                            [CREST_STATE_END_REBOOT] = "reboot",
                                            [CREST_STATE_END_UNREADABLE] = "unreadable"};

/* Says how the run before ended, what was in flight, and what goes on of it. */
static void state_run_tell(const crest_state_found *found, const crest_adoption *done)
{
    char flight[420] = "";
    if (done->in_flight != 0)
        snprintf(flight, sizeof flight, "; %llu operation%s in flight, the oldest %s for %.1f s",
                 (unsigned long long)done->in_flight, done->in_flight == 1 ? "" : "s", done->oldest,
                 (double)done->oldest_ns / 1e9);
    double age_s = (double)(int64_t)(crest_clock_wall_ns() - found->beat_wall_ns) / 1e9;
    if (found->end == CREST_STATE_END_KILLED)
        crest_log_write(CREST_LOG_WARNING,
                        "crest: the previous run (pid %llu) ended without a farewell; its last "
                        "heartbeat was %.1f s ago%s",
                        (unsigned long long)found->pid, age_s, flight);
    else if (found->end == CREST_STATE_END_REBOOT)
        crest_log_write(CREST_LOG_WARNING,
                        "crest: the machine started again after the previous run (pid %llu); its "
                        "totals do not go on",
                        (unsigned long long)found->pid);
    else if (found->end == CREST_STATE_END_UNREADABLE)
        crest_log_write(CREST_LOG_WARNING, "crest: the state file of the previous run cannot be "
                                           "read; its totals do not go on");
    if (done->stuck)
        crest_log_write(CREST_LOG_ERROR,
                        "crest: a state file in %s can be neither marked nor removed, so no totals "
                        "go on: what counts twice is worse than what is missing",
                        crest_state_place_own()->dir);
    if (done->reported != 0)
        crest_log_write(CREST_LOG_INFO,
                        "crest: the last figures of the previous run are in %s/%s.last.prom",
                        crest_state_place_own()->dir, crest_state_place_own()->name);
    if (done->unreported != 0)
        crest_log_write(CREST_LOG_WARNING,
                        "crest: the last figures of %u runs could not be written to %s; 'crest cat "
                        "--previous' shows the newest",
                        done->unreported, crest_state_place_own()->dir);
    if (done->mismatched != 0 || done->lacked != 0)
        crest_log_write(CREST_LOG_WARNING,
                        "crest: %llu series of the previous run are of another kind, unit, range "
                        "or labels now, and %llu had no memory: their totals do not go on",
                        (unsigned long long)done->mismatched, (unsigned long long)done->lacked);
    if (crest_state_place_own()->twin != 1)
        crest_log_write(CREST_LOG_WARNING,
                        "crest: another process has the state file of this name, so this one is "
                        "%s, and adopts nothing",
                        crest_state_place_own()->name);
}

/* Once a file: adopts what dead runs left, and counts. */
static void state_run_adopt(crest_adopt_which which)
{
    const crest_state_found *found = crest_state_found_own();
    crest_adoption done;
    if (crest_state_header_own()->phase != CREST_STATE_BUILDING)
        return;
    crest_adopt(which, &done);
    state_run_tell(found, &done);
    if (found->end != CREST_STATE_END_NONE)
        crest_counter_inc(state_run_ends_with(state_run_how[found->end]));
    crest_gauge_set(&state_run_adopted, (double)done.series);
    crest_gauge_set(&state_run_lost, (double)(done.mismatched + done.lacked));
}

/* Once a process. */
static void state_run_tell_refused(uint64_t bytes)
{
    static uint64_t told;
    if (bytes == 0 || crest_atomic_exchange(&told, 1) != 0)
        return;
    crest_log_write(
        CREST_LOG_WARNING,
        "crest: the file system of the state file in %s is full: %llu bytes of cells so "
        "far are in memory that ends with the process; give it more room",
        crest_state_place_own()->dir, (unsigned long long)bytes);
}

void crest_state_tick(void)
{
    const crest_state_header *header = crest_state_header_own();
    if (header == NULL)
        return;
    uint64_t refused = crest_atomic_load(&header->refused_bytes);
    crest_state_beat();
    crest_gauge_set(&state_run_bytes, (double)crest_state_bytes());
    crest_gauge_set(&state_run_refused, (double)refused);
    state_run_tell_refused(refused);
}

/* Whether the file that this process has is the one that is asked for. */
static int state_run_is(const crest_state_wish *wish)
{
    const crest_state_place *place = crest_state_place_own();
    struct stat asked, there;
    size_t length = wish->name != NULL ? strlen(wish->name) : 0;
    return stat(wish->dir, &asked) == 0 && stat(place->dir, &there) == 0 &&
           asked.st_dev == there.st_dev && asked.st_ino == there.st_ino &&
           (length == 0 || (strncmp(place->name, wish->name, length) == 0 &&
                            place->name[length] == (place->twin == 1 ? '\0' : '.')));
}

/* There is a file already, of an earlier start or since load; another one cannot be had. */
static crest_status state_run_again(const crest_state_wish *wish, crest_error *error)
{
    const crest_state_place *place = crest_state_place_own();
    if (state_run_is(wish))
        return CREST_OK;
    crest_error_set(error, CREST_PARTIAL,
                    "state=%s: this process has its state file already, %s%s in %s, and what it "
                    "counts stays there; a process has one for its life. Name that one, or start "
                    "the process anew",
                    wish->dir, place->name, CREST_STATE_SUFFIX, place->dir);
    crest_log_write(CREST_LOG_WARNING, "crest: %s", error->message);
    return CREST_PARTIAL;
}

/* There is none yet. */
static crest_status state_run_first(const crest_state_wish *wish, crest_error *error)
{
    crest_status status = state_run_at_load.status;
    if (status != CREST_OK)
        *error = state_run_at_load;
    else
        status = state_run_open(wish, error);
    if (status == CREST_OK)
        return CREST_OK;
    crest_log_write(CREST_LOG_WARNING, "crest: there is no state file: %s", error->message);
    return CREST_PARTIAL;
}

crest_status crest_state_start(const crest_state_options *options, crest_error *error)
{
    const crest_state_wish *wish = &options->wish;
    if (wish->dir == NULL)
        return CREST_OK;
    crest_status status = crest_state_header_own() != NULL ? state_run_again(wish, error)
                                                           : state_run_first(wish, error);
    if (crest_state_header_own() != NULL) {
        state_run_adopt(options->adopt);
        crest_state_tick();
    }
    return status;
}

/* Before the constructors of programs, which may record. Errors of other options wait for
 * crest_start, which finds them again. */
__attribute__((constructor(101))) static void state_run_constructor(void)
{
    const char *text = secure_getenv("CREST_OPTS");
    crest_options *options;
    crest_state_options read;
    crest_error error;
    if (text == NULL || (strstr(text, "state") == NULL && strchr(text, '@') == NULL))
        return;
    crest_cells_prepare();
    if (crest_options_read(NULL, &options, &error) != CREST_OK)
        return;
    if (crest_state_options_read(options, &read, &error) == CREST_OK && read.wish.dir != NULL)
        state_run_open(&read.wish, &state_run_at_load);
    crest_options_free(options);
}
