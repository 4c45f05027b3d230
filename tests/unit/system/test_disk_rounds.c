/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rounds of a probe of a disk that fails: which operation it was, what the log says and advises,
 * and that a disk is used directly where it can be. The disk is the C library's calls, which answer
 * here as the test wants.
 *
 * crest-test: waits
 */
#define _GNU_SOURCE
#include "support/core_fixture.h"

#include <crest/timed_io.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>

#define PATIENCE_MS 20000u

/* What fails, by __atomic: an error number, or how a reading is wrong. */
enum { READ_RIGHT, READ_OTHER, READ_SHORT };
static int fails_create, fails_write, fails_sync, reads, no_direct, no_temporary, named;

static int fault(const int *of)
{
    return __atomic_load_n(of, __ATOMIC_ACQUIRE);
}

static int refuse(int failure)
{
    errno = failure;
    return -1;
}

/* These come before the C library's. */
int open(const char *path, int flags, ...)
{
    int of_disk = strstr(path, "crest-rounds-") != NULL;
    if (of_disk && fault(&fails_create) != 0)
        return refuse(fault(&fails_create));
    if (of_disk && fault(&no_direct) && (flags & O_DIRECT))
        return refuse(EINVAL);
    if (of_disk && fault(&no_temporary) && (flags & O_TMPFILE) == O_TMPFILE)
        return refuse(EOPNOTSUPP);
    if (of_disk && strstr(path, "/.crest-probe-") != NULL)
        __atomic_fetch_add(&named, 1, __ATOMIC_RELEASE);
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, 0600);
}

ssize_t pwrite(int fd, const void *bytes, size_t length, off_t offset)
{
    if (fault(&fails_write) != 0)
        return refuse(fault(&fails_write));
    return syscall(SYS_pwrite64, fd, bytes, length, offset);
}

int fdatasync(int fd)
{
    return fault(&fails_sync) != 0 ? refuse(fault(&fails_sync)) : (int)syscall(SYS_fdatasync, fd);
}

ssize_t pread(int fd, void *bytes, size_t length, off_t offset)
{
    ssize_t got = syscall(SYS_pread64, fd, bytes, length, offset);
    if (fault(&reads) == READ_SHORT && got > 0)
        return got / 2;
    if (fault(&reads) == READ_OTHER && got > 0)
        ((unsigned char *)bytes)[got - 1] ^= 1;
    return got;
}

static crest_probe_state state_of(crest_probe *probe)
{
    crest_probe_state state;
    assert_int_equal(crest_probe_read(probe, &state), CREST_OK);
    return state;
}

/* Until so many more rounds have ended well, or not. */
static void await(crest_probe *probe, int well, uint64_t more)
{
    crest_probe_state state = state_of(probe);
    uint64_t wanted = (well ? state.answers : state.errors) + more;
    for (unsigned ms = 0; (well ? state.answers : state.errors) < wanted; ms += 5) {
        assert_true(ms < PATIENCE_MS);
        usleep(5000);
        state = state_of(probe);
    }
}

static unsigned warnings, recoveries; /* by __atomic */

static void listen_to(crest_log_level level, const char *message, void *context)
{
    (void)context;
    if (strstr(message, "probing the disk of") != NULL)
        __atomic_fetch_add(level == CREST_LOG_WARNING ? &warnings : &recoveries, 1,
                           __ATOMIC_RELEASE);
}

