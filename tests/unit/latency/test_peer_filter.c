/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The arithmetic of peer clocks against worlds in which the truth is known: clocks that drift this
 * way and that, delays that have nothing to do with each other, and clocks that are set.
 */
#include "support/core_fixture.h"
#include "latency/peers/peer_filter.h"
#include "support/random_numbers.h"

#define FILTER_S INT64_C(1000000000)

static uint64_t filter_seed;

static uint64_t filter_random(uint64_t below)
{
    filter_seed = random_step(filter_seed);
    return below != 0 ? (filter_seed >> 20) % below : 0;
}

/* A time on the way: mostly short, now and then a hundred times as long, sometimes none. */
static int64_t filter_delay(uint64_t typical)
{
    uint64_t kind = filter_random(20);
    uint64_t most = kind == 0 ? 100 * typical : kind == 1 ? 1 : 2 * typical + 1;
    return (int64_t)filter_random(most);
}

/* Where the peer's clock is, and how fast it drifts, which changes all the time. */
typedef struct filter_world {
    int64_t now; /* steady */
    double offset;
    double ppm;
    unsigned ppm_max;
} filter_world;

static void filter_pass(filter_world *world, int64_t ns)
{
    while (ns > 0) {
        int64_t step = ns < FILTER_S / 10 ? ns : FILTER_S / 10;
        world->now += step;
        world->offset += (double)step * world->ppm / 1e6;
        ns -= step;
        if (filter_random(50) == 0) /* up to the most there may be, either way */
            world->ppm = ((double)filter_random(2001) - 1000) / 1000 * world->ppm_max;
    }
}

/* What the peer's clock shows; rounded, as clocks are. */
static int64_t filter_peer_time(const filter_world *world)
{
    return world->now + (int64_t)world->offset;
}

static int filter_exchange(filter_world *world, uint64_t there, uint64_t back, uint64_t held,
                           crest_peer_sample *sample)
{
    int64_t t1 = world->now, t2, t3;
    filter_pass(world, filter_delay(there));
    t2 = filter_peer_time(world);
    filter_pass(world, (int64_t)filter_random(held));
    t3 = filter_peer_time(world);
    filter_pass(world, filter_delay(back));
    return crest_peer_exchange(t1, t2, t3, world->now, world->ppm_max, sample);
}

/* How far the estimate is from the truth, and how far it says it may be. */
static void filter_check(const crest_peer_filter *filter, const filter_world *world)
{
    const crest_peer_sample *best = crest_peer_filter_best(filter);
    uint64_t age = (uint64_t)(world->now - best->at_ns);
    uint64_t bound = best->error_ns + crest_peer_drift(filter->drift_ppm, age);
    double off = (double)best->offset_ns - world->offset;
    /* a nanosecond for the peer's clock, which is rounded down, and one for doubles */
    if (off > (double)bound + 2 || -off > (double)bound + 2)
        fail_msg("off by %.0f ns, bound %llu ns (seed %llu)", off, (unsigned long long)bound,
                 (unsigned long long)filter_seed);
}

static void test_error_is_a_bound(void **state)
{
    (void)state;
    unsigned checks = 0, steps = 0;
    for (unsigned world_number = 0; world_number < 400; world_number++) {
        filter_seed = world_number;
        crest_peer_filter filter = {.size = 1 + (unsigned)filter_random(12)};
        filter_world world = {
            .now = -5 * FILTER_S, /* a while before boot, which tests' clocks may be */
            .offset = ((double)filter_random(2000000) - 1000000) * 1e4,
            .ppm_max = (unsigned)filter_random(CREST_PEER_CLOCK_DRIFT_PPM_MAX + 1),
        };
        filter.drift_ppm = world.ppm_max;
        /* from a millionth of a second to a tenth, and not alike both ways */
        uint64_t there = filter_random(100) * filter_random(1000) * filter_random(1000);
        uint64_t back = filter_random(4) == 0 ? there : filter_random(100000000);
        for (unsigned i = 0; i < 60; i++) {
            crest_peer_sample sample;
            assert_true(filter_exchange(&world, there, back, 1 + filter_random(FILTER_S), &sample));
            steps += (unsigned)crest_peer_filter_add(&filter, &sample);
            for (unsigned look = 0; look < 3; look++, checks++) {
                filter_check(&filter, &world);
                filter_pass(&world, (int64_t)filter_random(5 * FILTER_S));
            }
        }
    }
    assert_int_equal(checks, 400 * 60 * 3);
    assert_int_equal(steps, 0); /* none of them was set */
}

