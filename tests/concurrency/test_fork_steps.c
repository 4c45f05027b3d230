/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A handler that forks between any two instructions of a record, or of a begin, a mark or an end of
 * an operation in flight. In the child the handler returns, the call goes on to its end, and
 * hundreds of operations after it are exact; the same in the process that forked. By ptrace, once
 * for each instruction boundary, as in test_single_step.c.
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
#include "support/step_fixture.h"

#include <crest/in_flight.h>
#include <crest/stages.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#define FORKS_HANG_AFTER_S 120
#define FORKS_WATCHDOG_S 2900
#define FORKS_WRONG_MAX 5
#define FORKS_TRIED_MAX 400
#define FORKS_OPERATIONS 300

CREST_COUNTER(forks_count, "forks.count", "");
CREST_HISTOGRAM(forks_size, "forks.size", "");
CREST_TIMER(forks_plain, "forks.plain", "");
CREST_TIMER(forks_timed, "forks.timed", "", .deadline_ms = 3600000);
CREST_STAGES(forks_stages, "forks.stages", "", .stages = {"a", "b"});

static struct forks_page {
    uint32_t phase;
    uint32_t forked;
    char message[200];
} * forks_page;

#define FORKS_FAIL(text)                                                                           \
    do {                                                                                           \
        snprintf(forks_page->message, sizeof forks_page->message, "%s", text);                     \
        _exit(1);                                                                                  \
    } while (0)

static int forks_is_child;

static const crest_op *forks_op(unsigned i)
{
    static crest_op op;
    op = crest_op_u64(i);
    return &op;
}

static void forks_begin_all(crest_timer *timer, unsigned from, unsigned to)
{
    for (unsigned i = from; i < to; i++)
        if (crest_timer_begin(timer, *forks_op(i)) != CREST_OK)
            FORKS_FAIL("a begin was refused");
}

static void forks_end_all(crest_timer *timer, unsigned from, unsigned to)
{
    for (unsigned i = from; i < to; i++)
        if (crest_timer_end(timer, *forks_op(i), CREST_OUTCOME_OK) != CREST_OK)
            FORKS_FAIL("an end was refused");
}

static uint64_t forks_ended(const char *name, uint64_t *longest_ns)
{
    const char *value = "ok";
    crest_series_view view;
    crest_snapshot *snapshot = crest_snapshot_take(NULL);
    uint64_t count = 0;
    if (snapshot != NULL && crest_snapshot_find(snapshot, name, &value, 1, &view) == CREST_OK) {
        count = crest_distribution_count(view.distribution);
        *longest_ns = (uint64_t)crest_distribution_max(view.distribution);
    }
    crest_snapshot_free(snapshot);
    return count;
}

/* ---- the acts ---- */

static void before_nothing(void) {}

static void before_begun(void)
{
    forks_begin_all(&forks_plain, 0, 20);
    forks_begin_all(&forks_timed, 0, 20);
    crest_stages_begin(&forks_stages, crest_op_u64(7));
    crest_timer_begin_owned(&forks_plain, crest_op_u64(5000), crest_op_u64(1));
}

static void act_count(void)
{
    crest_counter_inc(&forks_count);
}

static void act_size(void)
{
    crest_histogram_record(&forks_size, 100);
}

static void act_begin(void)
{
    crest_timer_begin(&forks_plain, crest_op_u64(1000));
}

static void act_begin_timed(void)
{
    crest_timer_begin(&forks_timed, crest_op_u64(1000));
}

static void act_begin_owned(void)
{
    crest_timer_begin_owned(&forks_plain, crest_op_u64(1000), crest_op_u64(1));
}

static void act_end(void)
{
    crest_timer_end(&forks_plain, crest_op_u64(7), CREST_OUTCOME_OK);
}

static void act_end_timed(void)
{
    crest_timer_end(&forks_timed, crest_op_u64(7), CREST_OUTCOME_OK);
}

static void act_end_owner(void)
{
    crest_owner_end(crest_op_u64(1), CREST_OUTCOME_OK);
}

static void act_mark(void)
{
    crest_stages_mark(&forks_stages, crest_op_u64(7), 0);
}

typedef struct forks_act {
    const char *name;
    void (*before)(void);
    void (*run)(void);
} forks_act;

static const forks_act forks_acts[] = {
    {"a counter's first record", before_nothing, act_count},
    {"a histogram's first record", before_nothing, act_size},
    {"a first begin", before_nothing, act_begin},
    {"a begin", before_begun, act_begin},
    {"a begin with a deadline", before_begun, act_begin_timed},
    {"a begin with an owner", before_begun, act_begin_owned},
    {"an end", before_begun, act_end},
    {"an end with a deadline", before_begun, act_end_timed},
    {"an owner's end", before_begun, act_end_owner},
    {"a mark", before_begun, act_mark},
};

/* ---- the handler, and what is wanted afterwards ---- */

static void forks_handler(int signal_number)
{
    (void)signal_number;
    pid_t child = fork();
    if (child == 0) {
        alarm(FORKS_HANG_AFTER_S);
        forks_is_child = 1;
        return;
    }
    crest_atomic_store32(&forks_page->forked, (uint32_t)child);
}

