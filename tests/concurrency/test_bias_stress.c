/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Range samplers that one thread owns, and what takes them from it: other threads, signals,
 * migrations, forks, a kernel that refuses. Sums are exact, and no value that stood is missed.
 *
 * The clock stands at 7, so the moment of every state is seven times its value, unless an update
 * was lost or torn.
 */
#define _GNU_SOURCE
#include "atomic.h"
#include "bias.h"
#include "clock_inside.h"
#include "range_cell.h"
#include "unit/core_fixture.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define UNITS 7

/* As many rounds as are asked for, or as a machine that does other things too has time for. */
#define BIAS_FOR_S 15

#define COMERS 3

/* How this program runs itself once more. */
#define WITHOUT_SEQUENCES "without-sequences"
#define WITHOUT_BARRIER "without-barrier"
static const char *bias_self;

typedef struct scene {
    crest_range_cell cell;
    crest_range_sampler sampler;
    uint64_t turn, done, seen, wrong;
    int64_t sum;
    pid_t owner;
} scene;

static void scene_begin(scene *s)
{
    memset(s, 0, sizeof *s);
    s->sampler.handle.abi = CREST_ABI;
    s->sampler.cell = &s->cell;
    crest_clock_fake(UNITS * (uint64_t)CREST_RANGE_TICK_NS);
}

static void scene_end(const scene *s, int64_t wanted)
{
    assert_int_equal(s->cell.state.value, wanted);
    assert_int_equal(s->cell.state.moment, wanted * UNITS);
    assert_int_equal(s->wrong, 0);
    crest_clock_fake(0);
}

/* Whether cells get owners here at all; if not, the same sums are tried with `lock`. */
static int owners_exist(void)
{
    scene s;
    scene_begin(&s);
    crest_range_sampler_add(&s.sampler, 1);
    scene_end(&s, 1);
    return s.cell.owner > CREST_RANGE_REVOKING;
}

static void rotate_and_look(scene *s)
{
    crest_range_reading reading;
    crest_range_rotate(&s->cell, &reading);
    if ((uint64_t)reading.value * UNITS != reading.moment || reading.value < reading.minimum ||
        reading.value > reading.maximum)
        crest_atomic_add(&s->wrong, 1);
}

/* ---- code that is unloaded ---- */

#if defined(CREST_X86_64_ASM) && defined(__GLIBC__)
extern const ptrdiff_t __rseq_offset __attribute__((weak));

/* What the kernel would look for when it next interrupts this thread: struct rseq's rseq_cs. */
static uint64_t descriptor_left(void)
{
    return *(const volatile uint64_t *)(crest_range_thread() + (uint64_t)__rseq_offset + 8);
}

/* The cell is taken between the owner's look at whose it is and its sequence. The descriptor may
 * lie in a plugin: were it still told to the kernel when that is unloaded, the thread would die. */
static void test_descriptor_forgotten(void **state)
{
    (void)state;
    if (!owners_exist())
        skip();
    scene s;
    scene_begin(&s);
    crest_range_sampler_add(&s.sampler, 1);
    uint64_t owner = s.cell.owner;
    s.cell.owner = CREST_RANGE_SHARED;
    int64_t sum = 1;
    for (int i = 0; i < 100; i++) {
        assert_false(crest_range_replace_owned(&s.cell, owner, (uint64_t)sum, 0, 0));
        crest_range_sampler_add_slow(&s.sampler, 1);
        sum++;
        assert_int_equal(descriptor_left(), 0);
    }
    scene_end(&s, sum);
}
#else
static void test_descriptor_forgotten(void **state)
{
    (void)state;
    skip();
}
#endif

/* ---- others come ---- */

#define COMER_ROUNDS FIXTURE_TIMES(6000)
#define COMER_ADDS 5

static scene *comer_scene;
static pthread_barrier_t comer_barrier;
static int comer_over; /* written before a round begins, by the owner */

/* Whether there is another round: it has begun then. */
static int comer_next(void)
{
    pthread_barrier_wait(&comer_barrier);
    return !comer_over;
}

static void comer_wait(unsigned spins)
{
    for (unsigned i = 0; i < spins; i++)
        (void)crest_atomic_load(&comer_scene->turn);
}

