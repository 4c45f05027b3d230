/* SPDX-License-Identifier: Apache-2.0 */
/* What clock.h has with CREST_DISABLE; made by scripts/make-off, not by hand. */
#ifndef CREST_CLOCK_OFF_H
#define CREST_CLOCK_OFF_H

#pragma GCC system_header

#include <time.h>

CREST_BEGIN_C

/* Strict C hides what POSIX has, and C99 even struct timespec: both by names of our own. */
struct crest_off_time {
    time_t s;
    long ns;
};
extern int crest_off_clock_gettime(int clock, struct crest_off_time *now) __asm__("clock_gettime");

CREST_API uint64_t crest_off_clock(int clock)
{
    struct crest_off_time now = {0, 0};
    crest_off_clock_gettime(clock, &now);
    return (uint64_t)now.s * 1000000000u + (uint64_t)now.ns;
}

/* Kernel numbers, for strict C has no names: 1 is CLOCK_MONOTONIC, 0 CLOCK_REALTIME. */
CREST_API uint64_t crest_now(void)
{
    return crest_off_clock(1);
}

CREST_API uint64_t crest_now_slow(void)
{
    return crest_off_clock(1);
}

CREST_API uint64_t crest_wall_now(void)
{
    return crest_off_clock(0);
}

CREST_API uint64_t crest_wall_error(void)
{
    return CREST_WALL_ERROR_UNKNOWN;
}

CREST_API crest_clock_source crest_clock_source_now(void)
{
    return CREST_CLOCK_KERNEL;
}

CREST_END_C

#endif
