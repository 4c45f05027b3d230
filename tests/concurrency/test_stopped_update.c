/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread that is stopped for minutes between any two instructions of an update, while the series
 * goes and others get its slot and its memory; then it goes on. By ptrace, once for each
 * instruction boundary and each time in a process of its own; minutes pass on the tests' clock.
 *
 * Nothing is written but to memory that the kernel zeroes in a fork's child, where values live, and
 * to the thread's own record and stack: all other memory of the process is compared. And what was
 * written to values did no harm: afterwards series and threads in plenty get what there is of
 * memory, twice, and are exact but for that one record.
 *
 * Where the thread holds a lock, as it may with signals blocked, it is not stopped: others who need
 * that lock would wait for it.
 *
 * ptrace steps what a sanitizer made of the code.
 * crest-test: timeout=600 sanitizers=none together
 */
#ifndef __x86_64__

#include <stdio.h>

int main(void)
{
    puts("only on x86-64 can every instruction be stepped through");
    return 77;
}

#else

#define _GNU_SOURCE
#include "cells/cells.h"
#include "support/late_fixture.h"
#include "support/step_fixture.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#define STOP_HANGS_AFTER_S 120
#define STOP_WATCHDOG_S 2900
#define STOP_WRONG_MAX 5
/* of longer updates every second, third … instruction */
#define STOP_TRIED_MAX 300
#define STOP_SERIES 6
#define STOP_PEER "victim"

#define STOP_COPIES_MAX 400
#define STOP_COPY_BYTES_MAX (UINT64_C(64) << 20)

typedef struct stop_copy {
    uint64_t from, bytes, at; /* its copy's place */
} stop_copy;

/* What the driver and its child share; none of it is among the memory that is compared. */
static struct stop_page {
    uint32_t phase;     /* as step_fixture.h says */
    uint64_t compared;  /* bytes */
    uint64_t differing; /* words */
    uint64_t where;     /* the first of them */
    char message[100];
    stop_copy copies[STOP_COPIES_MAX];
    unsigned copy_count;
    char maps[1 << 20];
    char copied[STOP_COPY_BYTES_MAX];
} * stop_page;

static int stop_pipe[2][2]; /* to the child, from the child */

#define STOP_FAIL(text)                                                                            \
    do {                                                                                           \
        snprintf(stop_page->message, sizeof stop_page->message, "%s", text);                       \
        _exit(1);                                                                                  \
    } while (0)

/* ---- what is stopped ---- */

static crest_gauge *stop_gauge;
static crest_range_sampler *stop_range;
static crest_histogram *stop_histogram;
static crest_timer *stop_timer;

static void act_gauge_set(void)
{
    crest_gauge_set(stop_gauge, 1e300);
}

static void act_gauge_add(void)
{
    crest_gauge_add(stop_gauge, 3.5);
}

static void act_range_add(void)
{
    crest_range_sampler_add(stop_range, 12345);
}

static void act_range_set(void)
{
    crest_range_sampler_set(stop_range, -99);
}

static void act_record(void)
{
    crest_histogram_record(stop_histogram, 100);
}

static void act_record_other_power(void)
{
    crest_histogram_record(stop_histogram, 100000);
}

static void act_time(void)
{
    crest_timer_record(stop_timer, 1000, CREST_OUTCOME_OK);
}

static void act_time_longest(void)
{
    crest_op op = crest_op_u64(7);
    crest_timer_record_op(stop_timer, 2000, CREST_OUTCOME_OK, &op);
}

static void stop_records(unsigned count)
{
    crest_gauge_set(late_level_with("own"), 1); /* this thread has its record, and the chunk */
    crest_histogram_record(late_size_with("own"), 1);
    while (count-- != 0) {
        act_record();
        act_time();
    }
}

static void before_first(void)
{
    stop_records(0);
}

static void before_second(void)
{
    stop_records(1);
}

static void before_shard(void)
{
    stop_records(4);
}

static void before_later(void)
{
    stop_records(10);
}

typedef struct stop_act {
    const char *name;
    void (*before)(void);
    void (*run)(void);
    int exact; /* nothing but values is written: it takes no memory */
} stop_act;

static const stop_act stop_acts[] = {
    {"a gauge is set", before_first, act_gauge_set, 1},
    {"a gauge is added to", before_first, act_gauge_add, 1},
    {"a range sampler is added to", before_first, act_range_add, 1},
    {"a range sampler is set", before_first, act_range_set, 1},
    {"a histogram's record", before_later, act_record, 1},
    {"a timer's record", before_later, act_time, 1},
    {"a timer's longest record", before_later, act_time_longest, 1},
    {"a histogram's first record", before_first, act_record, 0},
    {"a timer's first record", before_first, act_time, 0},
    {"a histogram's second record", before_second, act_record, 0},
    {"a histogram's first shard", before_shard, act_record, 0},
    {"a timer's first shard", before_shard, act_time, 0},
    {"a histogram's new power of two", before_later, act_record_other_power, 0},
};

