/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Range samplers: how many there are at this moment, when it matters how many there ever were: the
 * length of a queue, connections open, bytes held. The writers keep the extremes, so that no peak
 * falls between two readings however short it is, and the mean over a window is weighted by time.
 *
 *     CREST_RANGE_SAMPLER(inbound, "comm.inbound-queue", "Messages waiting.");
 *     crest_range_sampler_add(&inbound, +1);
 *     ...
 *     crest_range_sampler_add(&inbound, -1);
 *
 * The values are integers and common to all threads. What the last minute brought is read by
 * crest_range_sampler_window in window.h and needs the ticker; the value itself does not.
 */
#ifndef CREST_RANGE_SAMPLER_H
#define CREST_RANGE_SAMPLER_H

#include <crest/clock.h>
#include <crest/metric.h>

/*
 * The unit of the times that the mean is weighted by. About a microsecond and not a nanosecond,
 * because values of 10^12 are to stand for many seconds before value times time leaves 64 bits; a
 * power of two, because a division takes 2 ns.
 */
#define CREST_RANGE_TICK_BITS 10
#define CREST_RANGE_TICK_NS (1u << CREST_RANGE_TICK_BITS)

/* The value, and the sum over all changes of change times time, modulo 2^64. They change together:
 * the area under the value up to a time T is value * T - moment. */
typedef struct crest_range_state {
    uint64_t value; /* of an int64_t */
    uint64_t moment;
} __attribute__((aligned(16))) crest_range_state;

/*
 * One more that the sampler stands at, or none, which one thread at a time says with plain stores:
 * the holder of a measured mutex (mutex.h). All zero is one without a writer. By the readings of
 * the counter T0, T1 … at which it was held and let go, `held` is, modulo 2^64,
 *
 *     ((T0 - T1 + T2 - …) << CREST_PERMIT_BITS) + the number of them
 *
 * so that its lowest bit says whether it is held, and the time that it was held up to T is
 * bit * T - held >> CREST_PERMIT_BITS. A carry out of the low bits is a count in 256 changes.
 */
typedef struct crest_permit {
    uint64_t user; /* the address of the mutex whose holder writes; 0: none; CREST_PERMIT_SHARED */
    uint64_t held;
    uint64_t seen_held; /* the ticker's, as is what follows: at its last look */
    uint64_t seen_count;
    uint64_t seen_time;
    uint64_t area; /* how long it was held, in CREST_RANGE_TICK_NS */
} __attribute__((aligned(64))) crest_permit;

#define CREST_PERMIT_BITS 8
/* Of `user`: no mutex, and none any more. */
#define CREST_PERMIT_SHARED UINT64_C(1)

/* What all threads share of one sampler: a cache line, and the permit's. All zero is a sampler that
 * stands at 0. */
typedef struct crest_range_cell {
    crest_range_state state;
    int64_t maximum;  /* of the tick under way; INT64_MIN for the moment in which it ends */
    int64_t minimum;  /* likewise; INT64_MAX */
    uint64_t born;    /* when it was made, in CREST_RANGE_TICK_NS; 0: before this process was */
    uint64_t rotated; /* not 0: a tick of it has ended */
    crest_permit permit;
} __attribute__((aligned(64))) crest_range_cell;

typedef struct crest_range_sampler {
    crest_handle handle;
    crest_range_cell *cell; /* NULL until registered */
} crest_range_sampler;

#define CREST_RANGE_SAMPLER_INIT_(declaration)                                                     \
    {                                                                                              \
        CREST_HANDLE_INIT_(declaration), NULL                                                      \
    }

/* CREST_RANGE_SAMPLER(variable, name, description[, .unit = …]): as CREST_COUNTER in counter.h. */
#define CREST_RANGE_SAMPLER(variable, name, ...)                                                   \
    CREST_DECLARE_(static, crest_range_sampler, CREST_KIND_RANGE_SAMPLER,                          \
                   CREST_RANGE_SAMPLER_INIT_, variable, name, __VA_ARGS__, )
#define CREST_RANGE_SAMPLER_DECLARE(variable) extern crest_range_sampler variable
#define CREST_RANGE_SAMPLER_DEFINE(variable, name, ...)                                            \
    CREST_DECLARE_(, crest_range_sampler, CREST_KIND_RANGE_SAMPLER, CREST_RANGE_SAMPLER_INIT_,     \
                   variable, name, __VA_ARGS__, )

CREST_BEGIN_C

/* The whole of an update where it is not inlined, and the cold path where it is: an unregistered
 * handle, a value that would leave 64 bits. */
CREST_API void crest_range_sampler_add_slow(crest_range_sampler *sampler, int64_t delta)
    CREST_NOTHROW_;
CREST_API void crest_range_sampler_set_slow(crest_range_sampler *sampler, int64_t value)
    CREST_NOTHROW_;

#ifndef CREST_DISABLE
/*
 * The time by which changes are weighted: crest_now() / CREST_RANGE_TICK_NS, or one less, and never
 * back, since a new scale of the clock begins where the one before stands.
 *
 * On x86-64 by fewer steps from the counter to the result, because a processor that reads the
 * counter waits until all that came before is done, and an update has little else that takes long:
 * the counter's halves come together in one addition, four times what has passed, and the high half
 * of the product needs no shifting. The multiplier is below 2^43 of any counter above 1 MHz.
 */
