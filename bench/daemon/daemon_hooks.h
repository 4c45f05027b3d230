/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hooks that the patches put into the daemons, and their meaning in each variant.
 *
 *   HOOK_INC(counter), HOOK_ADD(counter, n), HOOK_RECORD(histogram, value), HOOK_RAISE(sampler, n)
 *   HOOK_TIMING(field)                             a member: what a running timing needs
 *   HOOK_START(field, timer, id), HOOK_STOP(field, timer, id)
 *   HOOK_STAMP(field)                              a member, of keyed timings that need one
 *   HOOK_KEYED_BEGIN(field, timer, object, id), HOOK_KEYED_END(field, timer, object, id)
 *   HOOK_MUTEX(variable, name), HOOK_LOCK(variable), HOOK_UNLOCK(variable), HOOK_TRYLOCK(variable)
 *   HOOK_BEGIN_ALL(), HOOK_END_ALL()               before and after the daemon's work
 *   HOOK_JOIN(epoll), HOOK_TURN(event)             of the daemon's loop: whether the event was ours
 *
 * DAEMON_METRICS is the header that lists the daemon's metrics, VARIANT the number of one of these:
 */
#ifndef DAEMON_HOOKS_H
#define DAEMON_HOOKS_H

#define VARIANT_EMPTY 0    /* nothing at all */
#define VARIANT_CREST 1    /* Crest, with the measured lock */
#define VARIANT_UNLOCKED 2 /* Crest, with a plain lock */
#define VARIANT_ATOMICS 3  /* by hand */
#define VARIANT_ALONE 4    /* Crest without threads, in the daemon's own loop */
#define VARIANT_STAMPS 5   /* the same, and what is in flight keeps its start itself, as by hand */

#include <pthread.h>
#include <stdint.h>

#include DAEMON_METRICS

#if VARIANT != VARIANT_EMPTY && VARIANT != VARIANT_ATOMICS
#include "hooks_crest.h"
#elif VARIANT == VARIANT_ATOMICS
#include "hooks_atomics.h"
#else
#define HOOK_INC(counter) ((void)0)
#define HOOK_ADD(counter, n) ((void)0)
#define HOOK_RECORD(histogram, value) ((void)0)
#define HOOK_RAISE(sampler, n) ((void)0)
#define HOOK_TIMING(field)
#define HOOK_START(field, timer, id) ((void)0)
#define HOOK_STOP(field, timer, id) ((void)0)
#define HOOK_STAMP(field)
#define HOOK_KEYED_BEGIN(field, timer, object, id) ((void)0)
#define HOOK_KEYED_END(field, timer, object, id) ((void)0)
#define HOOK_BEGIN_ALL() ((void)0)
#define HOOK_END_ALL() ((void)0)
#endif

#ifndef HOOK_TURN
#define HOOK_JOIN(epoll) ((void)0)
#define HOOK_TURN(event) 0
#endif

#ifndef HOOK_MUTEX
#define HOOK_MUTEX(variable, name) static pthread_mutex_t variable = PTHREAD_MUTEX_INITIALIZER
#define HOOK_LOCK(variable) pthread_mutex_lock(&(variable))
#define HOOK_UNLOCK(variable) pthread_mutex_unlock(&(variable))
#define HOOK_TRYLOCK(variable) pthread_mutex_trylock(&(variable))
#endif

#endif
