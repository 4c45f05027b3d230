/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process at its limits: of addresses, descriptors, threads and the size of files, on full and on
 * read-only disks. A node with every reporter starts, records, reports and stops there, says in a
 * sentence what it lacks, loses no count, and works when the limit is gone.
 * crest-test: timeout=120 sanitizers=none
 */
#define _GNU_SOURCE
#include "faults.h"

#include <crest/json_lines.h>
#include <crest/run.h>
#include <crest/textfile.h>

#include <grp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define DEADLINE_MS 3000u
#define ROUNDS 20u
#define OTHER_USER 65534u
#define PATIENCE_S 300

static char folder[64];
static unsigned wrongs;

#define HOLDS(condition, ...)                                                                      \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            printf("  %s:%d: not so: %s; ", __FILE__, __LINE__, #condition);                       \
            printf(__VA_ARGS__);                                                                   \
            puts("");                                                                              \
            wrongs++;                                                                              \
        }                                                                                          \
    } while (0)

static size_t address_bytes(void)
{
    size_t pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL || fscanf(file, "%zu", &pages) != 1)
        abort();
    fclose(file);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* Lowers the soft limit, so that it can be lifted again. */
static void limit(int what, rlim_t value)
{
    struct rlimit now;
    getrlimit((__rlimit_resource_t)what, &now);
    now.rlim_cur = value < now.rlim_max ? value : now.rlim_max;
    if (setrlimit((__rlimit_resource_t)what, &now) != 0)
        abort();
}

static void lift(int what)
{
    struct rlimit now;
    getrlimit((__rlimit_resource_t)what, &now);
    now.rlim_cur = now.rlim_max;
    setrlimit((__rlimit_resource_t)what, &now);
}

static crest_status live_once(const char *reporters, crest_error *error)
{
    char options[600];
    snprintf(options, sizeof options,
             "service=limits,atexit=off,interval=1h,hiccups=on,system=process,%s", reporters);
    memset(error, 0, sizeof *error);
    crest_status status = crest_start(options, error);
    if (status != CREST_OK && status != CREST_PARTIAL)
        return status;
    crest_error last = {CREST_OK, ""};
    crest_status stopped = crest_stop(DEADLINE_MS, &last);
    if (status == CREST_OK && stopped != CREST_OK)
        *error = last, status = stopped;
    return status;
}

/* A life at the limit and one without; every record is there, and failures are told. */
static void at_limit(int what, rlim_t value, int must_fail, const char *reporters)
{
    crest_error error;
    crest_metric_options options = {.name = "limits.events"};
    crest_counter *events = crest_counter_get(NULL, &options, NULL);
    crest_counter_add(events, 3);
    if (what >= 0)
        limit(what, value);
    crest_status status = live_once(reporters, &error);
    for (unsigned i = 0; i < ROUNDS; i++) {
        char name[32];
        snprintf(name, sizeof name, "limits.more-%u", i);
        crest_metric_options more = {.name = name};
        crest_histogram_record(crest_histogram_get(NULL, &more, NULL), 5);
        crest_counter_inc(events);
    }
    if (what >= 0)
        lift(what);
    HOLDS(status == CREST_OK || (strlen(error.message) > 12 && strchr(error.message, ' ')),
          "%s: \"%s\"", crest_status_text(status), error.message);
    HOLDS(!must_fail || status != CREST_OK, "nothing was lacking");
    printf("  %s; %s\n", crest_status_text(status), error.message);
    HOLDS(crest_counter_value(events) == 3 + ROUNDS, "records are lost");
    if (what >= 0) {
        status = live_once(reporters, &error);
        HOLDS(status == CREST_OK, "without the limit: %s", error.message);
    }
    fflush(stdout);
    _exit(wrongs != 0);
}

static char all_reporters[400], files[300];

static void of_addresses(void)
{
    at_limit(RLIMIT_AS, address_bytes() + (256u << 10), 1, all_reporters);
}

/* Enough for some of it. */
static void of_addresses_later(void)
{
    at_limit(RLIMIT_AS, address_bytes() + (3u << 20), 0, all_reporters);
}

static void of_descriptors(void)
{
    at_limit(RLIMIT_NOFILE, 4, 1, all_reporters);
}

static void of_descriptors_later(void)
{
    at_limit(RLIMIT_NOFILE, 8, 0, all_reporters);
}

static void of_threads(void)
{
    if (getuid() == 0 && (chown(folder, OTHER_USER, OTHER_USER) != 0 || setgroups(0, NULL) != 0 ||
                          setresuid(OTHER_USER, OTHER_USER, OTHER_USER) != 0))
        abort();
    at_limit(RLIMIT_NPROC, 0, 1, all_reporters);
}

static void of_file_sizes(void)
{
    at_limit(RLIMIT_FSIZE, 0, 1, files);
}

static void on_a_full_disk(void)
{
    at_limit(-1, 0, 1, "json=/dev/full");
}

/* /proc is one that even root cannot write to. */
static void on_a_read_only_disk(void)
{
    at_limit(-1, 0, 1, "textfile=/proc/sys/limits.prom,json=/proc/sys/limits.jsonl");
}

/* Each in a process of its own. */
static int in_child(const char *name, void (*run)(void))
{
    printf("%s\n", name);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        alarm(PATIENCE_S);
        run();
    }
    int status = -1;
    waitpid(child, &status, 0);
    if (status != 0)
        printf("FAIL %s: status %#x%s\n", name, (unsigned)status,
               WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM ? ", it hangs" : "");
    return status == 0;
}

int main(void)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } limits[] = {
        {"of threads", of_threads}, /* first, for as another user it makes the files */
        {"of addresses", of_addresses},
        {"of addresses, later", of_addresses_later},
        {"of descriptors", of_descriptors},
        {"of descriptors, later", of_descriptors_later},
        {"of file sizes", of_file_sizes},
        {"on a full disk", on_a_full_disk},
        {"on a read-only disk", on_a_read_only_disk},
    };
    unsigned passed = 0, count = sizeof limits / sizeof limits[0];
    snprintf(folder, sizeof folder, "/tmp/crest-limits-XXXXXX");
    if (mkdtemp(folder) == NULL)
        return 2;
    snprintf(files, sizeof files, "textfile=%s/a.prom,json=%s/a.jsonl", folder, folder);
    snprintf(all_reporters, sizeof all_reporters, "%s,prometheus=127.0.0.1:0,console=off", files);
    for (unsigned i = 0; i < count; i++)
        passed += in_child(limits[i].name, limits[i].run) != 0;
    for (unsigned i = 0; i < 2; i++) {
        char path[100];
        snprintf(path, sizeof path, "%s/a.%s", folder, i ? "prom" : "jsonl");
        unlink(path);
    }
    rmdir(folder);
    printf("%u passed, %u failed, 0 skipped\n", passed, count - passed);
    return passed != count;
}
