/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the CPU samples of all threads go: two tables of stacks, of which one is in use, and a ring
 * of the newest samples that belong to an operation. Handlers add; the profiler's thread turns the
 * tables over when one fills, and reads the ring.
 *
 * Counts only grow, and no reader resets anything: a profile of ten seconds is what was counted at
 * its end less what was counted at its begin.
 */
#ifndef CREST_PROFILING_SAMPLE_STORE_H
#define CREST_PROFILING_SAMPLE_STORE_H

#include "profiling/stack_table.h"

/* Samples that are remembered with their operation: at 99 Hz those of a minute of ten busy
 * processors. 16 bytes each: 1 MiB. */
#define CREST_SAMPLE_RING 65536u

/* Operations, one in the other, that a sample is remembered with. */
#define CREST_SAMPLE_OPERATIONS 4u

/* How many samples there were, and what became of them; all only grow. */
typedef struct crest_sample_counts {
    uint64_t samples;   /* weights of all that follow, and of those stored */
    uint64_t refused;   /* of these: the tables were full */
    uint64_t broken;    /* of these: the walk ended before the thread's first function */
    uint64_t truncated; /* of these: more than CREST_FRAMES_MAX frames */
    uint64_t elsewhere; /* and not among these: left to the runtime that samples such code */
} crest_sample_counts;

typedef struct crest_cpu_sample {
    const uint64_t *frames;
    unsigned depth;
    uint64_t label;                              /* the operation's metric; 0: none */
    uint64_t operation[CREST_SAMPLE_OPERATIONS]; /* numbers, innermost first; 0: no more */
    uint32_t when_ms;                            /* since the profiler's start */
    uint64_t weight;
} crest_cpu_sample;

/* Makes the tables; 0 without memory. */
int crest_samples_make(void);

/* Frees them, once no handler adds and no reader reads. */
void crest_samples_free(void);
/* In the child of a fork, which has no handler that adds. */
void crest_samples_forked(void);

/* Any handler; only after crest_samples_make. */
void crest_samples_add(const crest_cpu_sample *sample);
/* Any handler: counts what the walk of a sample came to. */
void crest_samples_walked(int broken, int truncated, uint64_t weight);
/* Any handler: counts a sample that is not stored. */
void crest_samples_elsewhere(uint64_t weight);
crest_sample_counts crest_samples_counts(void);

/* The profiler's thread: turns the tables over if the one in use fills, and no handler adds to the
 * other any more. Not while a profile that began before the last turn is under way (`held`). */
void crest_samples_turn(int held);

/* Counts of a moment, to subtract from later ones. 0 without memory. */
typedef struct crest_samples_mark crest_samples_mark;
crest_samples_mark *crest_samples_mark_new(void);
void crest_samples_mark_free(crest_samples_mark *mark);
/* Whether the tables were turned over since. */
int crest_samples_mark_turned(const crest_samples_mark *mark);

/* Calls `each` for every stack that was added to since the mark. Ends when it returns non-zero. */
typedef int crest_samples_each(void *context, const uint64_t *frames, unsigned depth,
                               uint64_t label, uint64_t count);
int crest_samples_since(const crest_samples_mark *mark, crest_samples_each *each, void *context);

/* The same, and brings the mark up to the counts that were handed out: nothing is missed or handed
 * out twice, as long as it is called before the tables are turned over a second time. */
int crest_samples_take(crest_samples_mark *mark, crest_samples_each *each, void *context);

/* Whether crest_samples_turn is about to turn the tables over. */
int crest_samples_turns(void);

/* Calls `each` for the ring's samples of one operation that were taken from from_ms to to_ms and
 * whose stacks are still there, with a count of 1. */
int crest_samples_of(uint64_t operation, uint32_t from_ms, uint32_t to_ms, crest_samples_each *each,
                     void *context);

#endif
