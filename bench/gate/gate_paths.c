/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The gate's program: runs each path a fixed number of times and has callgrind dump its counts.
 *
 *     valgrind --tool=callgrind --instr-atstart=yes … gate [part of a name]
 *
 * Between two readings stands one loop that calls one function, the same for all paths, so that
 * the difference of two paths is that of their functions. The counts are the same in each run, on
 * each machine, because what could differ is taken away here:
 *
 * - Hashes are seeded by the kernel's random bytes: these are overwritten before any constructor.
 * - Durations decide which way a record takes, and which clock there is depends on the kernel: the
 *   clock has a scale of our own, by which a processor's counter advances a nanosecond in 2^32
 *   ticks. It is read and multiplied as usual, and all durations are 0 or 1. The wall clock
 *   stands, because the kernel is asked for its error once a second.
 * - First touches, and the noting of the largest value of a tick, are done before: there is no
 *   ticker.
 * - What differs by the C library and the processor it finds is not counted: budget.py leaves out
 *   other libraries' instructions, and counts the calls.
 *
 * Every path that leaves something behind is asked for it, by way of a snapshot.
 */
#include "gate.h"

#include <crest/crest.h>
#include <crest/testing.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>

#if defined(__x86_64__) && defined(__has_include)
#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#define GATE_CALLGRIND 1
#endif
#endif

#ifndef GATE_CALLGRIND

int main(void)
{
    puts("valgrind's headers are missing (Debian: valgrind), or this is not x86-64");
    return 77;
}

#else

int64_t gate_values[GATE_TIMES];
static crest_clock_scale gate_scale = {0, 0, 1};

/* Before the constructors of all libraries, which ask for the seed. The C library has taken its own
 * share of the bytes by then. */
static void gate_seed(void)
{
    void *random = (void *)getauxval(AT_RANDOM);
    if (random != NULL)
        memcpy(random, "0123456789abcdef", 16);
}
__attribute__((section(".preinit_array"),
               used)) static void (*const gate_seed_first)(void) = gate_seed;

void gate_clock_set(uint64_t ns)
{
    gate_scale.counter_base = CREST_CLOCK_READ();
    gate_scale.ns_base = ns;
    __atomic_store_n(&crest_clock_current, &gate_scale, __ATOMIC_RELEASE);
}

/* A sum of six even numbers is nearly normal; as an exponent of 2 it makes the values log-normal.
 * In integers, so that no library's arithmetic matters. */
static void gate_values_make(void)
{
    uint64_t state = 7;
    for (unsigned i = 0; i < GATE_TIMES; i++) {
        uint64_t sum = 0;
        for (unsigned part = 0; part < 6; part++) {
            state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            sum += state >> 54; /* 0 to 1023 */
        }
        uint64_t exponent = 10 + (sum >> 8); /* 10 to 33, mostly 22 */
        gate_values[i] = (int64_t)((UINT64_C(256) + (sum & 255)) << (exponent - 8));
    }
}

uint64_t gate_recorded(const char *name, int timer)
{
    const char *ok = "ok";
    crest_snapshot *snapshot = crest_snapshot_take(NULL);
    crest_series_view view;
    crest_snapshot_find(snapshot, name, &ok, timer ? 1 : 0, &view);
    uint64_t count = crest_distribution_count(view.distribution);
    crest_snapshot_free(snapshot);
    return count;
}

__attribute__((noinline, noclone)) static void gate_repeat(void (*run)(uint64_t), uint64_t times)
{
    for (uint64_t at = 0; at < times; at++)
        run(at);
}

static uint64_t gate_times(const gate_path *path)
{
    return path->times != 0 ? path->times : GATE_TIMES;
}

/* A thread's main function, too. */
__attribute__((noinline)) static void *gate_measure(void *context)
{
    const gate_path *path = context;
    void (*run)(uint64_t) = path->run;
    uint64_t times = gate_times(path);
    CALLGRIND_ZERO_STATS;
    gate_repeat(run, times);
    CALLGRIND_DUMP_STATS_AT(path->name);
    return NULL;
}

/* 0 when the path left behind what it should. */
static int gate_run(const gate_path *path)
{
    uint64_t times = gate_times(path), warm = path->cold ? 0 : times, before = 0, after = 0;
    if (path->total != NULL)
        before = path->total();
    gate_repeat(path->run, warm);
    if (path->cold) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, gate_measure, (void *)(uintptr_t)path) != 0)
            return 1;
        pthread_join(thread, NULL);
    } else {
        gate_measure((void *)(uintptr_t)path);
    }
    if (path->total != NULL)
        after = path->total();
    /* callgrind's number of the thread */
    printf("%s %d %s %llu %llu\n", path->name, path->cold ? 2 : 1,
           path->less != NULL ? path->less : "empty", (unsigned long long)times,
           (unsigned long long)(path->each != 0 ? path->each : 1));
    if (path->total == NULL || after - before == (warm + times) * path->grows)
        return 0;
    fprintf(stderr, "%s: %llu were asked for, and %llu are there\n", path->name,
            (unsigned long long)((warm + times) * path->grows),
            (unsigned long long)(after - before));
    return 1;
}

GATE_OPERATION(gate_empty) {}

/* To be subtracted from paths that look up a value or a text. */
GATE_OPERATION(gate_value)
{
    GATE_KEEP(gate_values[at]);
}

GATE_OPERATION(gate_text)
{
    static char texts[GATE_TIMES][3][16];
    GATE_KEEP(texts[at][1]);
}

static const gate_path gate_base_paths[] = {
    {.name = "empty", .run = gate_empty, .less = "-"},
    {.name = "empty-5", .run = gate_empty, .less = "-", .times = GATE_FEW},
    {.name = "value", .run = gate_value, .less = "-"},
    {.name = "text", .run = gate_text, .less = "-"},
    {.name = NULL},
};

int main(int count, char **arguments)
{
    static const gate_path *const parts[] = {gate_base_paths, gate_hot_paths, gate_exported_paths,
                                             gate_keyed_paths, gate_cold_paths};
    int wrong = 0;
    gate_values_make();
    gate_clock_set(1000000000);
    crest_testing_clock_set_wall(1000000000);
    for (unsigned part = 0; part < sizeof parts / sizeof parts[0]; part++)
        for (const gate_path *path = parts[part]; path->name != NULL; path++) {
            if (path->prepare != NULL)
                path->prepare();
            if (part == 0 || count < 2 || strstr(path->name, arguments[1]) != NULL)
                wrong += gate_run(path);
        }
    return wrong != 0;
}

#endif
