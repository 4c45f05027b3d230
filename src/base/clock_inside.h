/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeping <crest/clock.h> honest: who calls crest_clock_check once a second keeps the counter's
 * rate right.
 */
#ifndef CREST_BASE_CLOCK_INSIDE_H
#define CREST_BASE_CLOCK_INSIDE_H

#include <crest/clock.h>

/*
 * Compares the counter's pace since the last check with CLOCK_MONOTONIC_RAW, and corrects the
 * scale, re-bases it (the machine was suspended), or falls back to the kernel's clock for good. One
 * thread at a time.
 */
void crest_clock_check(void);

/* In the child of a fork: a check that another thread was at then is nobody's now. */
void crest_clock_forked(void);
/* For tests: somebody is at a check. */
int crest_clock_is_held(void);

/* Wall clock, nanoseconds since 1970. */
uint64_t crest_clock_wall_ns(void);

/* For tests: crest_now() stands at ns until the next call; 0 gives the real clock back. */
void crest_clock_fake(uint64_t ns);
/* The same of crest_clock_wall_ns. */
void crest_clock_fake_wall(uint64_t ns);

/* For tests: what a check would do with these readings: the counter says `counted_ns` passed while
 * the kernel says `kernel_ns`. */
typedef enum crest_clock_verdict {
    CREST_CLOCK_KEEP,
    CREST_CLOCK_REFINE,
    CREST_CLOCK_REBASE
} crest_clock_verdict;
crest_clock_verdict crest_clock_judge(uint64_t counted_ns, uint64_t kernel_ns);

#endif