/* Operations begin and end as if nothing had been; in the child nothing is in flight but what the
 * fork has interrupted. */
static void forks_after(void)
{
    uint64_t longest_ns = 0, before = forks_ended("forks.plain", &longest_ns);
    if (before > 1)
        FORKS_FAIL("ended too often");
    if (longest_ns > UINT64_C(60000000000))
        FORKS_FAIL("it took longer than the process has run");
    for (int round = 0; round < 2; round++) {
        forks_begin_all(&forks_plain, 2000, 2000 + FORKS_OPERATIONS);
        forks_begin_all(&forks_timed, 2000, 2000 + FORKS_OPERATIONS);
        forks_end_all(&forks_plain, 2000, 2000 + FORKS_OPERATIONS);
        forks_end_all(&forks_timed, 2000, 2000 + FORKS_OPERATIONS);
    }
    if (forks_ended("forks.plain", &longest_ns) - before != 2 * FORKS_OPERATIONS)
        FORKS_FAIL("ends are missing");
    if (!forks_is_child)
        return;
    if (crest_timer_end(&forks_plain, crest_op_u64(3), CREST_OUTCOME_OK) != CREST_NOT_FOUND)
        FORKS_FAIL("the parent's is in flight in the child");
    _exit(0);
}

static void *forks_victim(void *argument)
{
    const forks_act *act = argument;
    act->before();
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
        FORKS_FAIL("it may not be traced");
    syscall(SYS_tgkill, getpid(), gettid(), SIGSTOP);
    crest_atomic_store32(&forks_page->phase, 1);
    act->run();
    if (!forks_is_child)
        crest_atomic_store32(&forks_page->phase, 2);
    if (forks_is_child)
        forks_after();
    return NULL;
}

static void forks_child(const forks_act *act)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    alarm(2 * FORKS_HANG_AFTER_S);
    pthread_t thread;
    if (pthread_create(&thread, NULL, forks_victim, (void *)(uintptr_t)act) != 0)
        FORKS_FAIL("no thread");
    pthread_join(thread, NULL);
    pid_t child = (pid_t)crest_atomic_load32(&forks_page->forked);
    int status = 0;
    if (child != 0 && (waitpid(child, &status, 0) != child || status != 0)) {
        if (forks_page->message[0] == '\0')
            snprintf(forks_page->message, sizeof forks_page->message, "the child: status %x",
                     (unsigned)status);
        _exit(1);
    }
    forks_after();
    _exit(0);
}

/* ---- the driver ---- */

static void forks_once(const forks_act *act, const step_boundary *boundary)
{
    *forks_page = (struct forks_page){0};
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        forks_child(act);
    int status;
    pid_t thread = step_thread_stopped(child);
    if (boundary == NULL)
        step_survey(thread);
    else if (step_reach(thread, boundary))
        step_to_the_end(thread, SIGUSR1);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (forks_page->message[0] == '\0' && status != 0)
        snprintf(forks_page->message, sizeof forks_page->message, "status %x", (unsigned)status);
}

static void test_forks(void **state)
{
    (void)state;
    unsigned wrong = 0;
    for (unsigned a = 0; a < LENGTH(forks_acts); a++) {
        unsigned forked = 0;
        forks_once(&forks_acts[a], NULL);
        if (forks_page->message[0] != '\0')
            fail_msg("%s, not interrupted: %s", forks_acts[a].name, forks_page->message);
        unsigned each = step_boundary_count / FORKS_TRIED_MAX + 1;
        for (unsigned b = 0; b < step_boundary_count && wrong < FORKS_WRONG_MAX; b += each) {
            forks_once(&forks_acts[a], &step_boundaries[b]);
            forked += forks_page->forked != 0;
            if (forks_page->message[0] == '\0')
                continue;
            wrong++;
            print_message("%s, a fork before instruction %u: %s\n", forks_acts[a].name, b,
                          forks_page->message);
        }
        print_message("%s: forked at %u of %u boundaries\n", forks_acts[a].name, forked,
                      step_boundary_count);
        assert_true(forked != 0);
    }
    assert_int_equal(wrong, 0);
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_forks)};
    /* the first call of a function of another library takes many instructions */
    if (count == 1 && getenv("LD_BIND_NOW") == NULL && setenv("LD_BIND_NOW", "1", 1) == 0)
        execv("/proc/self/exe", arguments);
    if (!step_may_trace()) {
        puts("ptrace is not permitted here");
        return 77;
    }
    alarm(FORKS_WATCHDOG_S);
    step_stay_on_one_processor();
    forks_page =
        mmap(NULL, sizeof *forks_page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (forks_page == MAP_FAILED)
        return 1;
    step_phase = &forks_page->phase;
    struct sigaction action = {.sa_handler = forks_handler};
    if (sigaction(SIGUSR1, &action, NULL) != 0)
        return 1;
    /* what is made once is there */
    forks_begin_all(&forks_plain, 9000, 9001);
    forks_begin_all(&forks_timed, 9000, 9001);
    crest_stages_begin(&forks_stages, crest_op_u64(9000));
    return cmocka_run_group_tests_name("forks at each step", tests, NULL, NULL);
}

#endif
