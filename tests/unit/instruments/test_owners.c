/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keyed operations that have an owner: ended all at once by it, and else like any other.
 */
#include "base/arena.h"
#include "base/misuse.h"
#include "in_flight/in_flight_table.h"
#include "support/core_fixture.h"

#include <crest/lifetime.h>
#include <crest/stages.h>
#include <sys/wait.h>

#define OWNERS_MS UINT64_C(1000000)

CREST_TIMER(request, "owners.request", "Of connections.");
CREST_TIMER(limited, "owners.limited", "With a deadline.", .deadline_ms = 50);
CREST_TIMER_FAMILY(fetch, "owners.fetch", "Of peers.", peer);
CREST_STAGES(block, "owners.block", "A block.", .stages = {"seen", "stored"});

static uint64_t owners_count(const char *name, const char *outcome, uint64_t *sum)
{
    crest_testing_reading reading = {.count = 0};
    crest_testing_read(NULL, NULL, &reading, NULL, name, "outcome", outcome, NULL);
    if (sum != NULL)
        *sum = reading.sum;
    return reading.count;
}

static void test_ended(void **state)
{
    (void)state;
    crest_op mine = crest_op_u64(7), other = crest_op_text("7");
    uint64_t sum;
    crest_testing_clock_set(1000 * OWNERS_MS);
    assert_int_equal(crest_owner_end(mine, CREST_OUTCOME_OK), 0);
    for (uint64_t i = 0; i < 3; i++) {
        assert_int_equal(crest_timer_begin_owned(&request, crest_op_u64(i), mine), CREST_OK);
        crest_testing_clock_advance(OWNERS_MS);
    }
    assert_int_equal(crest_timer_begin_owned(&request, crest_op_u64(3), other), CREST_OK);
    assert_int_equal(crest_timer_begin(&request, crest_op_u64(4)), CREST_OK);
    assert_int_equal(crest_stages_begin_owned(&block, crest_op_u64(0), mine), CREST_OK);
    assert_int_equal(crest_stages_mark(&block, crest_op_u64(0), 0), CREST_OK);
    /* what is in flight keeps the owner that it has, or none */
    assert_int_equal(crest_timer_begin_owned(&request, crest_op_u64(4), mine), CREST_ALREADY);
    assert_int_equal(crest_timer_begin_owned(&request, crest_op_u64(3), mine), CREST_ALREADY);
    assert_int_equal(crest_owner_end(mine, CREST_OUTCOME_CANCELLED), 4);
    assert_int_equal(owners_count("owners.request", "cancelled", &sum), 3);
    assert_int_equal(sum, (3 + 2 + 1) * OWNERS_MS);
    assert_int_equal(owners_count("owners.block", "cancelled", NULL), 1);
    assert_int_equal(crest_timer_in_flight(&request).count, 2);
    assert_int_equal(crest_stages_in_flight(&block).count, 0);
    assert_int_equal(crest_timer_end(&request, crest_op_u64(0), CREST_OUTCOME_OK), CREST_NOT_FOUND);
    assert_int_equal(crest_owner_end(mine, CREST_OUTCOME_CANCELLED), 0);
    assert_int_equal(crest_owner_end(other, CREST_OUTCOME_ERROR), 1);
    assert_int_equal(owners_count("owners.request", "error", NULL), 1);
    assert_int_equal(crest_timer_end(&request, crest_op_u64(4), CREST_OUTCOME_OK), CREST_OK);
    crest_testing_clock_real();
}

/* An id, and an entry of the table, that was an owner's before is not his any more. */
static void test_no_longer_owned(void **state)
{
    (void)state;
    crest_op mine = crest_op_bytes("of more than thirty-two bytes, so as a digest", 45);
    crest_op other = crest_op_u64x2(1, 2);
    for (uint64_t i = 0; i < 500; i++) {
        assert_int_equal(crest_timer_begin_owned(&request, crest_op_u64(i), mine), CREST_OK);
        assert_int_equal(crest_timer_end(&request, crest_op_u64(i), CREST_OUTCOME_OK), CREST_OK);
    }
    for (uint64_t i = 0; i < 500; i++)
        assert_int_equal(i % 2 ? crest_timer_begin(&request, crest_op_u64(i))
                               : crest_timer_begin_owned(&request, crest_op_u64(i), other),
                         CREST_OK);
    assert_int_equal(crest_owner_end(mine, CREST_OUTCOME_OK), 0);
    assert_int_equal(crest_timer_in_flight(&request).count, 500);
    assert_int_equal(crest_owner_end(other, CREST_OUTCOME_OK), 250);
    for (uint64_t i = 1; i < 500; i += 2)
        assert_int_equal(crest_timer_end(&request, crest_op_u64(i), CREST_OUTCOME_OK), CREST_OK);
    assert_int_equal(crest_timer_in_flight(&request).count, 0);
}

/* What is overdue has timed out, whoever notices. */
static void test_overdue(void **state)
{
    (void)state;
    crest_op mine = crest_op_u64(1);
    uint64_t sum;
    crest_testing_clock_set(1000 * OWNERS_MS);
    assert_int_equal(crest_timer_begin_owned(&limited, crest_op_u64(1), mine), CREST_OK);
    crest_testing_clock_advance(30 * OWNERS_MS);
    assert_int_equal(crest_timer_begin_owned(&limited, crest_op_u64(2), mine), CREST_OK);
    crest_testing_clock_advance(30 * OWNERS_MS);
    assert_int_equal(crest_owner_end(mine, CREST_OUTCOME_CANCELLED), 1);
    assert_int_equal(owners_count("owners.limited", "timeout", &sum), 1);
    assert_int_equal(sum, 50 * OWNERS_MS);
    assert_int_equal(owners_count("owners.limited", "cancelled", &sum), 1);
    assert_int_equal(sum, 30 * OWNERS_MS);
    assert_int_equal(crest_timer_end(&limited, crest_op_u64(1), CREST_OUTCOME_OK), CREST_TIMED_OUT);
    assert_int_equal(crest_timer_end(&limited, crest_op_u64(2), CREST_OUTCOME_OK), CREST_NOT_FOUND);
    crest_testing_clock_real();
}

