/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counters: how many times something happened. Monotonic and exact; the first choice.
 *
 *     CREST_COUNTER(blocks_created, "casper.blocks-created", "Blocks this node proposed.");
 *     ...
 *     crest_counter_inc(&blocks_created);
 */
#ifndef CREST_COUNTER_H
#define CREST_COUNTER_H

#include <crest/metric.h>

typedef struct crest_counter {
    crest_handle handle;
} crest_counter;

#define CREST_COUNTER_INIT_(declaration)                                                           \
    {                                                                                              \
        CREST_HANDLE_INIT_(declaration)                                                            \
    }

/*
 * CREST_COUNTER(variable, name, description[, .unit = …]): a counter at file scope, static.
 * _DECLARE goes into a header, _DEFINE into one source file, for a counter used by several.
 */
#define CREST_COUNTER(variable, name, ...)                                                         \
    CREST_DECLARE_(static, crest_counter, CREST_KIND_COUNTER, CREST_COUNTER_INIT_, variable, name, \
                   __VA_ARGS__, )
#define CREST_COUNTER_DECLARE(variable) extern crest_counter variable
#define CREST_COUNTER_DEFINE(variable, name, ...)                                                  \
    CREST_DECLARE_(, crest_counter, CREST_KIND_COUNTER, CREST_COUNTER_INIT_, variable, name,       \
                   __VA_ARGS__, )

CREST_BEGIN_C

/* The cold path of crest_counter_add: first touch, unregistered handle, negative amount. */
CREST_API void crest_counter_add_slow(crest_counter *counter, int64_t amount) CREST_NOTHROW_;

/* The cold path of crest_counter_add when this thread's cell wrapped past 2^64 - 1. */
CREST_API void crest_counter_full_slow(crest_counter *counter) CREST_NOTHROW_;

#ifndef CREST_DISABLE
/*
 * Adds `amount`, 0 or more, in the counter's unit. A negative amount is not applied and is counted
 * as misuse. A counter saturates at 2^64 - 1, which is counted too. Any thread, any handler, the
 * first touch included; never locks, blocks, allocates or fails once the thread has touched the
 * counter's chunk. Cost: inline, eleven instructions.
 */
CREST_INLINE void crest_counter_add(crest_counter *counter, int64_t amount)
{
    uint64_t *cell = crest_cell_of(&counter->handle);
    if (CREST_UNLIKELY(cell == NULL || amount < 0))
        crest_counter_add_slow(counter, amount);
    else if (CREST_UNLIKELY(crest_word_add_carry(cell, (uint64_t)amount)))
        crest_counter_full_slow(counter);
}

/* Adds one. As crest_counter_add. */
CREST_INLINE void crest_counter_inc(crest_counter *counter)
{
    crest_counter_add(counter, 1);
}
#endif

/* The counter's value now, over all threads that ever added; at least what happened before the
 * call. Any thread, any handler. Cost: one load per thread table. */
CREST_API uint64_t crest_counter_value(const crest_counter *counter);

CREST_END_C

#ifdef CREST_DISABLE
#include <crest/off/counter_off.h>
#endif

#endif
