/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The clock from inside: continuous at each change of scale, as fast as CLOCK_MONOTONIC_RAW, and
 * never going back. Its source is included, so that changes can be brought about.
 */
#include "clock/clock.c"

#include "support/core_fixture.h"

static void test_verdicts(void **state)
{
    (void)state;
    const uint64_t s = UINT64_C(1000000000);
    static const struct {
        uint64_t kernel_ns;
        int64_t off_ns;
        crest_clock_verdict verdict;
    } cases[] = {
        {1000000000, 0, CREST_CLOCK_KEEP},
        {1000000000, 500, CREST_CLOCK_KEEP},
        {1000000000, 600, CREST_CLOCK_KEEP},
        {1000000000, 601, CREST_CLOCK_REFINE},
        {1000000000, 999999, CREST_CLOCK_REFINE},
        {1000000000, 9999999, CREST_CLOCK_REFINE}, /* under one per cent */
        {1000000000, 10100000, CREST_CLOCK_REBASE},
        {1000000, 100000, CREST_CLOCK_REFINE}, /* ten per cent, but of a moment */
        {10000000, 1100000, CREST_CLOCK_REBASE},
        {3600 * UINT64_C(1000000000), 1800000, CREST_CLOCK_KEEP},
        {3600 * UINT64_C(1000000000), 1900000, CREST_CLOCK_REFINE},
        {3600 * UINT64_C(1000000000), 37 * INT64_C(1000000000), CREST_CLOCK_REBASE},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        uint64_t kernel = cases[i].kernel_ns, off = (uint64_t)cases[i].off_ns;
        assert_int_equal(crest_clock_judge((int64_t)(kernel + off), kernel), cases[i].verdict);
        if (off <= kernel)
            assert_int_equal(crest_clock_judge((int64_t)(kernel - off), kernel), cases[i].verdict);
    }
    assert_int_equal(crest_clock_judge(0, 0), CREST_CLOCK_KEEP);
    assert_int_equal(crest_clock_judge(0, s), CREST_CLOCK_REBASE);
    assert_int_equal(crest_clock_judge((int64_t)s, 0), CREST_CLOCK_REBASE);
    assert_int_equal(crest_clock_judge(INT64_MAX, s), CREST_CLOCK_REBASE);
    assert_int_equal(crest_clock_judge(-1, s), CREST_CLOCK_REBASE);
    assert_int_equal(crest_clock_judge(INT64_MIN, s), CREST_CLOCK_REBASE);
    assert_int_equal(crest_clock_judge(-10, 0), CREST_CLOCK_KEEP);
}

static void test_fake(void **state)
{
    (void)state;
    uint64_t before = crest_now();
    crest_clock_fake(0); /* nothing to give back */
    assert_true(crest_now() >= before);
    crest_clock_fake(5);
    assert_int_equal(crest_now(), 5);
    crest_clock_fake(7);
    crest_clock_check();
    assert_int_equal(crest_now(), 7);
    crest_clock_fake(0);
    assert_true(crest_now() >= before);
    crest_clock_fake(0);
    assert_true(crest_now() >= before);
}

/* Without a counter to be trusted the kernel's clock it is, and stays. */
static void test_kernel_only(void **state)
{
    (void)state;
#if defined(CREST_CLOCK_READ)
    uint32_t usable = clock_usable, next = clock_scale_next;
    const crest_clock_scale *current = crest_clock_current;
    clock_usable = 0;
    clock_scale_next = 0;
    crest_clock_current = &clock_kernel;
    usleep(20000);
    for (int i = 0; i < 1000; i++) {
        uint64_t kernel = crest_kernel_ns(CLOCK_MONOTONIC), now = crest_now();
        assert_true(now >= kernel && crest_kernel_ns(CLOCK_MONOTONIC) >= now);
        crest_clock_check();
    }
    assert_int_equal(crest_clock_source_now(), CREST_CLOCK_KERNEL);
    clock_usable = usable;
    clock_scale_next = next;
    crest_clock_current = current;
#endif
}

#if defined(CREST_CLOCK_READ)

/* As the process began, or skips the test where the counter is not to be trusted. */
static void clock_begin(void)
{
    if (!clock_counter_trusted()) {
        print_message("the kernel does not use the processor's counter here\n");
        skip();
    }
    clock_scale_next = 0;
    clock_rebases = 0;
    clock_usable = 1;
    crest_clock_current = &clock_kernel;
    clock_anchor = clock_last = clock_read_pair();
}

/* How far the library's clock is ahead of the kernel's: the least disturbed of some tries. */
static int64_t clock_ahead(clockid_t id)
{
    int64_t best = 0;
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < 50; i++) {
        uint64_t before = crest_now(), kernel = crest_kernel_ns(id), after = crest_now();
        if (after - before < least) {
            least = after - before;
            best = (int64_t)(before + (after - before) / 2 - kernel);
        }
    }
    return best;
}

