/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The system calls of recording: those that are made are those that docs/safety.md lists, a thread
 * that has called crest_thread_prepare makes fewer, and what a seccomp policy traps reaches the
 * host's handler, which may record.
 *
 * The list is taken by seccomp's own notifications: each call of a watched thread is shown to
 * another thread before it is made, and that lets it go on. Sanitizers make calls of their own.
 * crest-test: sanitizers=none
 */
#define _GNU_SOURCE
#include "base/lock.h"
#include "support/core_fixture.h"

#include <crest/lane.h>
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>

#define CALLS_MAX 1024
#define PAGE_LINE_BYTES 1024
#define HISTOGRAMS 60

CREST_COUNTER(calls_counter, "calls.counter", "Counted.");
CREST_GAUGE(calls_gauge, "calls.gauge", "Set.");
CREST_RANGE_SAMPLER(calls_sampler, "calls.sampler", "Sampled.");
CREST_HISTOGRAM(calls_histogram, "calls.histogram", "Recorded.");
CREST_TIMER(calls_timer, "calls.timer", "Timed.");
CREST_COUNTER(calls_trapped, "calls.trapped", "Trapped.");
static crest_histogram *calls_many[HISTOGRAMS];

/* ---- what is done ---- */

static void act_shared(void)
{
    crest_counter_add(&calls_counter, 2);
    crest_gauge_set(&calls_gauge, 1);
    crest_gauge_add(&calls_gauge, 1);
    crest_gauge_set_to_now(&calls_gauge);
    crest_range_sampler_add(&calls_sampler, 1);
    crest_range_sampler_set(&calls_sampler, 4);
}

static void act_times(void)
{
    crest_op op = crest_op_text("one that is longer than what is kept of a text as it is");
    crest_timing timing = crest_timer_start(&calls_timer, op);
    crest_timing_end(&timing, op, CREST_OUTCOME_OK);
    crest_timer_record(&calls_timer, 17, CREST_OUTCOME_ERROR);
    crest_timer_begin(&calls_timer, op);
    crest_timer_begin_owned(&calls_timer, crest_op_u64(7), crest_op_u64(1));
    crest_timer_end(&calls_timer, op, CREST_OUTCOME_OK);
    crest_owner_end(crest_op_u64(1), CREST_OUTCOME_CANCELLED);
}

/* Each power of two of a histogram takes memory; all of them more than a region of it. */
static void act_distributions(void)
{
    for (int power = 0; power < 62; power++)
        for (int i = 0; i < HISTOGRAMS; i++)
            crest_histogram_record(calls_many[i], INT64_C(1) << power);
    crest_histogram_record(&calls_histogram, -1);
    crest_lane_counter_add(0, &calls_counter, 1);
    crest_lane_histogram_record(0, &calls_histogram, 5, 1);
}

static void act_stamp(void)
{
    crest_stamp stamp;
    crest_stamp_make(crest_op_u64(1), &stamp, NULL);
}

/* ---- policies ---- */

#define CALLS_LOAD BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))
#define CALLS_ALLOW(call)                                                                          \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (call), 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define CALLS_ELSE(what) BPF_STMT(BPF_RET | BPF_K, (what))

/* Loads the policy for this thread; returns what seccomp does. */
static int calls_load(const struct sock_filter *filter, size_t length, unsigned flags)
{
    struct sock_fprog policy = {(unsigned short)length, (struct sock_filter *)(uintptr_t)filter};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &policy);
}

/* ---- watching ---- */

typedef struct calls_watch {
    uint32_t doing; /* 1: the thread does what is watched */
    uint32_t joined;
    int listener;
    uint32_t listens;
    unsigned char seen[CALLS_MAX];
    uint32_t waits_for_lock; /* a futex is awaited, at which the lock is given back */
} calls_watch;

static calls_watch watch;

