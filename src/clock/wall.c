/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The wall clock, the kernel's estimate of its error, and tests' ways to move it. See
 * <crest/clock.h> and clock_inside.h. It never waits; it caches nothing but the last error.
 *
 *     crest_clock_wall now = crest_clock_wall_read();
 */
#define _GNU_SOURCE
#include "base/atomic.h"
#include "base/sync.h"
#include "clock/clock_inside.h"

#include <errno.h>
#include <sys/timex.h>
#include <time.h>

/* The longest time for which the kernel's estimate is cached. */
#define WALL_ERROR_AGE_NS CREST_NS_PER_S
/* Clock reads this close together are not repeated; and the most tries. */
#define WALL_APART_NS 500u
#define WALL_READS 4

static uint64_t wall_faked;
/* For tests; `shifted`: whether a shift is set, `from`: when the clock began to run too fast. */
static uint32_t wall_shifted;
static uint64_t wall_shift_ns, wall_too_fast, wall_from_ns;

static uint64_t wall_error_ns = CREST_WALL_ERROR_UNKNOWN, wall_error_until_ns;

/* What a clock that runs too fast has gained by this time. */
static uint64_t wall_gained(uint64_t steady_ns)
{
    __extension__ typedef __int128 wide;
    int64_t passed = (int64_t)(steady_ns - crest_atomic_load(&wall_from_ns));
    return (uint64_t)((wide)passed * (int64_t)crest_atomic_load(&wall_too_fast) /
                      (int64_t)CREST_NS_PER_S);
}

static crest_clock_wall wall_read_kernel(void)
{
    crest_clock_wall best = {0, 0, UINT64_MAX};
    for (int i = 0; i < WALL_READS && best.apart_ns > WALL_APART_NS; i++) {
        uint64_t before = crest_kernel_ns(CLOCK_BOOTTIME);
        uint64_t wall = crest_kernel_ns(CLOCK_REALTIME);
        uint64_t after = crest_kernel_ns(CLOCK_BOOTTIME);
        uint64_t apart = (after - before) / 2 + 1;
        if (apart < best.apart_ns)
            best = (crest_clock_wall){wall, before + (after - before) / 2, apart};
    }
    return best;
}

crest_clock_wall crest_clock_wall_read(void)
{
    uint64_t faked = crest_atomic_load(&wall_faked);
    if (faked != 0) /* a wall clock that stands beside a running one would look as if it were set */
        return (crest_clock_wall){faked, crest_clock_is_faked() ? crest_now() : faked, 0};
    crest_clock_wall now = wall_read_kernel();
    if (crest_atomic_load32_acquire(&wall_shifted)) {
        /* all of the machine's clocks run too fast alike */
        uint64_t gained = wall_gained(now.steady_ns);
        now.wall_ns += crest_atomic_load(&wall_shift_ns) + gained;
        now.steady_ns += gained;
    }
    return now;
}

uint64_t crest_clock_wall_ns(void)
{
    uint64_t faked = crest_atomic_load(&wall_faked);
    if (faked != 0)
        return faked;
    if (crest_atomic_load32_acquire(&wall_shifted))
        return crest_clock_wall_read().wall_ns;
    return crest_kernel_ns(CLOCK_REALTIME);
}

uint64_t crest_wall_now(void)
{
    return crest_clock_wall_ns();
}

static uint64_t wall_ask_error(void)
{
    int error_number = errno;
    struct timex kept = {.modes = 0};
    int state = adjtimex(&kept);
    errno = error_number;
    if (state < 0 || state == TIME_ERROR || (kept.status & STA_UNSYNC) != 0 || kept.maxerror < 0)
        return CREST_WALL_ERROR_UNKNOWN;
    return (uint64_t)kept.maxerror * 1000;
}

uint64_t crest_wall_error(void)
{
    if (crest_atomic_load(&wall_faked) != 0 || crest_atomic_load32_acquire(&wall_shifted))
        return CREST_WALL_ERROR_UNKNOWN;
    uint64_t now_ns = crest_kernel_ns(CLOCK_MONOTONIC_COARSE);
    /* acquire: partner of the release store below; the error is then no older than its time */
    if (now_ns < crest_atomic_load_acquire(&wall_error_until_ns))
        return crest_atomic_load(&wall_error_ns);
    uint64_t error_ns = wall_ask_error();
    crest_atomic_store(&wall_error_ns, error_ns);
    crest_atomic_store_release(&wall_error_until_ns, now_ns + WALL_ERROR_AGE_NS);
    return error_ns;
}

void crest_clock_fake_wall(uint64_t ns)
{
    crest_atomic_store(&wall_faked, ns);
}

void crest_clock_shift_wall(int64_t ns, int64_t parts_per_billion)
{
    crest_atomic_store(&wall_shift_ns, (uint64_t)ns);
    crest_atomic_store(&wall_too_fast, (uint64_t)parts_per_billion);
    crest_atomic_store(&wall_from_ns, crest_kernel_ns(CLOCK_BOOTTIME));
    /* partner: the acquire loads above; a reader before this store may see a mixture of the words
     */
    crest_atomic_store32_release(&wall_shifted, ns != 0 || parts_per_billion != 0);
}
