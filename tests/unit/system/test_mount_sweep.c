/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mount_sweep.h: file systems that answer, that answer late, and that do not answer at all, which
 * hold up nothing but themselves. The last kind is made by a look that waits for the test.
 */
#include "support/core_fixture.h"

#include "system/host/mount_sweep.h"

#include <dirent.h>
#include <errno.h>
#include <sys/statvfs.h>
#include <sys/wait.h>

#define WAIT_MS 30u
/* What those that answer take on no machine, however busy. */
#define PATIENCE_MS 60000u

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int released; /* what hangs comes back */
static unsigned hanging;

/* Points that begin with /hang wait. */
static void look(crest_mount_space *space)
{
    if (strncmp(space->point, "/hang", 5) == 0) {
        pthread_mutex_lock(&lock);
        hanging++;
        while (!released)
            pthread_cond_wait(&changed, &lock);
        hanging--;
        pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&lock);
    }
    space->total = strlen(space->point);
}

static void hang(void)
{
    pthread_mutex_lock(&lock);
    released = 0;
    pthread_mutex_unlock(&lock);
}

/* Lets them all come back, and waits until they have. */
static void release(void)
{
    pthread_mutex_lock(&lock);
    released = 1;
    pthread_cond_broadcast(&changed);
    while (hanging > 0)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
}

/* Threads of this process. */
static unsigned threads_now(void)
{
    unsigned count = 0;
    DIR *tasks = opendir("/proc/self/task");
    assert_non_null(tasks);
    for (struct dirent *task; (task = readdir(tasks)) != NULL;)
        count += task->d_name[0] != '.';
    closedir(tasks);
    return count;
}

/* Until somebody has been asked who hangs. */
static void until_hanging(void)
{
    pthread_mutex_lock(&lock);
    for (unsigned tries = 0; hanging == 0; tries++) {
        assert_true(tries < PATIENCE_MS);
        pthread_mutex_unlock(&lock);
        usleep(1000);
        pthread_mutex_lock(&lock);
    }
    pthread_mutex_unlock(&lock);
}

/* Whether a mount has answered. */
static int known(crest_sweep *sweep, const char *point)
{
    crest_mount_space space;
    for (unsigned i = 0; i < CREST_SWEEP_MOUNTS_MAX; i++) {
        if (!crest_sweep_space(sweep, i, &space) || strcmp(space.point, point) != 0)
            continue;
        assert_int_equal(space.total, strlen(point));
        return 1;
    }
    return 0;
}

/* The same, given some time. */
static int comes_to_be_known(crest_sweep *sweep, const char *point)
{
    for (unsigned tries = 0; tries < 5000 && !known(sweep, point); tries++)
        usleep(1000);
    return known(sweep, point);
}

static void the_kernel_is_asked(void **state)
{
    (void)state;
    char folder[] = "/tmp/crest-mount-XXXXXX", file[64];
    assert_non_null(mkdtemp(folder));
    struct statvfs told;
    crest_mount_space space = {0};
    memcpy(space.point, folder, sizeof folder);
    assert_int_equal(statvfs(folder, &told), 0);
    crest_mount_look(&space);
    assert_int_equal(space.error, 0);
    assert_false(space.none);
    assert_int_equal(space.total, told.f_blocks * told.f_frsize);
    assert_true(space.free >= space.available && space.total >= space.free);
    assert_int_equal(space.inodes_total, told.f_files);
    assert_false(space.read_only);

    snprintf(file, sizeof file, "%s/file", folder);
    fclose(fopen(file, "w"));
    space = (crest_mount_space){0};
    memcpy(space.point, file, strlen(file) + 1);
    crest_mount_look(&space);
    assert_true(space.none); /* a mounted file */
    unlink(file);
    crest_mount_look(&space);
    assert_int_equal(space.error, ENOENT);
    rmdir(folder);
    space = (crest_mount_space){.point = "/proc"};
    crest_mount_look(&space);
    assert_true(space.none); /* no space */
}

static void what_answers_is_known_at_once(void **state)
{
    (void)state;
    crest_sweep *sweep = crest_sweep_new(look);
    crest_sweep_begin(sweep);
    assert_int_equal(crest_sweep_want(sweep, "/"), CREST_SWEEP_OK);
    assert_int_equal(crest_sweep_want(sweep, "/a"), CREST_SWEEP_OK);
    assert_int_equal(crest_sweep_want(sweep, "/a"), CREST_SWEEP_OK); /* over the other */
    assert_int_equal(crest_sweep_want(sweep, "/b"), CREST_SWEEP_OK);
    crest_sweep_unwant(sweep, "/b");
    crest_sweep_unwant(sweep, "/c");
    assert_int_equal(crest_sweep_ask(sweep, PATIENCE_MS), CREST_SWEEP_OK);
    assert_true(known(sweep, "/") && known(sweep, "/a"));
    assert_false(known(sweep, "/b") || known(sweep, "/c"));
    unsigned count = 0;
    crest_mount_space space;
    for (unsigned i = 0; i < CREST_SWEEP_MOUNTS_MAX; i++)
        count += (unsigned)crest_sweep_space(sweep, i, &space);
    assert_int_equal(count, 2);
    crest_sweep_begin(sweep); /* forgets */
    assert_false(known(sweep, "/"));
    crest_sweep_drop(sweep);
}

