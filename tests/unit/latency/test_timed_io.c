/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Timed calls: the same results and errno as without, one record each, by outcome; and the probe's
 * file on a disk that is full, read-only or gone.
 */
#define _GNU_SOURCE
#include "base/alloc.h"
#include "base/misuse.h"
#include "support/probe_fixture.h"

#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static uint64_t calls(crest_registry *registry, const char *operation, const char *outcome)
{
    return FIXTURE_READING(registry, "disk.call-time", "store", "s", "operation", operation,
                           "outcome", outcome)
        .count;
}

static int temporary_file(void)
{
    char path[] = "/tmp/crest-timed-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    unlink(path);
    return fd;
}

/* In the place of the C library's: what a signal interrupts. */
static int interrupted;

int fdatasync(int fd)
{
    if (interrupted) {
        errno = EINTR;
        return -1;
    }
    return (int)syscall(SYS_fdatasync, fd);
}

/* What a signal interrupted is no error of the disk. */
static void test_interrupted(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    crest_timed_io io;
    crest_timed_io_options options = {.registry = registry};
    crest_error error;
    assert_int_equal(crest_timed_io_init(&io, "s", &options, &error), CREST_OK);
    int fd = temporary_file();
    interrupted = 1;
    assert_int_equal(crest_timed_fdatasync(&io, fd), -1);
    assert_int_equal(errno, EINTR);
    interrupted = 0;
    assert_int_equal(calls(registry, "fdatasync", "cancelled"), 1);
    assert_int_equal(calls(registry, "fdatasync", "error"), 0);
    close(fd);
    crest_registry_free(registry);
}

static void test_calls(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    crest_timed_io io;
    crest_timed_io_options options = {.registry = registry, .sizes = 1};
    crest_error error;
    char text[16] = "0123456789";
    int fd = temporary_file();
    assert_int_equal(crest_timed_io_init(&io, "s", &options, &error), CREST_OK);
    errno = 77;
    assert_int_equal(crest_timed_pwrite(&io, fd, text, 10, 0), 10);
    assert_int_equal(crest_timed_fsync(&io, fd), 0);
    assert_int_equal(crest_timed_fdatasync(&io, fd), 0);
    assert_int_equal(crest_timed_pread(&io, fd, text, 10, 6), 4); /* short */
    assert_memory_equal(text, "6789", 4);
    assert_int_equal(crest_timed_pread(&io, fd, text, 10, 100), 0); /* the end */
    struct iovec parts[2] = {{text, 2}, {text + 8, 3}};
    assert_int_equal(crest_timed_pwritev(&io, fd, parts, 2, 4), 5);
    assert_int_equal(crest_timed_preadv(&io, fd, parts, 2, 0), 5);
    assert_int_equal(errno, 77); /* as a call that succeeds leaves it */
    assert_int_equal(calls(registry, "read", "ok"), 3);
    assert_int_equal(calls(registry, "write", "ok"), 2);
    assert_int_equal(calls(registry, "fsync", "ok"), 1);
    assert_int_equal(calls(registry, "fdatasync", "ok"), 1);
    assert_int_equal(calls(registry, "read", "error"), 0);
    crest_testing_reading sizes =
        FIXTURE_READING(registry, "disk.call-size", "store", "s", "operation", "read");
    assert_int_equal(sizes.count, 3);
    assert_int_equal(sizes.sum, 9);
    sizes = FIXTURE_READING(registry, "disk.call-size", "store", "s", "operation", "write");
    assert_int_equal(sizes.count, 2);
    assert_int_equal(sizes.sum, 15);
    close(fd);
    crest_registry_free(registry);
}