/* Lets one call go on, and notes it. */
static void watch_answer(void)
{
    struct seccomp_notif call;
    memset(&call, 0, sizeof call);
    if (ioctl(watch.listener, SECCOMP_IOCTL_NOTIF_RECV, &call) != 0)
        return;
    if (__atomic_load_n(&watch.doing, __ATOMIC_ACQUIRE) && call.data.nr < CALLS_MAX)
        watch.seen[call.data.nr] = 1;
    if (call.data.nr == SYS_futex)
        __atomic_store_n(&watch.waits_for_lock, 0, __ATOMIC_RELEASE);
    struct seccomp_notif_resp go_on = {.id = call.id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};
    ioctl(watch.listener, SECCOMP_IOCTL_NOTIF_SEND, &go_on);
}

/* Until the thread has been joined: its end makes calls too. */
static void *watch_listen(void *unused)
{
    while (__atomic_load_n(&watch.listens, __ATOMIC_ACQUIRE) == 0)
        fixture_nap();
    struct pollfd listener = {.fd = watch.listener, .events = POLLIN};
    while (!__atomic_load_n(&watch.joined, __ATOMIC_ACQUIRE))
        if (poll(&listener, 1, 10) == 1 && (listener.revents & POLLIN) != 0)
            watch_answer();
    return unused;
}

/* Of the test's own key, whose destructor runs after the library's: its number is higher. */
static void watch_end(void *unused)
{
    (void)unused;
    __atomic_store_n(&watch.doing, 0, __ATOMIC_RELEASE);
}

static pthread_key_t watch_key;

static void *watched_run(void *act)
{
    static const struct sock_filter all[] = {CALLS_ELSE(SECCOMP_RET_USER_NOTIF)};
    pthread_setspecific(watch_key, &watch);
    watch.listener = calls_load(all, LENGTH(all), SECCOMP_FILTER_FLAG_NEW_LISTENER);
    __atomic_store_n(&watch.listens, 1, __ATOMIC_RELEASE);
    if (watch.listener < 0)
        return act;
    __atomic_store_n(&watch.doing, 1, __ATOMIC_RELEASE);
    (*(void (**)(void))act)();
    return NULL;
}

/* Another thread that has cells, so that a first touch asks whether it still exists. */
static void *neighbour_run(void *end)
{
    crest_counter_inc(&calls_counter);
    while (!__atomic_load_n((int *)end, __ATOMIC_ACQUIRE))
        fixture_nap();
    return NULL;
}

/* Holds the lock until the watched thread waits for it. */
static void *holder_run(void *held)
{
    crest_lock_saved saved;
    crest_lock_take(&saved);
    __atomic_store_n((int *)held, 1, __ATOMIC_RELEASE);
    while (__atomic_load_n(&watch.waits_for_lock, __ATOMIC_ACQUIRE))
        fixture_nap();
    crest_lock_drop(&saved);
    return NULL;
}

/* The act on a new thread, with the lock held by another; watch.seen has what it made. 0 where
 * seccomp does not tell. */
static int watch_act(void (*act)(void), int contended)
{
    pthread_t thread, listener, holder;
    int held = 0;
    void *failed;
    memset(&watch, 0, sizeof watch);
    watch.waits_for_lock = contended;
    if (contended) {
        assert_int_equal(pthread_create(&holder, NULL, holder_run, &held), 0);
        FIXTURE_AWAIT(__atomic_load_n(&held, __ATOMIC_ACQUIRE));
    }
    assert_int_equal(pthread_create(&listener, NULL, watch_listen, NULL), 0);
    assert_int_equal(pthread_create(&thread, NULL, watched_run, &act), 0);
    if (pthread_join(thread, &failed) != 0 || failed != NULL)
        __atomic_store_n(&watch.waits_for_lock, 0, __ATOMIC_RELEASE);
    __atomic_store_n(&watch.joined, 1, __ATOMIC_RELEASE);
    pthread_join(listener, NULL);
    if (contended)
        pthread_join(holder, NULL);
    if (watch.listener >= 0)
        close(watch.listener);
    return failed == NULL;
}

/* ---- the page ---- */

static const struct {
    const char *name;
    int number;
    int always; /* made by what is done here, whatever the machine */
} calls_known[] = {
    {"rt_sigprocmask", SYS_rt_sigprocmask, 1},
    {"futex", SYS_futex, 1},
    {"mmap", SYS_mmap, 1},
    {"madvise", SYS_madvise, 1},
    {"getpid", SYS_getpid, 1},
    {"gettid", SYS_gettid, 1},
    {"tgkill", SYS_tgkill, 1},
    {"adjtimex", SYS_adjtimex, 0}, /* the C library makes the one or the other of it */
    {"clock_adjtime", SYS_clock_adjtime, 0},
    {"clock_gettime", SYS_clock_gettime, 0},
};

