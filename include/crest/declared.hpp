/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Part of crest.hpp: settings of metrics, and metrics as objects that are declared, or found by
 * name.
 */
#ifndef CREST_DECLARED_HPP
#define CREST_DECLARED_HPP

#include <crest/crest.h>

#include <charconv>
#include <chrono>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

/* Recording is inlined as in C, whatever the compiler thinks of its size. */
#define CREST_CPP_INLINE_ __attribute__((always_inline)) inline

namespace crest
{

/*
 * Settings of a metric, one call each; what is not called is the default. Pointers and references
 * are borrowed until the metric has been made, and for a declared metric for good, so what they
 * mean is static. As crest_metric_options, whose fields these are. Any thread. Cost: inline.
 */
class options
{
  public:
    options &unit(crest_unit unit) noexcept { return set(options_.unit, unit); }
    options &buckets(const crest_buckets &buckets) noexcept
    {
        return set(options_.buckets, &buckets);
    }
    options &buckets(const crest_buckets &&) = delete; /* it would be gone too soon */
    options &range(const crest_range &range) noexcept { return set(options_.range, &range); }
    options &range(const crest_range &&) = delete;
    /* An operation in flight for longer ends as timeout; at most 49 days. */
    options &deadline(std::chrono::milliseconds after) noexcept
    {
        return set(options_.deadline_ms, whole(after.count()));
    }
    options &idle(std::chrono::seconds after) noexcept
    {
        return set(options_.idle_s, whole(after.count()));
    }
    options &no_windows() noexcept { return set(options_.no_windows, 1); }
    /* Up to CREST_QUANTILES_MAX of them. */
    template <class... doubles> options &quantiles(doubles... quantiles) noexcept
    {
        static_assert(sizeof...(doubles) <= CREST_QUANTILES_MAX,
                      "a metric has at most 4 quantiles");
        unsigned at = 0;
        (static_cast<void>(options_.quantiles[at++] = static_cast<double>(quantiles)), ...);
        return *this;
    }
    options &native(crest_native_mode mode, double factor = 0) noexcept
    {
        options_.native = mode;
        return set(options_.native_factor, factor);
    }
    /* Names of stages, in order; static texts. */
    template <class... texts> options &stages(const texts &...names) noexcept
    {
        static_assert(sizeof...(texts) <= CREST_STAGES_MAX, "a metric has at most 16 stages");
        unsigned at = 0;
        (static_cast<void>(options_.stages[at++] = names), ...);
        return *this;
    }
    /* The registry that it goes to; borrowed while it lives. Default: the default registry. */
    options &in(crest_registry *registry) noexcept { return set(registry_, registry); }

    const crest_metric_options &as_c() const noexcept { return options_; }
    crest_registry *registry() const noexcept { return registry_; }

  private:
    /* What the field can hold: a negative time is 0, a longer one the longest. */
    static uint32_t whole(int64_t count) noexcept
    {
        return count < 0 ? 0 : count > UINT32_MAX ? UINT32_MAX : static_cast<uint32_t>(count);
    }
    template <class type> options &set(type &field, type value) noexcept
    {
        field = value;
        return *this;
    }
    crest_metric_options options_{};
    crest_registry *registry_ = nullptr;
};

/* What is not for callers. */
namespace detail
{

/* A text that C can read, for as long as this lives. A string_view is copied: it need not end with
 * a NUL. `size` holds one character more than the limit, so that the library sees what is too long,
 * and counts it. A NUL inside ends the text. */
template <size_t size> class c_text
{
  public:
    explicit c_text(const char *text) noexcept : text_(text) {}
    explicit c_text(const std::string &text) noexcept : text_(text.c_str()) {}
    explicit c_text(std::string_view text) noexcept : text_(copy_)
    {
        size_t length = text.size() < size - 1 ? text.size() : size - 1;
        if (length != 0)
            std::memcpy(copy_, text.data(), length);
        copy_[length] = '\0';
    }
    /* Whole numbers are label values too. */
    template <class number, std::enable_if_t<std::is_integral_v<number>, int> = 0>
    explicit c_text(number value) noexcept : text_(copy_)
    {
        static_assert(!std::is_same_v<number, bool> && !std::is_same_v<number, char>,
                      "a label value is a text or a number: write \"true\", or a string");
        *std::to_chars(copy_, copy_ + size - 1, value).ptr = '\0';
    }
    c_text(const c_text &) = delete;
    c_text &operator=(const c_text &) = delete;
    const char *c_str() const noexcept { return text_; }

  private:
    const char *text_;
    char copy_[size];
};

using name_text = c_text<CREST_NAME_BYTES_MAX + 5>;
using value_text = c_text<CREST_LABEL_VALUE_BYTES_MAX + 5>;

/* What holds of all five kinds: their type in C, how they are found and made. */
template <class handle> struct kind_of;
#define CREST_KIND_OF_(name, kind_)                                                                \
    template <> struct kind_of<crest_##name> {                                                     \
        static constexpr crest_kind kind = kind_;                                                  \
        using family = crest_##name##_family;                                                      \
        static constexpr auto get = &crest_##name##_get;                                           \
        static constexpr auto family_get = &crest_##name##_family_get;                             \
    }
CREST_KIND_OF_(counter, CREST_KIND_COUNTER);
CREST_KIND_OF_(gauge, CREST_KIND_GAUGE);
CREST_KIND_OF_(histogram, CREST_KIND_HISTOGRAM);
CREST_KIND_OF_(timer, CREST_KIND_TIMER);
CREST_KIND_OF_(range_sampler, CREST_KIND_RANGE_SAMPLER);
CREST_KIND_OF_(stages, CREST_KIND_STAGES);
#undef CREST_KIND_OF_

inline crest_handle &handle_of(crest_stages &stages) noexcept
{
    return stages.timer.handle;
}
template <class type> crest_handle &handle_of(type &metric) noexcept
{
    return metric.handle;
}

/* "FILE:LINE" of the declaration, for messages; the library copies it. */
class place
{
  public:
    place(const char *file, int line) noexcept
    {
        size_t length = std::strlen(file);
        size_t cut = length > sizeof text_ - 16 ? length - (sizeof text_ - 16) : 0;
        std::memcpy(text_, file + cut, length - cut);
        char *end = text_ + (length - cut);
        *end++ = ':';
        *std::to_chars(end, text_ + sizeof text_ - 1, line).ptr = '\0';
    }
    const char *text() const noexcept { return text_; }