/* Each failure with the errno that the plain call gives. */
static void test_failures(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    crest_timed_io io;
    crest_timed_io_options options = {.registry = registry, .sizes = 1};
    char text[16] = "";
    int pipes[2], read_only = open("/dev/null", O_RDONLY);
    assert_int_equal(pipe(pipes), 0);
    assert_int_equal(crest_timed_io_init(&io, "s", &options, NULL), CREST_OK);
#define FAILS(call, number)                                                                        \
    do {                                                                                           \
        errno = 0;                                                                                 \
        assert_int_equal(call, -1);                                                                \
        assert_int_equal(errno, number);                                                           \
    } while (0)
    FAILS(crest_timed_pread(&io, -1, text, 1, 0), EBADF);
    FAILS(crest_timed_pread(&io, pipes[0], text, 1, 0), ESPIPE);
    FAILS(crest_timed_pwrite(&io, read_only, text, 1, 0), EBADF);
    FAILS(crest_timed_pwritev(&io, read_only, NULL, -1, 0), EBADF);
    FAILS(crest_timed_preadv(&io, read_only, NULL, -1, 0), EINVAL);
    FAILS(crest_timed_fsync(&io, -1), EBADF);
    FAILS(crest_timed_fdatasync(&io, pipes[0]), EINVAL);
    FAILS(crest_timed_fsync(NULL, -1), EBADF);
    assert_int_equal(calls(registry, "read", "error"), 3);
    assert_int_equal(calls(registry, "write", "error"), 2);
    assert_int_equal(calls(registry, "fsync", "error"), 1);
    assert_int_equal(calls(registry, "fdatasync", "error"), 1);
    assert_int_equal(calls(registry, "read", "ok"), 0);
    assert_int_equal(
        FIXTURE_READING(registry, "disk.call-size", "store", "s", "operation", "read").count, 0);
    close(pipes[0]), close(pipes[1]), close(read_only);
    crest_registry_free(registry);
}

