/* SPDX-License-Identifier: Apache-2.0 */
/* The runs of faults.h: which function fails when, and what must hold afterwards. */
#define _GNU_SOURCE
#include "faults.h"

#include "base/arena.h"
#include "base/lock.h"

#include <dirent.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* A run that takes longer hangs; on a busy machine one takes tens of milliseconds. The full form is
 * for machines that are busy with more than that. */
#define FAULT_PATIENCE_S 300
#define FAULT_PATIENCE_FULL_S 900
/* How long threads and what they free may take to go. */
#define FAULT_SETTLE_MS 3000
#define FAULT_PATIENCE_MS 20000
#define FAULT_WRONG_MAX 12
/* A run that is worth a note: so long, or so many calls that failed, as in a loop that spins. */
#define FAULT_LONG_S 1.5
#define FAULT_OFTEN 20000
#define FAULT_FUNCTIONS_MAX 256

extern fault_function __start_fault_functions[], __stop_fault_functions[];

static fault_function *fault_chosen;
static long fault_from, fault_until; /* the calls that fail, counted from 1 */
static int fault_armed;
static long fault_live_count, fault_hits;
static __thread int fault_spared;

static const char *fault_scenario_now = "";
static char fault_folder[64];
static unsigned fault_runs, fault_wrongs, fault_wrongs_before, fault_failures_told;
static int fault_full, fault_verbose, fault_drains;
static const char *fault_only[3];

/* ---- what the wrappers ask ---- */

int faults_now(fault_function *function)
{
    if (!__atomic_load_n(&fault_armed, __ATOMIC_ACQUIRE) || fault_spared)
        return 0;
    long call = __atomic_add_fetch(&function->calls, 1, __ATOMIC_RELAXED);
    if (function != fault_chosen || call < fault_from || call > fault_until)
        return 0;
    __atomic_fetch_add(&fault_hits, 1, __ATOMIC_RELAXED);
    return 1;
}

void faults_live(long more)
{
    __atomic_fetch_add(&fault_live_count, more, __ATOMIC_RELAXED);
}

void faults_spare(int spared)
{
    fault_spared = spared;
}

/* ---- the arena ---- */

/* Stands for every take of arena memory, a piece that is used again included; see arena.h. It
 * fails from a call on, never once. */
static fault_function fault_arena FAULT_ROW = {"crest_arena_take", 0};
extern void *__wrap_mmap(void *at, size_t n, int protection, int flags, int fd, off_t offset);

static fault_function *fault_row(const char *name)
{
    for (fault_function *each = __start_fault_functions; each < __stop_fault_functions; each++)
        if (strcmp(each->name, name) == 0)
            return each;
    abort();
}

/* Takes what is left of the mapped regions, so that the next take maps one. */
static void fault_drain(void)
{
    fault_function *chosen = fault_chosen;
    long from = fault_from, until = fault_until;
    fault_chosen = fault_row("mmap"), fault_from = 1, fault_until = LONG_MAX;
    fault_chosen->calls = 0;
    __atomic_store_n(&fault_armed, 1, __ATOMIC_RELEASE);
    crest_lock_saved saved;
    crest_lock_take(&saved);
    for (int kind = 0; kind < CREST_ARENA_KINDS; kind++)
        for (size_t bytes = 1u << 20; bytes >= 8; bytes /= 2)
            while (crest_arena_take(kind, bytes, 8) != NULL)
                continue;
    crest_lock_drop(&saved);
    __atomic_store_n(&fault_armed, 0, __ATOMIC_RELEASE);
    fault_chosen = chosen, fault_from = from, fault_until = until;
}

/* ---- what is told ---- */

static void fault_where(char *text, size_t size)
{
    if (fault_chosen == NULL)
        snprintf(text, size, "%s, nothing failing", fault_scenario_now);
    else if (fault_until == fault_from)
        snprintf(text, size, "%s, call %ld of %s failing", fault_scenario_now, fault_from,
                 fault_chosen->name);
    else
        snprintf(text, size, "%s, %s failing from call %ld on", fault_scenario_now,
                 fault_chosen->name, fault_from);
}