/* At a time of its own in each round. */
static void *comer(void *argument)
{
    unsigned random = (unsigned)(uintptr_t)argument * 7919u + 1;
    while (comer_next()) {
        random = random * 1103515245u + 12345u;
        comer_wait(random >> 20);
        for (int i = 0; i < COMER_ADDS; i++)
            crest_range_sampler_add(&comer_scene->sampler, 7);
        pthread_barrier_wait(&comer_barrier);
    }
    return NULL;
}

static void *comer_rotator(void *argument)
{
    while (comer_next()) {
        for (int i = 0; i < 3; i++)
            rotate_and_look(comer_scene);
        pthread_barrier_wait(&comer_barrier);
    }
    return argument;
}

/* The owner records at full speed into thousands of new samplers, and the others come to each. */
static void test_others_come(void **state)
{
    (void)state;
    scene s;
    comer_scene = &s;
    scene_begin(&s);
    pthread_t threads[COMERS + 1];
    pthread_barrier_init(&comer_barrier, NULL, COMERS + 2);
    for (int i = 0; i <= COMERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, i < COMERS ? comer : comer_rotator,
                                        (void *)(uintptr_t)i),
                         0);
    int owners = owners_exist();
    uint64_t owned = 0, rounds = 0;
    time_t end = time(NULL) + BIAS_FOR_S;
    comer_over = 0;
    for (; rounds < COMER_ROUNDS && time(NULL) < end; rounds++) {
        scene_begin(&s);
        crest_range_sampler_add(&s.sampler, 1);
        owned += s.cell.owner > CREST_RANGE_REVOKING;
        pthread_barrier_wait(&comer_barrier);
        for (int i = 0; i < 1000; i++) {
            crest_range_sampler_add(&s.sampler, 3);
            crest_range_sampler_add(&s.sampler, -2);
        }
        pthread_barrier_wait(&comer_barrier);
        assert_int_equal(s.cell.owner, CREST_RANGE_SHARED);
        scene_end(&s, 1 + 1000 + COMERS * COMER_ADDS * 7);
    }
    comer_over = 1;
    pthread_barrier_wait(&comer_barrier);
    for (int i = 0; i <= COMERS; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&comer_barrier);
    print_message("%llu rounds\n", (unsigned long long)rounds);
    assert_int_equal(owned, owners ? rounds : 0);
}

/* ---- signals and migrations ---- */

static scene *disturbed_scene;
static uint64_t disturbed_runs;

static void disturbed_handler(int number)
{
    (void)number;
    crest_range_sampler_add(&disturbed_scene->sampler, 1000);
    crest_range_sampler_add(&disturbed_scene->sampler, -999);
    crest_atomic_add(&disturbed_runs, 1);
}

static void *migrate(void *argument)
{
    scene *s = argument;
    cpu_set_t all, one;
    sched_getaffinity(0, sizeof all, &all);
    for (int cpu = 0; !crest_atomic_load_acquire(&s->done); cpu = (cpu + 1) % CPU_SETSIZE) {
        if (!CPU_ISSET(cpu, &all))
            continue;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        sched_setaffinity(s->owner, sizeof one, &one);
        crest_atomic_add(&s->turn, 1);
    }
    sched_setaffinity(s->owner, sizeof all, &all);
    return NULL;
}

static void *rotate(void *argument)
{
    scene *s = argument;
    while (!crest_atomic_load_acquire(&s->done))
        rotate_and_look(s);
    return NULL;
}

/* A timer every 50 us whose handler updates too, while the owner is moved between the processors
 * and its windows change. It stays the owner. */
