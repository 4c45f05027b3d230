/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Families: a metric with label keys. Its keys are the parameters of a resolver function, so that a
 * wrong number of label values does not compile. Resolve once, record through the handle.
 *
 *     CREST_COUNTER_FAMILY(messages, "comm.messages", "Messages sent.", kind, peer);
 *     crest_counter *pings = messages_with("ping", "10.0.0.7");
 *     crest_counter_inc(pings);
 *
 * Settings go into the _OPTIONS form, in parentheses:
 *     CREST_TIMER_FAMILY_OPTIONS(ping_time, "comm.ping-time", "Round trip.",
 *                                (.buckets = CREST_BUCKETS_FAST), peer);
 */
#ifndef CREST_FAMILY_H
#define CREST_FAMILY_H

#include <crest/registry.h>

/* What the family types share; only the library looks inside. */
typedef struct crest_family {
    struct crest_metric *metric; /* NULL until registered */
    uint32_t abi;
    uint32_t reserved;
    const crest_declaration *declaration;
} crest_family;

typedef struct crest_counter_family {
    crest_family family;
} crest_counter_family;
typedef struct crest_gauge_family {
    crest_family family;
} crest_gauge_family;
typedef struct crest_histogram_family {
    crest_family family;
} crest_histogram_family;
typedef struct crest_timer_family {
    crest_family family;
} crest_timer_family;
typedef struct crest_range_sampler_family {
    crest_family family;
} crest_range_sampler_family;
typedef struct crest_stages_family {
    crest_family family;
} crest_stages_family;

/* One to eight label keys become strings, parameters or arguments. */
#define CREST_COUNT_(...)                                                                          \
    CREST_COUNT_PICK_(__VA_ARGS__, 9, 9, 9, 9, 9, 9, 9, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define CREST_COUNT_PICK_(a, b, c, d, e, f, g, h, i, j, k, l, m, o, p, q, n, ...) n
#define CREST_EACH_(macro, ...)                                                                    \
    CREST_PASTE_(CREST_EACH_, CREST_COUNT_(__VA_ARGS__))(macro, __VA_ARGS__)
#define CREST_EACH_1(macro, a) macro(a)
#define CREST_EACH_2(macro, a, ...) macro(a), CREST_EACH_1(macro, __VA_ARGS__)
#define CREST_EACH_3(macro, a, ...) macro(a), CREST_EACH_2(macro, __VA_ARGS__)
#define CREST_EACH_4(macro, a, ...) macro(a), CREST_EACH_3(macro, __VA_ARGS__)
#define CREST_EACH_5(macro, a, ...) macro(a), CREST_EACH_4(macro, __VA_ARGS__)
#define CREST_EACH_6(macro, a, ...) macro(a), CREST_EACH_5(macro, __VA_ARGS__)
#define CREST_EACH_7(macro, a, ...) macro(a), CREST_EACH_6(macro, __VA_ARGS__)
#define CREST_EACH_8(macro, a, ...) macro(a), CREST_EACH_7(macro, __VA_ARGS__)
#define CREST_EACH_9(macro, a, ...)                                                                \
    _Pragma("GCC error \"a family has one to eight label keys: leave some out\"") macro(a)
#define CREST_KEY_STRING_(key) #key
#define CREST_KEY_PARAMETER_(key) const char *key##_value_
#define CREST_KEY_ARGUMENT_(key) key##_value_
#define CREST_UNWRAP_(...) __VA_ARGS__

/* Comments within macros are for their users, as those of metric.h. */
/* clang-format off */
#define CREST_FAMILY_RESOLVER_(type, get, variable, ...)                                           \
    __attribute__((unused)) static inline type *                                                   \
    variable##_with( /* takes one value for each label key */                                      \
        CREST_EACH_(CREST_KEY_PARAMETER_, __VA_ARGS__))                                            \
    {                                                                                              \
        const char *const values_[] = {CREST_EACH_(CREST_KEY_ARGUMENT_, __VA_ARGS__)};             \
        return get(&variable, values_, CREST_COUNT_(__VA_ARGS__));                                 \
    }                                                                                              \
    typedef type variable##_crest_series_

#define CREST_FAMILY_DECLARATION_(kind_, variable, name_, description_, options_, ...)             \
    static const char *const variable##_crest_keys[]                                               \
        __attribute__((unused)) = {CREST_EACH_(CREST_KEY_STRING_, __VA_ARGS__)};                   \
    static const crest_declaration variable##_crest_declaration __attribute__((unused)) = {        \
        kind_,                                                                                     \
        (struct crest_registry *)(CREST_REGISTRY_HERE),                                            \
        variable##_crest_keys,                                                                     \
        CREST_COUNT_(__VA_ARGS__),                                                                 \
        {.name = (name_), .description = (description_), CREST_UNWRAP_ options_},                  \
        CREST_PLACE_}

