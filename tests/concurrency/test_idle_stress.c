/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Series that fall idle and come back while others take snapshots: none stays hidden that was
 * written to, and no record is lost.
 */
#include "support/core_fixture.h"

#include <crest/testing.h>

#define IDLE_SERIES 200
#define IDLE_LOOKERS 2
#define IDLE_TICKS FIXTURE_TIMES(500)
#define IDLE_SECOND UINT64_C(1000000000)

CREST_COUNTER_FAMILY_OPTIONS(idle_family, "idle.events", "Events.", (.idle_s = 1), peer);

static crest_counter *idle_series[IDLE_SERIES];
static uint64_t idle_written;
static uint32_t idle_over;

static int idle_is_over(void)
{
    return (int)__atomic_load_n(&idle_over, __ATOMIC_RELAXED);
}

static void *idle_look(void *context)
{
    while (!idle_is_over())
        crest_snapshot_free(crest_snapshot_take(NULL));
    return context;
}

static void *idle_write(void *context)
{
    unsigned seed = 1;
    for (; !idle_is_over(); idle_written++) {
        crest_counter_inc(idle_series[(unsigned)rand_r(&seed) % IDLE_SERIES]);
        if (idle_written % 16 == 0)
            usleep(100);
    }
    return context;
}

/* How many are shown, and what they come to. */
static unsigned idle_shown(uint64_t *sum)
{
    unsigned shown = 0;
    crest_snapshot *snapshot = fixture_snapshot(NULL);
    *sum = 0;
    for (size_t i = 0; i < crest_snapshot_size(snapshot); i++) {
        crest_series_view series;
        crest_snapshot_series(snapshot, i, &series);
        if (strcmp(series.name, "idle.events") != 0)
            continue;
        shown++;
        *sum += series.counter;
    }
    crest_snapshot_free(snapshot);
    return shown;
}

static void test_idle_and_back(void **state)
{
    (void)state;
    pthread_t looker[IDLE_LOOKERS], writer;
    crest_testing_clock_set(1000 * IDLE_SECOND);
    for (unsigned i = 0; i < IDLE_SERIES; i++) {
        char peer[16];
        snprintf(peer, sizeof peer, "%u", i);
        idle_series[i] = idle_family_with(peer);
        crest_counter_inc(idle_series[i]);
    }
    assert_int_equal(crest_testing_tick(NULL), CREST_OK);
    for (unsigned i = 0; i < IDLE_LOOKERS; i++)
        assert_int_equal(pthread_create(&looker[i], NULL, idle_look, NULL), 0);
    assert_int_equal(pthread_create(&writer, NULL, idle_write, NULL), 0);
    for (unsigned i = 0; i < IDLE_TICKS; i++) {
        usleep(500);
        crest_testing_clock_advance(CREST_WINDOW_S * IDLE_SECOND);
        assert_int_equal(crest_testing_tick(NULL), CREST_OK);
    }
    __atomic_store_n(&idle_over, 1, __ATOMIC_RELAXED);
    for (unsigned i = 0; i < IDLE_LOOKERS; i++)
        pthread_join(looker[i], NULL);
    pthread_join(writer, NULL);
    /* one more for each, hidden or not, and all are there */
    for (unsigned i = 0; i < IDLE_SERIES; i++)
        crest_counter_inc(idle_series[i]);
    uint64_t sum;
    assert_int_equal(idle_shown(&sum), IDLE_SERIES);
    assert_int_equal(sum, idle_written + 2 * IDLE_SERIES);
    crest_ticker_detach(NULL);
    crest_testing_clock_real();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_idle_and_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