void faults_wrong(const char *format, ...)
{
    char where[200], what[1200];
    va_list list;
    va_start(list, format);
    vsnprintf(what, sizeof what, format, list);
    va_end(list);
    fault_where(where, sizeof where);
    if (fault_wrongs++ - fault_wrongs_before < FAULT_WRONG_MAX)
        printf("  %s: %s\n", where, what);
}

static void fault_ended(int number)
{
    fault_spared = 1;
    char where[200], line[300];
    fault_where(where, sizeof where);
    int length = snprintf(line, sizeof line, "%s: %s\n", where,
                          number == SIGALRM ? "it hangs" : strsignal(number));
    (void)!write(1, line, (size_t)length);
    void *frames[40];
    backtrace_symbols_fd(frames, backtrace(frames, 40), 1);
    _exit(1);
}

/* ---- what must hold ---- */

static unsigned fault_entries(const char *path)
{
    unsigned count = 0;
    DIR *folder = opendir(path);
    if (folder == NULL)
        return 0;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;)
        count += entry->d_name[0] != '.';
    closedir(folder);
    return count;
}

typedef struct fault_state {
    unsigned descriptors, threads;
    long live;
} fault_state;

static fault_state fault_look(void)
{
    return (fault_state){fault_entries("/proc/self/fd"), fault_entries("/proc/self/task"),
                         __atomic_load_n(&fault_live_count, __ATOMIC_RELAXED)};
}

/* Waits until there is no more than there was; threads that have been told to end do so soon. */
static fault_state fault_settled(fault_state before)
{
    fault_state now = fault_look();
    for (int ms = 0; ms < FAULT_SETTLE_MS; ms++) {
        if (now.descriptors <= before.descriptors && now.threads <= before.threads &&
            now.live <= before.live)
            break;
        nanosleep(&(struct timespec){0, 1000000}, NULL);
        now = fault_look();
    }
    return now;
}

static uint64_t fault_kept_total;
static crest_registry *fault_kept_registry;
static crest_counter *fault_kept_counter[2];
static crest_histogram *fault_kept_histogram[2];

static void fault_keep(void)
{
    crest_metric_options counter = {.name = "faults.kept"}, histogram = {.name = "faults.sizes"};
    fault_kept_registry = crest_registry_new(NULL);
    for (int i = 0; i < 2; i++) {
        crest_registry *registry = i ? fault_kept_registry : NULL;
        fault_kept_counter[i] = crest_counter_get(registry, &counter, NULL);
        fault_kept_histogram[i] = crest_histogram_get(registry, &histogram, NULL);
    }
}

static void fault_record(void)
{
    for (int i = 0; i < 2; i++) {
        crest_counter_add(fault_kept_counter[i], 7);
        crest_histogram_record(fault_kept_histogram[i], 1000 + fault_kept_total % 5000);
    }
    fault_kept_total++;
}

/* That a snapshot has every unit that was recorded before. */
static void fault_nothing_is_lost(void)
{
    for (int i = 0; i < 2; i++) {
        crest_snapshot *snapshot = crest_snapshot_take(i ? fault_kept_registry : NULL);
        crest_series_view view = {0};
        FAULT_HOLDS(snapshot != NULL);
        if (snapshot == NULL)
            continue;
        FAULT_HOLDS(crest_snapshot_find(snapshot, "faults.kept", NULL, 0, &view) == CREST_OK);
        if (view.counter != fault_kept_total * 7)
            faults_wrong("the counter reads %llu, %llu were recorded",
                         (unsigned long long)view.counter,
                         (unsigned long long)fault_kept_total * 7);
        FAULT_HOLDS(crest_snapshot_find(snapshot, "faults.sizes", NULL, 0, &view) == CREST_OK);
        uint64_t count = crest_distribution_count(view.distribution);
        if (count != fault_kept_total)
            faults_wrong("the histogram has %llu values, %llu were recorded",
                         (unsigned long long)count, (unsigned long long)fault_kept_total);
        crest_snapshot_free(snapshot);
    }
}

static int fault_is_sentence(const char *text)
{
    size_t length = strnlen(text, CREST_ERROR_BYTES);
    return length >= 12 && length < CREST_ERROR_BYTES && strchr(text, ' ') != NULL &&
           strstr(text, "(null)") == NULL && text[length - 1] != ' ' && text[length - 1] != ':';
}

/* ---- runs ---- */

