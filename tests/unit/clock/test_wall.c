/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The wall clock: as the kernel has it, as tests move it, and what the kernel says of its error.
 */
#define _GNU_SOURCE
#include "clock/clock_inside.h"
#include "support/core_fixture.h"

#include <crest/testing.h>

#include <errno.h>
#include <sys/timex.h>
#include <time.h>

#define WALL_S INT64_C(1000000000)

static int64_t wall_kernel(clockid_t id)
{
    struct timespec now;
    clock_gettime(id, &now);
    return (int64_t)now.tv_sec * WALL_S + now.tv_nsec;
}

/* Between two readings of the kernel's clock, `ahead_ns` away from it. */
static void wall_is(int64_t ahead_ns, int64_t give_or_take_ns)
{
    int64_t before = wall_kernel(CLOCK_REALTIME);
    int64_t read = (int64_t)crest_wall_now() - ahead_ns;
    int64_t after = wall_kernel(CLOCK_REALTIME);
    if (read < before - give_or_take_ns || read > after + give_or_take_ns)
        fail_msg("%lld is not from %lld to %lld", (long long)read, (long long)before,
                 (long long)after);
}

static void test_kernel(void **state)
{
    (void)state;
    wall_is(0, 0);
    crest_clock_wall a = crest_clock_wall_read();
    int64_t before = wall_kernel(CLOCK_BOOTTIME);
    crest_clock_wall b = crest_clock_wall_read();
    int64_t after = wall_kernel(CLOCK_BOOTTIME);
    assert_true((int64_t)b.steady_ns >= before && (int64_t)b.steady_ns <= after);
    /* nobody sets the clock while tests run: the difference is what it was */
    int64_t moved = (int64_t)(b.wall_ns - b.steady_ns) - (int64_t)(a.wall_ns - a.steady_ns);
    uint64_t apart = a.apart_ns + b.apart_ns;
    assert_true(moved <= (int64_t)apart && -moved <= (int64_t)apart);
}

static void test_shifted(void **state)
{
    (void)state;
    crest_clock_wall real = crest_clock_wall_read();
    crest_testing_clock_shift_wall(-3 * WALL_S, 0);
    wall_is(-3 * WALL_S, 1000);
    assert_true(crest_wall_error() == CREST_WALL_ERROR_UNKNOWN);
    /* a tenth too fast: wall and steady clock are so together, as a machine's are */
    int64_t from = wall_kernel(CLOCK_BOOTTIME);
    crest_testing_clock_shift_wall(5 * WALL_S, WALL_S / 10);
    nanosleep(&(struct timespec){0, 20000000}, NULL);
    int64_t before = wall_kernel(CLOCK_REALTIME);
    crest_clock_wall fast = crest_clock_wall_read();
    int64_t after = wall_kernel(CLOCK_REALTIME);
    int64_t passed = wall_kernel(CLOCK_BOOTTIME) - from;
    /* it was read at some time between the two */
    int64_t ahead = (int64_t)fast.wall_ns - 5 * WALL_S;
    assert_true(ahead - after <= passed / 10 + 1 && ahead - before >= 1000000);
    int64_t base = (int64_t)(fast.wall_ns - fast.steady_ns) - 5 * WALL_S;
    int64_t moved = base - (int64_t)(real.wall_ns - real.steady_ns);
    uint64_t apart = fast.apart_ns + real.apart_ns;
    assert_true(moved <= (int64_t)apart && -moved <= (int64_t)apart);
    /* what stands, stands */
    crest_testing_clock_set_wall(7);
    assert_int_equal(crest_wall_now(), 7);
    crest_testing_clock_real();
    wall_is(0, 0);
}

static void test_error(void **state)
{
    (void)state;
    struct timex kernel = {.modes = 0};
    int answer = adjtimex(&kernel);
    errno = 77;
    uint64_t error_ns = crest_wall_error();
    assert_int_equal(errno, 77);
    if (answer < 0 || answer == TIME_ERROR || (kernel.status & STA_UNSYNC) != 0) {
        assert_true(error_ns == CREST_WALL_ERROR_UNKNOWN);
        return;
    }
    /* the kernel lets it grow, by 0.5 ms a second, and whoever keeps the clock sets it back */
    assert_true(error_ns != CREST_WALL_ERROR_UNKNOWN && error_ns % 1000 == 0);
    crest_testing_clock_set_wall(7);
    assert_true(crest_wall_error() == CREST_WALL_ERROR_UNKNOWN);
    crest_testing_clock_real();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kernel),
        cmocka_unit_test(test_shifted),
        cmocka_unit_test(test_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