static void test_signals_and_migrations(void **state)
{
    (void)state;
    scene s;
    int owners = owners_exist();
    scene_begin(&s);
    disturbed_scene = &s;
    disturbed_runs = 0;
    s.owner = (pid_t)syscall(SYS_gettid);
    pthread_t threads[2];
    assert_int_equal(pthread_create(&threads[0], NULL, migrate, &s), 0);
    assert_int_equal(pthread_create(&threads[1], NULL, rotate, &s), 0);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    struct sigaction action = {.sa_handler = disturbed_handler}, before;
    sigaction(SIGALRM, &action, &before);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    struct itimerval often = {{0, 50}, {0, 50}}, never = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &often, NULL);
    const uint64_t runs = FIXTURE_TIMES(20000);
    uint64_t steps = 0;
    time_t end = time(NULL) + BIAS_FOR_S;
    while (crest_atomic_load(&disturbed_runs) < runs || crest_atomic_load(&s.turn) < 100) {
        if (steps % 65536 == 65535 && time(NULL) >= end)
            break;
        crest_range_sampler_add(&s.sampler, steps++ % 2 ? 1 : -2);
    }
    setitimer(ITIMER_REAL, &never, NULL);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    sigaction(SIGALRM, &before, NULL);
    crest_atomic_store_release(&s.done, 1);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    assert_true(!owners || s.cell.owner > CREST_RANGE_REVOKING);
    int64_t ups = (int64_t)(steps / 2), downs = (int64_t)(steps - steps / 2);
    scene_end(&s, ups - 2 * downs + (int64_t)disturbed_runs);
}

/* ---- what stands when a window ends ---- */

#define STAND_ROUNDS FIXTURE_TIMES(40000)

static void stand_await(const uint64_t *word, uint64_t value)
{
    for (unsigned i = 0; crest_atomic_load_acquire(word) != value; i++)
        if (i % 4096 == 4095)
            sched_yield();
}

static uint64_t stand_over; /* written before a round's last `done`, whose release covers it */

/* In each round a peak that is gone; then, while the window ends, a lower one, which stands until
 * it has ended. */
static void *stand(void *argument)
{
    scene *s = argument;
    for (uint64_t round = 1; round <= STAND_ROUNDS; round++) {
        crest_range_sampler_add(&s->sampler, 1000);
        crest_range_sampler_add(&s->sampler, -1000);
        crest_atomic_store_release(&s->turn, round);
        crest_range_sampler_add(&s->sampler, 100);
        stand_await(&s->done, round);
        crest_range_sampler_add(&s->sampler, -100);
        crest_atomic_store_release(&s->seen, round);
        stand_await(&s->done, round + STAND_ROUNDS);
        if (crest_atomic_load(&stand_over))
            break;
    }
    return NULL;
}

/* That the barrier between the steps is needed is shown by tests/model/range_sampler.pml; no
 * processor at hand kept a store back for so long. This shows that with it nothing is missed. */
static void test_what_stands_is_seen(void **state)
{
    (void)state;
    scene s;
    scene_begin(&s);
    crest_clock_fake(0); /* the true one, because asking it is no barrier */
    crest_range_reading reading;
    pthread_t thread;
    unsigned missed = 0;
    time_t end = time(NULL) + BIAS_FOR_S;
    crest_atomic_store(&stand_over, 0);
    assert_int_equal(pthread_create(&thread, NULL, stand, &s), 0);
    for (uint64_t round = 1; round <= STAND_ROUNDS && !stand_over; round++) {
        stand_await(&s.turn, round);
        for (volatile unsigned i = 0; i < round % 32; i++)
            continue;
        crest_range_rotate(&s.cell, &reading);
        crest_atomic_store_release(&s.done, round);
        stand_await(&s.seen, round);
        crest_range_rotate(&s.cell, &reading);
        missed += reading.maximum < 100;
        crest_atomic_store(&stand_over, round % 64 == 0 && time(NULL) >= end);
        crest_atomic_store_release(&s.done, round + STAND_ROUNDS);
    }
    pthread_join(thread, NULL);
    assert_int_equal(s.cell.state.value, 0);
    assert_int_equal(missed, 0);
}

/* ---- threads that end, and processes that begin ---- */

static void *add_some(void *argument)
{
    scene *s = argument;
    for (int i = 0; i < 10000; i++)
        crest_range_sampler_add(&s->sampler, i % 2 ? 3 : -2);
    return NULL;
}

/* One after the other, with the same thread pointer as a rule, and two at once at last. */
static void test_owners_follow(void **state)
{
    (void)state;
    scene s;
    scene_begin(&s);
    pthread_t threads[2];
    for (int i = 0; i < 100; i++) {
        pthread_create(&threads[0], NULL, add_some, &s);
        pthread_join(threads[0], NULL);
    }
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, add_some, &s);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(s.cell.owner, CREST_RANGE_SHARED);
    scene_end(&s, 102 * 5000);
}

