/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A signal handler between any two instructions of a record. A thread is stepped through a first or
 * a later record by ptrace, once for each instruction boundary and each time in a process of its
 * own; at that boundary a handler records through the same handle, touches other chunks and powers
 * of two for the first time, or registers metrics. Nothing hangs and every total is exact.
 *
 * While the library has signals blocked, all boundaries are one to a handler: it runs when they are
 * let in again. So the thread is not stepped there, but runs on to that system call. Two victims
 * of the test's own, which do what the library must not, show that it can fail.
 *
 * With CREST_QUICK in the environment, as `make check` runs it and `make check-all` does not, at a
 * third of the boundaries of each record.
 *
 * ptrace steps what a sanitizer made of the code, and sanitizers hold signals back themselves.
 * crest-test: timeout=600 sanitizers=none together
 */
#ifndef __x86_64__

#include <stdio.h>

/* Elsewhere an atomic operation is a loop that never ends while it is stepped through. */
int main(void)
{
    puts("only on x86-64 can every instruction be stepped through");
    return 77;
}

#else

#define _GNU_SOURCE
#include "cells/cells.h"
#include "cells/first_values.h"
#include "support/step_fixture.h"

#include <crest/by_name.h>
#include <errno.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>

#define HANGS_AFTER_S 120
#define WATCHDOG_S 2900 /* run-tests lets 600 s last so long on a busy machine */
#define STEP_WRONG_MAX 5
#define STEP_MESSAGE_BYTES 200

/* ---- the metrics, and what is to come out ---- */

typedef enum step_kind { COUNTER, GAUGE, HISTOGRAM, TIMER, TIMING, SAMPLER, KINDS } step_kind;

/* NEAR is registered; FAR is too, and lies in another chunk; the others are registered by whoever
 * comes first, and only handlers come to LATE. */
typedef enum step_place { NEAR, FAR, FRESH, LATE, PLACES } step_place;

static const char *const step_kind_names[] = {"counter", "gauge",  "histogram",
                                              "timer",   "timing", "sampler"};
static const char *const step_place_names[] = {"near", "far", "fresh", "late"};

typedef struct step_metric {
    crest_declaration declaration;
    char name[32];
    union {
        crest_handle any;
        crest_counter counter;
        crest_gauge gauge;
        crest_histogram histogram;
        crest_timer timer;
        crest_range_sampler sampler;
    } handle;
    uint64_t count, sum; /* wanted */
} step_metric;

static step_metric step_metrics[KINDS][PLACES];

/* Apart from what fills a chunk, so that a look at all of it is short. */
CREST_REGISTRY(step_registry, .prefix = "step");

/* What the driver and its child share. */
static struct step_page {
    uint32_t phase; /* 0: before the act, 1: in it, 2: after it */
    uint32_t handled;
    char message[STEP_MESSAGE_BYTES];
} * step_page;

#define STEP_FAIL(...)                                                                             \
    do {                                                                                           \
        snprintf(step_page->message, sizeof step_page->message, __VA_ARGS__);                      \
        _exit(1);                                                                                  \
    } while (0)

/* By the victim before it does so, and by the handler, which nothing interrupts. */
static void step_want(step_kind kind, step_place place, uint64_t value)
{
    step_metrics[kind][place].count++;
    step_metrics[kind][place].sum += value;
}

static void step_record(step_kind kind, step_place place, uint64_t value)
{
    step_metric *metric = &step_metrics[kind][place];
    crest_op op = crest_op_u64(value);
    crest_timing timing;
    switch (kind) {
    case COUNTER: crest_counter_add(&metric->handle.counter, (int64_t)value); break;
    case GAUGE: crest_gauge_add(&metric->handle.gauge, (double)value); break;
    case HISTOGRAM: crest_histogram_record(&metric->handle.histogram, (int64_t)value); break;
    case TIMER: crest_timer_record(&metric->handle.timer, (int64_t)value, CREST_OUTCOME_OK); break;
    case SAMPLER: crest_range_sampler_add(&metric->handle.sampler, (int64_t)value); break;
    default:
        timing = crest_timer_start(&metric->handle.timer, op);
        crest_timing_end(&timing, op, CREST_OUTCOME_TIMEOUT);
    }
}

