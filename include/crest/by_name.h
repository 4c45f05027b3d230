/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recording by name, as RChain's RNode does it, into the default registry: the metric is created at
 * its first use. A literal name is resolved once per call site and from then on costs what a handle
 * costs; any other name is looked up at each call, without a lock.
 *
 *     CREST_SOURCE("rchain.comm");
 *     ...
 *     crest_increment_counter("events");           records to rchain.comm.events
 *
 * A declared handle is the better choice where there is one place to declare it: it is exported as
 * zero before its first event, and its name is written once.
 *
 * Each macro here is also a function, for callers that take its address or call from another
 * language. A function has no file, so those with a source have names that end in _in.
 */
#ifndef CREST_BY_NAME_H
#define CREST_BY_NAME_H

#include <crest/in_flight.h>
#include <crest/registry.h>

/* Distinct metrics that by-name calls may create; records under further names are counted as
 * misuse. */
#define CREST_BY_NAME_MAX 10000u
/* Distinct texts of sources. */
#define CREST_SOURCES_MAX 1000u

/*
 * What is put before every name, with a dot: RNode's Metrics.Source. A zeroed source puts nothing
 * there. Filled at its first use; must not move afterwards.
 */
typedef struct crest_source {
    const char *name; /* a valid canonical name; borrowed for ever. NULL or "": nothing */
    struct crest_source_state *state; /* the library's */
    uint32_t abi;                     /* CREST_ABI of the code that made it */
} crest_source;

#define CREST_SOURCE_INIT_(name)                                                                   \
    {                                                                                              \
        (name), NULL, CREST_ABI                                                                    \
    }

/*
 * CREST_SOURCE("rchain.comm"); once at file scope (in C++ also at namespace scope), after the
 * includes: from there on the by-name macros of this file record to "rchain.comm." + name. Sources
 * compose as RNode's do, by prefixing:
 *
 *     #define COMM_SOURCE "rchain.comm"                      (in a header)
 *     CREST_SOURCE_IN(COMM_SOURCE, "discovery.kademlia");    (rchain.comm.discovery.kademlia)
 *
 * A source that is not a valid name lets its file record nowhere; each call is counted as misuse.
 *
 * In C the file's source completes a tentative definition of this header; in C++ it is a better
 * overload of a function of this header. So a file without a source, or without a call, gets no
 * warning.
 */
#define CREST_SOURCE_IN(parent, name) CREST_SOURCE(parent "." name)

#ifdef __cplusplus
static inline __attribute__((unused)) crest_source *crest_source_of_(long)
{
    return nullptr;
}
#define CREST_SOURCE(name)                                                                         \
    static crest_source crest_source_here_ __attribute__((unused)) = CREST_SOURCE_INIT_(name);     \
    static inline __attribute__((unused)) crest_source *crest_source_of_(int)                      \
    {                                                                                              \
        return &crest_source_here_;                                                                \
    }                                                                                              \
    typedef crest_source crest_source_type_here_
#define CREST_SOURCE_HERE_ (crest_source_of_(0))
#else
static crest_source crest_source_here_ __attribute__((unused));
#define CREST_SOURCE(name) static crest_source crest_source_here_ = CREST_SOURCE_INIT_(name)
#define CREST_SOURCE_HERE_ (&crest_source_here_)
#endif

CREST_BEGIN_C

/*
 * NULL or invalid names, and names of another kind of metric, record nowhere and are counted as
 * misuse; ending a timing that was started under such a name returns the reason. Thread-safe; not
 * for signal handlers, unless the name is a literal whose call site has run before. Cost: a hash
 * lookup without a lock; the first use of a name locks and allocates from the arena.
 */
CREST_API void crest_increment_counter(const char *name);
CREST_API void crest_increment_counter_by(const char *name, int64_t amount);
CREST_API void crest_set_gauge(const char *name, double value);
CREST_API void crest_increment_gauge(const char *name, double delta);
CREST_API void crest_decrement_gauge(const char *name, double delta);
CREST_API void crest_record(const char *name, int64_t value);
CREST_API void crest_record_n(const char *name, int64_t value, uint64_t times);
CREST_API void crest_increment_sampler(const char *name, int64_t delta);
/* Makes sure that the range sampler exists, and no more: it samples itself. */
CREST_API void crest_sample(const char *name);
CREST_API crest_timing crest_timer_start_by_name(const char *name, crest_op op);
/* Begin here, end elsewhere; statuses as crest_timer_begin and crest_timer_end. */
CREST_API crest_status crest_timer_begin_by_name(const char *name, crest_op op);
CREST_API crest_status crest_timer_end_by_name(const char *name, crest_op op,
                                               crest_outcome outcome);

