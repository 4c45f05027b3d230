/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A signal handler that emits events between any two instructions of a thread that emits one: each
 * comes out once, whole, and all are accounted. And a handler that emits more than the ring holds:
 * the rest is refused and counted, and what it interrupted is whole.
 *
 * Sanitizers hold signals back. crest-test: sanitizers=none
 */
#if !defined(__x86_64__) || defined(__SANITIZE_THREAD__)

#include <stdio.h>

int main(void)
{
    puts("only on x86-64, and without ThreadSanitizer, is it known where a record stops");
    return 77;
}

#else

#define _GNU_SOURCE
#include "support/event_fixture.h"
#include "support/trap_fixture.h"

/* Six words of a number and a text, and three of the handler's. */
CREST_EVENT(outer, "steps.outer", CREST_INFO, "Interrupted.", (u64, number), (text, said, 16),
            (u64, again));
CREST_EVENT(inner, "steps.inner", CREST_INFO, "In a handler.", (u64, number));
#define INNER_BYTES 24u
#define INNER_FILLS (CREST_EVENT_RING_BYTES_MIN / INNER_BYTES)

static crest_event_reader *steps_reader;
static uint64_t steps_outer, steps_inner;   /* emitted */
static uint64_t steps_outers, steps_inners; /* read since the last check */

static void steps_act(void)
{
    steps_outer++;
    CREST_EMIT(outer, steps_outer, "nine long", ~steps_outer);
}

static void steps_handle(void)
{
    for (unsigned i = 0; i < 3; i++) {
        steps_inner++;
        CREST_EMIT(inner, steps_inner);
    }
}

static void steps_flood(void)
{
    for (unsigned i = 0; i < 2 * INNER_FILLS; i++) {
        steps_inner++;
        CREST_EMIT(inner, steps_inner);
    }
}

/* Reads what there is. The outer one is whole, and inner ones come in their order. */
static crest_event_reader_totals steps_read(void)
{
    crest_event_view event;
    uint64_t before = 0;
    steps_outers = steps_inners = 0;
    while (crest_event_reader_next(steps_reader, &event)) {
        uint64_t number = event.values[0].as.u;
        if (strcmp(event.info->name, "steps.outer") == 0) {
            assert_int_equal(number, steps_outer);
            assert_string_equal(event.values[1].as.text.data, "nine long");
            assert_true(event.values[2].as.u == ~steps_outer);
            steps_outers++;
        } else {
            assert_true(number > before && number <= steps_inner);
            before = number;
            steps_inners++;
        }
    }
    return event_account(steps_reader);
}

static void steps_learn(void)
{
    for (int i = 0; i < 8; i++) { /* the first one takes the lock */
        steps_act();
        steps_handle();
    }
    crest_event_view event;
    while (crest_event_reader_next(steps_reader, &event))
        continue;
    trap_learn(steps_act);
    steps_read();
    assert_int_equal(steps_outers, 1);
}

static void test_handler(void **state)
{
    (void)state;
    unsigned met = 0;
    event_begin(0, 8);
    steps_reader = event_own();
    steps_learn();
    for (unsigned place = 0; place < trap_count; place++) {
        int interrupted = trap_between(place, steps_act, steps_handle) != 0;
        crest_event_reader_totals totals = steps_read();
        met += interrupted;
        assert_int_equal(steps_outers, 1);
        assert_int_equal(steps_inners, interrupted ? 3 : 0);
        assert_int_equal(totals.refused, 0);
        assert_int_equal(totals.lost, 0);
    }
    print_message("interrupted at %u of %u places\n", met, trap_count);
    assert_in_range(met, 100, trap_count);
}

/* It is refused as soon as it would overwrite the event under way. That one is lost all the same
 * where it was not reserved yet, for a ring full of events comes out with one head then, and where
 * it was published already. */
static void test_flood(void **state)
{
    (void)state;
    unsigned refused_at = 0, lost_at = 0;
    steps_learn();
    crest_event_reader_totals before = steps_read();
    for (unsigned place = 0; place < trap_count; place++) {
        uint64_t refused = before.refused, lost = before.lost, read = before.read;
        int interrupted = trap_between(place, steps_act, steps_flood) != 0;
        before = steps_read();
        refused = before.refused - refused;
        if (!interrupted)
            continue;
        refused_at += refused != 0;
        lost_at += steps_outers == 0;
        if (refused != 0 && steps_outers == 0)
            assert_true(before.lost > lost);
        assert_int_equal(before.read - read + before.lost - lost + refused, 2 * INNER_FILLS + 1);
    }
    print_message("refused at %u of %u places, lost at %u\n", refused_at, trap_count, lost_at);
    assert_in_range(lost_at, 1, trap_count - refused_at / 2);
    assert_in_range(refused_at, 20, trap_count - 1);
    assert_int_equal(before.refused_bytes, INNER_BYTES * before.refused);
    crest_event_reader_free(steps_reader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_handler),
        cmocka_unit_test(test_flood),
    };
    fixture_watchdog(60);
    state_dir_make();
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
