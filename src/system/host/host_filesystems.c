/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The collector `filesystems`: how full they are, of /proc/self/mountinfo and statvfs, at the slow
 * interval. A row for each mount point; of file systems mounted over each other, the topmost.
 *
 * Left out: what the options exclude by mount point or type, mounted files, and file systems
 * without space. The root is left out only by its mount point: in a container its type is overlay,
 * and it is the one that fills up.
 *
 * The threads of mount_sweep.c ask; the collector waits for them a few milliseconds. A later answer
 * is shown from then on; until then, the answer before it. A mount that has not answered when it is
 * time to ask again is a failure, and is counted. It has no figures until it answers. The threads'
 * processor time, some microseconds a mount, is not in crest_collect_cpu_seconds_total.
 */
#include "system/collect_fault.h"
#include "names/globs.h"
#include "system/host/mount_sweep.h"
#include "system/parse/mount_text.h"

#include <string.h>

#define FILESYSTEMS_WAIT_MS 3u

enum {
    FILESYSTEMS_TOTAL,
    FILESYSTEMS_FREE,
    FILESYSTEMS_AVAILABLE,
    FILESYSTEMS_USED,
    FILESYSTEMS_USAGE,
    FILESYSTEMS_INODES_TOTAL,
    FILESYSTEMS_INODES_FREE,
    FILESYSTEMS_READ_ONLY
};

#define FILESYSTEMS_FIGURE(canonical, text, unit_)                                                 \
    {                                                                                              \
        .kind = CREST_KIND_GAUGE,                                                                  \
        .options = {.name = canonical, .description = text, .unit = unit_},                        \
    }

static const crest_figure filesystems_figures[] = {
    [FILESYSTEMS_TOTAL] =
        FILESYSTEMS_FIGURE("host.storage.mount.space.total", "Its size.", CREST_BYTES),
    [FILESYSTEMS_FREE] = FILESYSTEMS_FIGURE(
        "host.storage.mount.space.free", "Space not used, what is kept for root too.", CREST_BYTES),
    [FILESYSTEMS_AVAILABLE] =
        FILESYSTEMS_FIGURE("host.storage.mount.space.available",
                           "Space that is left to others than root.", CREST_BYTES),
    [FILESYSTEMS_USED] =
        FILESYSTEMS_FIGURE("host.storage.mount.space.used", "Space that is used.", CREST_BYTES),
    [FILESYSTEMS_USAGE] =
        FILESYSTEMS_FIGURE("host.storage.mount.space.usage",
                           "Used space, of that which others than root can use.", CREST_RATIO),
    [FILESYSTEMS_INODES_TOTAL] = FILESYSTEMS_FIGURE("host.storage.mount.files-possible",
                                                    "Files that it can hold.", CREST_NONE),
    [FILESYSTEMS_INODES_FREE] = FILESYSTEMS_FIGURE("host.storage.mount.files-free",
                                                   "Files that it can hold further.", CREST_NONE),
    [FILESYSTEMS_READ_ONLY] = FILESYSTEMS_FIGURE("host.storage.mount.read-only",
                                                 "1: it cannot be written, 0: it can.", CREST_NONE),
};

typedef struct filesystems_state {
    crest_sweep *sweep;
    uint64_t begun_ns;
} filesystems_state;

static void filesystems_refused(crest_collect *collect, crest_sweep_answer answer,
                                const char *point)
{
    switch (answer) {
    case CREST_SWEEP_OK: return;
    case CREST_SWEEP_HANGS:
        crest_collect_fail(collect, CREST_CAUSE_UNREADABLE, point, "the mount does not answer");
        return;
    case CREST_SWEEP_FULL:
        crest_collect_fail(collect, CREST_CAUSE_LIMIT, point,
                           "so many are mounted, or do not answer, that it is not asked");
        return;
    case CREST_SWEEP_TOO_LONG:
        crest_collect_fail(collect, CREST_CAUSE_LIMIT, point, "the path is too long");
        return;
    case CREST_SWEEP_NO_THREAD:
        crest_collect_fail(collect, CREST_CAUSE_NO_MEMORY, point, "no thread to ask them");
        return;
    }
}