static void test_rounds(void **state)
{
    (void)state;
    static const struct {
        int *fault, value;
        const char *operation, *says;
    } cases[] = {
        {&fails_create, EROFS, "create", "mount it for writing"},
        {&fails_create, ENOENT, "create", "make the directory again"},
        {&fails_create, EACCES, "create", "give this user the right"},
        {&fails_write, ENOSPC, "write", "make room there"},
        {&fails_write, EFBIG, "write", "File too large"},
        {&fails_sync, EIO, "fdatasync", "the disk may be failing"},
        {&reads, READ_SHORT, "read", "the disk may be failing"},
        {&reads, READ_OTHER, "read", "what was read is not what was written; the disk may be"},
    };
    char directory[] = "/tmp/crest-rounds-XXXXXX";
    assert_non_null(mkdtemp(directory));
    crest_registry *registry = fixture_registry(NULL);
    crest_probe_options options = {
        .registry = registry, .interval_ms = CREST_FILE_PROBE_INTERVAL_MS_MIN, .jitter = -1};
    crest_error error;
    crest_log_to(listen_to, NULL);
    crest_probe *probe = crest_probe_file("s", directory, &options, &error);
    if (probe == NULL)
        fail_msg("%s", error.message);
    await(probe, 1, 1);
    for (size_t i = 0; i < LENGTH(cases); i++) {
        uint64_t before = FIXTURE_READING(registry, "probe.disk-time", "store", "s", "operation",
                                          cases[i].operation, "outcome", "error")
                              .count;
        __atomic_store_n(cases[i].fault, cases[i].value, __ATOMIC_RELEASE);
        await(probe, 0, 3);
        crest_probe_state failed = state_of(probe);
        if (strstr(failed.last_error.message, cases[i].says) == NULL ||
            strstr(failed.last_error.message, cases[i].operation) == NULL)
            fail_msg("no %s of %s: %s", cases[i].says, cases[i].operation,
                     failed.last_error.message);
        uint64_t after = FIXTURE_READING(registry, "probe.disk-time", "store", "s", "operation",
                                         cases[i].operation, "outcome", "error")
                             .count;
        assert_true(after >= before + 3);
        __atomic_store_n(cases[i].fault, 0, __ATOMIC_RELEASE);
        await(probe, 1, 1);
    }
    assert_int_equal(crest_probe_stop(probe), CREST_OK);
    /* each streak is told once, and its end */
    assert_int_equal(__atomic_load_n(&warnings, __ATOMIC_ACQUIRE), LENGTH(cases));
    assert_in_range(__atomic_load_n(&recoveries, __ATOMIC_ACQUIRE), LENGTH(cases) - 1,
                    LENGTH(cases));
    crest_log_to(NULL, NULL);
    assert_int_equal(rmdir(directory), 0);
    crest_registry_free(registry);
}

/* Without the page cache where the file system can; with a name where it must have one, which is
 * gone at once. */
static void test_ways_to_open(void **state)
{
    (void)state;
    char directory[] = "/tmp/crest-rounds-XXXXXX";
    assert_non_null(mkdtemp(directory));
    crest_registry *registry = fixture_registry(NULL);
    crest_probe_options options = {
        .registry = registry, .interval_ms = CREST_FILE_PROBE_INTERVAL_MS_MIN, .jitter = -1};
    for (int way = 0; way < 4; way++) {
        __atomic_store_n(&no_direct, way & 1, __ATOMIC_RELEASE);
        __atomic_store_n(&no_temporary, way >> 1, __ATOMIC_RELEASE);
        __atomic_store_n(&named, 0, __ATOMIC_RELEASE);
        crest_probe *probe = crest_probe_file("s", directory, &options, NULL);
        assert_non_null(probe);
        await(probe, 1, 2);
        if (way & 1)
            assert_int_equal(state_of(probe).direct, 0);
        assert_int_equal(state_of(probe).errors, 0);
        assert_int_equal(__atomic_load_n(&named, __ATOMIC_ACQUIRE) > 0, way >> 1);
        assert_int_equal(crest_probe_stop(probe), CREST_OK);
    }
    for (unsigned ms = 0; rmdir(directory) != 0; ms++) { /* a last round may still be under way */
        assert_true(ms < PATIENCE_MS);
        usleep(1000);
    }
    crest_registry_free(registry);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rounds),
        cmocka_unit_test(test_ways_to_open),
    };
    fixture_watchdog(170);
    return cmocka_run_group_tests_name("rounds of a disk's probe", tests, NULL, NULL);
}
