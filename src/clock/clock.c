/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The clock's scale: choosing the source, measuring the counter's rate, correcting it. See clock.h
 * and <crest/clock.h>.
 *
 * Read-copy-update without reclamation: every scale is an immutable block from a small pool that is
 * never reused, so a reader needs only the pointer. Steps:
 *  1. The process starts on the kernel's clock.
 *  2. The first slow reading after CLOCK_SETTLE_NS measures the counter's rate since load. It
 *     publishes a block that continues where the kernel's clock stands.
 *  3. crest_clock_check publishes corrected blocks, and at last the fallback to the kernel's clock.
 */
#define _GNU_SOURCE
#include "base/atomic.h"
#include "base/descriptor.h"
#include "base/sync.h"
#include "clock/clock_inside.h"

#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#define CLOCK_SETTLE_NS UINT64_C(10000000)
/* Blocks of one process: a first one, corrections, and the last reserved for the fallback. */
#define CLOCK_SCALES 64u
/* A larger error of the rate is corrected. The rate is measured over at least a second between
 * pairs of readings some 50 ns apart, so this is above the error of a measurement. */
#define CLOCK_REFINE_PER_BILLION 500
/* A difference in one tick of more than this, and of more than CLOCK_REBASE_NS, is no drift: the
 * machine slept or was migrated. */
#define CLOCK_REBASE_PER_BILLION 10000000
#define CLOCK_REBASE_NS CREST_NS_PER_MS
#define CLOCK_REBASES_MAX 8u

/* The kernel's clock: ns_base is added to CLOCK_MONOTONIC. */
static const crest_clock_scale clock_kernel = {0, 0, 0};
const crest_clock_scale *crest_clock_current = &clock_kernel;

static uint64_t clock_faked;
static uint32_t clock_busy; /* spin lock of the publisher */

#if defined(CREST_CLOCK_READ)
typedef struct clock_pair {
    uint64_t counter;
    uint64_t raw_ns;
    uint64_t monotonic_ns;
} clock_pair;

static crest_clock_scale clock_scales[CLOCK_SCALES];
static uint32_t clock_scale_next;
static uint32_t clock_usable;
static clock_pair clock_anchor; /* where the rate is measured from */
static clock_pair clock_last;   /* the previous check */
#endif
static uint64_t clock_rebases;

static int clock_lock(void)
{
    return crest_atomic_cas32_acquire(&clock_busy, 0, 1);
}

static void clock_unlock(void)
{
    crest_atomic_store32_release(&clock_busy, 0); /* partner: the next clock_lock */
}

uint64_t crest_clock_rebases(void)
{
    return crest_atomic_load(&clock_rebases);
}

int crest_clock_is_held(void)
{
    return crest_atomic_load32(&clock_busy) != 0;
}

int crest_clock_is_faked(void)
{
    return crest_atomic_load(&clock_faked) != 0;
}

crest_clock_verdict crest_clock_judge(int64_t counted_ns, uint64_t kernel_ns)
{
    uint64_t counted = (uint64_t)counted_ns;
    int behind = counted_ns < 0 || counted < kernel_ns;
    uint64_t off = behind ? kernel_ns - counted : counted - kernel_ns;
    if (off > CLOCK_REBASE_NS &&
        off / 1000 > kernel_ns / 1000 * (CLOCK_REBASE_PER_BILLION / 1000) / 1000000)
        return CREST_CLOCK_REBASE;
    return off > kernel_ns / 1000000 * CLOCK_REFINE_PER_BILLION / 1000 + 100 ? CREST_CLOCK_REFINE
                                                                             : CREST_CLOCK_KEEP;
}

#if defined(CREST_CLOCK_READ)

/* Counter and clocks at one moment: of several tries, that with the shortest time between its two
 * counter readings. */
static clock_pair clock_read_pair(void)
{
    clock_pair best = {0, 0, 0};
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < 8; i++) {
        uint64_t before = CREST_CLOCK_READ();
        uint64_t raw = crest_kernel_ns(CLOCK_MONOTONIC_RAW);
        uint64_t monotonic = crest_kernel_ns(CLOCK_MONOTONIC);
        uint64_t after = CREST_CLOCK_READ();
        if (after - before < least) {
            least = after - before;
            best = (clock_pair){before + (after - before) / 2, raw, monotonic};
        }
    }
    return best;
}

static uint64_t clock_at(const crest_clock_scale *scale, uint64_t counter)
{
    __extension__ typedef __int128 wide;
    int64_t passed = (int64_t)(counter - scale->counter_base);
    return scale->ns_base + (uint64_t)(((wide)passed * (int64_t)scale->multiplier) >> 32);
}

/* Under clock_busy. The pool's last block is the fallback's: when no other is left the scale stays.
 */
static void clock_publish(uint64_t counter, uint64_t ns, uint64_t multiplier)
{
    uint32_t last = multiplier == 0 ? CLOCK_SCALES : CLOCK_SCALES - 1;
    if (clock_scale_next >= last)
        return;
    crest_clock_scale *scale = &clock_scales[clock_scale_next++];
    *scale = (crest_clock_scale){counter, ns, multiplier};
    /* partner: the acquire load in crest_now */
    crest_atomic_store_ptr_release(CREST_PTR(&crest_clock_current), scale);
}

/* 0: none. In a child whose fork interrupted the caller, `from` may be the later pair, or half of
 * it. */
static uint64_t clock_rate(const clock_pair *from, const clock_pair *to)
{
    uint64_t counted = to->counter - from->counter, passed_ns = to->raw_ns - from->raw_ns;
    __extension__ typedef unsigned __int128 wide;
    if ((int64_t)counted <= 0 || (int64_t)passed_ns <= 0)
        return 0;
    return (uint64_t)(((wide)passed_ns << 32) / counted);
}