CREST_INLINE uint64_t crest_range_time(void)
{
#ifdef CREST_X86_64_ASM
    __extension__ typedef __int128 crest_wide;
    /* acquire: as in crest_now */
    const crest_clock_scale *scale = __atomic_load_n(&crest_clock_current, __ATOMIC_ACQUIRE);
    int64_t multiplier = (int64_t)(scale->multiplier << (62 - 32 - CREST_RANGE_TICK_BITS));
    int64_t passed;
    uint64_t low, high;
    if (CREST_UNLIKELY(multiplier == 0))
        return crest_now_slow() / CREST_RANGE_TICK_NS;
    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
    passed = (int64_t)((high << 34) + (low - scale->counter_base) * 4);
    return scale->ns_base / CREST_RANGE_TICK_NS +
           (uint64_t)(((crest_wide)passed * multiplier) >> 64);
#else
    return crest_now() / CREST_RANGE_TICK_NS;
#endif
}

/*
 * The second step of an update: the tick's extremes come to include the value that the first step
 * wrote. Nothing may be read here before that is visible: partner of crest_range_rotate in
 * range_cell.c, which takes the extremes before it reads the value.
 *
 * The copies of the address are for compilers that else add to it on the way that is not taken.
 */
CREST_INLINE void crest_range_extend(crest_range_cell *cell, int64_t value)
{
    int64_t seen = __atomic_load_n(&cell->maximum, __ATOMIC_RELAXED);
    if (CREST_UNLIKELY(value > seen)) {
        crest_range_cell *higher = cell;
        CREST_PLAIN_ADDRESS_(higher);
        while (value > seen && !__atomic_compare_exchange_n(&higher->maximum, &seen, value, 1,
                                                            __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            continue;
    }
    seen = __atomic_load_n(&cell->minimum, __ATOMIC_RELAXED);
    if (CREST_UNLIKELY(value < seen)) {
        crest_range_cell *lower = cell;
        CREST_PLAIN_ADDRESS_(lower);
        while (value < seen && !__atomic_compare_exchange_n(&lower->minimum, &seen, value, 1,
                                                            __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            continue;
    }
}

#ifdef CREST_X86_64_ASM
/* The first step of an update: value and moment at once, if they still are what was seen; otherwise
 * they are seen anew and 0 is returned. `lock` makes it a full barrier, as crest_range_extend needs
 * it. Inline assembly, because compilers make a call into libatomic of it. */
CREST_INLINE int crest_range_replace(crest_range_cell *cell, crest_range_state *seen,
                                     uint64_t value, uint64_t moment)
{
    unsigned char done;
    __asm__ volatile("lock cmpxchg16b %1"
                     : "=@ccz"(done), "+m"(cell->state), "+a"(seen->value), "+d"(seen->moment)
                     : "b"(value), "c"(moment)
                     : "memory");
    return done;
}

/* What an update begins with. Two loads that need not belong together: if they do not,
 * crest_range_replace fails and sees anew. */
CREST_INLINE crest_range_state crest_range_seen(const crest_range_cell *cell)
{
    crest_range_state seen;
    seen.value = __atomic_load_n(&cell->state.value, __ATOMIC_RELAXED);
    seen.moment = __atomic_load_n(&cell->state.moment, __ATOMIC_RELAXED);
    return seen;
}
#endif

/*
 * Adds `delta`, which may be negative, in the metric's unit. Adds by several threads are all
 * applied, and none is lost against a set. A sum beyond 64 bits is not applied and is counted as
 * misuse. Any thread, any handler. Cost: inline on x86-64, a clock read and a locked instruction.
 */
CREST_INLINE void crest_range_sampler_add(crest_range_sampler *sampler, int64_t delta)
{
#ifdef CREST_X86_64_ASM
    /* acquire: partner of the release store in series.c, which follows the cell's own set-up */
    crest_range_cell *cell = __atomic_load_n(&sampler->cell, __ATOMIC_ACQUIRE);
    crest_range_state seen;
    uint64_t moment;
    int64_t value;
    if (CREST_UNLIKELY(cell == NULL)) {
        crest_range_sampler_add_slow(sampler, delta);
        return;
    }
    moment = (uint64_t)delta * crest_range_time();
    seen = crest_range_seen(cell);
    do {
        if (CREST_UNLIKELY(__builtin_add_overflow((int64_t)seen.value, delta, &value))) {
            crest_range_sampler_add_slow(sampler, delta);
            return;
        }
    } while (
        CREST_UNLIKELY(!crest_range_replace(cell, &seen, (uint64_t)value, seen.moment + moment)));
    crest_range_extend(cell, value);
#else
    crest_range_sampler_add_slow(sampler, delta);
#endif
}

/*
 * Sets the value: an add of the difference, so that what other threads add meanwhile comes before
 * or after and is not lost. Any thread, any handler. Cost: as crest_range_sampler_add.
 */
CREST_INLINE void crest_range_sampler_set(crest_range_sampler *sampler, int64_t value)
{
#ifdef CREST_X86_64_ASM
    crest_range_cell *cell = __atomic_load_n(&sampler->cell, __ATOMIC_ACQUIRE); /* as above */
    crest_range_state seen;
    uint64_t time, to = (uint64_t)value;
    if (CREST_UNLIKELY(cell == NULL)) {
        crest_range_sampler_set_slow(sampler, value);
        return;
    }
    time = crest_range_time();
    seen = crest_range_seen(cell);
    while (CREST_UNLIKELY(
        !crest_range_replace(cell, &seen, to, seen.moment + (to - seen.value) * time)))
        continue;
    crest_range_extend(cell, value);
#else
    crest_range_sampler_set_slow(sampler, value);
#endif
}
#endif

/* The value now; 0 before the first update. Any thread, any handler. */
CREST_API int64_t crest_range_sampler_value(const crest_range_sampler *sampler);

CREST_END_C

#ifdef CREST_DISABLE
#include <crest/off/range_sampler_off.h>
#endif

#endif