/* A series that is retired takes what its operations' owners had there with it. */
static void test_retired(void **state)
{
    (void)state;
    crest_op mine = crest_op_u64(9);
    crest_timer *peer = fetch_with("a");
    assert_int_equal(crest_timer_begin_owned(peer, crest_op_u64(1), mine), CREST_OK);
    assert_int_equal(crest_timer_begin_owned(fetch_with("b"), crest_op_u64(1), mine), CREST_OK);
    assert_int_equal(crest_retire(NULL, "peer", "a"), 1);
    assert_int_equal(crest_timer_begin_owned(peer, crest_op_u64(1), mine), CREST_LATE);
    assert_int_equal(crest_owner_end(mine, CREST_OUTCOME_OK), 1);
}

static void test_wrong_use(void **state)
{
    (void)state;
    uint64_t operations = crest_misuse_value(CREST_MISUSE_OPERATION);
    uint64_t outcomes = crest_misuse_value(CREST_MISUSE_OUTCOME);
    crest_op one = crest_op_u64(1), none = crest_op_none();
    assert_int_equal(crest_timer_begin_owned(&request, none, one), CREST_INVALID_ARGUMENT);
    assert_int_equal(crest_timer_begin_owned(&request, one, none), CREST_INVALID_ARGUMENT);
    assert_int_equal(crest_stages_begin_owned(&block, one, none), CREST_INVALID_ARGUMENT);
    assert_int_equal(crest_owner_end(none, CREST_OUTCOME_OK), 0);
    assert_int_equal(crest_owner_end(one, CREST_OUTCOME_COUNT), 0);
    assert_int_equal(crest_misuse_value(CREST_MISUSE_OPERATION), operations + 4);
    assert_int_equal(crest_misuse_value(CREST_MISUSE_OUTCOME), outcomes + 1);
    assert_int_equal(crest_timer_in_flight(&request).count, 0);
}

/* Many of both, in an order that goes up and down: each is ended once, by its owner. */
static void test_many(void **state)
{
    (void)state;
    enum { OWNERS = 300, OPERATIONS = 20 };
    uint64_t before = owners_count("owners.request", "cancelled", NULL);
    for (uint64_t i = 0; i < OWNERS * OPERATIONS; i++)
        assert_int_equal(
            crest_timer_begin_owned(&request, crest_op_u64(i), crest_op_u64(i * 7 % OWNERS)),
            CREST_OK);
    for (uint64_t i = 0; i < OWNERS; i++) {
        assert_int_equal(crest_owner_end(crest_op_u64(i * 11 % OWNERS), CREST_OUTCOME_CANCELLED),
                         OPERATIONS);
        assert_int_equal(crest_timer_in_flight(&request).count, (OWNERS - 1 - i) * OPERATIONS);
    }
    assert_int_equal(owners_count("owners.request", "cancelled", NULL),
                     before + OWNERS * OPERATIONS);
}

/* Without memory for an owner nothing begins. */
static void test_no_memory(void **state)
{
    (void)state;
    crest_op mine = crest_op_u64(5);
    uint64_t refused = 0, begun = 0;
    for (uint64_t i = 0; i < 20000 && refused == 0; i++) {
        crest_arena_fail_after(1);
        crest_status status = crest_timer_begin_owned(&request, crest_op_u64(i), mine);
        crest_arena_fail_after(0);
        assert_true(status == CREST_OK || status == CREST_NO_MEMORY);
        begun += status == CREST_OK;
        refused += status == CREST_NO_MEMORY;
        if (status == CREST_NO_MEMORY) {
            assert_int_equal(crest_timer_in_flight(&request).count, begun);
            begun += crest_timer_begin_owned(&request, crest_op_u64(i), mine) == CREST_OK;
        }
        assert_int_equal(begun, i + 1);
    }
    assert_int_equal(refused, 1);
    assert_int_equal(crest_owner_end(mine, CREST_OUTCOME_OK), begun);
}

static void test_fork(void **state)
{
    (void)state;
    crest_op mine = crest_op_u64(8);
    assert_int_equal(crest_timer_begin_owned(&request, crest_op_u64(1), mine), CREST_OK);
    pid_t child = fork();
    if (child == 0) {
        size_t ended = crest_owner_end(mine, CREST_OUTCOME_OK);
        crest_status begun = crest_timer_begin_owned(&request, crest_op_u64(2), mine);
        _exit(ended != 0 || begun != CREST_OK || crest_owner_end(mine, CREST_OUTCOME_OK) != 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(crest_owner_end(mine, CREST_OUTCOME_OK), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_ended),
        cmocka_unit_test(test_no_longer_owned),
        cmocka_unit_test(test_overdue),
        cmocka_unit_test(test_retired),
        cmocka_unit_test(test_wrong_use),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_fork),
    };
    return cmocka_run_group_tests_name("owners", tests, NULL, NULL);
}
