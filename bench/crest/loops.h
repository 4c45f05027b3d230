/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the timed loops work on. Each is a function of its own that starts on a cache line and does
 * `times` operations, one to each step of a 64-bit counter, and nothing else; what is compared
 * stands in the same kind of loop. Their totals are read afterwards, so that a loop that the
 * compiler removed is noticed.
 *
 * No header of Crest is included here: the loops that call it through its exported symbols see
 * none of its types, as no other language does.
 */
#ifndef BENCH_LOOPS_H
#define BENCH_LOOPS_H

#include <stdint.h>

/* Values, and steps of the order, as bench/README.md has them: a power of two. */
#define LOOPS_VALUES 65536u
/* Steps up and down, over and over: a power of two, so that any window has whole rounds. */
#define LOOPS_STEPS 8192u

/* Operations of tens of nanoseconds are done so often in each call, with the first of the values.
 * */
#define LOOPS_SHORT 16384u

/*
 * Of each kind this many, taken in turn: a metric's address matters. The processor mistakes a store
 * and a load of another word for the same while their addresses agree in the low twelve bits (4K
 * aliasing), which costs a counter a third. Here that shall not weigh more than it does in a
 * program.
 */
#define LOOPS_HOT 8u

/* Sets of metrics for threads that are to have their own: more threads than that share. */
#define LOOPS_SETS_MAX 4u

#define LOOPS_LOOP __attribute__((noinline, aligned(64)))

enum loops_peer {
    LOOPS_PEER_C,
    LOOPS_PEER_CC,
    LOOPS_PEER_EXPORTED,
    LOOPS_PEER_NAMED,    /* C, by names at run time */
    LOOPS_PEER_LABELLED, /* C, by label values */
    LOOPS_PEERS
};

enum loops_operation {
    LOOPS_COUNTER,
    LOOPS_GAUGE,
    LOOPS_HISTOGRAM,
    LOOPS_TIMER,
    LOOPS_KEYED_TIMER,
    LOOPS_RANGE_SAMPLER,
    LOOPS_BOTH, /* those above, hot and at random; those below hot only */
    LOOPS_HISTOGRAM_EVEN = LOOPS_BOTH,
    LOOPS_TIMER_THROUGH_MEMORY,
    LOOPS_RANGE_SAMPLER_RAISE,
    LOOPS_OPERATIONS
};

/* The metrics of one operation: handles, and what resolving loops find them by. */
typedef struct loops_subject {
    void *hot[LOOPS_HOT];
    void **random[LOOPS_SETS_MAX]; /* each as many as there are names */
    const char *hot_name[LOOPS_HOT];
    const char **name[LOOPS_SETS_MAX];
    void *hot_family;
    void *family[LOOPS_SETS_MAX];
} loops_subject;

/* `object` is one of LOOPS_HOT, or a set. */
typedef void loops_loop(unsigned object, uint64_t times);

typedef struct loops_pair {
    loops_loop *hot, *random;
} loops_pair;

#ifdef __cplusplus
extern "C" {
#endif

extern int64_t loops_values[LOOPS_VALUES], loops_even[LOOPS_VALUES];
extern uint32_t loops_order[LOOPS_VALUES];
extern int8_t loops_steps[LOOPS_STEPS];  /* 1 or -1 */
extern const char *const **loops_labels; /* of each metric */
extern unsigned loops_label_count;

extern loops_subject loops_subjects[LOOPS_PEERS][LOOPS_OPERATIONS];

/* By operation. */
extern const loops_pair loops_c[LOOPS_OPERATIONS], loops_cc[LOOPS_OPERATIONS];
extern const loops_pair loops_exported[LOOPS_OPERATIONS];
extern const loops_pair loops_named[LOOPS_BOTH], loops_labelled[LOOPS_BOTH];

/* The first of 2^32 ids that no other thread has. */
uint64_t loops_own_ids(void);

#ifdef __cplusplus
}
#endif

#endif
