/* SPDX-License-Identifier: Apache-2.0 */
/* Part of crest.hpp: what ends with its block, timings and spans, and Crest itself running. */
#ifndef CREST_GUARDS_HPP
#define CREST_GUARDS_HPP

#include <crest/metrics.hpp>

#include <exception>
#include <functional>

namespace crest
{

/* ---- guards ---- */

namespace detail
{

/* The outcome of a block: what it said, or error where an exception leaves it. */
class block_outcome
{
  public:
    void set(crest_outcome outcome) noexcept { outcome_ = outcome; }
    crest_outcome get() const noexcept
    {
        bool thrown = outcome_ == CREST_OUTCOME_OK && std::uncaught_exceptions() > exceptions_;
        return thrown ? CREST_OUTCOME_ERROR : outcome_;
    }

  private:
    crest_outcome outcome_ = CREST_OUTCOME_OK;
    int exceptions_ = std::uncaught_exceptions();
};

} // namespace detail

/*
 * Times the rest of its block, as CREST_TIME_SCOPE does: ok unless the block says otherwise, error
 * where an exception leaves it. Any thread, any handler; the end on the thread of the begin, so not
 * across a co_await that may go on elsewhere: that takes a timing.
 */
class scope
{
  public:
    explicit scope(timer_ref of, crest_op op = crest_op_none()) noexcept
        : scope_(crest_time_scope_begin(of.c_ptr(), op, nullptr))
    {
    }
    scope(const scope &) = delete;
    scope &operator=(const scope &) = delete;
    ~scope() { crest_time_scope_record(&scope_, outcome_.get()); }

    void outcome(crest_outcome outcome) noexcept { outcome_.set(outcome); }

  private:
    crest_time_scope scope_;
    detail::block_outcome outcome_;
};

/* Calls the function, records how long it took, and returns what it returned; what it throws passes
 * through, and is recorded as error. */
template <class function>
decltype(auto) time(timer_ref of, crest_op op,
                    function &&called) noexcept(std::is_nothrow_invocable_v<function &&>)
{
    scope timed(of, op);
    return std::invoke(std::forward<function>(called));
}

/* The key of an attribute of spans, or the name of an event: a static object, of a literal. */
class span_key
{
  public:
    template <size_t size>
    constexpr explicit span_key(const char (&name)[size]) noexcept : key_{name, 0}
    {
    }
    span_key(const span_key &) = delete;
    span_key &operator=(const span_key &) = delete;
    crest_span_key *c_ptr() noexcept { return &key_; }

  private:
    crest_span_key key_;
};

/*
 * A scope that is a span where its timer is traced, as CREST_SPAN_SCOPE: the child of the thread's
 * current span, and current itself until its block ends. Outcomes as of scope. The setters are
 * those of span.h with their statuses, and do nothing where the timer is not traced. One thread.
 */
class span
{
  public:
    span(timer_ref of, crest_op op) noexcept { crest_span_enter(of.c_ptr(), op, &timing_); }
    span(const span &) = delete;
    span &operator=(const span &) = delete;
    ~span() { crest_span_leave(&timing_, outcome_.get()); }

    void outcome(crest_outcome outcome) noexcept { outcome_.set(outcome); }
    template <class type> crest_status set(span_key &key, const type &value) noexcept
    {
        if constexpr (std::is_same_v<type, bool>)
            return crest_span_set_bool(&timing_, key.c_ptr(), value);
        else if constexpr (std::is_integral_v<type> || std::is_enum_v<type>)
            return crest_span_set_i64(&timing_, key.c_ptr(), static_cast<int64_t>(value));
        else if constexpr (std::is_floating_point_v<type>)
            return crest_span_set_double(&timing_, key.c_ptr(), static_cast<double>(value));
        else {
            const std::string_view text = value;
            return crest_span_set_text(&timing_, key.c_ptr(), text.data(), text.size());
        }
    }
    crest_status event(span_key &name) noexcept
    {
        return crest_span_add_event(&timing_, name.c_ptr());
    }
    crest_status link(const crest_span_context &to) noexcept
    {
        return crest_span_add_link(&timing_, &to);
    }
    crest_status kind(crest_span_kind kind) noexcept { return crest_span_set_kind(&timing_, kind); }
    crest_status message(std::string_view text) noexcept
    {
        return crest_span_set_message(&timing_, text.data(), text.size());
    }
    /* The parent of what it calls; crest_span_timing_context. */
    crest_span_context context() noexcept { return crest_span_timing_context(&timing_); }

