/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events that begin after main() has ended by pthread_exit, when the process's own entries of /proc
 * are gone: their file still names the program. All tests here run on another thread.
 */
#define _GNU_SOURCE
#include "support/event_fixture.h"

#include "state/state_place.h"

CREST_EVENT(orphaned, "test.orphaned", CREST_INFO, "An event after main().", (u64, number));

#define PROGRAM "test_events_orphan"

static int ends_in_program(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL && strcmp(slash + 1, PROGRAM) == 0;
}

static void wait_until_main_is_gone(void)
{
    char path[64];
    for (int i = 0; i < 20000 && readlink("/proc/self/exe", path, sizeof path) >= 0; i++)
        usleep(1000);
    assert_true(readlink("/proc/self/exe", path, sizeof path) < 0);
}

static void test_program(void **state)
{
    (void)state;
    char path[256], cut[6];
    crest_event_reader_about about;
    wait_until_main_is_gone();
    crest_state_program(path, sizeof path);
    assert_true(ends_in_program(path));
    crest_state_program(cut, sizeof cut);
    assert_int_equal(strlen(cut), sizeof cut - 1);
    assert_memory_equal(cut, path, sizeof cut - 1);
    event_begin(0, 8);
    CREST_EMIT(orphaned, 1);
    crest_event_reader *reader = event_own();
    crest_event_view event;
    assert_true(crest_event_reader_next(reader, &event));
    assert_string_equal(event.info->name, "test.orphaned");
    crest_event_reader_tell(reader, &about);
    assert_true(ends_in_program(about.program));
    assert_true(about.alive);
    crest_event_reader_free(reader);
    crest_events_end();
}

static void *run(void *context)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_program)};
    (void)context;
    exit(cmocka_run_group_tests(tests, NULL, NULL));
}

int main(void)
{
    pthread_t thread;
    fixture_watchdog(60);
    state_dir_make();
    if (pthread_create(&thread, NULL, run, NULL) != 0)
        return 1;
    pthread_exit(NULL);
}