/* How far a rate that is known from 10 ms only, or from longer, may be off. */
#define CLOCK_SHORT_PPM 100
#define CLOCK_LONG_PPM 5

/* From the kernel's clock to the counter, again and again. */
static void test_switch(void **state)
{
    (void)state;
    unsigned most = 0; /* of a round that a busy machine let read on */
    for (int round = 0; round < 20; round++) {
        clock_begin();
        uint64_t last = crest_now();
        unsigned readings = 0;
        while (crest_clock_source_now() == CREST_CLOCK_KERNEL) {
            uint64_t now = crest_now();
            assert_true(now >= last);
            last = now;
            readings++;
        }
        uint64_t switched_ns = crest_kernel_ns(CLOCK_MONOTONIC);
        for (int i = 0; i < 1000; i++) {
            uint64_t now = crest_now();
            assert_true(now >= last);
            last = now;
        }
        most = readings > most ? readings : most;
        int64_t ahead = clock_ahead(CLOCK_MONOTONIC);
        int64_t passed = (int64_t)(crest_kernel_ns(CLOCK_MONOTONIC) - switched_ns);
        int64_t allowed = 5000 + passed / 1000000 * CLOCK_SHORT_PPM;
        if (ahead < -allowed || ahead > allowed)
            fail_msg("the switch went %lld ns off", (long long)ahead);
    }
    assert_true(most > 10);
}

static void test_report_schedule(void **state)
{
    (void)state;
    clock_begin();
    usleep(20000);
    (void)crest_now();
    assert_int_equal(crest_clock_source_now(), CREST_CLOCK_COUNTER);
    for (int round = 0; round < 3; round++) {
        uint64_t begun_ns = crest_kernel_ns(CLOCK_MONOTONIC_RAW);
        int64_t before = clock_ahead(CLOCK_MONOTONIC_RAW);
        usleep(500000);
        int64_t ahead = clock_ahead(CLOCK_MONOTONIC_RAW), off = ahead - before;
        int64_t passed = (int64_t)(crest_kernel_ns(CLOCK_MONOTONIC_RAW) - begun_ns);
        /* before the first check the rate is known from 10 ms only */
        int64_t allowed = passed / 1000000 * (round == 0 ? CLOCK_SHORT_PPM : CLOCK_LONG_PPM) + 3000;
        if (off < -allowed || off > allowed)
            fail_msg("%lld ns off in %lld ns, round %d", (long long)off, (long long)passed, round);
        uint64_t last = crest_now();
        crest_clock_check();
        assert_true(crest_now() >= last);
        int64_t jump = clock_ahead(CLOCK_MONOTONIC_RAW) - ahead;
        assert_true(jump > -1000000 && jump < 1000000);
    }
}

/* The kernel says that more time has passed, or less: the first is made good, the second waited
 * for, and no reading goes back. After some of these the kernel's clock is taken for good. */
static void test_rebase(void **state)
{
    (void)state;
    for (int behind = 0; behind < 2; behind++) {
        clock_begin();
        usleep(20000);
        for (unsigned times = 1; times <= CLOCK_REBASES_MAX + 1; times++) {
            uint64_t begun_ns = crest_kernel_ns(CLOCK_MONOTONIC_RAW), last = crest_now();
            assert_int_equal(crest_clock_source_now(), CREST_CLOCK_COUNTER);
            clock_last.raw_ns += behind ? UINT64_C(1000000000) : -UINT64_C(1000000000);
            crest_clock_check();
            uint64_t now = crest_now();
            if (now < last)
                fail_msg("went back %llu ns", (unsigned long long)(last - now));
            int64_t passed = (int64_t)(crest_kernel_ns(CLOCK_MONOTONIC_RAW) - begun_ns);
            int64_t jump = (int64_t)(now - last) - (behind ? 0 : 1000000000);
            assert_true(jump > -1000000 && jump - passed < 1000000);
        }
        assert_int_equal(crest_clock_source_now(), CREST_CLOCK_KERNEL);
        int64_t ahead = clock_ahead(CLOCK_MONOTONIC);
        usleep(10000);
        int64_t off = clock_ahead(CLOCK_MONOTONIC) - ahead;
        assert_true(off > -1000 && off < 1000);
        crest_clock_check();
        assert_int_equal(crest_clock_source_now(), CREST_CLOCK_KERNEL);
    }
}

/* The counter begins again, as after a suspend to RAM or in a machine that was restored elsewhere:
 * told by all that was noted of it having been noted so much higher. Time goes on from where it
 * was, and what has passed meanwhile is known from the kernel. */