static void step_check(const crest_snapshot *snapshot, step_kind kind, step_place place)
{
    static const char *const outcomes[] = {"ok", "timeout"};
    const step_metric *metric = &step_metrics[kind][place];
    crest_series_view view;
    char name[sizeof metric->name + 8];
    snprintf(name, sizeof name, "step.%s", metric->name);
    crest_status found = crest_snapshot_find(snapshot, name, &outcomes[kind == TIMING],
                                             kind == TIMER || kind == TIMING, &view);
    if (found != CREST_OK && metric->count == 0)
        return;
    if (found != CREST_OK)
        STEP_FAIL("%s does not exist", metric->name);
    uint64_t count = metric->count, sum = metric->sum;
    if (kind == COUNTER)
        sum = view.counter;
    else if (kind == GAUGE)
        sum = (uint64_t)view.gauge;
    else if (kind == SAMPLER)
        sum = (uint64_t)view.current;
    else
        count = crest_distribution_count(view.distribution);
    if (kind == HISTOGRAM || kind == TIMER)
        sum = crest_distribution_sum(view.distribution);
    if (count != metric->count || sum != metric->sum)
        STEP_FAIL("%s: count %llu for %llu, sum %llu for %llu", metric->name,
                  (unsigned long long)count, (unsigned long long)metric->count,
                  (unsigned long long)sum, (unsigned long long)metric->sum);
}

/* ---- what is interrupted ---- */

CREST_COUNTER_FAMILY(step_family, "step.family", "Resolved by the victim.", key);

static step_kind act_kind;
static step_place act_place;
static crest_counter *act_made;

static void act_nothing(void) {}
static void act_record(void)
{
    step_record(act_kind, act_place, 100);
}

static void before_record(void)
{
    step_want(act_kind, act_place, 100);
}

static void before_later(void)
{
    /* whatever a timing takes then, its power of two is there */
    for (unsigned top = 0; act_kind == TIMING && top < 40; top++) {
        step_want(act_kind, act_place, 0);
        crest_timer_record(&step_metrics[act_kind][act_place].handle.timer, INT64_C(1) << top,
                           CREST_OUTCOME_TIMEOUT);
    }
    step_want(act_kind, act_place, 100);
    act_record();
    before_record();
}

static void act_other_power(void)
{
    step_record(act_kind, act_place, 100000);
}

static void before_other_power(void)
{
    before_record();
    act_record();
    step_want(act_kind, act_place, 100000);
}

/* So many of the first values are there. */
static void before_more(unsigned values)
{
    while (values-- != 0) {
        before_record();
        act_record();
    }
}

/* The thread has the chunk, but nothing in reserve. */
static void before_first_value(void)
{
    step_want(COUNTER, NEAR, 1);
    step_record(COUNTER, NEAR, 1);
    before_record();
}

/* Many at once, which begin with a shard. */
static void act_many(void)
{
    crest_histogram_record_n(&step_metrics[HISTOGRAM][act_place].handle.histogram, 100, 3);
}

static void before_many(void)
{
    before_first_value();
    before_record();
    before_record();
}

static void before_last_value(void)
{
    before_first_value();
    before_more(CREST_BEGINNING_VALUES - 1);
}

static void before_first_shard(void)
{
    before_first_value();
    before_more(CREST_BEGINNING_VALUES);
}

/* It has something in reserve too, because it has met another's second power of two. */
static void before_of_reserve(void)
{
    step_kind other = act_kind == HISTOGRAM ? TIMER : HISTOGRAM;
    for (uint64_t value = 5000; value < 50000; value *= 3) {
        step_want(other, NEAR, value);
        step_record(other, NEAR, value);
    }
    before_more(CREST_BEGINNING_VALUES);
    before_record();
}

/* The first of the thread: glibc maps an arena for it. */
static void act_malloc(void)
{
    void *volatile small = malloc(100), *volatile large = malloc(3000);
    free(small);
    free(large);
}

static void act_resolve(void)
{
    act_made = step_family_with("new");
    crest_counter_inc(act_made);
}

static void act_get(void)
{
    crest_metric_options options = {.name = "step.made"};
    act_made = crest_counter_get(NULL, &options, NULL);
    crest_counter_inc(act_made);
}

static const char *volatile act_name = "step.named";

static void act_by_name(void)
{
    crest_increment_counter(act_name);
    act_made = crest_counter_by_name(act_name);
}

static void after_made(void)
{
    if (crest_counter_value(act_made) != 1)
        STEP_FAIL("what was resolved counted %llu",
                  (unsigned long long)crest_counter_value(act_made));
}

static void act_clock(void)
{
    crest_now();
}

/* Two that are wrong: an add in three instructions, and a lock that lets signals in. */
static volatile uint64_t wrong_word, wrong_wanted;
static volatile int wrong_lock, wrong_locked;

static void act_wrong_add(void)
{
    wrong_word = wrong_word + 1;
}

