/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What tests of a fork's child share: how the child says what it does not find, and how its parent
 * waits for that. cmocka's assertions do not work there.
 */
#ifndef CREST_TESTS_CHILD_FIXTURE_H
#define CREST_TESTS_CHILD_FIXTURE_H

#include "support/core_fixture.h"

#include <sys/wait.h>

/* Runs in a child: prints a condition that does not hold, with its line, and ends the child with
 * 1. */
#define CHILD_WANTS(condition)                                                                     \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "child: %s:%d: %s\n", __FILE__, __LINE__, #condition);                 \
            _exit(1);                                                                              \
        }                                                                                          \
    } while (0)

__attribute__((unused)) static void wait_for_child(pid_t child)
{
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

__attribute__((unused)) static uint64_t fork_count(const char *name, const char *value)
{
    crest_snapshot *snapshot = crest_snapshot_take(NULL);
    CHILD_WANTS(snapshot != NULL);
    crest_series_view view;
    CHILD_WANTS(crest_snapshot_find(snapshot, name, &value, value != NULL, &view) == CREST_OK);
    uint64_t count = view.distribution ? crest_distribution_count(view.distribution) : view.counter;
    crest_snapshot_free(snapshot);
    return count;
}

#endif