/* The handle of a name, found or created; never NULL. For calls that have no form by name:
 * CREST_TIME_SCOPE(crest_timer_by_name("replay-time"), op, &outcome). */
CREST_API crest_counter *crest_counter_by_name(const char *name);
CREST_API crest_gauge *crest_gauge_by_name(const char *name);
CREST_API crest_histogram *crest_histogram_by_name(const char *name);
CREST_API crest_timer *crest_timer_by_name(const char *name);
CREST_API crest_range_sampler *crest_range_sampler_by_name(const char *name);
/* Only finds, never creates: a name does not say which stages there are. */
CREST_API crest_stages *crest_stages_by_name(const char *name);

/*
 * A source with this text, made at its first use and kept for the life of the process. NULL or ""
 * gives the empty source, which puts nothing before a name. Never NULL: an invalid name, or a
 * source beyond CREST_SOURCES_MAX, gives a source that records nowhere, and is counted as misuse.
 * Thread-safe; locks.
 */
CREST_API crest_source *crest_source_get(const char *name);

/* Whether a text, such as a configured one, can be a source: CREST_OK, or CREST_INVALID_NAME with
 * the reason in *error (NULL: not wanted). NULL and "" can. Thread-safe; neither locks nor
 * allocates. */
CREST_API crest_status crest_source_check(const char *name, crest_error *error);

/* The same calls under a source (NULL: none), for callers that have no file. */
CREST_API void crest_increment_counter_in(crest_source *source, const char *name);
CREST_API void crest_increment_counter_by_in(crest_source *source, const char *name,
                                             int64_t amount);
CREST_API void crest_set_gauge_in(crest_source *source, const char *name, double value);
CREST_API void crest_increment_gauge_in(crest_source *source, const char *name, double delta);
CREST_API void crest_decrement_gauge_in(crest_source *source, const char *name, double delta);
CREST_API void crest_record_in(crest_source *source, const char *name, int64_t value);
CREST_API void crest_record_n_in(crest_source *source, const char *name, int64_t value,
                                 uint64_t times);
CREST_API void crest_increment_sampler_in(crest_source *source, const char *name, int64_t delta);
CREST_API void crest_sample_in(crest_source *source, const char *name);
CREST_API crest_timing crest_timer_start_by_name_in(crest_source *source, const char *name,
                                                    crest_op op);
CREST_API crest_status crest_timer_begin_by_name_in(crest_source *source, const char *name,
                                                    crest_op op);
CREST_API crest_status crest_timer_end_by_name_in(crest_source *source, const char *name,
                                                  crest_op op, crest_outcome outcome);
CREST_API crest_counter *crest_counter_by_name_in(crest_source *source, const char *name);
CREST_API crest_gauge *crest_gauge_by_name_in(crest_source *source, const char *name);
CREST_API crest_histogram *crest_histogram_by_name_in(crest_source *source, const char *name);
CREST_API crest_timer *crest_timer_by_name_in(crest_source *source, const char *name);
CREST_API crest_range_sampler *crest_range_sampler_by_name_in(crest_source *source,
                                                              const char *name);
CREST_API crest_stages *crest_stages_by_name_in(crest_source *source, const char *name);

CREST_END_C

#ifndef CREST_DISABLE
/*
 * The handle of a call site: with a literal name, a static pointer filled at the first call. The
 * text of the argument decides whether the name is a literal. __builtin_constant_p alone would also
 * hold after inlining, where two calls of one function with two names would share a site.
 */
#define CREST_SITE_(type, by_name, name_)                                                          \
    __extension__({                                                                                \
        static type *crest_site_;                                                                  \
        type *crest_handle_;                                                                       \
        if (#name_[0] == '"' && __builtin_constant_p(name_)) {                                     \
            /* acquire: partner of the release below, so that the handle is seen whole */          \
            crest_handle_ = __atomic_load_n(&crest_site_, __ATOMIC_ACQUIRE);                       \
            if (CREST_UNLIKELY(crest_handle_ == NULL)) {                                           \
                crest_handle_ = by_name(CREST_SOURCE_HERE_, name_);                                \
                /* a handle that records nowhere is not kept: the next call may get a real one */  \
                if (crest_handle_->handle.slot != 0)                                               \
                    __atomic_store_n(&crest_site_, crest_handle_, __ATOMIC_RELEASE);               \
            }                                                                                      \
        } else {                                                                                   \
            crest_handle_ = by_name(CREST_SOURCE_HERE_, name_);                                    \
        }                                                                                          \
        crest_handle_;                                                                             \
    })

