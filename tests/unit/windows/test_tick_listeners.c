/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Listeners of ticks and of snapshots: each is called once a tick or snapshot, in the order in
 * which they were given, however often that was, and no more are taken than there may be.
 */
#include "support/core_fixture.h"
#include "windows/tick_listeners.h"

#include <crest/testing.h>

static char listeners_called[64];

static void listeners_note(char what)
{
    size_t length = strlen(listeners_called);
    assert_true(length + 1 < sizeof listeners_called);
    listeners_called[length] = what;
}

static void listener_a(void)
{
    listeners_note('a');
}

static void listener_b(void)
{
    listeners_note('b');
}

static void listener_s(void)
{
    listeners_note('s');
}

static void test_listeners_are_called_in_order(void **state)
{
    (void)state;
    assert_int_equal(crest_on_tick(listener_a), 0);
    assert_int_equal(crest_on_tick(listener_b), 0);
    assert_int_equal(crest_on_tick(listener_a), 0);
    assert_int_equal(crest_before_snapshot(listener_s), 0);
    crest_listeners_tick();
    assert_string_equal(listeners_called, "ab");
    crest_listeners_snapshot();
    assert_string_equal(listeners_called, "abs");
}

/* A snapshot that is taken whole calls them once. */
static void test_snapshots_call_them(void **state)
{
    (void)state;
    memset(listeners_called, 0, sizeof listeners_called);
    crest_registry *registry = fixture_registry(NULL);
    (void)fixture_counter(registry, "c");
    crest_snapshot_free(crest_snapshot_take(registry));
    assert_string_equal(listeners_called, "s");
    crest_registry_free(registry);
}

/* Functions of their own, which a compiler must not fold into one. */
static unsigned listeners_more_called;

#define LISTENERS_ANOTHER(n)                                                                       \
    static void listener_##n(void)                                                                 \
    {                                                                                              \
        listeners_more_called += (n);                                                              \
    }
LISTENERS_ANOTHER(1)
LISTENERS_ANOTHER(2)
LISTENERS_ANOTHER(3)
LISTENERS_ANOTHER(4)
LISTENERS_ANOTHER(5)
LISTENERS_ANOTHER(6)
LISTENERS_ANOTHER(7)

static crest_listener *const listeners_more[CREST_LISTENERS_MAX - 1] = {
    listener_1, listener_2, listener_3, listener_4, listener_5, listener_6, listener_7};

/* Last, for it leaves no room. */
static void test_no_more_than_there_may_be(void **state)
{
    (void)state;
    unsigned taken = 1; /* listener_s */
    while (taken < CREST_LISTENERS_MAX && crest_before_snapshot(listeners_more[taken - 1]) == 0)
        taken++;
    assert_int_equal(taken, CREST_LISTENERS_MAX);
    assert_int_equal(crest_before_snapshot(listener_a), -1);
    assert_int_equal(crest_before_snapshot(listener_s), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_listeners_are_called_in_order),
        cmocka_unit_test(test_snapshots_call_them),
        cmocka_unit_test(test_no_more_than_there_may_be),
    };
    return cmocka_run_group_tests_name("listeners", tests, NULL, NULL);
}