static void test_stores(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    crest_timed_io io;
    crest_timed_io_options options = {.registry = registry};
    crest_error error;
    char long_name[CREST_TIMED_STORE_BYTES_MAX + 2];
    memset(long_name, 'x', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = '\0';
    uint64_t misuse = crest_misuse_value(CREST_MISUSE_PROBE);
    assert_int_equal(crest_timed_io_init(&io, NULL, &options, &error), CREST_INVALID_ARGUMENT);
    assert_int_equal(crest_timed_io_init(&io, "", &options, &error), CREST_INVALID_ARGUMENT);
    assert_int_equal(crest_timed_io_init(&io, long_name, &options, &error), CREST_INVALID_ARGUMENT);
    assert_int_equal(crest_misuse_value(CREST_MISUSE_PROBE), misuse + 3);
    options.prefix = "bad name";
    assert_int_equal(crest_timed_io_init(&io, "s", &options, &error), CREST_INVALID_NAME);
    assert_non_null(strstr(error.message, "bad name.call"));
    /* calls are made all the same */
    int fd = temporary_file();
    assert_int_equal(crest_timed_pwrite(&io, fd, "x", 1, 0), 1);
    options.prefix = NULL;
    assert_int_equal(crest_timed_io_init(&io, "s", &options, &error), CREST_OK);
    assert_int_equal(crest_timed_pwrite(&io, fd, "x", 1, 0), 1);
    assert_int_equal(calls(registry, "write", "ok"), 1);
    close(fd);
    crest_registry_free(registry);
}

/* ---- the probe's file ---- */

static crest_probe_options often(crest_registry *registry)
{
    return (crest_probe_options){
        .registry = registry, .interval_ms = CREST_FILE_PROBE_INTERVAL_MS_MIN, .jitter = -1};
}

static uint64_t rounds(crest_registry *registry, const char *operation, const char *outcome)
{
    return FIXTURE_READING(registry, "probe.disk-time", "store", "s", "operation", operation,
                           "outcome", outcome)
        .count;
}

static void test_file(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    char directory[] = "/tmp/crest-disk-XXXXXX";
    crest_error error;
    struct stat about;
    crest_probe_options options = often(registry);
    unsigned descriptors = probe_descriptors();
    assert_non_null(mkdtemp(directory));
    crest_probe *probe = crest_probe_file("s", directory, &options, &error);
    if (probe == NULL)
        fail_msg("%s", error.message);
    PROBE_UNTIL(probe, now.answers >= 3);
    assert_int_equal(probe_threads("crest-diskprobe"), 1);
    crest_probe_state last = probe_state(probe);
    assert_int_equal(last.errors + last.timeouts, 0);
    assert_true(last.last_rtt_ns > 0 && last.kind == CREST_PROBE_FILE);
    assert_int_equal(crest_probe_stop(probe), CREST_OK);
    assert_int_equal(crest_probe_stop(probe), CREST_NOT_FOUND);
    static const char *const operations[] = {"create", "write", "fdatasync", "read", "round"};
    /* there may have been another one before the stop, but no part of one */
    uint64_t all = rounds(registry, "round", "ok");
    assert_true(all >= last.answers);
    for (size_t i = 0; i < LENGTH(operations); i++) {
        assert_int_equal(rounds(registry, operations[i], "ok"), all);
        assert_int_equal(rounds(registry, operations[i], "error"), 0);
    }
    probe_threads_are("crest-diskprobe", 0);
    probe_descriptors_are(descriptors);
    assert_int_equal(rmdir(directory), 0); /* nothing is left in it */
    assert_int_equal(stat(directory, &about), -1);
    crest_registry_free(registry);
}

static void test_file_refused(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    crest_error error;
    static const struct {
        const char *directory, *why;
        uint32_t interval_ms;
    } cases[] = {
        {NULL, "directory", 0},
        {"/nonexistent", "No such file", 0},
        {"/proc/self/status", "Not a directory", 0},
        {"/tmp", "100 ms", 99},
        {"/tmp", "100 ms", CREST_PROBE_BY_HAND},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        crest_probe_options options = often(registry);
        options.interval_ms = cases[i].interval_ms;
        assert_null(crest_probe_file("s", cases[i].directory, &options, &error));
        assert_int_equal(error.status, CREST_INVALID_ARGUMENT);
        assert_non_null(strstr(error.message, cases[i].why));
    }
    crest_probe *probes[CREST_FILE_PROBES_MAX];
    crest_probe_options options = often(registry);
    options.interval_ms = 3600000;
    for (size_t i = 0; i < LENGTH(probes); i++)
        assert_non_null(probes[i] = crest_probe_file("s", "/tmp", &options, &error));
    assert_null(crest_probe_file("s", "/tmp", &options, &error));
    assert_int_equal(error.status, CREST_LIMIT);
    probe_threads_are("crest-diskprobe", CREST_FILE_PROBES_MAX);
    for (size_t i = 0; i < LENGTH(probes); i++)
        assert_int_equal(crest_probe_stop(probes[i]), CREST_OK);
    probe_threads_are("crest-diskprobe", 0);
    for (unsigned after = 1; after <= 4; after++) {
        crest_alloc_fail_after(after);
        crest_probe *probe = crest_probe_file("s", "/tmp", &options, &error);
        crest_alloc_fail_after(0);
        if (probe == NULL)
            assert_int_equal(error.status, CREST_NO_MEMORY);
        assert_int_equal(crest_probe_stop(probe), CREST_OK);
    }
    crest_registry_free(registry);
}

/* ---- a disk of our own, in a child ---- */

/* What the log was told, by the first words that matter. */
static char told[2000];
static unsigned told_count;

static void told_of(crest_log_level level, const char *message, void *context)
{
    (void)level;
    (void)context;
    size_t used = strlen(told);
    if (strstr(message, "probing the disk") == NULL)
        return;
    snprintf(told + used, sizeof told - used, "%s\n", message);
    __atomic_add_fetch(&told_count, 1, __ATOMIC_RELEASE);
}

static int full_fill(const char *path)
{
    char block[4096] = "";
    int fd = open(path, O_CREAT | O_WRONLY, 0600);
    while (write(fd, block, sizeof block) > 0)
        continue;
    return close(fd);
}

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "line %d: %s is not so\n", __LINE__, #condition);                      \
            return 1;                                                                              \
        }                                                                                          \
    } while (0)