/* Once through a scenario with the chosen function failing as chosen; what the call said. */
static crest_status fault_through(const fault_scenario *scenario)
{
    fault_run run = {.number = ++fault_runs, .folder = fault_folder, .fd = {-1, -1, -1, -1}};
    crest_error error = {CREST_OK, ""};
    fault_record();
    run.registry = crest_registry_new(NULL);
    if (scenario->begin != NULL)
        scenario->begin(&run);
    if (fault_drains)
        fault_drain();
    for (fault_function *each = __start_fault_functions; each < __stop_fault_functions; each++)
        each->calls = 0;
    crest_arena_fail_after(fault_chosen == &fault_arena ? (unsigned long)fault_from : 0);
    alarm(fault_full ? FAULT_PATIENCE_FULL_S : FAULT_PATIENCE_S);
    __atomic_store_n(&fault_armed, 1, __ATOMIC_RELEASE);
    crest_status status = scenario->call(&run, &error);
    __atomic_store_n(&fault_armed, 0, __ATOMIC_RELEASE);
    crest_arena_fail_after(0);
    if (scenario->end != NULL)
        scenario->end(&run);
    crest_registry_free(run.registry);
    alarm(0);
    if (status != CREST_OK) {
        fault_failures_told++;
        if ((unsigned)status >= CREST_STATUS_COUNT)
            faults_wrong("the status %d does not exist", (int)status);
        if ((scenario->flags & FAULT_TELLS) != 0 && !fault_is_sentence(error.message))
            faults_wrong("status %s without a sentence: \"%s\"", crest_status_text(status),
                         error.message);
    }
    if (fault_verbose) {
        char where[200];
        fault_where(where, sizeof where);
        printf("    %s: %s; %s\n", where, crest_status_text(status), error.message);
    }
    return status;
}

unsigned faults_patience_ms(unsigned failing)
{
    return fault_chosen != NULL ? failing : FAULT_PATIENCE_MS;
}

static void fault_works(const fault_scenario *scenario)
{
    fault_function *chosen = fault_chosen;
    long from = fault_from, until = fault_until;
    fault_chosen = NULL;
    crest_status status = fault_through(scenario);
    fault_chosen = chosen, fault_from = from, fault_until = until;
    if (status != CREST_OK)
        faults_wrong("afterwards it does not work any more: %s", crest_status_text(status));
}

static double fault_now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* One run with the chosen failure, and one that has to work; what there was before both. */
static fault_state fault_twice(const fault_scenario *scenario, fault_function *function, long from,
                               long until)
{
    fault_state before = fault_look();
    fault_chosen = function, fault_from = from, fault_until = until;
    fault_drains = function == fault_row("mmap") || function == fault_row("madvise");
    double began_s = fault_now_s();
    long hits = fault_hits;
    fault_through(scenario);
    fault_drains = 0;
    if (fault_now_s() - began_s > FAULT_LONG_S || fault_hits - hits > FAULT_OFTEN)
        printf("  note: %s, %s from call %ld: %ld calls failed in %.2f s\n", scenario->name,
               function->name, from, fault_hits - hits, fault_now_s() - began_s);
    fault_nothing_is_lost();
    fault_works(scenario);
    return before;
}

/* A leak repeats: what is left by the first time only is a series of the library's own, such as
 * that of a failure's cause, which is made once. */
static void fault_case(const fault_scenario *scenario, fault_function *function, long from,
                       long until)
{
    fault_state before = fault_twice(scenario, function, from, until);
    fault_state after = fault_settled(before);
    if (after.live > before.live) {
        before = fault_twice(scenario, function, from, until);
        after = fault_settled(before);
    }
    if (after.descriptors > before.descriptors)
        faults_wrong("%u descriptors are left", after.descriptors - before.descriptors);
    if (after.threads > before.threads)
        faults_wrong("%u threads are left", after.threads - before.threads);
    if (after.live > before.live)
        faults_wrong("%ld blocks or objects are left", after.live - before.live);
    fault_chosen = NULL;
}

static int fault_skips(const fault_scenario *scenario, const char *name)
{
    char word[80];
    snprintf(word, sizeof word, " %s ", name);
    return (scenario->never != NULL && strstr(scenario->never, word) != NULL) ||
           (fault_only[1] != NULL && strcmp(fault_only[1], name) != 0);
}

