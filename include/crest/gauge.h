/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gauges: the value something has now; the last write wins. A gauge never shows what lies between
 * two readings, so it is the last choice: count events with a counter, describe quantities with a
 * histogram, and what comes and goes with a range sampler.
 *
 *     CREST_GAUGE(peers, "comm.peers", "Peers connected now.");
 *     crest_gauge_set(&peers, 12);
 */
#ifndef CREST_GAUGE_H
#define CREST_GAUGE_H

#include <crest/metric.h>

typedef struct crest_gauge {
    crest_handle handle;
    uint64_t *cell; /* bits of a double, shared by all threads; NULL until registered */
} crest_gauge;

#define CREST_GAUGE_INIT_(declaration)                                                             \
    {                                                                                              \
        CREST_HANDLE_INIT_(declaration), NULL                                                      \
    }

/* CREST_GAUGE(variable, name, description[, .unit = …]): as CREST_COUNTER in counter.h. */
#define CREST_GAUGE(variable, name, ...)                                                           \
    CREST_DECLARE_(static, crest_gauge, CREST_KIND_GAUGE, CREST_GAUGE_INIT_, variable, name,       \
                   __VA_ARGS__, )
#define CREST_GAUGE_DECLARE(variable) extern crest_gauge variable
#define CREST_GAUGE_DEFINE(variable, name, ...)                                                    \
    CREST_DECLARE_(, crest_gauge, CREST_KIND_GAUGE, CREST_GAUGE_INIT_, variable, name,             \
                   __VA_ARGS__, )

CREST_BEGIN_C

/* The cold paths: an unregistered handle, a value that is not a number. */
CREST_API void crest_gauge_set_slow(crest_gauge *gauge, double value) CREST_NOTHROW_;
CREST_API void crest_gauge_add_slow(crest_gauge *gauge, double delta) CREST_NOTHROW_;

#ifndef CREST_DISABLE
/*
 * Sets the gauge, in its unit; negative and infinite values are values. NaN is not applied and is
 * counted as misuse. Any thread, any handler. Cost: inline, one store to a shared line.
 */
CREST_INLINE void crest_gauge_set(crest_gauge *gauge, double value)
{
    /* acquire: partner of the release store in registry.c, which follows the cell's own set-up */
    uint64_t *cell = __atomic_load_n(&gauge->cell, __ATOMIC_ACQUIRE);
    uint64_t bits;
    if (CREST_UNLIKELY(cell == NULL || __builtin_isnan(value))) {
        crest_gauge_set_slow(gauge, value);
        return;
    }
    __builtin_memcpy(&bits, &value, sizeof bits);
    __atomic_store_n(cell, bits, __ATOMIC_RELAXED);
}

/*
 * Adds `delta`, which may be negative. Adds of several threads are all applied. A NaN is not
 * applied and is counted as misuse, and so is a sum that would be NaN: infinities of both signs.
 * Any thread, any handler. Cost: inline, a compare-and-swap on a shared line.
 */
CREST_INLINE void crest_gauge_add(crest_gauge *gauge, double delta)
{
    uint64_t *cell = __atomic_load_n(&gauge->cell, __ATOMIC_ACQUIRE);
    uint64_t seen, bits;
    if (CREST_UNLIKELY(cell == NULL || __builtin_isnan(delta))) {
        crest_gauge_add_slow(gauge, delta);
        return;
    }
    seen = __atomic_load_n(cell, __ATOMIC_RELAXED);
    do {
        double value;
        __builtin_memcpy(&value, &seen, sizeof value);
        value += delta;
        if (CREST_UNLIKELY(__builtin_isnan(value))) {
            crest_gauge_add_slow(gauge, value);
            return;
        }
        __builtin_memcpy(&bits, &value, sizeof bits);
    } while (
        !__atomic_compare_exchange_n(cell, &seen, bits, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
}
#endif

/* Sets the gauge to the wall clock, in seconds since 1970: "last time X happened". Any thread, any
 * handler. Cost: a call, a kernel clock read. */
CREST_API void crest_gauge_set_to_now(crest_gauge *gauge);

/* The gauge's value now; 0 before the first set. Any thread, any handler. */
CREST_API double crest_gauge_value(const crest_gauge *gauge);

CREST_END_C

#ifdef CREST_DISABLE
#include <crest/off/gauge_off.h>
#endif

#endif