/* Marks the calls that the page's table has in its first column. */
static void page_read(unsigned char *listed)
{
    FILE *page = fopen("docs/safety.md", "r");
    if (page == NULL)
        fail_msg("docs/safety.md is not below the working directory");
    char line[PAGE_LINE_BYTES];
    int within = 0;
    while (fgets(line, sizeof line, page) != NULL) {
        if (line[0] == '#')
            within = strstr(line, "System calls of recording") != NULL;
        char *end = within && line[0] == '|' ? strchr(line + 1, '|') : NULL;
        for (char *name = end ? strtok(line, "`, |") : NULL; name != NULL && name < end;
             name = strtok(NULL, "`, |")) {
            int number = -1;
            for (size_t i = 0; i < LENGTH(calls_known); i++)
                if (strcmp(name, calls_known[i].name) == 0)
                    number = calls_known[i].number;
            if (number >= 0)
                listed[number] = 1;
            else if (strcmp(name, "system") != 0 && strcmp(name, "call") != 0 && name[0] != '-')
                fail_msg("the page lists %s, which this test does not know", name);
        }
    }
    fclose(page);
}

static void act_all(void)
{
    act_shared();
    act_times();
    act_distributions();
    act_stamp();
}

static void test_the_list_is_that_of_the_page(void **state)
{
    (void)state;
    unsigned char listed[CALLS_MAX] = {0};
    pthread_t neighbour;
    int end = 0;
    page_read(listed);
    assert_int_equal(pthread_create(&neighbour, NULL, neighbour_run, &end), 0);
    FIXTURE_AWAIT(crest_counter_value(&calls_counter) != 0);
    int told = watch_act(act_all, 1);
    __atomic_store_n(&end, 1, __ATOMIC_RELEASE);
    pthread_join(neighbour, NULL);
    if (!told) {
        print_message("seccomp does not tell of system calls here: %s\n", strerror(errno));
        skip();
    }
    for (int number = 0; number < CALLS_MAX; number++)
        if (watch.seen[number] && !listed[number])
            fail_msg("system call %d is made and not listed", number);
    for (size_t i = 0; i < LENGTH(calls_known); i++)
        if (calls_known[i].always && listed[calls_known[i].number] &&
            !watch.seen[calls_known[i].number])
            fail_msg("%s is listed and not made", calls_known[i].name);
}

/* ---- under a policy ---- */

static int policy_trapped, policy_records;

/* The call answers EPERM, and is counted where the library's own lock may be held. */
static void policy_handler(int number, siginfo_t *info, void *context)
{
    ucontext_t *at = context;
    (void)number;
    (void)info;
    policy_trapped++;
#if defined(__x86_64__)
    at->uc_mcontext.gregs[REG_RAX] = -EPERM;
#elif defined(__aarch64__)
    at->uc_mcontext.regs[0] = (unsigned long long)-EPERM;
#endif
    if (policy_records)
        crest_counter_inc(&calls_trapped);
}

/* What the end of a program and of a thread take themselves. */
#define CALLS_OF_THE_TEST                                                                          \
    CALLS_ALLOW(SYS_rt_sigreturn), CALLS_ALLOW(SYS_exit), CALLS_ALLOW(SYS_exit_group),             \
        CALLS_ALLOW(SYS_write), CALLS_ALLOW(SYS_munmap), CALLS_ALLOW(SYS_set_robust_list)

static const struct sock_filter policy_remaining[] = {
    CALLS_LOAD,
    CALLS_OF_THE_TEST,
    CALLS_ALLOW(SYS_rt_sigprocmask),
    CALLS_ALLOW(SYS_futex),
    CALLS_ALLOW(SYS_mmap),
    CALLS_ALLOW(SYS_madvise),
    CALLS_ALLOW(SYS_clock_gettime),
    CALLS_ELSE(SECCOMP_RET_TRAP),
};
static const struct sock_filter policy_nothing[] = {
    CALLS_LOAD,
    CALLS_ALLOW(SYS_rt_sigreturn),
    CALLS_ALLOW(SYS_clock_gettime),
    CALLS_ALLOW(SYS_exit_group),
    CALLS_ELSE(SECCOMP_RET_TRAP),
};