/* ---- memory that is no value ---- */

static int stop_is_within(uint64_t address, uint64_t from, uint64_t to)
{
    return address >= from && address < to;
}

/* Whether a mapping is to stay as it is: writable, this process's alone, no stack. */
static int stop_is_kept(uint64_t from, uint64_t to, const char *line, uint64_t victim_stack)
{
    return strstr(line, " rw-p ") != NULL && strstr(line, "[stack]") == NULL &&
           !stop_is_within(victim_stack, from, to);
}

static void stop_read_maps(void)
{
    size_t length = 0;
    int fd = open("/proc/self/smaps", O_RDONLY | O_CLOEXEC);
    for (ssize_t got = 1; got > 0; length += (size_t)got)
        if (length == sizeof stop_page->maps - 1 ||
            (got = read(fd, stop_page->maps + length, sizeof stop_page->maps - 1 - length)) < 0)
            STOP_FAIL("smaps cannot be read");
    close(fd);
    stop_page->maps[length] = '\0';
}

/* Copies all memory but stacks, and but that which a fork's child finds zeroed. */
static void stop_copy_all(uint64_t victim_stack)
{
    stop_copy next = {0, 0, 0};
    char *rest = NULL;
    stop_read_maps();
    for (char *line = strtok_r(stop_page->maps, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        unsigned long from, to;
        if (sscanf(line, "%lx-%lx ", &from, &to) == 2)
            next = (stop_copy){from, stop_is_kept(from, to, line, victim_stack) ? to - from : 0,
                               stop_page->compared};
        if (strncmp(line, "VmFlags:", 8) != 0 || next.bytes == 0 || strstr(line, " wf") != NULL)
            continue;
        if (next.at + next.bytes > STOP_COPY_BYTES_MAX || stop_page->copy_count == STOP_COPIES_MAX)
            STOP_FAIL("there is more memory than is copied");
        stop_page->copies[stop_page->copy_count++] = next;
        stop_page->compared += next.bytes;
    }
    for (unsigned i = 0; i < stop_page->copy_count; i++) {
        const stop_copy *copy = &stop_page->copies[i];
        memcpy(stop_page->copied + copy->at, (const void *)(uintptr_t)copy->from, copy->bytes);
    }
}

static void stop_compare(const crest_thread_table *victim)
{
    uint64_t record = (uint64_t)(uintptr_t)victim;
    for (unsigned i = 0; i < stop_page->copy_count; i++) {
        const stop_copy *copy = &stop_page->copies[i];
        const uint64_t *now = (const uint64_t *)(uintptr_t)copy->from;
        const uint64_t *then = (const uint64_t *)(uintptr_t)(stop_page->copied + copy->at);
        for (uint64_t w = 0; w < copy->bytes / sizeof *now; w++) {
            uint64_t address = copy->from + w * sizeof *now;
            if (now[w] == then[w] || stop_is_within(address, record, record + sizeof *victim))
                continue;
            if (stop_page->differing++ == 0)
                stop_page->where = address;
        }
    }
}

/* ---- the child ---- */

static void stop_tell(const int *to)
{
    assert_int_equal(write(to[1], "", 1), 1);
}

static void stop_await(const int *from)
{
    char byte;
    if (read(from[0], &byte, 1) != 1)
        _exit(2);
}

static struct {
    const stop_act *act;
    const crest_thread_table *record;
    uint64_t stack;
} stop_victim;

static void *stop_run(void *unused)
{
    const stop_act *act = stop_victim.act;
    int local = 0;
    stop_victim.stack = (uint64_t)(uintptr_t)&local;
    act->before();
    for (const crest_thread_table *r = crest_cells_tables(); r != NULL; r = r->next)
        if (r->owner == gettid())
            stop_victim.record = r;
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
        STOP_FAIL("it may not be traced");
    syscall(SYS_tgkill, getpid(), gettid(), SIGSTOP);
    crest_atomic_store32(&stop_page->phase, 1);
    act->run();
    crest_atomic_store32(&stop_page->phase, 2);
    syscall(SYS_tgkill, getpid(), gettid(), SIGSTOP); /* its end is the C library's business */
    return unused;
}

/* The driver tells when the thread stands, and when it has ended. */
static void stop_child(const stop_act *act)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    alarm(STOP_HANGS_AFTER_S);
    pthread_t thread;
    stop_victim.act = act;
    if (pthread_create(&thread, NULL, stop_run, NULL) != 0)
        STOP_FAIL("no thread");
    stop_await(stop_pipe[0]);
    if (late_gone(STOP_PEER) == 0)
        STOP_FAIL("its series did not go");
    if (late_round("others", STOP_SERIES) != 0)
        STOP_FAIL("others are wrong before it goes on");
    if (act->exact)
        stop_copy_all(stop_victim.stack);
    stop_tell(stop_pipe[1]);
    stop_await(stop_pipe[0]);
    if (act->exact)
        stop_compare(stop_victim.record);
    stop_tell(stop_pipe[1]);
    pthread_join(thread, NULL);
    if (late_round("more", STOP_SERIES) != 0)
        STOP_FAIL("others are wrong");
    for (unsigned i = 0; i < STOP_SERIES; i++) {
        char peer[32];
        crest_retire(NULL, "peer", late_peer(peer, "others", i));
        crest_retire(NULL, "peer", late_peer(peer, "more", i));
    }
    if (late_gone("own") == 0 || late_round("again", 3 * STOP_SERIES) != 0)
        STOP_FAIL("what gets their memory is wrong");
    if (stop_page->differing != 0)
        STOP_FAIL("written outside cells");
    _exit(0);
}

