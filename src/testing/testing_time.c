/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The clock that stands still, and ticks by hand. See <crest/testing.h>.
 */
#include <crest/testing.h>

#include "clock/clock_inside.h"
#include "windows/ticker.h"

#include <pthread.h>

/* Guards the two times. */
static pthread_mutex_t testing_clock_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t testing_clock_ns, testing_wall_ns; /* where each clock stands; 0: it runs */

void crest_testing_clock_set(uint64_t ns)
{
    pthread_mutex_lock(&testing_clock_lock);
    testing_clock_ns = ns != 0 ? ns : 1;
    crest_clock_fake(testing_clock_ns);
    pthread_mutex_unlock(&testing_clock_lock);
}

void crest_testing_clock_advance(uint64_t ns)
{
    pthread_mutex_lock(&testing_clock_lock);
    testing_clock_ns = (testing_clock_ns != 0 ? testing_clock_ns : crest_now()) + ns;
    crest_clock_fake(testing_clock_ns);
    if (testing_wall_ns != 0)
        crest_clock_fake_wall(testing_wall_ns += ns);
    pthread_mutex_unlock(&testing_clock_lock);
}

void crest_testing_clock_set_wall(uint64_t ns)
{
    pthread_mutex_lock(&testing_clock_lock);
    crest_clock_fake_wall(testing_wall_ns = ns);
    pthread_mutex_unlock(&testing_clock_lock);
}

void crest_testing_clock_shift_wall(int64_t ns, int64_t parts_per_billion)
{
    pthread_mutex_lock(&testing_clock_lock);
    crest_clock_shift_wall(ns, parts_per_billion);
    pthread_mutex_unlock(&testing_clock_lock);
}

void crest_testing_clock_real(void)
{
    pthread_mutex_lock(&testing_clock_lock);
    crest_clock_shift_wall(0, 0);
    crest_clock_fake(testing_clock_ns = 0);
    crest_clock_fake_wall(testing_wall_ns = 0);
    pthread_mutex_unlock(&testing_clock_lock);
}

crest_status crest_testing_tick(crest_registry *registry)
{
    return crest_ticker_by_hand(registry);
}