static void one_that_hangs_holds_up_nothing_else(void **state)
{
    (void)state;
    hang();
    crest_sweep *sweep = crest_sweep_new(look);
    crest_sweep_begin(sweep);
    crest_sweep_want(sweep, "/a");
    crest_sweep_want(sweep, "/hang");
    crest_sweep_want(sweep, "/b");
    assert_int_equal(crest_sweep_ask(sweep, WAIT_MS), CREST_SWEEP_OK);
    assert_true(comes_to_be_known(sweep, "/a") && comes_to_be_known(sweep, "/b"));
    assert_false(known(sweep, "/hang"));

    crest_sweep_begin(sweep);
    assert_int_equal(crest_sweep_want(sweep, "/hang"), CREST_SWEEP_HANGS);
    assert_int_equal(crest_sweep_want(sweep, "/b"), CREST_SWEEP_OK);
    uint64_t before = crest_now();
    assert_int_equal(crest_sweep_ask(sweep, PATIENCE_MS), CREST_SWEEP_OK);
    /* it is not waited for again */
    assert_true(crest_now() - before < PATIENCE_MS * UINT64_C(1000000));
    assert_true(known(sweep, "/b"));
    release();
    assert_true(comes_to_be_known(sweep, "/hang"));
    crest_sweep_begin(sweep);
    assert_int_equal(crest_sweep_want(sweep, "/hang"), CREST_SWEEP_OK);
    assert_int_equal(crest_sweep_ask(sweep, PATIENCE_MS), CREST_SWEEP_OK);
    assert_true(known(sweep, "/hang"));
    crest_sweep_drop(sweep);
}

/* A disk that sleeps, a server far away: what was known stands until it has answered, or a whole
 * round has passed. */
static void one_that_is_slow_stays_known(void **state)
{
    (void)state;
    hang();
    crest_sweep *sweep = crest_sweep_new(look);
    crest_sweep_begin(sweep);
    crest_sweep_want(sweep, "/hang");
    crest_sweep_want(sweep, "/other");
    assert_int_equal(crest_sweep_ask(sweep, WAIT_MS), CREST_SWEEP_OK);
    assert_false(known(sweep, "/hang"));
    release();
    assert_true(comes_to_be_known(sweep, "/hang") && comes_to_be_known(sweep, "/other"));
    hang();
    crest_sweep_begin(sweep);
    assert_int_equal(crest_sweep_want(sweep, "/hang"), CREST_SWEEP_OK);
    assert_int_equal(crest_sweep_ask(sweep, WAIT_MS), CREST_SWEEP_OK);
    assert_true(known(sweep, "/hang"));
    assert_false(known(sweep, "/other")); /* unmounted */
    until_hanging();
    crest_sweep_begin(sweep);
    assert_int_equal(crest_sweep_want(sweep, "/hang"), CREST_SWEEP_HANGS);
    assert_int_equal(crest_sweep_want(sweep, "/other"), CREST_SWEEP_OK);
    crest_sweep_unwant(sweep, "/other");
    assert_int_equal(crest_sweep_ask(sweep, WAIT_MS), CREST_SWEEP_OK);
    assert_false(known(sweep, "/hang") || known(sweep, "/other"));
    release();
    assert_true(comes_to_be_known(sweep, "/hang"));
    crest_sweep_drop(sweep);
}

/* Others than last time need no more room than there is. */
static void what_is_not_wanted_any_more_makes_room(void **state)
{
    (void)state;
    crest_sweep *sweep = crest_sweep_new(look);
    char point[CREST_SWEEP_POINT_BYTES];
    for (unsigned round = 0; round < 3; round++) {
        crest_sweep_begin(sweep);
        for (unsigned i = 0; i < CREST_SWEEP_MOUNTS_MAX; i++) {
            snprintf(point, sizeof point, "/%u", round * (CREST_SWEEP_MOUNTS_MAX / 2) + i);
            assert_int_equal(crest_sweep_want(sweep, point), CREST_SWEEP_OK);
        }
        assert_int_equal(crest_sweep_ask(sweep, PATIENCE_MS), CREST_SWEEP_OK);
        for (unsigned i = 0; i < CREST_SWEEP_MOUNTS_MAX; i++) {
            snprintf(point, sizeof point, "/%u", round * (CREST_SWEEP_MOUNTS_MAX / 2) + i);
            assert_true(known(sweep, point));
        }
    }
    crest_sweep_drop(sweep);
}

