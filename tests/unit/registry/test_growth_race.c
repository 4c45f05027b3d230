/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A series that is used again while it is looked at: between the look, which reads its value
 * without the lock, and what the look has decided; and a process that is forked there. To read a
 * distribution takes memory, so the allocator is where this program comes in between.
 *
 * crest-test: sanitizers=none
 */
#include "metrics/slots.h"
#include "registry/growth.h"
#include "support/core_fixture.h"

#include <crest/lifetime.h>
#include <crest/testing.h>
#include <sys/wait.h>

#define RACE_SECOND UINT64_C(1000000000)

CREST_HISTOGRAM_FAMILY(race_size, "race.size", "Sizes.", peer);

void __libc_free(void *block);

static void (*race_between)(void); /* NULL: nothing comes in between */

/* In place of the C library's, for the whole program: what was read is given back after it was. */
void free(void *block)
{
    void (*between)(void) = race_between;
    race_between = NULL;
    if (between != NULL)
        between();
    __libc_free(block);
}

static void race_after(uint64_t seconds)
{
    crest_testing_clock_advance(seconds * RACE_SECOND);
    assert_int_equal(crest_testing_tick(NULL), CREST_OK);
}

static crest_histogram *race_used;

static void race_use(void)
{
    crest_histogram_record(race_used, 7);
}

static void test_used_between(void **state)
{
    (void)state;
    crest_testing_clock_set(1000 * RACE_SECOND);
    race_after(1);
    crest_histogram *size = race_size_with("a");
    crest_histogram_record(size, 5);
    race_after(1);
    assert_int_equal(crest_histogram_release(size), CREST_OK);
    race_after(1);
    crest_testing_clock_advance(1000000);
    crest_snapshot_free(fixture_snapshot(NULL));
    race_after(CREST_LINGER_S + 1);
    for (unsigned i = 0; i < CREST_QUARANTINE_LOOKS; i++)
        race_after(1);
    uint64_t free_before = crest_slots_free();
    /* the look that would free its slot */
    crest_testing_clock_advance(CREST_QUARANTINE_S * RACE_SECOND);
    race_used = size;
    race_between = race_use;
    crest_growth_tick();
    assert_null(race_between);
    assert_int_equal(crest_slots_free(), free_before);
    assert_true(size->handle.slot != 0);
    assert_int_equal(FIXTURE_READING(NULL, "race.size", "peer", "a").sum, 5 + 7);
    crest_histogram_record(size, 1);
    assert_int_equal(FIXTURE_READING(NULL, "race.size", "peer", "a").sum, 5 + 7 + 1);
    crest_testing_clock_real();
}

static pid_t race_child;

/* The child takes a snapshot, for which it looks too. */
static void race_fork(void)
{
    race_child = fork();
    if (race_child != 0)
        return;
    alarm(120);
    crest_snapshot *snapshot = crest_snapshot_take(NULL);
    _exit(snapshot == NULL);
}

static void test_forked_between(void **state)
{
    (void)state;
    int status;
    crest_testing_clock_set(5000 * RACE_SECOND);
    crest_histogram *size = race_size_with("forked");
    crest_histogram_record(size, 5);
    race_after(1);
    assert_int_equal(crest_histogram_release(size), CREST_OK);
    race_between = race_fork;
    crest_growth_tick();
    assert_null(race_between);
    assert_int_equal(waitpid(race_child, &status, 0), race_child);
    assert_int_equal(status, 0);
    crest_testing_clock_real();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_used_between),
        cmocka_unit_test(test_forked_between),
    };
    return cmocka_run_group_tests_name("lives, while looked at", tests, NULL, NULL);
}
