/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the tests of the textfile reporter share: a folder for each test, a reporter into it, and
 * one report. Tests nothing itself.
 */
#ifndef CREST_TESTS_TEXTFILE_FIXTURE_H
#define CREST_TESTS_TEXTFILE_FIXTURE_H

#include <crest/crest.h>
#include <crest/textfile.h>
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

typedef struct place {
    char folder[64], path[96];
} place;

__attribute__((unused)) static int place_setup(void **state)
{
    place *here = calloc(1, sizeof *here);
    strcpy(here->folder, "/tmp/crest-textfile-XXXXXX");
    assert_non_null(mkdtemp(here->folder));
    snprintf(here->path, sizeof here->path, "%s/node.prom", here->folder);
    *state = here;
    return 0;
}

/* Counts the names in the folder; `name` gets one of them. */
__attribute__((unused)) static int place_count(const place *here, char name[256])
{
    int count = 0;
    DIR *directory = opendir(here->folder);
    const struct dirent *entry;
    while ((entry = readdir(directory)) != NULL)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            count++;
            snprintf(name, 256, "%s", entry->d_name);
        }
    closedir(directory);
    return count;
}

__attribute__((unused)) static int place_teardown(void **state)
{
    place *here = *state;
    char name[256], path[400];
    chmod(here->folder, 0700);
    while (place_count(here, name) > 0) {
        snprintf(path, sizeof path, "%s/%s", here->folder, name);
        if (unlink(path) != 0 && rmdir(path) != 0)
            return -1;
    }
    rmdir(here->folder);
    free(here);
    return 0;
}

#define PLACE_TEST(function) cmocka_unit_test_setup_teardown(function, place_setup, place_teardown)

__attribute__((unused)) static char *contents(const char *path)
{
    static char text[1 << 18];
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return NULL;
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    return text;
}

/* ---- the reporter ---- */

__attribute__((unused)) static crest_reporter *make(const crest_textfile_options *options)
{
    crest_error error;
    crest_reporter *reporter = crest_textfile_new(options, &error);
    if (reporter == NULL)
        fail_msg("%s", error.message);
    return reporter;
}

/* Makes a report that is not the last. */
__attribute__((unused)) static crest_status report(crest_reporter *reporter, crest_error *error)
{
    const crest_page_label labels[] = {{"zone", "a"}, {"instance", "no"}, {"job", "no"}};
    const crest_resource resource = {"rnode", "0.13", "host", labels, LENGTH(labels)};
    crest_snapshot *snapshot = crest_snapshot_take(NULL);
    crest_report made = {.snapshot = snapshot,
                         .resource = &resource,
                         .deadline_ns = crest_now() + UINT64_C(5000000000)};
    crest_error_set(error, CREST_OK, "%s", "");
    crest_status status = reporter->report(reporter, &made, error);
    crest_snapshot_free(snapshot);
    return status;
}

__attribute__((unused)) static void assert_report(crest_reporter *reporter)
{
    crest_error error;
    if (report(reporter, &error) != CREST_OK)
        fail_msg("%s", error.message);
}

#endif