#ifndef CREST_DISABLE
#define CREST_FAMILY_DECLARE_(linkage, type, kind_, variable, name_, description_, options_, ...)  \
    CREST_FAMILY_DECLARATION_(kind_, variable, name_, description_, options_, __VA_ARGS__);        \
    linkage type variable = {{NULL, CREST_ABI, 0, &variable##_crest_declaration}};                 \
    __attribute__((constructor))                                                                   \
    static void variable##_crest_register(void) /* declare metrics outside of functions */         \
    { /* declare metrics outside of functions */                                                   \
        crest_family_register(&variable.family);                                                   \
    }                                                                                              \
    typedef type variable##_crest_type_
#else
#define CREST_FAMILY_DECLARE_(linkage, type, kind_, variable, name_, description_, options_, ...)  \
    CREST_FAMILY_DECLARATION_(kind_, variable, name_, description_, options_, __VA_ARGS__);        \
    linkage type variable __attribute__((unused));                                                 \
    typedef type variable##_crest_type_
#endif
/* clang-format on */

/*
 * CREST_COUNTER_FAMILY(variable, name, description, key[, key…]): a family at file scope, static,
 * and its resolver variable_with(value…). _DECLARE (with the same keys) goes into a header and
 * _DEFINE into one source file, for a family used by several. Keys are identifiers without a
 * leading underscore, and not le, quantile, outcome, job or instance, which exporters use
 * themselves.
 */
#define CREST_COUNTER_FAMILY_OPTIONS(variable, name, description, options, ...)                    \
    CREST_FAMILY_DECLARE_(static, crest_counter_family, CREST_KIND_COUNTER, variable, name,        \
                          description, options, __VA_ARGS__);                                      \
    CREST_FAMILY_RESOLVER_(crest_counter, crest_counter_family_get, variable, __VA_ARGS__)
#define CREST_COUNTER_FAMILY(variable, name, description, ...)                                     \
    CREST_COUNTER_FAMILY_OPTIONS(variable, name, description, (), __VA_ARGS__)
#define CREST_COUNTER_FAMILY_DECLARE(variable, ...)                                                \
    extern crest_counter_family variable;                                                          \
    CREST_FAMILY_RESOLVER_(crest_counter, crest_counter_family_get, variable, __VA_ARGS__)
#define CREST_COUNTER_FAMILY_DEFINE(variable, name, description, options, ...)                     \
    CREST_FAMILY_DECLARE_(, crest_counter_family, CREST_KIND_COUNTER, variable, name, description, \
                          options, __VA_ARGS__)

#define CREST_GAUGE_FAMILY_OPTIONS(variable, name, description, options, ...)                      \
    CREST_FAMILY_DECLARE_(static, crest_gauge_family, CREST_KIND_GAUGE, variable, name,            \
                          description, options, __VA_ARGS__);                                      \
    CREST_FAMILY_RESOLVER_(crest_gauge, crest_gauge_family_get, variable, __VA_ARGS__)
#define CREST_GAUGE_FAMILY(variable, name, description, ...)                                       \
    CREST_GAUGE_FAMILY_OPTIONS(variable, name, description, (), __VA_ARGS__)
#define CREST_GAUGE_FAMILY_DECLARE(variable, ...)                                                  \
    extern crest_gauge_family variable;                                                            \
    CREST_FAMILY_RESOLVER_(crest_gauge, crest_gauge_family_get, variable, __VA_ARGS__)
#define CREST_GAUGE_FAMILY_DEFINE(variable, name, description, options, ...)                       \
    CREST_FAMILY_DECLARE_(, crest_gauge_family, CREST_KIND_GAUGE, variable, name, description,     \
                          options, __VA_ARGS__)

#define CREST_HISTOGRAM_FAMILY_OPTIONS(variable, name, description, options, ...)                  \
    CREST_FAMILY_DECLARE_(static, crest_histogram_family, CREST_KIND_HISTOGRAM, variable, name,    \
                          description, options, __VA_ARGS__);                                      \
    CREST_FAMILY_RESOLVER_(crest_histogram, crest_histogram_family_get, variable, __VA_ARGS__)
#define CREST_HISTOGRAM_FAMILY(variable, name, description, ...)                                   \
    CREST_HISTOGRAM_FAMILY_OPTIONS(variable, name, description, (), __VA_ARGS__)
#define CREST_HISTOGRAM_FAMILY_DECLARE(variable, ...)                                              \
    extern crest_histogram_family variable;                                                        \
    CREST_FAMILY_RESOLVER_(crest_histogram, crest_histogram_family_get, variable, __VA_ARGS__)
#define CREST_HISTOGRAM_FAMILY_DEFINE(variable, name, description, options, ...)                   \
    CREST_FAMILY_DECLARE_(, crest_histogram_family, CREST_KIND_HISTOGRAM, variable, name,          \
                          description, options, __VA_ARGS__)

#define CREST_TIMER_FAMILY_OPTIONS(variable, name, description, options, ...)                      \
    CREST_FAMILY_DECLARE_(static, crest_timer_family, CREST_KIND_TIMER, variable, name,            \
                          description, options, __VA_ARGS__);                                      \
    CREST_FAMILY_RESOLVER_(crest_timer, crest_timer_family_get, variable, __VA_ARGS__)
#define CREST_TIMER_FAMILY(variable, name, description, ...)                                       \
    CREST_TIMER_FAMILY_OPTIONS(variable, name, description, (), __VA_ARGS__)
#define CREST_TIMER_FAMILY_DECLARE(variable, ...)                                                  \
    extern crest_timer_family variable;                                                            \
    CREST_FAMILY_RESOLVER_(crest_timer, crest_timer_family_get, variable, __VA_ARGS__)
#define CREST_TIMER_FAMILY_DEFINE(variable, name, description, options, ...)                       \
    CREST_FAMILY_DECLARE_(, crest_timer_family, CREST_KIND_TIMER, variable, name, description,     \
                          options, __VA_ARGS__)

#define CREST_RANGE_SAMPLER_FAMILY_OPTIONS(variable, name, description, options, ...)              \
    CREST_FAMILY_DECLARE_(static, crest_range_sampler_family, CREST_KIND_RANGE_SAMPLER, variable,  \
                          name, description, options, __VA_ARGS__);                                \
    CREST_FAMILY_RESOLVER_(crest_range_sampler, crest_range_sampler_family_get, variable,          \
                           __VA_ARGS__)
#define CREST_RANGE_SAMPLER_FAMILY(variable, name, description, ...)                               \
    CREST_RANGE_SAMPLER_FAMILY_OPTIONS(variable, name, description, (), __VA_ARGS__)
#define CREST_RANGE_SAMPLER_FAMILY_DECLARE(variable, ...)                                          \
    extern crest_range_sampler_family variable;                                                    \
    CREST_FAMILY_RESOLVER_(crest_range_sampler, crest_range_sampler_family_get, variable,          \
                           __VA_ARGS__)
#define CREST_RANGE_SAMPLER_FAMILY_DEFINE(variable, name, description, options, ...)               \
    CREST_FAMILY_DECLARE_(, crest_range_sampler_family, CREST_KIND_RANGE_SAMPLER, variable, name,  \
                          description, options, __VA_ARGS__)

/* Stages cannot do without options, so both forms have them: (.stages = {"a", "b"}). Their own
 * label `stage` counts as one of the eight keys. */
#define CREST_STAGES_FAMILY_OPTIONS(variable, name, description, options, ...)                     \
    CREST_FAMILY_DECLARE_(static, crest_stages_family, CREST_KIND_STAGES, variable, name,          \
                          description, options, __VA_ARGS__);                                      \
    CREST_FAMILY_RESOLVER_(crest_stages, crest_stages_family_get, variable, __VA_ARGS__)
#define CREST_STAGES_FAMILY(variable, name, description, options, ...)                             \
    CREST_STAGES_FAMILY_OPTIONS(variable, name, description, options, __VA_ARGS__)
#define CREST_STAGES_FAMILY_DECLARE(variable, ...)                                                 \
    extern crest_stages_family variable;                                                           \
    CREST_FAMILY_RESOLVER_(crest_stages, crest_stages_family_get, variable, __VA_ARGS__)
#define CREST_STAGES_FAMILY_DEFINE(variable, name, description, options, ...)                      \
    CREST_FAMILY_DECLARE_(, crest_stages_family, CREST_KIND_STAGES, variable, name, description,   \
                          options, __VA_ARGS__)

CREST_BEGIN_C

/* Registers a declared family now, which the constructors of declarations call. As
 * crest_handle_register. */
CREST_API crest_status crest_family_register(crest_family *family);

/*
 * A family at run time: find or create, with `count` keys, copied. Otherwise as crest_counter_get.
 * The result is a description by value, to resolve series with; it records nowhere when *status is
 * not CREST_OK. Thread-safe; locks when it creates.
 */
CREST_API crest_counter_family crest_counter_family_new(crest_registry *registry,
                                                        const crest_metric_options *options,
                                                        const char *const *keys, unsigned count,
                                                        crest_status *status);
CREST_API crest_gauge_family crest_gauge_family_new(crest_registry *registry,
                                                    const crest_metric_options *options,
                                                    const char *const *keys, unsigned count,
                                                    crest_status *status);
CREST_API crest_histogram_family crest_histogram_family_new(crest_registry *registry,
                                                            const crest_metric_options *options,
                                                            const char *const *keys, unsigned count,
                                                            crest_status *status);
CREST_API crest_timer_family crest_timer_family_new(crest_registry *registry,
                                                    const crest_metric_options *options,
                                                    const char *const *keys, unsigned count,
                                                    crest_status *status);
CREST_API crest_range_sampler_family
crest_range_sampler_family_new(crest_registry *registry, const crest_metric_options *options,
                               const char *const *keys, unsigned count, crest_status *status);
CREST_API crest_stages_family crest_stages_family_new(crest_registry *registry,
                                                      const crest_metric_options *options,
                                                      const char *const *keys, unsigned count,
                                                      crest_status *status);

/*
 * The series with these label values, found or created: `count` values in the order of the keys,
 * copied; NULL counts as "". Bytes that are not UTF-8 become U+FFFD and values beyond
 * CREST_LABEL_VALUE_BYTES_MAX are cut; both are counted as misuse. A released series comes back, a
 * retired one is made anew (lifetime.h). Once a family has CREST_FAMILY_SERIES_MAX live series,
 * each new one is the family's overflow series, all of whose label values are "overflow"; that is
 * counted.
 * Never NULL; owned by the registry. Thread-safe; not for signal handlers. Cost: a hash lookup;
 * locks when it creates.
 */
CREST_API crest_counter *crest_counter_family_get(crest_counter_family *family,
                                                  const char *const *values, unsigned count);
CREST_API crest_gauge *crest_gauge_family_get(crest_gauge_family *family, const char *const *values,
                                              unsigned count);
CREST_API crest_histogram *crest_histogram_family_get(crest_histogram_family *family,
                                                      const char *const *values, unsigned count);
CREST_API crest_timer *crest_timer_family_get(crest_timer_family *family, const char *const *values,
                                              unsigned count);
CREST_API crest_range_sampler *crest_range_sampler_family_get(crest_range_sampler_family *family,
                                                              const char *const *values,
                                                              unsigned count);
CREST_API crest_stages *crest_stages_family_get(crest_stages_family *family,
                                                const char *const *values, unsigned count);

/* ---- open families ---- */

/*
 * Undeclared keys: the series with these labels of a metric whose keys are not known beforehand, as
 * a bridge from another library needs. Metric and series are found or created. A new key becomes a
 * key of the metric, and the metric's other series have "" there, which every scraper reads as an
 * absent label. So the order of the labels does not matter, and a label whose value is "" or NULL
 * is no label.
 *
 *     const crest_label labels[] = {{"operation", "GET /"}, {"error", "false"}};
 *     crest_histogram *h = crest_histogram_labelled(NULL, &options, labels, 2, &status);
 *
 * A metric is either open or not; the other sort under that name is CREST_TYPE_CLASH. More than
 * CREST_OPEN_LABELS_MAX keys of one metric, over all its series: *status is CREST_LIMIT. An invalid
 * or repeated key, or a constant label of the registry: CREST_INVALID_LABEL. The result then
 * records nowhere. Keys stay, even when all series that had them have gone. Past
 * CREST_FAMILY_SERIES_MAX series the result is the overflow series, and *status is CREST_LIMIT too.
 * Otherwise as crest_counter_get, and for label values as crest_counter_family_get. Each child
 * takes 9 bytes for each key there may be. There are no open timers and stages: their `outcome` and
 * `stage` must be the last key.
 * Never NULL; thread-safe; not for signal handlers. Cost: locks, looks up; keep the handle.
 */
CREST_API crest_counter *crest_counter_labelled(crest_registry *registry,
                                                const crest_metric_options *options,
                                                const crest_label *labels, unsigned count,
                                                crest_status *status);
CREST_API crest_gauge *crest_gauge_labelled(crest_registry *registry,
                                            const crest_metric_options *options,
                                            const crest_label *labels, unsigned count,
                                            crest_status *status);
CREST_API crest_histogram *crest_histogram_labelled(crest_registry *registry,
                                                    const crest_metric_options *options,
                                                    const crest_label *labels, unsigned count,
                                                    crest_status *status);
CREST_API crest_range_sampler *crest_range_sampler_labelled(crest_registry *registry,
                                                            const crest_metric_options *options,
                                                            const crest_label *labels,
                                                            unsigned count, crest_status *status);

CREST_END_C

#ifdef CREST_DISABLE
#include <crest/off/family_off.h>
#endif

#endif