static int filesystems_wanted(const crest_collect *collect, const crest_mount_row *row)
{
    const char *exclude = collect->settings->mounts_exclude;
    return !crest_globs_match(exclude, row->point) &&
           (strcmp(row->point, "/") == 0 || !crest_globs_match(exclude, row->type));
}

static void filesystems_ask(crest_collect *collect)
{
    filesystems_state *state = collect->state;
    crest_text text;
    crest_mount_row row;
    crest_fault fault = {0};
    crest_sweep_begin(state->sweep);
    if (!crest_collect_read(collect, CREST_ROOT_PROC, "self/mountinfo", 0, &text))
        return;
    while (crest_mountinfo_next(&text, &row, &fault)) {
        if (filesystems_wanted(collect, &row))
            filesystems_refused(collect, crest_sweep_want(state->sweep, row.point), row.point);
        else /* it may cover a wanted mount */
            crest_sweep_unwant(state->sweep, row.point);
    }
    crest_collect_blame(collect, "/proc/self/mountinfo", &fault);
    filesystems_refused(collect, crest_sweep_ask(state->sweep, FILESYSTEMS_WAIT_MS), "the mounts");
}

/* Gives a mount's figures; used and usage are as df computes them. */
static void filesystems_give(crest_collect *collect, const crest_mount_space *space)
{
    crest_place *place = crest_collect_device(collect, space->point);
    if (place == NULL)
        return;
    uint64_t used = space->total - space->free, usable = used + space->available;
    crest_figure_gauge(place, FILESYSTEMS_TOTAL, (double)space->total);
    crest_figure_gauge(place, FILESYSTEMS_FREE, (double)space->free);
    crest_figure_gauge(place, FILESYSTEMS_AVAILABLE, (double)space->available);
    crest_figure_gauge(place, FILESYSTEMS_USED, (double)used);
    if (usable > 0)
        crest_figure_gauge(place, FILESYSTEMS_USAGE, (double)used / (double)usable);
    if (space->inodes_total > 0 && space->inodes_free <= space->inodes_total) {
        crest_figure_gauge(place, FILESYSTEMS_INODES_TOTAL, (double)space->inodes_total);
        crest_figure_gauge(place, FILESYSTEMS_INODES_FREE, (double)space->inodes_free);
    }
    crest_figure_gauge(place, FILESYSTEMS_READ_ONLY, space->read_only);
}

static void filesystems_collect(crest_collect *collect)
{
    filesystems_state *state = collect->state;
    uint64_t interval_ns = collect->settings->slow_interval_ns;
    int asks = state->sweep == NULL || collect->now_ns - state->begun_ns >= interval_ns * 9 / 10;
    if (state->sweep == NULL && (state->sweep = crest_sweep_new(crest_mount_look)) == NULL) {
        crest_collect_fail(collect, CREST_CAUSE_NO_MEMORY, "the mounts", "no memory to ask them");
        return;
    }
    if (asks) {
        state->begun_ns = collect->now_ns;
        filesystems_ask(collect);
    }
    crest_mount_space space;
    for (unsigned i = 0; i < CREST_SWEEP_MOUNTS_MAX; i++) {
        if (!crest_sweep_space(state->sweep, i, &space))
            continue;
        if (space.error == 0 && !space.none)
            filesystems_give(collect, &space);
        else if (space.error != 0 && asks)
            crest_collect_fail_errno(collect, space.point, space.error);
    }
}

static void filesystems_finish(void *state)
{
    crest_sweep_drop(((filesystems_state *)state)->sweep);
}

const crest_collector_kind crest_filesystems_collector = {
    .name = "filesystems",
    .group = "filesystems",
    .collect = filesystems_collect,
    .state_bytes = sizeof(filesystems_state),
    .finish = filesystems_finish,
    .figures = NULL,
    .figure_count = 0,
    .device_key = "mount",
    .device_figures = filesystems_figures,
    .device_figure_count = CREST_FIGURES(filesystems_figures),
};
