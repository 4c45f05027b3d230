/* SPDX-License-Identifier: Apache-2.0 */
/* Part of crest.hpp: the metrics and what they do, and families of them. */
#ifndef CREST_METRICS_HPP
#define CREST_METRICS_HPP

#include <crest/declared.hpp>

#include <utility>

namespace crest
{

/* ---- operations ---- */

/* The operation that a text names, as crest_op_text does, of which no NUL is needed; an empty one
 * is crest_op_none(). A NUL inside ends it. Any thread. Cost: a call, a copy. */
inline crest_op op(std::string_view text) noexcept
{
    size_t length = text.find('\0');
    crest_op named = crest_op_bytes(text.data(), length < text.size() ? length : text.size());
    if (named.kind != CREST_OP_NONE)
        named.kind = CREST_OP_TEXT;
    return named;
}

/* The operation that a number names: crest_op_u64. */
template <class number, std::enable_if_t<std::is_integral_v<number>, int> = 0>
crest_op op(number id) noexcept
{
    return crest_op_u64(static_cast<uint64_t>(id));
}

/* ---- metrics ---- */

/* Counters, declared or elsewhere; the calls are those of counter.h. */
template <class where> class counter_of : public where
{
  public:
    using where::where;
    CREST_CPP_INLINE_ void inc() noexcept { crest_counter_inc(this->c_ptr()); }
    /* Adds 0 or more; crest_counter_add. */
    CREST_CPP_INLINE_ void add(int64_t amount) noexcept
    {
        crest_counter_add(this->c_ptr(), amount);
    }
    uint64_t value() const noexcept { return crest_counter_value(this->c_ptr()); }
};

/* Gauges; gauge.h. */
template <class where> class gauge_of : public where
{
  public:
    using where::where;
    CREST_CPP_INLINE_ void set(double value) noexcept { crest_gauge_set(this->c_ptr(), value); }
    CREST_CPP_INLINE_ void add(double delta) noexcept { crest_gauge_add(this->c_ptr(), delta); }
    void set_to_now() noexcept { crest_gauge_set_to_now(this->c_ptr()); }
    double value() const noexcept { return crest_gauge_value(this->c_ptr()); }
};

/* Histograms; histogram.h. */
template <class where> class histogram_of : public where
{
  public:
    using where::where;
    /* In the metric's unit. */
    CREST_CPP_INLINE_ void record(int64_t value) noexcept
    {
        crest_histogram_record(this->c_ptr(), value);
    }
    CREST_CPP_INLINE_ void record(int64_t value, uint64_t times) noexcept
    {
        crest_histogram_record_n(this->c_ptr(), value, times);
    }
};

/* Range samplers; range_sampler.h. */
template <class where> class range_sampler_of : public where
{
  public:
    using where::where;
    CREST_CPP_INLINE_ void add(int64_t delta) noexcept
    {
        crest_range_sampler_add(this->c_ptr(), delta);
    }
    CREST_CPP_INLINE_ void set(int64_t value) noexcept
    {
        crest_range_sampler_set(this->c_ptr(), value);
    }
    int64_t value() const noexcept { return crest_range_sampler_value(this->c_ptr()); }
};

/*
 * A running timing, which travels with its operation: moved, not copied, so that it is recorded
 * once. One that is dropped is not recorded. The operation may be on another thread at its end, but
 * one thread at a time. Calls and statuses are those of crest_timing in timer.h.
 */
class timing
{
  public:
    timing() noexcept = default; /* not running */
    CREST_CPP_INLINE_ timing(crest_timer &of, crest_op op) noexcept
        : timing_(crest_timer_start(&of, op))
    {
    }
    timing(timing &&other) noexcept : timing_(std::exchange(other.timing_, crest_timing{})) {}
    timing &operator=(timing &&other) noexcept
    {
        timing_ = std::exchange(other.timing_, crest_timing{});
        return *this;
    }
    bool running() const noexcept { return timing_.timer != nullptr; }
    CREST_CPP_INLINE_ crest_status bind(crest_op op) noexcept
    {
        return crest_timing_bind(&timing_, op);
    }
    CREST_CPP_INLINE_ crest_status end(crest_op op,
                                       crest_outcome outcome = CREST_OUTCOME_OK) noexcept
    {
        return crest_timing_end(&timing_, op, outcome);
    }
    /* Recorded into another series, for labels that are known only at the end. */
    CREST_CPP_INLINE_ crest_status end_in(crest_op op, crest_outcome outcome,
                                          crest_timer &series) noexcept
    {
        return crest_timing_end_in(&timing_, op, outcome, &series);
    }

