/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crest_now(): one continuous nanosecond timeline for the whole process. And the wall clock, which
 * is not continuous.
 *
 * Source: the processor's invariant time-stamp counter, where the processor promises one and the
 * kernel itself uses it (clocksource tsc). Elsewhere, and in the process's first milliseconds until
 * the counter's rate is known: clock_gettime(CLOCK_MONOTONIC). Rate and offset live in an immutable
 * block behind one pointer. A correction is a new block that continues where the old one stands, so
 * no duration is ever measured with two clocks.
 */
#ifndef CREST_CLOCK_H
#define CREST_CLOCK_H

#include <crest/abi.h>

/* now = ns_base + (counter - counter_base) * multiplier / 2^32; multiplier 0: ask the kernel. */
typedef struct crest_clock_scale {
    uint64_t counter_base;
    uint64_t ns_base;
    uint64_t multiplier;
} crest_clock_scale;

/* crest_wall_error's result when the error is unknown. */
#define CREST_WALL_ERROR_UNKNOWN UINT64_MAX

typedef enum crest_clock_source {
    CREST_CLOCK_KERNEL, /* clock_gettime(CLOCK_MONOTONIC) */
    CREST_CLOCK_COUNTER /* time-stamp counter, scaled */
} crest_clock_source;

CREST_BEGIN_C

#ifndef CREST_DISABLE
#if defined(__x86_64__)
#define CREST_CLOCK_READ() __builtin_ia32_rdtsc()
#elif defined(__aarch64__)
#define CREST_CLOCK_READ() crest_clock_read_cntvct()
CREST_INLINE uint64_t crest_clock_read_cntvct(void)
{
    uint64_t count;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(count));
    return count;
}
#endif

/* The library's; read it through crest_now only. */
extern CREST_API const crest_clock_scale *crest_clock_current;

/* The cold path of crest_now: the counter is not calibrated, or not trusted. */
CREST_API uint64_t crest_now_slow(void) CREST_NOTHROW_;

/*
 * Nanoseconds on the process's timeline. Only differences have a meaning. Resolution of a
 * nanosecond; not serialising: the processor may move the reading by a few instructions. Two
 * threads' readings may disagree by less than the counter's skew between cores. Any thread, any
 * handler. Cost: inline, one counter read and a multiplication; a kernel clock call where the
 * counter cannot be used.
 */
CREST_INLINE uint64_t crest_now(void)
{
#if defined(CREST_CLOCK_READ)
    __extension__ typedef __int128 crest_wide;
    int64_t passed;
    /* acquire: partner of the release store that publishes a new block in clock.c */
    const crest_clock_scale *scale = __atomic_load_n(&crest_clock_current, __ATOMIC_ACQUIRE);
    if (CREST_UNLIKELY(scale->multiplier == 0))
        return crest_now_slow();
    passed = (int64_t)(CREST_CLOCK_READ() - scale->counter_base);
    return scale->ns_base + (uint64_t)(((crest_wide)passed * (int64_t)scale->multiplier) >> 32);
#else
    return crest_now_slow();
#endif
}
#endif

/* Which source crest_now uses at this moment. Any thread, any handler. */
CREST_API crest_clock_source crest_clock_source_now(void);

/*
 * The wall clock (CLOCK_REALTIME), nanoseconds since 1970: comparable with the clocks of other
 * machines. The time daemon or the operator may set or slew it, so durations within the process are
 * differences of crest_now(). Any thread, any handler. Cost: a call, a kernel clock read.
 */
CREST_API uint64_t crest_wall_now(void);

/*
 * The most that the wall clock may be off UTC, in nanoseconds, as the time daemon has told the
 * kernel (adjtimex: maxerror). CREST_WALL_ERROR_UNKNOWN when no daemon synchronises it
 * (STA_UNSYNC), when the process may not ask the kernel, and while crest_testing_clock_set_wall or
 * _shift_wall is in use. At most a second old. Any thread, any handler. Cost: a call, a coarse
 * clock read; a system call once a second.
 */
CREST_API uint64_t crest_wall_error(void);

CREST_END_C

#ifdef CREST_DISABLE
#include <crest/off/clock_off.h>
#endif

#endif