static int disk_child(const char *directory)
{
    crest_registry *registry = crest_registry_new(NULL);
    char inside[200], filler[200];
    crest_probe_options options = often(registry);
    crest_log_to(told_of, NULL);
    snprintf(inside, sizeof inside, "%s/inside", directory);
    snprintf(filler, sizeof filler, "%s/filler", directory);
    CHECK(mkdir(inside, 0700) == 0 && full_fill(filler) == 0);
    crest_probe *probe = crest_probe_file("s", inside, &options, NULL);
    CHECK(probe != NULL);
    PROBE_UNTIL(probe, now.errors >= 3);
    CHECK(strstr(probe_state(probe).last_error.message, "No space left") != NULL);
    CHECK(strstr(probe_state(probe).last_error.message, "make room") != NULL);
    CHECK(rounds(registry, "create", "error") == 0 && rounds(registry, "write", "error") >= 3);
    CHECK(rounds(registry, "write", "ok") == 0 && rounds(registry, "read", "ok") == 0);
    /* a round that ends while both are read is told by the second reading */
    uint64_t errors, counted;
    do {
        errors = probe_state(probe).errors;
        counted = rounds(registry, "round", "error");
    } while (errors != probe_state(probe).errors);
    CHECK(counted == errors);
    CHECK(unlink(filler) == 0);
    uint64_t answers = probe_state(probe).answers;
    PROBE_UNTIL(probe, now.answers >= answers + 2);
    CHECK(rounds(registry, "round", "ok") >= 2);
    CHECK(rmdir(inside) == 0); /* empty even while it is probed */
    errors = probe_state(probe).errors;
    PROBE_UNTIL(probe, now.errors >= errors + 2);
    CHECK(strstr(probe_state(probe).last_error.message, "No such file") != NULL);
    CHECK(mkdir(inside, 0700) == 0);
    answers = probe_state(probe).answers;
    PROBE_UNTIL(probe, now.answers >= answers + 2);
    CHECK(mount(NULL, directory, NULL, MS_REMOUNT | MS_RDONLY, NULL) == 0);
    errors = probe_state(probe).errors;
    PROBE_UNTIL(probe, now.errors >= errors + 2);
    CHECK(strstr(probe_state(probe).last_error.message, "Read-only") != NULL);
    CHECK(crest_probe_stop(probe) == CREST_OK);
    /* three streaks and two ends of them, however many rounds */
    CHECK(__atomic_load_n(&told_count, __ATOMIC_ACQUIRE) == 5);
    CHECK(strstr(told, "No space left") && strstr(told, "works again"));
    return 0;
}

static void test_disks(void **state)
{
    (void)state;
    fixture_skip_child_with_threads();
    char directory[] = "/tmp/crest-full-XXXXXX";
    int status;
    assert_non_null(mkdtemp(directory));
    pid_t child = fork();
    if (child == 0) {
        uid_t user = getuid();
        if (unshare(CLONE_NEWNS) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0)
            _exit(77);
        if (user != getuid()) { /* a user namespace: be its root */
            int map = open("/proc/self/uid_map", O_WRONLY);
            if (map < 0 || dprintf(map, "0 %u 1", user) < 0 || close(map) != 0)
                _exit(77);
        }
        if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
            mount("crest", directory, "tmpfs", 0, "size=64k") != 0)
            _exit(77);
        fixture_watchdog(170);
        _exit(disk_child(directory));
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    rmdir(directory);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77) {
        print_message("nothing can be mounted here: not tried\n");
        skip();
    }
    assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calls),       cmocka_unit_test(test_failures),
        cmocka_unit_test(test_interrupted), cmocka_unit_test(test_stores),
        cmocka_unit_test(test_file),        cmocka_unit_test(test_file_refused),
        cmocka_unit_test(test_disks),
    };
    fixture_watchdog(170);
    return cmocka_run_group_tests_name("timed_io", tests, NULL, NULL);
}
