/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long threads of this process waited for a processor, and for storage:
 * PROC/self/task/ID/schedstat and, where the kernel measures it, ID/stat. The kernel keeps both for
 * each thread and forgets them with it. So the collector adds up by how much each thread's figures
 * grew since they were last read. The total keeps what ended threads waited until their last
 * reading. It lacks what a thread waited after that, and all of a thread that began and ended
 * between two readings.
 *
 * An id may be reused. Three figures of a thread only grow: if one went down, it is another thread,
 * which counts in full.
 */
#include "base/alloc.h"
#include "system/collectors.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Threads that are read, at most; further ones are not. */
#define CREST_PROCESS_THREADS_MAX 1024u
/* Field 42 of proc(5), counted from the word after the name. */
#define PROCESS_THREADS_BLOCKED (42u - 3u)

enum { THREADS_SCHEDULER_WAIT, THREADS_BLOCK_WAIT };

static const crest_figure process_threads_figures[] = {
    [THREADS_SCHEDULER_WAIT] = {.kind = CREST_KIND_COUNTER,
                                .options = {.name = "process.scheduler-wait",
                                            .description = "Time that threads were ready to run "
                                                           "and had no processor.",
                                            .unit = CREST_NANOSECONDS}},
    [THREADS_BLOCK_WAIT] = {.kind = CREST_KIND_COUNTER,
                            .options = {.name = "process.block-io-wait",
                                        .description = "Time that threads waited for storage, "
                                                       "memory swapped out included.",
                                        .unit = CREST_NANOSECONDS}},
};

typedef struct process_thread {
    uint64_t id;
    uint64_t ran_ns, waited_ns, slices; /* schedstat's words */
    uint64_t blocked;                   /* in clock ticks */
} process_thread;

typedef struct process_threads {
    process_thread *known; /* by id, as of the last collection */
    process_thread *next;  /* as of this collection */
    unsigned known_count, next_count;
    uint64_t waited_ns, blocked; /* totals */
} process_threads;

/* ---- one thread ---- */

static int process_threads_read_schedule(crest_collect *collect, process_thread *thread)
{
    char path[64];
    crest_text text;
    snprintf(path, sizeof path, "self/task/%llu/schedstat", (unsigned long long)thread->id);
    if (!crest_collect_read(collect, CREST_ROOT_PROC, path, CREST_READ_OPTIONAL, &text))
        return 0;
    if (crest_text_u64(&text, &thread->ran_ns) && crest_text_u64(&text, &thread->waited_ns) &&
        crest_text_u64(&text, &thread->slices))
        return 1;
    crest_collect_garbage(collect, "self/task/*/schedstat", text);
    return 0;
}

static int process_threads_read_blocked(crest_collect *collect, process_thread *thread)
{
    char path[64];
    crest_text text, word;
    snprintf(path, sizeof path, "self/task/%llu/stat", (unsigned long long)thread->id);
    if (!crest_collect_read(collect, CREST_ROOT_PROC, path, CREST_READ_OPTIONAL, &text))
        return 0;
    const char *close = text.end;
    while (close != text.at && close[-1] != ')')
        close--;
    crest_text at = {close, text.end};
    for (unsigned i = 0; i < PROCESS_THREADS_BLOCKED; i++)
        if (!crest_text_word(&at, &word))
            break;
    if (close != text.at && crest_text_u64(&at, &thread->blocked))
        return 1;
    crest_collect_garbage(collect, "self/task/*/stat", text);
    return 0;
}

/* ---- all of them ---- */

static int process_threads_order(const void *one, const void *two)
{
    uint64_t a = ((const process_thread *)one)->id, b = ((const process_thread *)two)->id;
    return (a > b) - (a < b);
}

/* The thread of this id as it was last read; NULL when it is new. */
static const process_thread *process_threads_last(const process_threads *state,
                                                  const process_thread *thread)
{
    if (state->known_count == 0)
        return NULL;
    return bsearch(thread, state->known, state->known_count, sizeof *thread, process_threads_order);
}

static int process_threads_is_another(const process_thread *thread, const process_thread *known)
{
    return thread->ran_ns < known->ran_ns || thread->slices < known->slices ||
           thread->waited_ns < known->waited_ns;
}

/*
 * Reads a thread, and adds to the totals what it has waited since it was last read. A thread that
 * cannot be read now, or not whole, keeps its old figures: its wait is added when it can be read. 0
 * when it was not read; *kept says whether to know it next time.
 */