/* ---- the driver ---- */

/* Stopped there, through the act, and to its end; the child is told of each. */
static void stop_stand(pid_t thread, const step_boundary *boundary)
{
    int stands = step_reach(thread, boundary);
    stop_tell(stop_pipe[0]);
    stop_await(stop_pipe[1]);
    if (stands && step_on(PTRACE_CONT, thread, 0) != SIGSTOP)
        snprintf(stop_page->message, sizeof stop_page->message, "it does not come to its end");
    stop_tell(stop_pipe[0]);
    stop_await(stop_pipe[1]);
    if (stands)
        step_to_the_end(thread, 0);
}

/* One child, stopped at one boundary, or, if that is NULL, surveyed. */
static void stop_once(const stop_act *act, const step_boundary *boundary)
{
    memset(stop_page, 0, offsetof(struct stop_page, copies));
    stop_page->copy_count = 0;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        stop_child(act);
    int status;
    pid_t thread = step_thread_stopped(child);
    if (boundary != NULL) {
        stop_stand(thread, boundary);
    } else {
        step_survey(thread);
        kill(child, SIGKILL);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    if (boundary != NULL && stop_page->message[0] == '\0' && status != 0)
        snprintf(stop_page->message, sizeof stop_page->message, "status %x", (unsigned)status);
}

static void test_stopped(void **state)
{
    (void)state;
    unsigned wrong = 0;
    for (unsigned a = 0; a < LENGTH(stop_acts); a++) {
        unsigned tried = 0;
        stop_once(&stop_acts[a], NULL);
        unsigned each = step_boundary_count / STOP_TRIED_MAX + 1;
        for (unsigned b = 0; b < step_boundary_count && wrong < STOP_WRONG_MAX; b += each) {
            if (step_boundaries[b].blocked)
                continue;
            stop_once(&stop_acts[a], &step_boundaries[b]);
            tried++;
            if (stop_page->message[0] == '\0')
                continue;
            wrong++;
            print_message("%s, stopped before instruction %u: %s (%llu words, the first at %llx)\n",
                          stop_acts[a].name, b, stop_page->message,
                          (unsigned long long)stop_page->differing,
                          (unsigned long long)stop_page->where);
        }
        print_message("%s: stopped at %u of %u boundaries, %llu KiB compared\n", stop_acts[a].name,
                      tried, step_boundary_count, (unsigned long long)stop_page->compared >> 10);
        assert_true(tried != 0 && (!stop_acts[a].exact || stop_page->compared != 0));
    }
    assert_int_equal(wrong, 0);
}

/* ---- setting up ---- */

/* What counts late records, and all that is made once, is there. */
static void stop_warm_up(void)
{
    crest_gauge *gauge = late_level_with("warm");
    crest_range_sampler *range = late_queue_with("warm");
    crest_histogram *histogram = late_size_with("warm");
    crest_timer *timer = late_time_with("warm");
    late_round("warmer", 1);
    assert_true(late_gone("warm") != 0);
    crest_gauge_set(gauge, 1);
    crest_range_sampler_add(range, 1);
    crest_histogram_record(histogram, 1);
    crest_timer_record(timer, 1, CREST_OUTCOME_OK);
    crest_gauge_set(gauge, 2);
    late_after(2);
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_stopped)};
    /* the first call of a function of another library writes its address */
    if (count == 1 && getenv("LD_BIND_NOW") == NULL && setenv("LD_BIND_NOW", "1", 1) == 0)
        execv("/proc/self/exe", arguments);
    if (!step_may_trace()) {
        puts("ptrace is not permitted here");
        return 77;
    }
    alarm(STOP_WATCHDOG_S);
    step_stay_on_one_processor();
    stop_page =
        mmap(NULL, sizeof *stop_page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (stop_page == MAP_FAILED || pipe(stop_pipe[0]) != 0 || pipe(stop_pipe[1]) != 0)
        return 1;
    step_phase = &stop_page->phase;
    crest_testing_clock_set(1000 * LATE_SECOND);
    stop_warm_up();
    stop_gauge = late_level_with(STOP_PEER);
    stop_range = late_queue_with(STOP_PEER);
    stop_histogram = late_size_with(STOP_PEER);
    stop_timer = late_time_with(STOP_PEER);
    late_level_with("own");
    late_size_with("own");
    return cmocka_run_group_tests_name("stopped update", tests, NULL, NULL);
}

#endif