  private:
    crest_timing timing_{};
};

/* Timers; timer.h, and in_flight.h for operations that begin here and end elsewhere. */
template <class where> class timer_of : public where
{
  public:
    using where::where;
    /* Any duration of whole nanoseconds or more; of floating ones cast them yourself. */
    CREST_CPP_INLINE_ void record(std::chrono::nanoseconds duration,
                                  crest_outcome outcome = CREST_OUTCOME_OK) noexcept
    {
        crest_timer_record(this->c_ptr(), static_cast<int64_t>(duration.count()), outcome);
    }
    CREST_CPP_INLINE_ timing start(crest_op op) noexcept { return timing(*this->c_ptr(), op); }

    crest_status begin(crest_op op) noexcept { return crest_timer_begin(this->c_ptr(), op); }
    crest_status begin(crest_op op, crest_op owner) noexcept
    {
        return crest_timer_begin_owned(this->c_ptr(), op, owner);
    }
    crest_status end(crest_op op, crest_outcome outcome = CREST_OUTCOME_OK) noexcept
    {
        return crest_timer_end(this->c_ptr(), op, outcome);
    }
    crest_in_flight in_flight() const noexcept { return crest_timer_in_flight(this->c_ptr()); }
};

/* Stages; stages.h. */
template <class where> class stages_of : public where
{
  public:
    using where::where;
    crest_status begin(crest_op op) noexcept { return crest_stages_begin(this->c_ptr(), op); }
    crest_status begin(crest_op op, crest_op owner) noexcept
    {
        return crest_stages_begin_owned(this->c_ptr(), op, owner);
    }
    crest_status mark(crest_op op, unsigned index) noexcept
    {
        return crest_stages_mark(this->c_ptr(), op, index);
    }
    crest_status end(crest_op op, crest_outcome outcome = CREST_OUTCOME_OK) noexcept
    {
        return crest_stages_end(this->c_ptr(), op, outcome);
    }
    crest_in_flight in_flight() const noexcept { return crest_stages_in_flight(this->c_ptr()); }
};

/*
 * counter{"name", "description"[, options]}: declared, as a static object; both are literals.
 * counter_ref::get(name[, description, options, &status]): found or made in a registry, any text.
 * counter_ref{handle}: what CREST_COUNTER declared. counter_ref{counter}: the same metric.
 */
#define CREST_CPP_METRIC_(name)                                                                    \
    using name = name##_of<detail::declared<crest_##name>>;                                        \
    class name##_ref : public name##_of<detail::by_name<name##_ref, crest_##name>>                 \
    {                                                                                              \
        using name##_of<detail::by_name<name##_ref, crest_##name>>::name##_of;                     \
    }
CREST_CPP_METRIC_(counter);
CREST_CPP_METRIC_(gauge);
CREST_CPP_METRIC_(histogram);
CREST_CPP_METRIC_(range_sampler);
CREST_CPP_METRIC_(timer);
CREST_CPP_METRIC_(stages);
#undef CREST_CPP_METRIC_

/* ---- families ---- */

/* The label keys of a family: keys{"kind", "peer"}, one to eight literals. */
template <unsigned count> struct keys {
    static_assert(count >= 1 && count <= CREST_LABELS_MAX, "a family has one to eight label keys");
    const char *names[count];
    template <class... texts>
    constexpr explicit keys(const texts &...names_) noexcept : names{names_...}
    {
    }
};
template <class... texts> keys(const texts &...) -> keys<sizeof...(texts)>;

/*
 * A metric with label keys, declared as a static object, neither copied nor moved:
 *
 *     static crest::timer_family pings{"comm.ping-time", "Round trip.", crest::keys{"peer"}};
 *     pings.with(peer).record(12ms);
 *
 * with() takes as many values as there are keys, or does not compile: texts of any kind and whole
 * numbers. It returns the series, found or made as crest_counter_family_get says, as a _ref: keep
 * it where the values stay the same. Thread-safe; not for signal handlers. Cost: a hash lookup, and
 * a copy of values that are string_views; 1 KiB of stack for each value.
 */
template <class reference, class handle, unsigned count> class family_of
{
  public:
    template <size_t name_size, size_t description_size>
    family_of(const char (&name)[name_size], const char (&description)[description_size],
              const keys<count> &labels, const options &settings = options(),
              const char *file = __builtin_FILE(), int line = __builtin_LINE()) noexcept
        : keys_(labels)
    {
        declaration_.kind = detail::kind_of<handle>::kind;
        declaration_.registry = settings.registry();
        declaration_.label_keys = keys_.names;
        declaration_.label_count = count;
        declaration_.options = settings.as_c();
        declaration_.options.name = name;
        declaration_.options.description = description;
        family_.family.abi = CREST_ABI;
        family_.family.declaration = &declaration_;
        const detail::place here(file, line);
        declaration_.place = here.text();
        crest_family_register(&family_.family);
        declaration_.place = nullptr; /* it was copied, and ends here */
    }
    family_of(const family_of &) = delete;
    family_of &operator=(const family_of &) = delete;

    template <class... texts> reference with(const texts &...values) noexcept
    {
        static_assert(sizeof...(texts) == count, "with() takes one value for each key");
        return find(detail::value_text(values)...);
    }

  private:
    template <class... texts> reference find(const texts &...values) noexcept
    {
        const char *const all[] = {values.c_str()...};
        return reference(*detail::kind_of<handle>::family_get(&family_, all, count));
    }
    const keys<count> keys_;
    crest_declaration declaration_{};
    typename detail::kind_of<handle>::family family_{};
};

#define CREST_CPP_FAMILY_(name)                                                                    \
    template <unsigned count>                                                                      \
    class name##_family : public family_of<name##_ref, crest_##name, count>                        \
    {                                                                                              \
      public:                                                                                      \
        template <size_t name_size, size_t description_size>                                       \
        name##_family(const char (&name_)[name_size], const char (&description)[description_size], \
                      const keys<count> &labels, const options &settings = options(),              \
                      const char *file = __builtin_FILE(), int line = __builtin_LINE()) noexcept   \
            : family_of<name##_ref, crest_##name, count>(name_, description, labels, settings,     \
                                                         file, line)                               \
        {                                                                                          \
        }                                                                                          \
    }
CREST_CPP_FAMILY_(counter);
CREST_CPP_FAMILY_(gauge);
CREST_CPP_FAMILY_(histogram);
CREST_CPP_FAMILY_(range_sampler);
CREST_CPP_FAMILY_(timer);
CREST_CPP_FAMILY_(stages);
#undef CREST_CPP_FAMILY_

} // namespace crest

#endif
