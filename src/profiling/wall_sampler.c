/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where all threads are. See wall_sampler.h.
 *
 * A thread's time is counted with the stack that was seen at its end. A thread whose CPU clock
 * stands still has not moved: it is counted with its last stack, and costs a system call.
 */
#define _GNU_SOURCE
#include "profiling/wall_sampler.h"
#include "base/alloc.h"
#include "base/sync.h"
#include "profiling/sample_label.h"
#include "profiling/stack_table.h"
#include "profiling/thread_timers.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static crest_stack_table *wall_table; /* NULL: no wall profile is taken */
static unsigned wall_next;            /* the place that is looked at next */

int crest_wall_begin(uint64_t now_ns)
{
    wall_table = crest_alloc(1, sizeof *wall_table);
    for (unsigned i = 0; i < CREST_PROFILE_THREADS_MAX; i++) {
        crest_sampled_thread *at = crest_thread_timers_at(i);
        if (at != NULL)
            at->wall_ns = now_ns;
    }
    return wall_table != NULL;
}

void crest_wall_drop(void)
{
    crest_alloc_free(wall_table);
    wall_table = NULL;
}

void crest_wall_forked(void)
{
    wall_table = NULL;
}

int crest_wall_active(void)
{
    return wall_table != NULL;
}

/* Brings the thread's capture up to date; NULL without memory. */
static const crest_capture *wall_look(crest_sampled_thread *at, int signal)
{
    uint64_t cpu_ns = crest_kernel_ns(crest_thread_clock(at->thread));
    if (at->capture != NULL && at->capture->how == CREST_CAPTURE_SLEEPING && cpu_ns == at->cpu_ns)
        return at->capture;
    if (at->capture == NULL)
        at->capture = crest_alloc(1, sizeof *at->capture);
    if (at->capture != NULL)
        crest_capture_take(at->capture, at->thread, signal);
    at->cpu_ns = cpu_ns;
    return at->capture;
}

static void wall_count(crest_sampled_thread *at, int signal, uint64_t now_ns)
{
    const crest_capture *capture = wall_look(at, signal);
    uint64_t since_ns = at->wall_ns;
    at->wall_ns = now_ns;
    if (capture == NULL || now_ns <= since_ns)
        return;
    uint64_t label = capture->in_operation
                         ? crest_sample_label(capture->operation.metric, capture->operation.stage)
                         : 0;
    if (capture->depth > 0)
        crest_stack_table_add(wall_table, capture->frames, capture->depth, label,
                              now_ns - since_ns);
}

void crest_wall_tick(int signal, uint64_t now_ns)
{
    unsigned looked = 0;
    for (unsigned i = 0; i < CREST_PROFILE_THREADS_MAX && looked < CREST_WALL_THREADS; i++) {
        crest_sampled_thread *at = crest_thread_timers_at(wall_next);
        wall_next = (wall_next + 1) % CREST_PROFILE_THREADS_MAX;
        if (at == NULL)
            continue;
        looked++;
        wall_count(at, signal, now_ns);
    }
}

void crest_wall_end(crest_rows *rows)
{
    for (uint32_t i = 0; i < CREST_STACKS_MAX; i++) {
        const uint64_t *frames = NULL;
        unsigned depth = crest_stack_table_frames(wall_table, i, &frames);
        const crest_stack_entry *entry = &wall_table->entry[i];
        crest_row row = {.metric = crest_sample_label_metric(entry->label),
                         .stage = crest_sample_label_stage(entry->label),
                         .value = {entry->count / CREST_WALL_TICK_NS + 1, entry->count}};
        if (depth != 0)
            crest_rows_add(rows, frames, depth, &row);
    }
    crest_wall_drop();
}

static void wall_name(int thread, char *name, size_t room)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%d/comm", thread);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t bytes = file >= 0 ? read(file, name, room - 1) : 0;
    if (file >= 0)
        close(file);
    name[bytes > 0 ? bytes : 0] = '\0';
    name[strcspn(name, "\n")] = '\0';
}

void crest_wall_threads(int signal, crest_rows *rows)
{
    static const char *const states[] = {"not seen", "sleeping", "running"};
    static crest_capture capture;
    for (unsigned i = 0; i < CREST_PROFILE_THREADS_MAX; i++) {
        const crest_sampled_thread *at = crest_thread_timers_at(i);
        if (at == NULL)
            continue;
        crest_row row = {.thread = at->thread, .value = {1, 0}};
        wall_name(at->thread, row.thread_name, sizeof row.thread_name);
        row.state = states[crest_capture_take(&capture, at->thread, signal)];
        if (capture.in_operation) {
            uint64_t now_ns = crest_now(), start_ns = capture.operation.start_ns;
            row.metric = capture.operation.metric;
            row.stage = row.metric != NULL ? capture.operation.stage : 0;
            row.op = capture.operation.op;
            row.age_ns = now_ns > start_ns ? now_ns - start_ns : 1;
        }
        crest_rows_add(rows, capture.frames, capture.depth, &row);
    }
}