static void act_wrong_lock(void)
{
    wrong_lock = 1;
    wrong_word = wrong_word + 1;
    wrong_lock = 0;
}

static void after_wrong(void)
{
    if (wrong_word != 1 + wrong_wanted)
        STEP_FAIL("lost");
    if (wrong_locked)
        STEP_FAIL("locked");
}

typedef struct step_act {
    const char *name;
    void (*before)(void);
    void (*run)(void);
    void (*after)(void);
    int to_the_end; /* goes on to the thread's end */
    int varies;     /* not the same instructions each time */
} step_act;

static const step_act act_first = {"first record", before_record, act_record, act_nothing, 0, 0};
static const step_act act_later = {"later record", before_later, act_record, act_nothing, 0, 0};
static const step_act act_power = {
    "new power", before_other_power, act_other_power, act_nothing, 0, 0};
static const step_act act_value = {
    "first value", before_first_value, act_record, act_nothing, 0, 0};
static const step_act act_last_value = {
    "last of the first values", before_last_value, act_record, act_nothing, 0, 0};
static const step_act act_several = {"several", before_many, act_many, act_nothing, 0, 0};
static const step_act act_shard = {
    "first shard", before_first_shard, act_record, act_nothing, 0, 0};
static const step_act act_reserve = {
    "first touch of the reserve", before_of_reserve, act_record, act_nothing, 0, 0};

/* ---- the handlers ---- */

typedef enum step_how { SAME, TOUCH, REGISTER, WRONG } step_how;
static const char *const step_how_names[] = {"the same handle", "first touches", "registrations",
                                             "the wrong"};
static step_how handler_how;

/* A literal name is for handlers where the same line has run before, in whichever thread. */
static uint64_t handler_named;

static void handler_literal(void)
{
    handler_named++;
    crest_increment_counter("step.literal");
}

static void handler_record(step_kind kind, step_place place, uint64_t value)
{
    step_want(kind, place, value);
    step_record(kind, place, value);
}

static void step_handler(int signal_number)
{
    (void)signal_number;
    int before = errno;
    errno = 12345;
    step_page->handled++;
    switch (handler_how) {
    case SAME: handler_record(act_kind, act_place, 100); break;
    case TOUCH:
        handler_record(act_kind, act_place, 100000);
        for (int kind = 0; kind < KINDS; kind++)
            handler_record((step_kind)kind, FAR, 7000);
        handler_literal();
        break;
    case REGISTER:
        for (int kind = 0; kind < KINDS; kind++)
            handler_record((step_kind)kind, LATE, 100);
        handler_record(act_kind, act_place, 1);
        break;
    case WRONG:
        wrong_locked |= wrong_lock;
        wrong_word = wrong_word + 1;
        wrong_wanted = wrong_wanted + 1;
    }
    if (errno != 12345)
        STEP_FAIL("errno was changed");
    errno = before;
}

/* ---- the child ---- */

static void *step_victim(void *argument)
{
    const step_act *act = argument;
    act->before();
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
        STEP_FAIL("it may not be traced");
    syscall(SYS_tgkill, getpid(), gettid(), SIGSTOP);
    errno = 77;
    crest_atomic_store32(&step_page->phase, 1);
    act->run();
    if (errno != 77)
        STEP_FAIL("the victim's errno was changed");
    if (!act->to_the_end)
        crest_atomic_store32(&step_page->phase, 2);
    return NULL;
}

static void step_child(const step_act *act)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    alarm(2 * HANGS_AFTER_S);
    pthread_t thread;
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += HANGS_AFTER_S;
    if (pthread_create(&thread, NULL, step_victim, (void *)(uintptr_t)act) != 0)
        STEP_FAIL("no thread");
    if (pthread_timedjoin_np(thread, NULL, &end) != 0)
        STEP_FAIL("it hangs");
    act->after();
    crest_snapshot *snapshot = crest_snapshot_take(&step_registry);
    if (snapshot == NULL)
        STEP_FAIL("no snapshot");
    for (int kind = 0; kind < KINDS; kind++)
        for (int place = 0; place < PLACES; place++)
            step_check(snapshot, (step_kind)kind, (step_place)place);
    if (handler_named - 1 != crest_counter_value(crest_counter_by_name("step.literal")))
        STEP_FAIL("a literal name counted %llu of %llu",
                  (unsigned long long)crest_counter_value(crest_counter_by_name("step.literal")),
                  (unsigned long long)handler_named - 1);
    if (crest_cells_table_count() > 2)
        STEP_FAIL("%llu thread records", (unsigned long long)crest_cells_table_count());
    _exit(0);
}

/* ---- the driver ---- */