/* The calls of a function that are to fail, one at a time: all, or some from both ends. */
static void fault_each_call(const fault_scenario *scenario, fault_function *function, long calls)
{
    long most = fault_full ? FAULT_CALLS_MAX : scenario->flags & FAULT_SLOW ? 2 : 4;
    if (fault_only[2] != NULL) {
        long call = strtol(fault_only[2], NULL, 10);
        fault_case(scenario, function, call, call);
        return;
    }
    if (calls <= most) {
        for (long call = 1; call <= calls; call++)
            fault_case(scenario, function, call, call);
    } else {
        for (long i = 0; i < most; i++) {
            long call = 1 + i * (calls - 1) / (most - 1);
            fault_case(scenario, function, call, call);
        }
    }
    fault_case(scenario, function, 1, LONG_MAX);
}

static void fault_each_take(const fault_scenario *scenario)
{
    if (!fault_skips(scenario, fault_arena.name))
        for (long call = 1; call < 40; call += fault_full ? 1 : 1 + call / 2)
            fault_case(scenario, &fault_arena, call, LONG_MAX);
}

/* All functions that the scenario's call calls. */
static int fault_whole_scenario(const fault_scenario *scenario)
{
    size_t count = (size_t)(__stop_fault_functions - __start_fault_functions);
    long calls[FAULT_FUNCTIONS_MAX];
    unsigned wrongs = fault_wrongs, functions = 0, cases = fault_runs;
    double began_s = fault_now_s();
    fault_wrongs_before = wrongs;
    fault_scenario_now = scenario->name;
    fault_works(scenario); /* what is made once is made */
    fault_drains = 1;
    fault_works(scenario);
    fault_drains = 0;
    for (size_t i = 0; i < count && i < FAULT_FUNCTIONS_MAX; i++)
        calls[i] = __start_fault_functions[i].calls;
    for (size_t i = 0; i < count; i++)
        if (&__start_fault_functions[i] == &fault_arena)
            fault_each_take(scenario);
        else if (calls[i] > 0 && !fault_skips(scenario, __start_fault_functions[i].name)) {
            functions++;
            fault_each_call(scenario, &__start_fault_functions[i], calls[i]);
        }
    printf("%s %s: %u functions, %u runs, %.2f s\n", fault_wrongs == wrongs ? "ok  " : "FAIL",
           scenario->name, functions, fault_runs - cases,
           fault_now_s() - began_s);
    fflush(stdout);
    return fault_wrongs == wrongs;
}

static void fault_remove_folder(void)
{
    DIR *folder = opendir(fault_folder);
    for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;)
        unlinkat(dirfd(folder), entry->d_name, 0);
    if (folder != NULL)
        closedir(folder);
    rmdir(fault_folder);
}

int faults_main(int argc, char **argv, const fault_scenario *scenarios, size_t count)
{
    for (int i = 1, words = 0; i < argc; i++)
        if (strcmp(argv[i], "--full") == 0)
            fault_full = 1;
        else if (words < 3)
            fault_only[words++] = argv[i];
    fault_verbose = fault_only[0] != NULL;
#ifndef __SANITIZE_ADDRESS__
    signal(SIGSEGV, fault_ended);
    signal(SIGABRT, fault_ended);
#endif
    signal(SIGALRM, fault_ended);
    signal(SIGPIPE, SIG_DFL); /* the library may not rely on the host's ignoring it */
    snprintf(fault_folder, sizeof fault_folder, "/tmp/crest-faults-XXXXXX");
    if (mkdtemp(fault_folder) == NULL || atexit(fault_remove_folder) != 0)
        return 2;
    fault_keep();
    unsigned passed = 0, failed = 0;
    for (size_t i = 0; i < count; i++)
        if (fault_only[0] == NULL || strcmp(fault_only[0], scenarios[i].name) == 0)
            *(fault_whole_scenario(&scenarios[i]) ? &passed : &failed) += 1;
    crest_registry_free(fault_kept_registry);
    printf("%u runs, %ld calls failed, %u answers that said so\n", fault_runs, fault_hits,
           fault_failures_told);
    printf("%u passed, %u failed, 0 skipped\n", passed, failed);
    return failed != 0 || passed == 0;
}