static int exact_with_two(scene *s)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, add_some, s);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return s->cell.state.value == 10000 && s->cell.state.moment == 10000 * UNITS;
}

/* A child revokes as its parent does, without having registered. */
static void test_in_a_child(void **state)
{
    (void)state;
    fixture_skip_child_with_threads();
    for (int i = 0; i < 50; i++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            scene s;
            scene_begin(&s);
            crest_range_sampler_add(&s.sampler, 0);
            _exit(exact_with_two(&s) && s.cell.owner == CREST_RANGE_SHARED ? 0 : 1);
        }
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
}

/* ---- where it is refused ---- */

static int deny_membarrier(void)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0;
}

/* Without owners all is shared from the first update. */
static int run_refused(void)
{
    scene s;
    scene_begin(&s);
    crest_range_sampler_add(&s.sampler, 0);
    if (s.cell.owner != CREST_RANGE_SHARED)
        return 2;
    return exact_with_two(&s) ? 0 : 3;
}

static int run_self(const char *how, const char *tunables)
{
    pid_t child = fork();
    if (child == 0) {
        if (tunables != NULL)
            setenv("GLIBC_TUNABLES", tunables, 1);
        execl(bias_self, bias_self, how, (char *)NULL);
        _exit(9);
    }
    int status = -1;
    waitpid(child, &status, 0);
    return status;
}

static void test_refused(void **state)
{
    (void)state;
    assert_int_equal(run_self(WITHOUT_SEQUENCES, "glibc.pthread.rseq=0"), 0);
    assert_int_equal(run_self(WITHOUT_BARRIER, NULL), 0);
}

/* A policy that comes after the owner: who takes the cell waits. */
static void test_refused_later(void **state)
{
    (void)state;
    fixture_skip_child_with_threads();
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        scene s;
        scene_begin(&s);
        crest_range_sampler_add(&s.sampler, 0);
        if (!deny_membarrier())
            _exit(77);
        rotate_and_look(&s);
        if (!exact_with_two(&s) || s.wrong != 0 || s.cell.owner != CREST_RANGE_SHARED)
            _exit(1);
        _exit(run_refused());
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        print_message("there is no seccomp here\n");
    else
        assert_int_equal(status, 0);
}

static void *cancelled_adder(void *argument)
{
    scene *s = argument;
    pthread_cancel(pthread_self());
    crest_range_sampler_add(&s->sampler, 5);
    s->done = 1;
    pthread_testcancel();
    return NULL;
}

/* Waiting, too, is no place to be cancelled at: an update is made or not begun. */
static void test_refused_is_no_cancellation_point(void **state)
{
    (void)state;
    fixture_skip_child_with_threads();
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        scene s;
        scene_begin(&s);
        crest_range_sampler_add(&s.sampler, 1);
        pthread_t other;
        void *result = NULL;
        if (!deny_membarrier())
            _exit(0);
        if (pthread_create(&other, NULL, cancelled_adder, &s) != 0 ||
            pthread_join(other, &result) != 0)
            _exit(1);
        _exit(s.done == 1 && s.cell.state.value == 6 && result == PTHREAD_CANCELED ? 0 : 2);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

int main(int count, char **arguments)
{
    if (count > 1 && strcmp(arguments[1], WITHOUT_BARRIER) == 0 && !deny_membarrier())
        return 0; /* nothing to try */
    if (count > 1)
        return run_refused();
    bias_self = arguments[0];
    sigset_t alarms;
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &alarms, NULL);
    fixture_watchdog(200);
    if (!owners_exist())
        print_message("no thread owns a sampler here: all of it with locked instructions\n");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_others_come),
        cmocka_unit_test(test_signals_and_migrations),
        cmocka_unit_test(test_what_stands_is_seen),
        cmocka_unit_test(test_owners_follow),
        cmocka_unit_test(test_in_a_child),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_refused_later),
        cmocka_unit_test(test_descriptor_forgotten),
        cmocka_unit_test(test_refused_is_no_cancellation_point),
    };
    return cmocka_run_group_tests_name("bias stress", tests, NULL, NULL);
}