/* The quick one is believed while it is new, a newer and slower one when it has grown old. */
static void test_choice(void **state)
{
    (void)state;
    crest_peer_filter filter = {.size = 3, .drift_ppm = 50};
    crest_peer_sample sample;
    assert_null(crest_peer_filter_best(&filter));
    assert_true(crest_peer_exchange(0, 1000, 1000, 1000000, 50, &sample));
    assert_int_equal(sample.delay_ns, 1000000);
    assert_int_equal(sample.error_ns, 500000 + 50 + 1);
    assert_int_equal(sample.offset_ns, -499000);
    assert_int_equal(crest_peer_filter_add(&filter, &sample), 0);
    assert_int_equal(crest_peer_filter_best(&filter)->at_ns, 1000000);
    /* twice as long, at once: no; five seconds later: no, 0.25 ms are not yet worth it */
    assert_true(crest_peer_exchange(1000000, 1000000, 1000000, 3000000, 50, &sample));
    assert_int_equal(crest_peer_filter_add(&filter, &sample), 0);
    assert_int_equal(crest_peer_filter_best(&filter)->at_ns, 1000000);
    assert_true(crest_peer_exchange(5 * FILTER_S, 5 * FILTER_S, 5 * FILTER_S,
                                    5 * FILTER_S + 2000000, 50, &sample));
    assert_int_equal(crest_peer_filter_add(&filter, &sample), 0);
    assert_int_equal(crest_peer_filter_best(&filter)->at_ns, 1000000);
    /* fifteen seconds later: 0.75 ms; it takes the oldest's place, which was the best */
    assert_true(crest_peer_exchange(15 * FILTER_S, 15 * FILTER_S, 15 * FILTER_S,
                                    15 * FILTER_S + 2000000, 50, &sample));
    assert_int_equal(crest_peer_filter_add(&filter, &sample), 0);
    assert_int_equal(filter.count, 3);
    assert_int_equal(crest_peer_filter_best(&filter)->at_ns, 15 * FILTER_S + 2000000);
}

static void test_impossible(void **state)
{
    (void)state;
    crest_peer_sample sample;
    /* a peer that took 1 ms of an exchange of 1 ms less what clocks may differ by in it: 50 ns */
    assert_true(crest_peer_exchange(0, 0, 1000050, 1000000, 50, &sample));
    assert_int_equal(sample.delay_ns, 0);
    assert_int_equal(sample.error_ns, 51);
    assert_false(crest_peer_exchange(0, 0, 1000051, 1000000, 50, &sample));
    assert_false(crest_peer_exchange(0, 0, INT64_MAX, 1000000, 50, &sample));
    assert_true(crest_peer_exchange(0, INT64_MAX, INT64_MAX, 0, 0, &sample));
    assert_true(sample.offset_ns == INT64_MAX);
    assert_int_equal(crest_peer_drift(50, 0), 0);
    assert_int_equal(crest_peer_drift(50, 1), 1);
    assert_int_equal(crest_peer_drift(50, 20000), 1);
    assert_int_equal(crest_peer_drift(50, 20001), 2);
    assert_true(crest_peer_drift(1000, UINT64_MAX) == UINT64_MAX / 1000 + 1);
}

/* A step shows as soon as it is larger than both errors, whichever way it goes; not before. */
static void test_steps(void **state)
{
    (void)state;
    for (unsigned world_number = 0; world_number < 1000; world_number++) {
        filter_seed = world_number;
        crest_peer_filter filter = {.size = 8, .drift_ppm = 50};
        filter_world world = {.ppm_max = 50};
        crest_peer_sample sample;
        uint64_t most = 0;
        for (unsigned i = 0; i < 8; i++) {
            assert_true(filter_exchange(&world, 1000000, 1000000, 1000, &sample));
            assert_false(crest_peer_filter_add(&filter, &sample));
            most = most < sample.error_ns ? sample.error_ns : most;
            filter_pass(&world, FILTER_S);
        }
        double step = (double)(4 * most + 4000000) * (world_number % 2 ? 1 : -1);
        world.offset += step;
        do
            assert_true(filter_exchange(&world, 1000000, 1000000, 1000, &sample));
        while (sample.error_ns > most);
        assert_true(crest_peer_filter_add(&filter, &sample));
        assert_int_equal(filter.count, 1);
        filter_check(&filter, &world);
        assert_true(filter_exchange(&world, 1000000, 1000000, 1000, &sample));
        assert_false(crest_peer_filter_add(&filter, &sample));
        assert_int_equal(filter.count, 2);
        filter_check(&filter, &world);
    }
}

/* Which is the best is asked at one time, wherever in the ring the newer one lies. */
static void test_best_in_a_ring(void **state)
{
    (void)state;
    crest_peer_filter filter = {.size = 2, .drift_ppm = 50};
    const crest_peer_sample first = {.at_ns = 0, .error_ns = 5000},
                            exact = {.at_ns = INT64_C(1000000000), .error_ns = 100},
                            rough = {.at_ns = INT64_C(2000000000), .error_ns = 20000},
                            rougher = {.at_ns = INT64_C(2100000000), .error_ns = 60000};
    crest_peer_filter_add(&filter, &first);
    crest_peer_filter_add(&filter, &exact);
    assert_int_equal(crest_peer_filter_best(&filter)->at_ns, exact.at_ns);
    /* a second later the exact one is off by 50 µs more; the newer lies before it */
    crest_peer_filter_add(&filter, &rough);
    assert_int_equal(crest_peer_filter_best(&filter)->at_ns, rough.at_ns);
    crest_peer_filter_add(&filter, &rougher);
    assert_int_equal(crest_peer_filter_best(&filter)->at_ns, rough.at_ns);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_error_is_a_bound), cmocka_unit_test(test_choice),
        cmocka_unit_test(test_impossible),       cmocka_unit_test(test_steps),
        cmocka_unit_test(test_best_in_a_ring),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
