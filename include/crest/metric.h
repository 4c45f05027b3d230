/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a metric is: a name, a description, settings. And how it is declared at file scope, so that
 * it exists, and is exported as zero, from program load on.
 *
 * The declaring macros themselves are CREST_COUNTER and its relatives in counter.h, gauge.h,
 * range_sampler.h, histogram.h, timer.h and stages.h; families with labels are in family.h.
 */
#ifndef CREST_METRIC_H
#define CREST_METRIC_H

#include <crest/cell.h>
#include <crest/status.h>

/* Bytes of a canonical name, prefix included. */
#define CREST_NAME_BYTES_MAX 200u
/* Bytes of a description. */
#define CREST_DESCRIPTION_BYTES_MAX 1000u
/* Label keys of a family; keys of an open family, over all its series (crest_counter_labelled);
 * bytes of a key; bytes of a value (longer ones are cut and counted). */
#define CREST_LABELS_MAX 8u
#define CREST_OPEN_LABELS_MAX 16u
#define CREST_LABEL_KEY_BYTES_MAX 100u
#define CREST_LABEL_VALUE_BYTES_MAX 1000u
/* Series of one family; new label values beyond share one overflow series, and are counted. */
#define CREST_FAMILY_SERIES_MAX 2000u
/* Bounds of one set of buckets, +Inf not counted. */
#define CREST_BUCKETS_MAX 64u
/* Stages of one metric. */
#define CREST_STAGES_MAX 16u
/* Quantiles that the windows of one metric give. */
#define CREST_QUANTILES_MAX 4u

typedef enum crest_kind {
    CREST_KIND_NONE = 0,
    CREST_KIND_COUNTER,
    CREST_KIND_GAUGE,
    CREST_KIND_HISTOGRAM,
    CREST_KIND_TIMER,
    CREST_KIND_RANGE_SAMPLER,
    CREST_KIND_STAGES /* of declarations; its series are those of a timer and two histograms */
} crest_kind;

/* The unit that values are recorded in. Values are exported in its base unit: nanoseconds,
 * microseconds and milliseconds as seconds. */
typedef enum crest_unit {
    CREST_NONE = 0,
    CREST_BYTES,
    CREST_NANOSECONDS,
    CREST_MICROSECONDS,
    CREST_MILLISECONDS,
    CREST_SECONDS,
    CREST_RATIO
} crest_unit;

/* Upper bounds of exported buckets, ascending, in the base unit (seconds, bytes), +Inf implied. */
typedef struct crest_buckets {
    const double *bounds; /* borrowed for the life of the program, or until registration returns */
    unsigned count;       /* 1 to CREST_BUCKETS_MAX */
} crest_buckets;

/*
 * The values that a histogram tells apart: from `lowest` to `highest`, in the metric's unit, with
 * this many significant decimal digits. Smaller values are counted as they are, but no finer than
 * `lowest`; larger values count as the highest. Digits 0 keeps count, sum and extremes only, in 64
 * bytes a thread beside the 544 of any histogram; such a metric has no `buckets`, and asking for
 * them is refused. An invalid range is refused with CREST_INVALID_ARGUMENT. A metric that is got
 * again with another range keeps its first one, as with `buckets`.
 */
typedef struct crest_range {
    uint64_t lowest;  /* 1 or more */
    uint64_t highest; /* at least 2 * lowest, at most 2^62; rounded up to the next 2^n - 1 */
    unsigned digits;  /* 1 to 5; or 0 */
} crest_range;

#ifndef CREST_DISABLE
CREST_BEGIN_C
extern CREST_API const crest_range crest_range_loose;      /* 1 to one hour in ns, 1 digit */
extern CREST_API const crest_range crest_range_default;    /* the same, 2 digits */
extern CREST_API const crest_range crest_range_fine;       /* the same, 3 digits */
extern CREST_API const crest_range crest_range_percentage; /* 1 to 100, 2 digits */
extern CREST_API const crest_range crest_range_none;       /* count, sum, extremes */
CREST_END_C
#else
static const crest_range crest_range_loose __attribute__((unused)) = {0, 0, 0};
static const crest_range crest_range_default __attribute__((unused)) = {0, 0, 0};
static const crest_range crest_range_fine __attribute__((unused)) = {0, 0, 0};
static const crest_range crest_range_percentage __attribute__((unused)) = {0, 0, 0};
static const crest_range crest_range_none __attribute__((unused)) = {0, 0, 0};
#endif

