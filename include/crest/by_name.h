/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recording by name, as RChain's RNode does it, into the default registry: the metric is created at
 * its first use. A literal name is resolved once per call site and from then on costs what a handle
 * costs; any other name is looked up at each call, without a lock.
 *
 *     crest_increment_counter("comm.events");
 *
 * A declared handle is the better choice where there is one place to declare it: it is exported as
 * zero before its first event, and its name is written once.
 *
 * Each macro here is also a function, for callers that take its address or come from another
 * language.
 */
#ifndef CREST_BY_NAME_H
#define CREST_BY_NAME_H

#include <crest/registry.h>

/* Distinct names that by-name calls may create; records under further names are counted as misuse.
 */
#define CREST_BY_NAME_MAX 10000u

CREST_BEGIN_C

/* NULL or invalid names, and names of another kind of metric, record nowhere and are counted as
 * misuse. Thread-safe; not for signal handlers, but by a literal name whose call site has run
 * before. */
CREST_API void crest_increment_counter(const char *name);
CREST_API void crest_increment_counter_by(const char *name, int64_t amount);
CREST_API void crest_set_gauge(const char *name, double value);
CREST_API void crest_increment_gauge(const char *name, double delta);
CREST_API void crest_decrement_gauge(const char *name, double delta);
CREST_API void crest_record(const char *name, int64_t value);
CREST_API void crest_record_n(const char *name, int64_t value, uint64_t times);
CREST_API void crest_increment_sampler(const char *name, int64_t delta);
/* Sees to it that the range sampler exists, and that is all: it samples itself. */
CREST_API void crest_sample(const char *name);
CREST_API crest_timing crest_timer_start_by_name(const char *name, crest_op op);

/* The handle of a name, found or created; never NULL. */
CREST_API crest_counter *crest_counter_by_name(const char *name);
CREST_API crest_gauge *crest_gauge_by_name(const char *name);
CREST_API crest_histogram *crest_histogram_by_name(const char *name);
CREST_API crest_timer *crest_timer_by_name(const char *name);
CREST_API crest_range_sampler *crest_range_sampler_by_name(const char *name);

CREST_END_C

/*
 * The handle of a call site: with a literal name, a static pointer filled at the first call.
 * Whether the name is a literal is decided by the text of the argument, not after inlining, when
 * two calls of an inlined function with two names would share one site.
 */
#define CREST_SITE_(type, by_name, name_)                                                          \
    __extension__({                                                                                \
        static type *crest_site_;                                                                  \
        type *crest_handle_;                                                                       \
        if (#name_[0] == '"' && __builtin_constant_p(name_)) {                                     \
            /* acquire: partner of the release below, so that the handle is seen whole */          \
            crest_handle_ = __atomic_load_n(&crest_site_, __ATOMIC_ACQUIRE);                       \
            if (CREST_UNLIKELY(crest_handle_ == NULL)) {                                           \
                crest_handle_ = by_name(name_);                                                    \
                /* one that records nowhere is not kept: it may be had the next time */            \
                if (crest_handle_->handle.slot != 0)                                               \
                    __atomic_store_n(&crest_site_, crest_handle_, __ATOMIC_RELEASE);               \
            }                                                                                      \
        } else {                                                                                   \
            crest_handle_ = by_name(name_);                                                        \
        }                                                                                          \
        crest_handle_;                                                                             \
    })

#define crest_increment_counter(name)                                                              \
    crest_counter_inc(CREST_SITE_(crest_counter, crest_counter_by_name, name))
#define crest_increment_counter_by(name, amount)                                                   \
    crest_counter_add(CREST_SITE_(crest_counter, crest_counter_by_name, name), amount)
#define crest_set_gauge(name, value)                                                               \
    crest_gauge_set(CREST_SITE_(crest_gauge, crest_gauge_by_name, name), value)
#define crest_increment_gauge(name, delta)                                                         \
    crest_gauge_add(CREST_SITE_(crest_gauge, crest_gauge_by_name, name), delta)
#define crest_decrement_gauge(name, delta)                                                         \
    crest_gauge_add(CREST_SITE_(crest_gauge, crest_gauge_by_name, name), -(double)(delta))
#define crest_record(name, value)                                                                  \
    crest_histogram_record(CREST_SITE_(crest_histogram, crest_histogram_by_name, name), value)
#define crest_record_n(name, value, times)                                                         \
    crest_histogram_record_n(CREST_SITE_(crest_histogram, crest_histogram_by_name, name), value,   \
                             times)
#define crest_increment_sampler(name, delta)                                                       \
    crest_range_sampler_add(CREST_SITE_(crest_range_sampler, crest_range_sampler_by_name, name),   \
                            delta)
#define crest_sample(name)                                                                         \
    ((void)CREST_SITE_(crest_range_sampler, crest_range_sampler_by_name, name))
#define crest_timer_start_by_name(name, op)                                                        \
    crest_timer_start(CREST_SITE_(crest_timer, crest_timer_by_name, name), op)

#endif
