/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What of the textfile reporter's page is on the disk when a report says so, and when memory lacks.
 */
#define _GNU_SOURCE
#include "base/alloc.h"
#include "support/textfile_fixture.h"

#include <errno.h>
#include <sys/syscall.h>

CREST_COUNTER(disk_written, "test.disk-written", "Something to write.");

static const char *synced_path; /* NULL: nobody counts */
static unsigned synced_files, synced_folders, synced_too_early, refuse_folder;

/* In place of the C library's. */
int fsync(int descriptor)
{
    struct stat about;
    if (synced_path != NULL && fstat(descriptor, &about) == 0) {
        int folder = S_ISDIR(about.st_mode);
        synced_files += !folder;
        synced_folders += folder;
        /* the page is on the disk before it has its name, and that is before the folder is */
        synced_too_early += folder != (access(synced_path, F_OK) == 0);
        if (folder && refuse_folder) {
            errno = EIO;
            return -1;
        }
    }
    return (int)syscall(SYS_fsync, descriptor);
}

/* A report that says ok is there after a power failure: its bytes, and its name in the folder. */
static void test_sync(void **state)
{
    place *here = *state;
    crest_error error;
    synced_path = here->path;
    crest_reporter *reporter = make(&(crest_textfile_options){.path = here->path});
    assert_report(reporter);
    assert_int_equal(synced_files + synced_folders, 0);
    crest_reporter_free(reporter);
    assert_int_equal(unlink(here->path), 0);
    reporter = make(&(crest_textfile_options){.path = here->path, .sync = 1});
    assert_report(reporter);
    assert_int_equal(synced_files, 1);
    assert_int_equal(synced_folders, 1);
    assert_int_equal(synced_too_early, 0);
    refuse_folder = 1;
    assert_int_equal(report(reporter, &error), CREST_IO);
    assert_non_null(strstr(error.message, "waiting for the rename to be on the disk"));
    refuse_folder = 0;
    synced_path = NULL;
    crest_reporter_free(reporter);
}

/* Each allocation fails in turn: the page that was there stays, whole. */
static void test_no_memory_for_a_page(void **state)
{
    place *here = *state;
    crest_error error;
    crest_reporter *reporter = make(&(crest_textfile_options){.path = here->path});
    const crest_resource resource = {"", "", "host", NULL, 0};
    crest_counter_inc(&disk_written);
    assert_report(reporter);
    char *before = strdup(contents(here->path)), name[256];
    unsigned failures = 0;
    crest_status status = CREST_NO_MEMORY;
    for (unsigned long n = 1; status != CREST_OK; n++) {
        crest_snapshot *snapshot = crest_snapshot_take(NULL);
        crest_report made = {.snapshot = snapshot,
                             .resource = &resource,
                             .deadline_ns = crest_now() + UINT64_C(5000000000)};
        crest_alloc_fail_after(n);
        status = reporter->report(reporter, &made, &error);
        crest_alloc_fail_after(0);
        crest_snapshot_free(snapshot);
        failures += status != CREST_OK;
        if (status != CREST_OK)
            assert_string_equal(contents(here->path), before);
        assert_int_equal(place_count(here, name), 1);
    }
    assert_true(failures > 0);
    free(before);
    crest_reporter_free(reporter);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLACE_TEST(test_sync),
        PLACE_TEST(test_no_memory_for_a_page),
    };
    return cmocka_run_group_tests_name("textfile on the disk", tests, NULL, NULL);
}