/* One child, interrupted at one boundary, or, if that is NULL, surveyed. The page's message is
 * empty if all is well. */
static void step_once(const step_act *act, const step_boundary *boundary)
{
    *step_page = (struct step_page){0};
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        step_child(act);
    int status;
    pid_t thread = step_thread_stopped(child);
    if (boundary == NULL)
        step_survey(thread);
    else if (step_reach(thread, boundary))
        step_to_the_end(thread, SIGUSR1);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (step_page->message[0] == '\0' && (!WIFEXITED(status) || WEXITSTATUS(status) != 0))
        snprintf(step_page->message, sizeof step_page->message, "status %x", (unsigned)status);
}

/* The act interrupted at all of its boundaries, or at one in `stride`. Returns at how many
 * something went wrong. */
static unsigned step_all(const step_act *act, step_how how, unsigned stride, int tell)
{
    unsigned wrong = 0, tried = 0, interrupted = 0;
    handler_how = how;
    step_once(act, NULL);
    if (step_page->message[0] != '\0')
        fail_msg("%s, not interrupted: %s", act->name, step_page->message);
    for (unsigned at = 0; at < step_boundary_count && wrong < STEP_WRONG_MAX;
         at += stride, tried++) {
        step_once(act, &step_boundaries[at]);
        interrupted += step_page->handled;
        wrong += step_page->message[0] != '\0';
        if (tell && step_page->message[0] != '\0')
            print_message("before instruction %u: %s\n", at, step_page->message);
    }
    print_message("%s, %s %s, handler: %s: %u boundaries, interrupted at %u of %u, wrong at %u\n",
                  act->name, step_place_names[act_place], step_kind_names[act_kind],
                  step_how_names[how], step_boundary_count, interrupted, tried, wrong);
    /* where time decides what is run how often, the thread may not come by again */
    int varies = act->varies || act_kind == TIMING;
    assert_true(interrupted <= tried && interrupted + wrong >= (varies ? tried / 2 : tried));
    return wrong;
}

static void step_record_of(step_kind kind)
{
    const char *quick = getenv("CREST_QUICK");
    unsigned every = quick != NULL && *quick != '\0' ? 3 : 1, wrong = 0;
    act_kind = kind;
    for (int how = SAME; how <= REGISTER; how++) {
        act_place = FRESH;
        wrong += step_all(&act_first, (step_how)how, every, 1);
        act_place = NEAR;
        wrong += step_all(&act_first, (step_how)how, every, 1);
        wrong += step_all(&act_later, (step_how)how, 1, 1);
        if (kind != HISTOGRAM && kind != TIMER)
            continue;
        wrong += step_all(&act_power, (step_how)how, every, 1);
        wrong += step_all(&act_value, (step_how)how, every, 1);
        wrong += step_all(&act_last_value, (step_how)how, every, 1);
        /* what makes a shard is long, and what others do in the middle of it is no concern of it */
        unsigned stride = how == SAME ? every : 3;
        wrong += kind == HISTOGRAM ? step_all(&act_several, (step_how)how, stride, 1) : 0;
        wrong += step_all(&act_shard, (step_how)how, stride, 1);
        wrong += step_all(&act_reserve, (step_how)how, stride, 1);
    }
    assert_int_equal(wrong, 0);
}

#define STEP_TEST(kind)                                                                            \
    static void test_##kind(void **state)                                                          \
    {                                                                                              \
        (void)state;                                                                               \
        step_record_of(kind);                                                                      \
    }
STEP_TEST(COUNTER)
STEP_TEST(GAUGE)
STEP_TEST(HISTOGRAM)
STEP_TEST(TIMER)
STEP_TEST(TIMING)
STEP_TEST(SAMPLER)

static void wait_for_the_clock(void)
{
    for (int i = 0; i < 100; i++, usleep(1000))
        (void)crest_now();
}

/* The reading that calibrates the clock. From here on all children have one that is. */
static void test_the_first_reading(void **state)
{
    (void)state;
    static const step_act act = {"calibration", act_nothing, act_clock, act_nothing, 0, 1};
    unsigned wrong = 0;
    act_kind = TIMING;
    act_place = NEAR;
    usleep(20000);
    for (int how = SAME; how <= REGISTER; how++)
        wrong += step_all(&act, (step_how)how, 20, 1);
    assert_int_equal(wrong, 0);
    wait_for_the_clock();
}

