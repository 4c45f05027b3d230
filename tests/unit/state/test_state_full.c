/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tmpfs that is full, at the start and while series come: what has no room is anonymous memory,
 * counted and told, every count is right, and nothing gets SIGBUS. Each case is a child in a mount
 * namespace of its own, with a small tmpfs over the test's directory; where the system allows no
 * such namespace, the test is skipped.
 * crest-test: sanitizers=address
 */
#define _GNU_SOURCE
#include "run/state_run.h"
#include "support/core_fixture.h"
#include "support/state_dir.h"
#include <crest/state.h>

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>

#define FULL_SKIPPED 77
#define FULL_SERIES 1900u
#define FULL_FILE "node.crest"

/* The library's own. */
CREST_GAUGE(outside, "crest.state-outside", "", .unit = CREST_BYTES);
CREST_COUNTER(blocks, "test.blocks", "Blocks.");
CREST_COUNTER_FAMILY(peers, "test.peers", "Peers.", peer);
CREST_HISTOGRAM_FAMILY(sizes, "test.sizes", "Sizes.", peer);

static char full_told[1024];

static void keep_told(crest_log_level level, const char *message, void *context)
{
    (void)context;
    if (level == CREST_LOG_WARNING)
        snprintf(full_told, sizeof full_told, "%s", message);
}

/* ---- a namespace with a small tmpfs ---- */

static int full_write(const char *path, const char *text)
{
    int descriptor = open(path, O_WRONLY | O_CLOEXEC);
    int written = descriptor >= 0 && write(descriptor, text, strlen(text)) == (ssize_t)strlen(text);
    if (descriptor >= 0)
        close(descriptor);
    return written;
}

/* Root of its own user namespace, or, for root, of the system's. */
static int full_namespace(void)
{
    char map[64];
    uid_t uid = getuid();
    gid_t gid = getgid();
    if (uid == 0)
        return unshare(CLONE_NEWNS) == 0;
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0)
        return 0;
    full_write("/proc/self/setgroups", "deny");
    snprintf(map, sizeof map, "0 %u 1", (unsigned)uid);
    int mapped = full_write("/proc/self/uid_map", map);
    snprintf(map, sizeof map, "0 %u 1", (unsigned)gid);
    return mapped && full_write("/proc/self/gid_map", map);
}

static void full_mount(const char *size)
{
    char options[64];
    snprintf(options, sizeof options, "size=%s,mode=0700", size);
    if (!full_namespace() || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("tmpfs", state_dir, "tmpfs", MS_NOSUID | MS_NODEV, options) != 0)
        _exit(FULL_SKIPPED);
}

/* Runs the case in a child; skips without a namespace. */
static void full_case(void (*body)(void))
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        crest_log_to(keep_told, NULL);
        body();
        _exit(0);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFSIGNALED(status))
        fail_msg("signal %d", WTERMSIG(status));
    if (WEXITSTATUS(status) == FULL_SKIPPED) {
        print_message("skipped: no mount namespace of one's own is to be had here\n");
        skip();
    }
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void full_fail(const char *what)
{
    fprintf(stderr, "%s; told: %s\n", what, full_told);
    _exit(1);
}

static crest_status full_start(void)
{
    crest_error error = {.message = ""};
    crest_status status = crest_start(state_dir_options(",state.name=node"), &error);
    if (status != CREST_OK)
        snprintf(full_told, sizeof full_told, "%s", error.message);
    return status;
}

/* ---- what is counted, and read again ---- */

static void full_name(unsigned number, char name[16])
{
    snprintf(name, 16, "peer-%u", number);
}

static void full_record(unsigned series)
{
    char name[16];
    for (unsigned i = 0; i < series; i++) {
        full_name(i, name);
        crest_counter_add(peers_with(name), i + 1);
        for (unsigned n = 0; n < 8; n++)
            crest_histogram_record(sizes_with(name), (int64_t)(i + 1) << n);
    }
}

static void full_expect(unsigned series)
{
    char name[16];
    for (unsigned i = 0; i < series; i++) {
        full_name(i, name);
        if (crest_counter_value(peers_with(name)) != i + 1)
            full_fail(name);
    }
}

/* What is in the file is right as far as it goes; returns how many of the counters are in it. */
static unsigned full_read(void)
{
    crest_remains *remains;
    crest_remains_about about;
    crest_error error;
    unsigned found = 0;
    if (crest_remains_read(state_dir_path(FULL_FILE), &remains, &error) != CREST_OK)
        full_fail(error.message);
    crest_remains_tell(remains, &about);
    if (about.refused_bytes == 0)
        full_fail("the file does not say what it lacks");
    for (size_t i = 0; i < about.series; i++) {
        crest_series_view view;
        unsigned number;
        if (crest_remains_series(remains, i, &view) != CREST_OK ||
            strcmp(view.name, "test.peers") != 0)
            continue;
        if (sscanf(view.label_values[view.label_count - 1], "peer-%u", &number) != 1 ||
            (view.counter != number + 1 && view.counter != 0))
            full_fail("a counter in the file is wrong");
        found += view.counter != 0;
    }
    crest_remains_free(remains);
    return found;
}

/* ---- cases ---- */

static void full_at_start(void)
{
    full_mount("32k");
    if (full_start() != CREST_PARTIAL || strstr(full_told, state_dir) == NULL)
        full_fail("a file of 64 KiB on 32 KiB");
    full_record(100);
    full_expect(100);
}

static void test_full_at_start(void **state)
{
    (void)state;
    full_case(full_at_start);
}

static void full_while_it_runs(void)
{
    full_mount("1536k");
    if (full_start() != CREST_OK)
        full_fail("there was room at the start");
    full_record(FULL_SERIES);
    full_expect(FULL_SERIES);
    crest_state_tick();
    if (strstr(full_told, "is full: ") == NULL || crest_gauge_value(&outside) <= 0)
        full_fail("it is not told");
    unsigned found = full_read();
    if (found == 0 || found == FULL_SERIES)
        full_fail("all or none of the counters are in the file");
}

static void test_full_while_it_runs(void **state)
{
    (void)state;
    full_case(full_while_it_runs);
}

/* Another file fills it up; then what was mapped before is still written to. */
static void full_by_another(void)
{
    static char zeros[65536];
    full_mount("4m");
    if (full_start() != CREST_OK)
        full_fail("there was room at the start");
    full_record(100);
    int descriptor = open(state_dir_path("other"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    while (descriptor >= 0 && write(descriptor, zeros, sizeof zeros) > 0)
        continue;
    close(descriptor);
    full_expect(100);
    crest_counter_add(&blocks, 3);
    char name[16];
    for (unsigned i = 100; i < FULL_SERIES; i++) {
        full_name(i, name);
        crest_counter_add(peers_with(name), i + 1);
        crest_histogram_record(sizes_with(name), (int64_t)i << 20);
    }
    full_expect(FULL_SERIES);
    if (crest_counter_value(&blocks) != 3)
        full_fail("blocks");
    full_read();
}

static void test_full_by_another(void **state)
{
    (void)state;
    full_case(full_by_another);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_full_at_start),
        cmocka_unit_test(test_full_while_it_runs),
        cmocka_unit_test(test_full_by_another),
    };
    state_dir_skip_tsan();
    state_dir_make();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