  private:
    crest_span_timing timing_;
    detail::block_outcome outcome_;
};

/* ---- the process ---- */

/*
 * Crest running, from crest_start to crest_stop, which its destructor calls: the last flush is then
 * done before main returns. Moved, not copied. Not for signal handlers; the destructor blocks, at
 * most for its deadline.
 *
 *     crest::runtime crest{"service=node,prometheus=27378"};
 *     if (!crest)
 *         std::cerr << crest.message() << '\n';
 */
class runtime
{
  public:
    /* Options as crest_start has them; nullptr: those of CREST_OPTS only. */
    explicit runtime(const char *options = nullptr) noexcept
        : status_(crest_start(options, &error_))
    {
        running_ = status_ == CREST_OK || status_ == CREST_PARTIAL || status_ == CREST_ALREADY;
        if (status_ == CREST_OK)
            error_.message[0] = '\0';
    }
    explicit runtime(const std::string &options) noexcept : runtime(options.c_str()) {}
    runtime(runtime &&other) noexcept
        : error_(other.error_), status_(other.status_),
          running_(std::exchange(other.running_, false)), deadline_(other.deadline_)
    {
    }
    runtime &operator=(runtime &&) = delete;
    ~runtime() { stop(deadline_); }

    /* True while all that was asked for runs; with CREST_PARTIAL and CREST_ALREADY it runs too, see
     * running(). */
    explicit operator bool() const noexcept { return running_ && status_ == CREST_OK; }
    bool running() const noexcept { return running_; }
    crest_status status() const noexcept { return status_; }
    /* Why the start or the stop was not CREST_OK, one sentence; empty otherwise. */
    std::string_view message() const noexcept { return error_.message; }
    /* How long the destructor may take; 0: CREST_ATEXIT_DEADLINE_MS. */
    void deadline(std::chrono::milliseconds deadline) noexcept { deadline_ = deadline; }
    /* Stops it now; later calls and the destructor do nothing. crest_stop's status. */
    crest_status stop(std::chrono::milliseconds deadline) noexcept
    {
        if (!std::exchange(running_, false))
            return CREST_NOT_RUNNING;
        status_ = crest_stop(static_cast<uint64_t>(deadline.count()), &error_);
        if (status_ == CREST_OK)
            error_.message[0] = '\0';
        return status_;
    }

  private:
    crest_error error_{};
    crest_status status_;
    bool running_ = false;
    std::chrono::milliseconds deadline_{0};
};

/* A registry of its own, for a component or a test: crest_registry_new and _free. Moved, not
 * copied. Metrics made in it do nothing once it is gone. */
class registry
{
  public:
    explicit registry(const crest_registry_options &options = {}) noexcept
        : registry_(crest_registry_new(&options))
    {
    }
    registry(registry &&other) noexcept : registry_(std::exchange(other.registry_, nullptr)) {}
    registry &operator=(registry &&other) noexcept
    {
        std::swap(registry_, other.registry_);
        return *this;
    }
    ~registry() { crest_registry_free(registry_); }
    /* nullptr where there was no memory for it, which other calls take for the default registry. */
    crest_registry *c_ptr() const noexcept { return registry_; }

  private:
    crest_registry *registry_;
};

} // namespace crest

#endif