#define CREST_RANGE_LOOSE (&crest_range_loose)
#define CREST_RANGE_DEFAULT (&crest_range_default)
#define CREST_RANGE_FINE (&crest_range_fine)
#define CREST_RANGE_PERCENTAGE (&crest_range_percentage)
#define CREST_RANGE_NONE (&crest_range_none)

#ifndef CREST_DISABLE
CREST_BEGIN_C
extern CREST_API const crest_buckets crest_buckets_fast; /* 10 µs to 1 s */
extern CREST_API const crest_buckets
    crest_buckets_default;                                /* 5 ms to 10 s, every client's default */
extern CREST_API const crest_buckets crest_buckets_slow;  /* 0.1 s to 1 h */
extern CREST_API const crest_buckets crest_buckets_bytes; /* 512 B to 16 MiB */
extern CREST_API const crest_buckets crest_buckets_ratio; /* 0.05 to 0.95 */
extern CREST_API const crest_buckets crest_buckets_magnitudes; /* 1 to 1,000,000: bare numbers */
CREST_END_C
#else
static const crest_buckets crest_buckets_fast __attribute__((unused)) = {NULL, 0};
static const crest_buckets crest_buckets_default __attribute__((unused)) = {NULL, 0};
static const crest_buckets crest_buckets_slow __attribute__((unused)) = {NULL, 0};
static const crest_buckets crest_buckets_bytes __attribute__((unused)) = {NULL, 0};
static const crest_buckets crest_buckets_ratio __attribute__((unused)) = {NULL, 0};
static const crest_buckets crest_buckets_magnitudes __attribute__((unused)) = {NULL, 0};
#endif

#define CREST_BUCKETS_FAST (&crest_buckets_fast)
#define CREST_BUCKETS_DEFAULT (&crest_buckets_default)
#define CREST_BUCKETS_SLOW (&crest_buckets_slow)

/* Native histograms of one metric, where they are not to be as the page or reporter has them for
 * all (page.h, prometheus.native): its classic buckets only, both, native ones only. */
typedef enum crest_native_mode {
    CREST_NATIVE_DEFAULT = 0,
    CREST_NATIVE_OFF,
    CREST_NATIVE_ON,
    CREST_NATIVE_ONLY
} crest_native_mode;
/* The largest factor of native buckets; the smallest is above 1. */
#define CREST_NATIVE_FACTOR_MAX 65536.0

struct crest_registry;

/*
 * Settings of a metric; zero or NULL is the default everywhere but in `name`. Everything is copied
 * when the metric is registered. In C++ the designators must keep the order of the fields.
 */
typedef struct crest_metric_options {
    /* canonical name: letters, digits and _ in words joined by . and -; required */
    const char *name CREST_DEFAULT_(NULL);
    /* UTF-8; the help text */
    const char *description CREST_DEFAULT_(NULL);
    /* a timer is always CREST_NANOSECONDS */
    crest_unit unit CREST_DEFAULT_(CREST_NONE);
    /* histograms and timers; NULL: by unit */
    const crest_buckets *buckets CREST_DEFAULT_(NULL);
    /* histograms and timers; NULL: CREST_RANGE_DEFAULT */
    const crest_range *range CREST_DEFAULT_(NULL);
    /* stages only: their names in order, up to the first NULL; at most CREST_STAGES_MAX */
    const char *stages[CREST_STAGES_MAX + 1] CREST_DEFAULT_({});
    /* keyed timers and stages: an operation still in flight after so long ends as `timeout`;
       0: never */
    uint32_t deadline_ms CREST_DEFAULT_(0);
    /* counters, histograms, timers: a series without a record for so long is not exported until its
       next record, which goes on from its value; needs the ticker; 0: the registry's */
    uint32_t idle_s CREST_DEFAULT_(0);
    /* non-zero: no windows are kept of its series (window.h), nor are their names taken */
    int no_windows CREST_DEFAULT_(0);
    /* histograms and timers that keep values and windows: the quantiles that their windows give, up
       to the first 0. Each is above 0 and below 1, and differs from the others in its first eight
       decimals; others are refused with CREST_INVALID_ARGUMENT. window.h says what it costs */
    double quantiles[CREST_QUANTILES_MAX + 1] CREST_DEFAULT_({});
    /* histograms and timers that keep values: their native buckets, and by which factor these grow,
       above 1 and at most CREST_NATIVE_FACTOR_MAX; 0: as for all metrics */
    crest_native_mode native CREST_DEFAULT_(CREST_NATIVE_DEFAULT);
    double native_factor CREST_DEFAULT_(0);
} crest_metric_options;

