/* SPDX-License-Identifier: Apache-2.0 */
// crest-test: sanitizers=no timeout=300
/*
 * The profiler in a C++ program that throws all the time: the unwinder of exceptions and the
 * profiler's, which interrupts it, read the same tables. Each exception is caught where it was to
 * be, each destructor runs once, scopes end, and samples reach the function that called.
 */
#include <crest/profile.h>

#include <atomic>
#include <csetjmp>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>
#include <unistd.h>

extern "C" {
#include <cmocka.h>
}

CREST_TIMER(throw_time, "throws.throw-time", "Operations that throw.");

static constexpr unsigned DEPTH = 12;
static constexpr uint64_t SAMPLES = 400;

static std::atomic<bool> throwing;

struct counted {
    uint64_t &count;
    ~counted() { count++; }
};

__attribute__((noinline)) static void throw_below(unsigned depth, uint64_t &destroyed)
{
    counted here{destroyed};
    if (depth == 0)
        throw std::runtime_error("a block that is not valid");
    throw_below(depth - 1, destroyed);
}

static uint64_t wrong;

__attribute__((noinline)) static void throw_again_and_again(void)
{
    while (throwing) {
        uint64_t destroyed = 0;
        bool caught = false;
        try {
            CREST_PROFILE_SCOPE(&throw_time, crest_op_u64(1), nullptr);
            throw_below(DEPTH, destroyed);
        } catch (const std::runtime_error &) {
            caught = true;
        }
        wrong += !caught || destroyed != DEPTH + 1;
    }
}

static int append(void *context, const void *bytes, size_t length)
{
    static_cast<std::string *>(context)->append(static_cast<const char *>(bytes), length);
    return 0;
}

/* Nanoseconds of the lines with these words. */
static double nanoseconds(const std::string &folded, const char *word, const char *other)
{
    double sum = 0;
    for (size_t at = 0; at < folded.size();) {
        size_t end = folded.find('\n', at);
        std::string line = folded.substr(at, end - at);
        if (line.find(word) != std::string::npos && line.find(other) != std::string::npos)
            sum += std::stod(line.substr(line.rfind(' ') + 1));
        at = end + 1;
    }
    return sum;
}

static void test_throwing(void **)
{
    crest_error error;
    std::string folded;
    crest_profiler_options options{};
    options.hz = 1000;
    assert_int_equal(crest_profiler_start(&options, &error), CREST_OK);
    crest_profile *profile = crest_profile_begin(CREST_PROFILE_CPU, &error);
    assert_non_null(profile);
    throwing = true;
    std::thread one(throw_again_and_again), other(throw_again_and_again);
    while (crest_profiler_status().samples < SAMPLES)
        usleep(10000);
    throwing = false;
    one.join();
    other.join();
    assert_int_equal(crest_profile_end(profile, &error), CREST_OK);
    assert_int_equal(crest_profile_write(profile, CREST_PROFILE_FOLDED, append, &folded, &error),
                     CREST_OK);
    crest_profile_free(profile);
    assert_int_equal(crest_profiler_stop(nullptr), CREST_OK);
    assert_int_equal(wrong, 0);
    double raised = nanoseconds(folded, "_Unwind_RaiseException", "throw_below");
    double all = nanoseconds(folded, "[throws.throw-time]", "");
    double whole = nanoseconds(folded, "[throws.throw-time]", "throw_again_and_again");
    print_message("%.0f of %.0f ns in _Unwind_RaiseException, %.0f reach the caller\n", raised, all,
                  whole);
    assert_true(raised > 0);
    assert_true(whole >= 0.95 * all);
}

int main(void)
{
    alarm(280); /* a watchdog: what hangs ends with SIGALRM */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_throwing),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