static void so_many_may_hang(void **state)
{
    (void)state;
    hang();
    crest_sweep *sweep = crest_sweep_new(look);
    crest_sweep_begin(sweep);
    for (unsigned i = 0; i < CREST_SWEEP_WORKERS_MAX + 1; i++) {
        char point[16];
        snprintf(point, sizeof point, "/hang%u", i);
        crest_sweep_want(sweep, point);
    }
    crest_sweep_want(sweep, "/last");
    assert_int_equal(crest_sweep_ask(sweep, WAIT_MS), CREST_SWEEP_FULL);
    assert_false(known(sweep, "/last"));
    release();
    assert_true(comes_to_be_known(sweep, "/last")); /* by who has come back */
    crest_sweep_drop(sweep);
}

static void its_room_is_bounded(void **state)
{
    (void)state;
    crest_sweep *sweep = crest_sweep_new(look);
    char point[CREST_SWEEP_POINT_BYTES + 1];
    crest_sweep_begin(sweep);
    for (unsigned i = 0; i < CREST_SWEEP_MOUNTS_MAX; i++) {
        snprintf(point, sizeof point, "/%u", i);
        assert_int_equal(crest_sweep_want(sweep, point), CREST_SWEEP_OK);
    }
    assert_int_equal(crest_sweep_want(sweep, "/more"), CREST_SWEEP_FULL);
    memset(point, 'x', sizeof point);
    point[sizeof point - 1] = '\0';
    assert_int_equal(crest_sweep_want(sweep, point), CREST_SWEEP_TOO_LONG);
    assert_int_equal(crest_sweep_ask(sweep, PATIENCE_MS), CREST_SWEEP_OK);
    assert_true(known(sweep, "/0") && known(sweep, "/255"));
    crest_sweep_drop(sweep);
}

static void a_sweep_that_is_dropped_outlives_what_hangs(void **state)
{
    (void)state;
    unsigned before = threads_now();
    hang();
    crest_sweep *sweep = crest_sweep_new(look);
    crest_sweep_begin(sweep);
    assert_int_equal(crest_sweep_want(sweep, "/hang"), CREST_SWEEP_OK);
    assert_int_equal(crest_sweep_want(sweep, "/hang too"), CREST_SWEEP_OK);
    crest_sweep_ask(sweep, WAIT_MS);
    until_hanging();
    assert_true(threads_now() > before);
    crest_sweep_drop(sweep); /* a sanitizer sees which thread frees it, and when */
    crest_sweep_drop(NULL);
    until_hanging(); /* the caller did not wait for them */
    release();
    for (unsigned tries = 0; threads_now() > before; tries++) { /* and they end */
        assert_true(tries < PATIENCE_MS);
        usleep(1000);
    }
}

static int over; /* by __atomic */

static void *ask_on(void *sweep)
{
    while (!__atomic_load_n(&over, __ATOMIC_ACQUIRE)) {
        crest_sweep_begin(sweep);
        crest_sweep_want(sweep, "/a");
        crest_sweep_ask(sweep, 0);
    }
    return NULL;
}

/* Workers go on while the process forks, so their lock may be held for ever in the child. */
static void the_child_of_a_fork_may_drop_it(void **state)
{
    (void)state;
    pthread_t asker;
    crest_sweep *sweep = crest_sweep_new(look);
    __atomic_store_n(&over, 0, __ATOMIC_RELEASE);
    assert_int_equal(pthread_create(&asker, NULL, ask_on, sweep), 0);
    for (unsigned i = 0; i < 200; i++) {
        int status;
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            alarm(120);
            crest_sweep_drop(sweep);
            _exit(0);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
    __atomic_store_n(&over, 1, __ATOMIC_RELEASE);
    fixture_join(asker, NULL);
    crest_sweep_drop(sweep);
}

int main(void)
{
    fixture_watchdog(170);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_kernel_is_asked),
        cmocka_unit_test(what_answers_is_known_at_once),
        cmocka_unit_test(one_that_hangs_holds_up_nothing_else),
        cmocka_unit_test(one_that_is_slow_stays_known),
        cmocka_unit_test(what_is_not_wanted_any_more_makes_room),
        cmocka_unit_test(so_many_may_hang),
        cmocka_unit_test(its_room_is_bounded),
        cmocka_unit_test(a_sweep_that_is_dropped_outlives_what_hangs),
        cmocka_unit_test(the_child_of_a_fork_may_drop_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