static int process_threads_take(crest_collect *collect, process_thread *thread, int ask_blocked,
                                unsigned *blocked, int *kept)
{
    process_threads *state = collect->state;
    const process_thread *known = process_threads_last(state, thread);
    *kept = known != NULL;
    if (!process_threads_read_schedule(collect, thread)) {
        if (known != NULL)
            *thread = *known;
        return 0;
    }
    *kept = 1;
    if (known != NULL && process_threads_is_another(thread, known))
        known = NULL;
    state->waited_ns += thread->waited_ns - (known != NULL ? known->waited_ns : 0);
    uint64_t before = known != NULL ? known->blocked : 0;
    if (ask_blocked && process_threads_read_blocked(collect, thread))
        ++*blocked;
    else
        thread->blocked = before;
    state->blocked += thread->blocked > before ? thread->blocked - before : 0;
    return 1;
}

/* Whether the kernel measures the wait for storage. Without a switch it does, unless it was built
 * or started without. */
static int process_threads_blocked_known(crest_collect *collect)
{
    crest_text text;
    uint64_t on = 1;
    if (crest_collect_read(collect, CREST_ROOT_PROC, "sys/kernel/task_delayacct",
                           CREST_READ_OPTIONAL, &text) &&
        !crest_text_u64(&text, &on))
        return 0;
    return on != 0;
}

/* Lists the ids in the directory, into `next`; 0 when it cannot be read. */
static int process_threads_list(crest_collect *collect)
{
    process_threads *state = collect->state;
    char path[1024];
    if (!crest_collect_path(collect, CREST_ROOT_PROC, "self/task", path, sizeof path))
        return 0;
    DIR *folder = crest_collect_folder(path);
    if (folder == NULL) {
        crest_collect_fail_errno(collect, path, errno);
        return 0;
    }
    int more = 0;
    state->next_count = 0;
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        crest_text name = crest_text_of(entry->d_name, strlen(entry->d_name));
        process_thread thread = {.id = 0};
        if (!crest_text_u64(&name, &thread.id))
            continue;
        more = state->next_count == CREST_PROCESS_THREADS_MAX;
        if (more)
            break;
        state->next[state->next_count++] = thread;
    }
    closedir(folder);
    if (more)
        crest_collect_fail(collect, CREST_CAUSE_LIMIT, path, "more threads than are read");
    qsort(state->next, state->next_count, sizeof *state->next, process_threads_order);
    return 1;
}

static int process_threads_ready(crest_collect *collect)
{
    process_threads *state = collect->state;
    if (state->known == NULL)
        state->known = crest_alloc(CREST_PROCESS_THREADS_MAX, sizeof *state->known);
    if (state->next == NULL)
        state->next = crest_alloc(CREST_PROCESS_THREADS_MAX, sizeof *state->next);
    if (state->known != NULL && state->next != NULL)
        return 1;
    crest_collect_fail(collect, CREST_CAUSE_NO_MEMORY, "threads", "no memory to know them");
    return 0;
}

static void process_threads_collect(crest_collect *collect)
{
    process_threads *state = collect->state;
    if (!process_threads_ready(collect) || !process_threads_list(collect))
        return;
    int ask_blocked = process_threads_blocked_known(collect), keep;
    unsigned kept = 0, known = 0, blocked = 0;
    for (unsigned i = 0; i < state->next_count; i++) {
        process_thread thread = state->next[i];
        /* a thread that has ended since is missing, which is no failure */
        known += (unsigned)process_threads_take(collect, &thread, ask_blocked, &blocked, &keep);
        if (keep)
            state->next[kept++] = thread;
    }
    process_thread *was = state->known;
    state->known = state->next;
    state->known_count = kept;
    state->next = was;
    long per_second = sysconf(_SC_CLK_TCK);
    if (known != 0)
        crest_figure_total(collect->own, THREADS_SCHEDULER_WAIT, state->waited_ns);
    else
        crest_collect_fail(collect, CREST_CAUSE_MISSING, "self/task/*/schedstat",
                           "of no thread can it be read");
    if (blocked != 0 && per_second > 0)
        crest_figure_total(collect->own, THREADS_BLOCK_WAIT,
                           state->blocked * (UINT64_C(1000000000) / (uint64_t)per_second));
}

static void process_threads_finish(void *state)
{
    process_threads *threads = state;
    crest_alloc_free(threads->known);
    crest_alloc_free(threads->next);
}

const crest_collector_kind crest_process_threads_collector = {
    .name = "process-threads",
    .group = "process",
    .cadence = CREST_CADENCE_INTERVAL,
    .collect = process_threads_collect,
    .state_bytes = sizeof(process_threads),
    .finish = process_threads_finish,
    .figures = process_threads_figures,
    .figure_count = CREST_FIGURES(process_threads_figures),
};
