/* SPDX-License-Identifier: Apache-2.0 */
/*
 * That a poll which overran is forgiven: each call in time halves the rounds that the next overrun
 * costs it.
 */
#include "support/core_fixture.h"
#include "polls/poller.h"
#include "support/poll_fixture.h"

/* The poller's clock stands but for the slow calls, which step it. */
#define FORGIVEN_BUDGET_MS 1000u

static double forgiven_callback(void *slow)
{
    if (poll_get(int, slow))
        crest_poller_step((FORGIVEN_BUDGET_MS + 100) * UINT64_C(1000000));
    return 1;
}

/* Rounds that leave the poll out, and then one that calls it, in time or not. */
static void forgiven_rounds(crest_registry *registry, const crest_poll *poll, unsigned left_out)
{
    crest_poll_state before = poll_state(poll);
    for (unsigned i = 1; i <= left_out; i++)
        while (poll_state(poll).skipped < before.skipped + i && !poll_state(poll).running)
            crest_snapshot_free(fixture_snapshot(registry));
    assert_int_equal(poll_state(poll).calls, before.calls);
    assert_int_equal(poll_state(poll).skipped, before.skipped + left_out);
    while (poll_state(poll).calls == before.calls && !poll_state(poll).running)
        crest_snapshot_free(fixture_snapshot(registry));
    assert_true(poll_wait_calls(poll, before.calls + 1));
    assert_int_equal(poll_state(poll).skipped, before.skipped + left_out);
}

static void test_halved(void **state)
{
    (void)state;
    int slow = 1;
    crest_registry *registry = fixture_registry(NULL);
    const crest_poll_options options = {.budget_ms = FORGIVEN_BUDGET_MS};
    crest_poll *poll = crest_gauge_poll(fixture_gauge(registry, "polled"), forgiven_callback, &slow,
                                        &options, NULL);
    assert_non_null(poll);
    forgiven_rounds(registry, poll, 0);
    forgiven_rounds(registry, poll, 1);
    poll_set(slow, 0);
    forgiven_rounds(registry, poll, 2);
    forgiven_rounds(registry, poll, 0);
    poll_set(slow, 1);
    forgiven_rounds(registry, poll, 0);
    poll_set(slow, 0);
    forgiven_rounds(registry, poll, 1); /* as after the first: four without forgiveness */
    assert_int_equal(poll_state(poll).overruns, 3);
    assert_int_equal(crest_poll_stop(poll), CREST_OK);
    crest_registry_free(registry);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_halved),
    };
    fixture_watchdog(170);
    crest_poller_step(1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