  private:
    char text_[200];
};

/* A metric that is declared here: handle and declaration in one object, registered at once. */
template <class handle> class declared
{
  public:
    template <size_t name_size, size_t description_size>
    declared(const char (&name)[name_size], const char (&description)[description_size],
             const options &settings = options(), const char *file = __builtin_FILE(),
             int line = __builtin_LINE()) noexcept
    {
        declaration_.kind = kind_of<handle>::kind;
        declaration_.registry = settings.registry();
        declaration_.options = settings.as_c();
        declaration_.options.name = name;
        declaration_.options.description = description;
        const place here(file, line);
        declaration_.place = here.text();
        begin();
        crest_handle_register(&handle_of(metric_));
        declaration_.place = nullptr; /* it was copied, and ends here */
    }
    declared(const declared &) = delete;
    declared &operator=(const declared &) = delete;

    /* The C handle, for calls that this header lacks; valid as long as the metric. */
    handle *c_ptr() noexcept { return &metric_; }
    const handle *c_ptr() const noexcept { return &metric_; }

  private:
    /* As CREST_HANDLE_INIT_: all zero but these two, in each handle that it has. */
    void begin_handle(crest_handle &one) noexcept
    {
        one.abi = CREST_ABI;
        one.declaration = &declaration_;
    }
    void begin_timer(crest_timer &timer) noexcept
    {
        for (crest_histogram &one : timer.outcome)
            begin_handle(one.handle);
    }
    void begin() noexcept
    {
        begin_handle(handle_of(metric_));
        if constexpr (std::is_same_v<handle, crest_timer>)
            begin_timer(metric_);
        if constexpr (std::is_same_v<handle, crest_stages>)
            begin_timer(metric_.timer);
    }
    handle metric_{};
    crest_declaration declaration_{};
};

/* A metric that is elsewhere. */
template <class handle> class found
{
  public:
    /* Of a handle as C has it: found{variable} of CREST_COUNTER's and its relatives'. */
    explicit found(handle &metric) noexcept : metric_(&metric) {}
    found(declared<handle> &metric) noexcept : metric_(metric.c_ptr()) {}

    handle *c_ptr() const noexcept { return metric_; }

  private:
    handle *metric_;
};

/* crest_counter_get and its relatives, by any text. */
template <class reference, class handle> struct by_name : found<handle> {
    using found<handle>::found;
    /* Found or made, as crest_counter_get says. The result records nowhere if that failed; *status
     * (nullptr: not wanted) says why. Cost: looks up, locks when it makes: keep the result. */
    static reference get(std::string_view name, std::string_view description = {},
                         const options &settings = options(),
                         crest_status *status = nullptr) noexcept
    {
        const name_text name_here(name);
        const c_text<CREST_DESCRIPTION_BYTES_MAX + 5> description_here(description);
        crest_metric_options all = settings.as_c();
        all.name = name_here.c_str();
        all.description = description.empty() ? nullptr : description_here.c_str();
        return reference(*kind_of<handle>::get(settings.registry(), &all, status));
    }
};

} // namespace detail

} // namespace crest

#endif
