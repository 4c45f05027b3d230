/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The collector `filesystems`, over a list of mounts and answers of the test's own: the figures,
 * what is left out, and mounts that cannot be asked, or do not answer.
 */
#define _GNU_SOURCE
#include "base/atomic.h"
#include "support/host_fixture.h"
#include "system/host/mount_sweep.h"

#include <sys/statvfs.h>

static uint32_t mounts_hang;

/* In the place of the C library's, for the whole program. */
int statvfs(const char *path, struct statvfs *told)
{
    memset(told, 0, sizeof *told);
    while (strstr(path, "/hangs") != NULL && crest_atomic_load32(&mounts_hang))
        fixture_nap();
    if (strstr(path, "/none") != NULL)
        return 0;
    if (strstr(path, "/broken") != NULL) {
        errno = EIO;
        return -1;
    }
    told->f_frsize = 4096;
    told->f_blocks = 100;
    told->f_bfree = 40;
    told->f_bavail = 20;
    told->f_files = 1000;
    told->f_ffree = 900;
    told->f_flag = strstr(path, "/sealed") != NULL ? ST_RDONLY : 0;
    return 0;
}

/* A row for each folder, which is made, below the tree. */
static void mounts_list(const system_tree *tree, const char *const *folders, char *text,
                        size_t bytes)
{
    size_t length = 0;
    for (unsigned i = 0; folders[i] != NULL; i++) {
        char inside[64];
        snprintf(inside, sizeof inside, "%s/x", folders[i]);
        system_tree_folders(tree, inside);
        length += (size_t)snprintf(
            text + length, bytes - length, "%u 1 254:%u / %s/%s rw - %s d rw\n", 30 + i, i,
            tree->path, folders[i], strcmp(folders[i], "memory") == 0 ? "tmpfs" : "ext4");
        assert_true(length < bytes);
    }
}

static const char *mounts_point(const system_tree *tree, const char *folder)
{
    static char point[128];
    snprintf(point, sizeof point, "%s/%s", tree->path, folder);
    return point;
}

static void test_figures(void **state)
{
    (void)state;
    static const char *const folders[] = {"plain",  "sealed", "none",  "memory",
                                          "broken", "hangs",  "other", NULL};
    char text[2000];
    system_tree tree;
    system_under_test test;
    system_tree_make(&tree);
    mounts_list(&tree, folders, text, sizeof text);
    system_tree_write(&tree, "proc/self/mountinfo", text);
    mounts_hang = 1;
    system_test_start(&test, &tree, "filesystems");
    crest_snapshot_free(system_look(&test));
    crest_snapshot *seen = system_look(&test);
    const char *plain = mounts_point(&tree, "plain");
    assert_true(host_gauge(seen, "host.storage.mount.space.total", plain) == 409600);
    assert_true(host_gauge(seen, "host.storage.mount.space.free", plain) == 40 * 4096);
    assert_true(host_gauge(seen, "host.storage.mount.space.available", plain) == 20 * 4096);
    assert_true(host_gauge(seen, "host.storage.mount.space.used", plain) == 60 * 4096);
    assert_true(host_gauge(seen, "host.storage.mount.space.usage", plain) == 0.75);
    assert_true(host_gauge(seen, "host.storage.mount.files-possible", plain) == 1000);
    assert_true(host_gauge(seen, "host.storage.mount.files-free", plain) == 900);
    assert_true(host_gauge(seen, "host.storage.mount.read-only", plain) == 0);
    assert_true(host_gauge(seen, "host.storage.mount.read-only", mounts_point(&tree, "sealed")) ==
                1);
    assert_true(host_gauge(seen, "host.storage.mount.space.free", mounts_point(&tree, "other")) ==
                40 * 4096);
    static const char *const absent[] = {"none", "memory", "broken", "hangs"};
    for (unsigned i = 0; i < LENGTH(absent); i++)
        assert_true(host_absent(seen, "host.storage.mount.space.total",
                                mounts_point(&tree, absent[i]), NULL));
    crest_snapshot_free(seen);
    /* the one that hangs, and the one that is broken */
    assert_true(system_failures(&test, "filesystems", "unreadable") >= 2);
    crest_atomic_store32(&mounts_hang, 0);
    while (!system_has(&test, "host.storage.mount.space.total", mounts_point(&tree, "hangs"))) {
    }
    system_test_stop(&test);
    system_tree_remove(&tree);
}

/* More than are asked, and one whose path is longer than is kept. */
static void test_limits(void **state)
{
    (void)state;
    enum { MANY = CREST_SWEEP_MOUNTS_MAX + 20 };
    static char text[MANY * 64 + 1000];
    char longer[CREST_SWEEP_POINT_BYTES + 1];
    size_t length = 0;
    system_tree tree;
    system_under_test test;
    system_tree_make(&tree);
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    snprintf(text, sizeof text, "29 1 254:0 / /%s rw - ext4 d rw\n", longer);
    system_tree_write(&tree, "proc/self/mountinfo", text);
    system_test_start(&test, &tree, "filesystems");
    crest_snapshot_free(system_look(&test));
    assert_true(system_failures(&test, "filesystems", "limit") >= 1);
    system_test_stop(&test);
    for (unsigned i = 0; i < MANY; i++)
        length += (size_t)snprintf(text + length, sizeof text - length,
                                   "%u 1 254:%u / /nowhere-%u rw - ext4 d rw\n", 30 + i, i, i);
    system_tree_write(&tree, "proc/self/mountinfo", text);
    system_test_start(&test, &tree, "filesystems");
    crest_snapshot_free(system_look(&test));
    assert_true(system_failures(&test, "filesystems", "limit") >= 1);
    system_test_stop(&test);
    system_tree_remove(&tree);
}

int main(void)
{
    fixture_watchdog(60);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_figures),
        cmocka_unit_test(test_limits),
    };
    return cmocka_run_group_tests_name("filesystems", tests, NULL, NULL);
}