typedef struct policy_case {
    const struct sock_filter *filter;
    size_t length;
    int prepares;
    int everything; /* or what the shared ones and counters do */
    int traps;      /* wanted: whether anything is trapped */
} policy_case;

static const policy_case policy_cases[] = {
    {policy_remaining, LENGTH(policy_remaining), 1, 1, 0},
    {policy_nothing, LENGTH(policy_nothing), 1, 0, 0},
    {policy_remaining, LENGTH(policy_remaining), 0, 1, 1},
    {policy_nothing, LENGTH(policy_nothing), 0, 0, 1},
};

enum { POLICY_FINE, POLICY_WRONG_TOTAL, POLICY_TRAPPED, POLICY_UNPREPARED, POLICY_NONE = 77 };

/* A thread of a child's, which ends the child. */
static void *policy_run(void *context)
{
    const policy_case *this = context;
    struct sigaction handling = {.sa_sigaction = policy_handler, .sa_flags = SA_SIGINFO};
    sigaction(SIGSYS, &handling, NULL);
    /* a handler that needs what is trapped itself is no handler */
    policy_records = this->everything;
    if (this->prepares && crest_thread_prepare() != CREST_OK)
        _exit(POLICY_UNPREPARED);
    if (calls_load(this->filter, this->length, 0) != 0)
        _exit(POLICY_NONE);
    act_shared();
    if (this->everything) {
        act_times();
        act_distributions();
    }
    uint64_t lanes = this->everything ? 1 : 0;
    if (crest_counter_value(&calls_counter) != 2 + lanes ||
        (policy_records && crest_counter_value(&calls_trapped) != (uint64_t)policy_trapped))
        _exit(POLICY_WRONG_TOTAL);
    _exit((policy_trapped != 0) != this->traps ? POLICY_TRAPPED : POLICY_FINE);
}

static void test_under_a_policy(void **state)
{
    (void)state;
    for (size_t i = 0; i < LENGTH(policy_cases); i++) {
        pid_t child = fork();
        if (child == 0) {
            pthread_t thread;
            alarm(300);
            if (pthread_create(&thread, NULL, policy_run, (void *)(uintptr_t)&policy_cases[i]) != 0)
                _exit(100);
            for (;;)
                pause();
        }
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        if (!WIFEXITED(status))
            fail_msg("case %zu: ended by signal %d", i, WTERMSIG(status));
        if (WEXITSTATUS(status) == POLICY_NONE) {
            print_message("no seccomp here\n");
            skip();
        }
        if (WEXITSTATUS(status) != POLICY_FINE)
            fail_msg("case %zu: %d", i, WEXITSTATUS(status));
    }
}

/* Twice, and after its thread's cells were made by records. */
static void test_prepare_may_be_called_again(void **state)
{
    (void)state;
    uint64_t before = crest_counter_value(&calls_counter);
    assert_int_equal(crest_thread_prepare(), CREST_OK);
    crest_counter_inc(&calls_counter);
    assert_int_equal(crest_thread_prepare(), CREST_OK);
    crest_counter_inc(&calls_counter);
    assert_int_equal(crest_counter_value(&calls_counter), before + 2);
}

static int calls_setup(void **state)
{
    (void)state;
    crest_lanes_make(4);
    for (int i = 0; i < HISTOGRAMS; i++) {
        char name[32];
        crest_status status;
        snprintf(name, sizeof name, "calls.many-%d", i);
        crest_metric_options options = {.name = name, .description = "Recorded."};
        calls_many[i] = crest_histogram_get(NULL, &options, &status);
        if (status != CREST_OK)
            return -1;
    }
    return pthread_key_create(&watch_key, watch_end);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_list_is_that_of_the_page),
        cmocka_unit_test(test_under_a_policy),
        cmocka_unit_test(test_prepare_may_be_called_again),
    };
    fixture_watchdog(150);
    return cmocka_run_group_tests_name("system_calls", tests, calls_setup, NULL);
}