/* What the library, or the C library, does when a handler comes that records. */
static void test_others(void **state)
{
    (void)state;
    static const step_act acts[] = {
        {"malloc", act_nothing, act_malloc, act_nothing, 0, 0},
        {"resolving a label", act_nothing, act_resolve, after_made, 0, 0},
        {"making a metric", act_nothing, act_get, after_made, 0, 0},
        {"a name", act_nothing, act_by_name, after_made, 0, 0},
        {"a thread's end", before_record, act_record, act_nothing, 1, 1},
    };
    unsigned wrong = 0;
    act_kind = HISTOGRAM;
    act_place = NEAR;
    for (size_t i = 0; i < LENGTH(acts); i++)
        for (int how = TOUCH; how <= REGISTER; how++)
            wrong += step_all(&acts[i], (step_how)how, 7, 1);
    assert_int_equal(wrong, 0);
}

static void test_it_can_fail(void **state)
{
    (void)state;
    static const step_act add = {"a wrong add", act_nothing, act_wrong_add, after_wrong, 0, 0};
    static const step_act lock = {"a wrong lock", act_nothing, act_wrong_lock, after_wrong, 0, 0};
    assert_true(step_all(&add, WRONG, 1, 0) > 0);
    assert_true(step_all(&lock, WRONG, 1, 0) > 0);
}

/* ---- setting up ---- */

static crest_kind step_crest_kind(step_kind kind)
{
    static const crest_kind kinds[] = {CREST_KIND_COUNTER,   CREST_KIND_GAUGE,
                                       CREST_KIND_HISTOGRAM, CREST_KIND_TIMER,
                                       CREST_KIND_TIMER,     CREST_KIND_RANGE_SAMPLER};
    return kinds[kind];
}

static void step_declare(step_kind kind, step_place place)
{
    step_metric *metric = &step_metrics[kind][place];
    snprintf(metric->name, sizeof metric->name, "%s-%s", step_place_names[place],
             step_kind_names[kind]);
    metric->declaration.kind = step_crest_kind(kind);
    metric->declaration.options.name = metric->name;
    metric->declaration.registry = &step_registry;
    crest_handle handle = {0, CREST_ABI, NULL, &metric->declaration};
    metric->handle.any = handle;
    if (metric->declaration.kind == CREST_KIND_TIMER)
        for (int i = 0; i < CREST_OUTCOME_COUNT; i++)
            metric->handle.timer.outcome[i].handle = handle;
    if (place <= FAR)
        assert_int_equal(crest_handle_register(&metric->handle.any), CREST_OK);
}

/* As many series as a chunk has cells, so that what comes next lies in another one. */
static void step_fill_a_chunk(void)
{
    static const char *const keys[] = {"number"};
    for (unsigned i = 0; i < CREST_CHUNK_CELLS; i++) {
        char name[32], number[16];
        const char *value = number;
        snprintf(name, sizeof name, "step.filler-%u", i / 1000);
        snprintf(number, sizeof number, "%u", i);
        crest_metric_options options = {.name = name};
        crest_status status;
        crest_counter_family family = crest_counter_family_new(NULL, &options, keys, 1, &status);
        assert_int_equal(status, CREST_OK);
        assert_true(crest_counter_family_get(&family, &value, 1)->handle.slot != 0);
    }
}

static void step_setup(void)
{
    for (int place = NEAR; place < PLACES; place++) {
        if (place == FAR)
            step_fill_a_chunk();
        for (int kind = 0; kind < KINDS; kind++)
            step_declare((step_kind)kind, (step_place)place);
    }
    for (int kind = 0; kind < KINDS; kind++)
        assert_true(step_metrics[kind][NEAR].handle.any.slot >> CREST_CHUNK_BITS !=
                    step_metrics[kind][FAR].handle.any.slot >> CREST_CHUNK_BITS);
    handler_literal(); /* the once, which the children do not see */
    step_page =
        mmap(NULL, sizeof *step_page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(step_page != MAP_FAILED);
    step_phase = &step_page->phase;
    struct sigaction action = {.sa_handler = step_handler};
    sigaction(SIGUSR1, &action, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_it_can_fail), cmocka_unit_test(test_the_first_reading),
        cmocka_unit_test(test_COUNTER),     cmocka_unit_test(test_GAUGE),
        cmocka_unit_test(test_HISTOGRAM),   cmocka_unit_test(test_TIMER),
        cmocka_unit_test(test_TIMING),      cmocka_unit_test(test_SAMPLER),
        cmocka_unit_test(test_others),
    };
    if (!step_may_trace()) {
        puts("ptrace is not permitted here");
        return 77;
    }
    alarm(WATCHDOG_S);
    step_stay_on_one_processor();
    step_setup();
    return cmocka_run_group_tests_name("single step", tests, NULL, NULL);
}

#endif