static void test_counter_begins_again(void **state)
{
    (void)state;
    static const uint64_t back[] = {UINT64_C(1) << 34, UINT64_C(1) << 50, UINT64_C(1) << 62};
    for (size_t i = 0; i < LENGTH(back); i++) {
        clock_begin();
        usleep(20000);
        uint64_t last = crest_now(), begun_ns = crest_kernel_ns(CLOCK_MONOTONIC_RAW);
        uint64_t rebased = crest_clock_rebases();
        assert_int_equal(crest_clock_source_now(), CREST_CLOCK_COUNTER);
        clock_scales[clock_scale_next - 1].counter_base += back[i];
        clock_anchor.counter += back[i];
        clock_last.counter += back[i];
        crest_clock_check();
        uint64_t now = crest_now();
        uint64_t passed = crest_kernel_ns(CLOCK_MONOTONIC_RAW) - begun_ns;
        assert_true(now >= last);
        if (now - last > passed + 1000000)
            fail_msg("went on by %llu ns in %llu", (unsigned long long)(now - last),
                     (unsigned long long)passed);
        assert_int_equal(crest_clock_rebases(), rebased + 1);
        /* and at the same pace as before */
        int64_t ahead = clock_ahead(CLOCK_MONOTONIC_RAW);
        usleep(20000);
        crest_clock_check();
        int64_t off = clock_ahead(CLOCK_MONOTONIC_RAW) - ahead;
        assert_true(off > -100000 && off < 100000);
        assert_int_equal(crest_clock_rebases(), rebased + 1);
    }
}

/* When there are no more blocks the last scale stays, and the fallback can still be had. */
static void test_every_block(void **state)
{
    (void)state;
    clock_begin();
    usleep(20000);
    uint64_t last = crest_now();
    for (unsigned i = 0; i < 2 * CLOCK_SCALES; i++) {
        usleep(1000);
        clock_last.raw_ns -= 500000; /* enough for a correction, too little for a new base */
        crest_clock_check();
        uint64_t now = crest_now();
        assert_true(now >= last);
        last = now;
    }
    assert_int_equal(clock_scale_next, CLOCK_SCALES - 1);
    assert_int_equal(crest_clock_source_now(), CREST_CLOCK_COUNTER);
    for (unsigned times = 0; times <= CLOCK_REBASES_MAX; times++) {
        clock_last.raw_ns -= UINT64_C(1000000000);
        crest_clock_check();
    }
    assert_int_equal(crest_clock_source_now(), CREST_CLOCK_KERNEL);
    assert_true(crest_now() >= last);
}

/* Threads that read while scales change see time go on; each for itself. The rates before and after
 * a change differ by some ppm of the time that it takes, and of that which a reading takes that has
 * begun before it: moments, unless the machine is busy. */
static uint32_t reading_ends;

/* Gives the largest step back, less what the reading before it explains. */
static void *read_clock(void *unused)
{
    (void)unused;
    uint64_t before = crest_now(), last = crest_now(), back_ns = 0;
    while (!crest_atomic_load32(&reading_ends)) {
        uint64_t now = crest_now(), took_ns = last > before ? last - before : 0;
        uint64_t step_ns = now < last ? last - now : 0;
        uint64_t explained_ns = took_ns / 1000000 * CLOCK_SHORT_PPM;
        if (step_ns > explained_ns && step_ns - explained_ns > back_ns)
            back_ns = step_ns - explained_ns;
        before = last;
        last = now;
    }
    return (void *)(uintptr_t)back_ns;
}

static void test_read_while_changed(void **state)
{
    (void)state;
    pthread_t threads[2];
    uint64_t longest_ns = 0;
    clock_begin();
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, read_clock, NULL), 0);
    for (int i = 0; i < 30; i++) {
        usleep(3000);
        uint64_t begun_ns = crest_kernel_ns(CLOCK_MONOTONIC);
        crest_clock_check();
        uint64_t took_ns = crest_kernel_ns(CLOCK_MONOTONIC) - begun_ns;
        longest_ns = took_ns > longest_ns ? took_ns : longest_ns;
    }
    crest_atomic_store32(&reading_ends, 1);
    for (int i = 0; i < 2; i++) {
        void *back_ns;
        pthread_join(threads[i], &back_ns);
        assert_in_range((uintptr_t)back_ns, 0, 200 + longest_ns / 1000000 * CLOCK_SHORT_PPM);
    }
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_verdicts),
        cmocka_unit_test(test_fake),
        cmocka_unit_test(test_kernel_only),
#if defined(CREST_CLOCK_READ)
        cmocka_unit_test(test_switch),
        cmocka_unit_test(test_report_schedule),
        cmocka_unit_test(test_rebase),
        cmocka_unit_test(test_counter_begins_again),
        cmocka_unit_test(test_every_block),
        cmocka_unit_test(test_read_while_changed),
#endif
    };
    return cmocka_run_group_tests_name("clock", tests, NULL, NULL);
}
