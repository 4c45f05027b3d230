/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the parts of the gate's program share: a path, which is one operation in a function of its
 * own, and what a path needs to be the same each time. budget.py runs the program below callgrind.
 */
#ifndef GATE_H
#define GATE_H

#include <stddef.h>
#include <stdint.h>

/* How often an operation runs between two readings of callgrind's counts, unless it says less. */
#define GATE_TIMES 1000u
/* The same of paths over many series; they take "empty-5" for the call. */
#define GATE_FEW 5u

typedef struct gate_path {
    const char *name;
    void (*run)(uint64_t at); /* the operation, the at-th from 0 */
    const char *less;         /* the path to subtract; NULL: "empty"; "-": none,
                                because this path is there for others */
    uint32_t times;           /* how often it runs; 0: GATE_TIMES */
    uint32_t each;            /* how many things one run is about; 0: one */
    int cold;                 /* non-zero: it runs on a new thread, and never before */
    void (*prepare)(void);    /* called once, before all; NULL: nothing is to be done */
    uint64_t (*total)(void);  /* the total left behind; it grows by `grows` with each run */
    uint32_t grows;
} gate_path;

/* An operation: a function that is not inlined, and whose code stays inside. Calling it and
 * returning from it costs what the path "empty" costs. */
#define GATE_OPERATION(name)                                                                       \
    __attribute__((noinline)) static void name(__attribute__((unused)) uint64_t at)

/* A value is needed from here on, as far as the compiler knows. */
#define GATE_KEEP(value) __asm__ volatile("" : : "r"(value) : "memory")

/* Each part's paths, ended by one without a name. */
extern const gate_path gate_hot_paths[];
extern const gate_path gate_exported_paths[];
extern const gate_path gate_keyed_paths[];
extern const gate_path gate_cold_paths[];

/* Sets the time that crest_now() returns; from there it advances hardly at all. */
void gate_clock_set(uint64_t ns);

/* Values from some 1 µs to some 1 s, few of them large, always the same. */
extern int64_t gate_values[GATE_TIMES];

/* How many values were recorded in the histogram, or in the timer as ok. */
uint64_t gate_recorded(const char *name, int timer);

/* Of what the hot paths record into. */
uint64_t gate_counter_total(void);
uint64_t gate_histogram_total(void);
uint64_t gate_timer_total(void);

#endif