/* A declaration: constant, in the declaring object, for as long as that object is loaded. */
typedef struct crest_declaration {
    crest_kind kind;
    struct crest_registry *registry; /* NULL: the default registry */
    const char *const *label_keys;   /* of a family, else NULL */
    unsigned label_count;
    crest_metric_options options;
    const char *place; /* where it is written, "FILE:LINE", for messages; NULL: not known */
} crest_declaration;

/* The place of the declaration that this stands in. */
#define CREST_PLACE_TEXT_(line) #line
#define CREST_PLACE_OF_(line) CREST_PLACE_TEXT_(line)
#define CREST_PLACE_ __FILE__ ":" CREST_PLACE_OF_(__LINE__)

/*
 * The registry that declarations from here on go to. To change it, write
 *     #define CREST_REGISTRY_HERE &dht_metrics
 * after the includes; it is no macro of this header, so that does not redefine one.
 */
#ifdef __cplusplus
static constexpr struct crest_registry *CREST_REGISTRY_HERE = nullptr;
#else
enum { CREST_REGISTRY_HERE = 0 };
#endif

/* A handle's initialiser: everything zero but what the cold path needs. */
#define CREST_HANDLE_INIT_(declaration)                                                            \
    {                                                                                              \
        0, CREST_ABI, NULL, (declaration)                                                          \
    }

/* The declaration. It is there with CREST_DISABLE too, so that what it names is used and checked;
 * the compiler then drops it as unread. Comments within macros are for their users: compilers show
 * the line with what is wrong. */
/* clang-format off */
#define CREST_DECLARATION_(kind_, variable, name_, description_, ...)                              \
    CREST_ASSERT_(sizeof(#description_) > 1,                                                       \
                  "a metric needs a description: write it as a text after the name");              \
    static const crest_declaration variable##_crest_declaration                                    \
        __attribute__((unused)) = {                                                                \
    kind_,                                                                                         \
    (struct crest_registry *)(CREST_REGISTRY_HERE), /* .buckets = CREST_BUCKETS_FAST, or yours */  \
    NULL,                                                                                          \
    0,                                                                                             \
    {.name = (name_), .description = (description_),                                               \
     __VA_ARGS__}, /* .buckets = CREST_BUCKETS_FAST, or yours */                                   \
    CREST_PLACE_} /* .buckets = CREST_BUCKETS_FAST, or yours */

/* The same, the handle, and the constructor that registers it at load; `linkage` is static or
 * empty. */
#ifndef CREST_DISABLE
#define CREST_DECLARE_(linkage, type, kind_, init, variable, name_, description_, ...)             \
    CREST_DECLARATION_(kind_, variable, name_, description_, __VA_ARGS__);                         \
    linkage type variable = init(&variable##_crest_declaration);                                   \
    __attribute__((constructor))                                                                   \
    static void variable##_crest_register(void) /* declare metrics outside of functions */         \
    { /* declare metrics outside of functions */                                                   \
        crest_handle_register(&variable.handle);                                                   \
    }                                                                                              \
    typedef type variable##_crest_type_
#else
#define CREST_DECLARE_(linkage, type, kind_, init, variable, name_, description_, ...)             \
    CREST_DECLARATION_(kind_, variable, name_, description_, __VA_ARGS__);                         \
    linkage type variable __attribute__((unused));                                                 \
    typedef type variable##_crest_type_
#endif
/* clang-format on */

CREST_BEGIN_C

/*
 * Registers a declared metric now instead of at its first use; the constructors of declarations
 * call it. An invalid declaration leaves its handle recording nowhere; that is counted in
 * crest_misuse_total and told to the log callback once one is set. Any thread, any handler, before
 * main. Cost: locks, uses arena memory.
 */
CREST_API crest_status crest_handle_register(crest_handle *handle);

CREST_END_C

#ifdef CREST_DISABLE
#include <crest/off/metric_off.h>
#endif

#endif