/*
 * Counters only, whose increment is so cheap that a pointer to follow would show: the site itself
 * is a handle, filled at the first call. A metric by name has no labels and so is never released:
 * no site keeps a slot that another series has taken.
 */
CREST_BEGIN_C
CREST_API void crest_counter_site_slow(crest_counter *site, crest_source *source, const char *name,
                                       int64_t amount) CREST_NOTHROW_;
CREST_INLINE void crest_counter_site_add(crest_counter *site, crest_source *source,
                                         const char *name, int64_t amount)
{
    uint64_t *cell = crest_cell_of(&site->handle);
    if (CREST_UNLIKELY(cell == NULL || amount < 0))
        crest_counter_site_slow(site, source, name, amount);
    else if (CREST_UNLIKELY(crest_word_add_carry(cell, (uint64_t)amount)))
        crest_counter_full_slow(site);
}
CREST_END_C

#define CREST_COUNT_BY_NAME_(name_, amount)                                                        \
    __extension__({                                                                                \
        static crest_counter crest_site_ = {CREST_HANDLE_INIT_(NULL)};                             \
        if (#name_[0] == '"' && __builtin_constant_p(name_))                                       \
            crest_counter_site_add(&crest_site_, CREST_SOURCE_HERE_, name_, amount);               \
        else                                                                                       \
            crest_counter_add(crest_counter_by_name_in(CREST_SOURCE_HERE_, name_), amount);        \
    })

#define crest_counter_by_name(name) CREST_SITE_(crest_counter, crest_counter_by_name_in, name)
#define crest_gauge_by_name(name) CREST_SITE_(crest_gauge, crest_gauge_by_name_in, name)
#define crest_histogram_by_name(name) CREST_SITE_(crest_histogram, crest_histogram_by_name_in, name)
#define crest_timer_by_name(name) CREST_SITE_(crest_timer, crest_timer_by_name_in, name)
#define crest_stages_by_name(name) CREST_SITE_(crest_stages, crest_stages_by_name_in, name)
#define crest_range_sampler_by_name(name)                                                          \
    CREST_SITE_(crest_range_sampler, crest_range_sampler_by_name_in, name)

#define crest_increment_counter(name) CREST_COUNT_BY_NAME_(name, 1)
#define crest_increment_counter_by(name, amount) CREST_COUNT_BY_NAME_(name, amount)
#define crest_set_gauge(name, value)                                                               \
    crest_gauge_set(CREST_SITE_(crest_gauge, crest_gauge_by_name_in, name), value)
#define crest_increment_gauge(name, delta)                                                         \
    crest_gauge_add(CREST_SITE_(crest_gauge, crest_gauge_by_name_in, name), delta)
#define crest_decrement_gauge(name, delta)                                                         \
    crest_gauge_add(CREST_SITE_(crest_gauge, crest_gauge_by_name_in, name), -(double)(delta))
#define crest_record(name, value)                                                                  \
    crest_histogram_record(CREST_SITE_(crest_histogram, crest_histogram_by_name_in, name), value)
#define crest_record_n(name, value, times)                                                         \
    crest_histogram_record_n(CREST_SITE_(crest_histogram, crest_histogram_by_name_in, name),       \
                             value, times)
#define crest_increment_sampler(name, delta)                                                       \
    crest_range_sampler_add(                                                                       \
        CREST_SITE_(crest_range_sampler, crest_range_sampler_by_name_in, name), delta)
#define crest_sample(name)                                                                         \
    ((void)CREST_SITE_(crest_range_sampler, crest_range_sampler_by_name_in, name))
#define crest_timer_start_by_name(name, op)                                                        \
    crest_timer_start(CREST_SITE_(crest_timer, crest_timer_by_name_in, name), op)
#define crest_timer_begin_by_name(name, op)                                                        \
    crest_timer_begin(CREST_SITE_(crest_timer, crest_timer_by_name_in, name), op)
#define crest_timer_end_by_name(name, op, outcome)                                                 \
    crest_timer_end(CREST_SITE_(crest_timer, crest_timer_by_name_in, name), op, outcome)
#endif

#ifdef CREST_DISABLE
#include <crest/off/by_name_off.h>
#endif

#endif
