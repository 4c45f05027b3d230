/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Upkeep of <crest/clock.h> by a check once a second, which keeps the counter's rate right; and the
 * wall clock, read beside a clock that is never set.
 */
#ifndef CREST_BASE_CLOCK_INSIDE_H
#define CREST_BASE_CLOCK_INSIDE_H

#include <crest/clock.h>

/*
 * Compares the counter's pace since the last check with CLOCK_MONOTONIC_RAW. Then it corrects the
 * scale, re-bases it (the machine was suspended), or falls back to the kernel's clock for good. One
 * thread at a time.
 */
void crest_clock_check(void);

/* How often a check has re-based the scale: the counter or the kernel's clock jumped. Any
 * thread. */
uint64_t crest_clock_rebases(void);

/* In the child of a fork: releases the publisher's lock if another thread of the parent held it. */
void crest_clock_forked(void);
/* For tests: whether a thread holds the publisher's lock. */
int crest_clock_is_held(void);

/* Wall clock, nanoseconds since 1970. */
uint64_t crest_clock_wall_ns(void);

/*
 * The wall clock and CLOCK_BOOTTIME at one moment. The kernel slews both alike, and both go on
 * while the machine sleeps. So their difference changes only when an administrator or a program
 * sets the wall clock.
 */
typedef struct crest_clock_wall {
    uint64_t wall_ns;   /* since 1970 */
    uint64_t steady_ns; /* since boot */
    uint64_t apart_ns;  /* bound of the error: the two readings may be this far apart, either way */
} crest_clock_wall;

/* Any thread, any handler. Cost: three clock reads, more where they are interrupted. */
crest_clock_wall crest_clock_wall_read(void);

/* For tests: crest_now() stands at ns until the next call; 0 gives the real clock back. */
void crest_clock_fake(uint64_t ns);
int crest_clock_is_faked(void);
/* The same of crest_clock_wall_ns. */
void crest_clock_fake_wall(uint64_t ns);
/* For tests: from now on the wall clock is `ns` off and runs too fast by this many parts per
 * billion; 0, 0: the real one. */
void crest_clock_shift_wall(int64_t ns, int64_t parts_per_billion);

/* For tests: what a check would do with these readings. The counter says that `counted_ns` passed,
 * negative after a reset; the kernel says `kernel_ns`. */
typedef enum crest_clock_verdict {
    CREST_CLOCK_KEEP,
    CREST_CLOCK_REFINE,
    CREST_CLOCK_REBASE
} crest_clock_verdict;
crest_clock_verdict crest_clock_judge(int64_t counted_ns, uint64_t kernel_ns);

#endif
