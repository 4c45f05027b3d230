/* SPDX-License-Identifier: Apache-2.0 */
/* See node_hold.h. */
#include "node_hold.h"

#include <time.h>

#define HOLD_LOOK_NS (5 * NODE_NS_PER_MS)

static bool hold_asked, hold_on, hold_released; /* atomic */
static unsigned hold_expected, hold_waiting;    /* atomic */
static uint64_t hold_slot, hold_since_ns;       /* the worker's, before hold_on */

static bool hold_is(const bool *flag)
{
    return __atomic_load_n(flag, __ATOMIC_ACQUIRE);
}

static void hold_set(bool *flag)
{
    __atomic_store_n(flag, true, __ATOMIC_RELEASE);
}

static void hold_wait(void)
{
    __atomic_fetch_add(&hold_waiting, 1, __ATOMIC_RELEASE); /* hold_reached acquires */
    while (!hold_is(&hold_released))
        nanosleep(&(struct timespec){0, HOLD_LOOK_NS}, NULL);
}

void hold_ask(void)
{
    hold_set(&hold_asked);
}

void hold_expect(void)
{
    __atomic_fetch_add(&hold_expected, 1, __ATOMIC_RELAXED);
}

void hold_here(void)
{
    if (hold_is(&hold_on) && !hold_is(&hold_released))
        hold_wait();
}

void hold_in_block(uint64_t slot)
{
    if (!hold_is(&hold_asked) || hold_is(&hold_released))
        return;
    hold_slot = slot;
    hold_since_ns = node_now_ns();
    hold_set(&hold_on);
    hold_wait();
}

bool hold_reached(uint64_t *slot, uint64_t *ns)
{
    unsigned all = __atomic_load_n(&hold_expected, __ATOMIC_RELAXED) + 1;
    if (__atomic_load_n(&hold_waiting, __ATOMIC_ACQUIRE) < all || hold_is(&hold_released))
        return false;
    *slot = hold_slot;
    *ns = node_now_ns() - hold_since_ns;
    return true;
}

void hold_release(void)
{
    hold_set(&hold_released);
}