/* Whether the kernel's own clock uses the counter and the process may read it. */
static int clock_counter_trusted(void)
{
#if defined(__x86_64__)
    unsigned a, b, c, d;
    int mode = 0;
    if (!__get_cpuid(0x80000007u, &a, &b, &c, &d) || (d & (1u << 8)) == 0)
        return 0; /* not invariant */
    if (prctl(PR_GET_TSC, &mode) != 0 || mode != PR_TSC_ENABLE)
        return 0;
    char name[16] = "";
    int file = crest_descriptor_high(open(
        "/sys/devices/system/clocksource/clocksource0/current_clocksource", O_RDONLY | O_CLOEXEC));
    if (file < 0)
        return 0;
    ssize_t length = read(file, name, sizeof name - 1);
    close(file);
    return length >= 4 && memcmp(name, "tsc\n", 4) == 0;
#else
    return 1; /* cntvct_el0 is architecturally invariant and what the kernel uses */
#endif
}

__attribute__((constructor(102))) static void clock_constructor(void)
{
    if (!clock_counter_trusted())
        return;
    clock_anchor = clock_last = clock_read_pair();
    /* partner: the acquire load in clock_settle */
    crest_atomic_store32_release(&clock_usable, 1);
}

/* Publishes the first scale once enough time has passed to measure the rate. */
static void clock_settle(uint64_t monotonic_ns)
{
    if (!crest_atomic_load32_acquire(&clock_usable) ||
        monotonic_ns - clock_anchor.monotonic_ns < CLOCK_SETTLE_NS || !clock_lock())
        return;
    if (clock_scale_next == 0 && crest_atomic_load(&clock_faked) == 0) {
        clock_pair now = clock_read_pair();
        uint64_t rate = clock_rate(&clock_anchor, &now);
        if (rate != 0)
            clock_publish(now.counter, now.monotonic_ns, rate);
        clock_last = now;
    }
    clock_unlock();
}

void crest_clock_check(void)
{
    (void)crest_now(); /* settles if that is due */
    if (crest_atomic_load(&clock_faked) != 0)
        return;
    const crest_clock_scale *scale = crest_atomic_load_ptr_acquire(CREST_PTR(&crest_clock_current));
    if (scale->multiplier == 0 || !clock_lock())
        return;
    if (crest_atomic_load(&clock_faked) != 0) {
        clock_unlock();
        return;
    }
    clock_pair now = clock_read_pair();
    uint64_t at = clock_at(scale, now.counter), before = clock_at(scale, clock_last.counter);
    uint64_t kernel_ns = now.raw_ns - clock_last.raw_ns;
    /* signed: a counter that was reset is behind its last value */
    int64_t counted_ns = (int64_t)(at - before), passed_ns = (int64_t)kernel_ns;
    switch (crest_clock_judge(counted_ns, kernel_ns)) {
    case CREST_CLOCK_REBASE: {
        /* monotonic: never below a time that readers have seen */
        uint64_t to = before + (uint64_t)(counted_ns > passed_ns ? counted_ns : passed_ns);
        clock_anchor = now;
        clock_publish(now.counter, to, scale->multiplier);
        crest_atomic_store(&clock_rebases, clock_rebases + 1);
        if (clock_rebases > CLOCK_REBASES_MAX)
            clock_publish(0, to - now.monotonic_ns, 0);
        break;
    }
    case CREST_CLOCK_REFINE: {
        uint64_t rate = clock_rate(&clock_anchor, &now);
        if (rate != 0)
            clock_publish(now.counter, at, rate);
        break;
    }
    case CREST_CLOCK_KEEP: break;
    }
    clock_last = now;
    clock_unlock();
}

/* The interrupted check's own state may be half written. Readers have only seen published blocks.
 */
void crest_clock_forked(void)
{
    if (!crest_clock_is_held())
        return;
    clock_anchor = clock_last = clock_read_pair();
    clock_unlock();
}

#else

void crest_clock_forked(void) {}

static void clock_settle(uint64_t monotonic_ns)
{
    (void)monotonic_ns;
}

void crest_clock_check(void) {}

#endif

uint64_t crest_now_slow(void)
{
    uint64_t faked = crest_atomic_load(&clock_faked);
    if (faked != 0)
        return faked;
    const crest_clock_scale *scale = crest_atomic_load_ptr_acquire(CREST_PTR(&crest_clock_current));
    uint64_t monotonic_ns = crest_kernel_ns(CLOCK_MONOTONIC);
    if (scale == &clock_kernel)
        clock_settle(monotonic_ns);
    return monotonic_ns + (scale->multiplier == 0 ? scale->ns_base : 0);
}

crest_clock_source crest_clock_source_now(void)
{
    const crest_clock_scale *scale = crest_atomic_load_ptr_acquire(CREST_PTR(&crest_clock_current));
    return scale->multiplier == 0 ? CREST_CLOCK_KERNEL : CREST_CLOCK_COUNTER;
}

/* Holds the publisher's lock: a scale published meanwhile would bring the real clock back. */
void crest_clock_fake(uint64_t ns)
{
    static const crest_clock_scale *real;
    while (!clock_lock())
        sched_yield();
    const crest_clock_scale *now = crest_atomic_load_ptr_acquire(CREST_PTR(&crest_clock_current));
    int faked = crest_atomic_load(&clock_faked) != 0;
    if (!faked)
        real = now;
    if (ns != 0 || faked) {
        crest_atomic_store(&clock_faked, ns);
        /* partner: the acquire load in crest_now */
        crest_atomic_store_ptr_release(CREST_PTR(&crest_clock_current),
                                       (void *)(uintptr_t)(ns != 0 ? &clock_kernel : real));
    }
    clock_unlock();
}
