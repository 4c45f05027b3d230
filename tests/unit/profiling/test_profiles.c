/* SPDX-License-Identifier: Apache-2.0 */
// crest-test: sanitizers=no timeout=900
/*
 * <crest/profile.h> as a whole: profiles of threads that burn, sleep, compress, fork, throw their
 * stack away and come and go. Under a sanitizer its own frames and handlers stand between.
 */
#define _GNU_SOURCE
#include "support/profile_fixture.h"

#include <dlfcn.h>
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <zlib.h>

CREST_TIMER(block_time, "profiled.block-time", "Blocks.");
CREST_TIMER(check_time, "profiled.check-time", "Within blocks.");

/* How often what is to hold for ever is tried: less in `make check`. */
static int times(int all, int quick)
{
    return getenv("CREST_QUICK") != NULL ? quick : all;
}

/* And no longer than this, where processors are short: the test says how often it was. */
#define LONG_S 120

static int goes_on(uint64_t begun_ns)
{
    return crest_now() - begun_ns < LONG_S * UINT64_C(1000000000);
}

static volatile int burning;
static volatile uint64_t sink;

/* ---- what is profiled ---- */

__attribute__((noinline)) static void burn_seven(double seconds)
{
    for (double end = thread_s() + seconds; thread_s() < end;)
        for (int i = 0; i < 20000; i++)
            sink += sink * (uint64_t)i;
}

__attribute__((noinline)) static void burn_three(double seconds)
{
    for (double end = thread_s() + seconds; thread_s() < end;)
        for (int i = 0; i < 20000; i++)
            sink ^= sink * (uint64_t)i;
}

static void *burn_both(void *unused)
{
    unsigned random = 1;
    while (burning) {
        /* not in step with the kernel's tick */
        random = random * 1103515245u + 12345u;
        double piece = 0.008 + (double)(random >> 16 & 0xff) / 0xff * 0.004;
        burn_seven(7 * piece);
        burn_three(3 * piece);
    }
    return unused;
}

__attribute__((noinline)) static void task_of_libraries(unsigned char *in, unsigned char *out)
{
    uLongf bytes = compressBound(65536);
    compress(out, &bytes, in, 65536);
    for (int i = 0; i < 3000; i++) {
        char *pieces[10];
        for (int j = 0; j < 10; j++)
            pieces[j] = malloc((size_t)(100 + j * 700));
        for (int j = 0; j < 10; j++)
            free(pieces[j]);
    }
    for (int i = 0; i < 100; i++)
        memcpy(out, in, 65536);
}

static void *call_libraries(void *unused)
{
    unsigned char *in = malloc(65536), *out = malloc(compressBound(65536));
    for (int i = 0; i < 65536; i++)
        in[i] = (unsigned char)(i * 7 ^ i >> 3);
    while (burning)
        task_of_libraries(in, out);
    free(in);
    free(out);
    return unused;
}

/* ---- starting it ---- */

static int start(void **state)
{
    crest_error error = {CREST_OK, ""};
    (void)state;
    burning = 1;
    if (crest_profiler_start(&(crest_profiler_options){.hz = 250}, &error) != CREST_OK)
        printf("%s\n", error.message);
    return error.status == CREST_OK ? 0 : -1;
}

static int stop(void **state)
{
    (void)state;
    burning = 0;
    return crest_profiler_stop(NULL) == CREST_OK ? 0 : -1;
}

/* ---- tests ---- */

static void test_shares_of_cpu_time(void **state)
{
    pthread_t thread;
    (void)state;
    assert_int_equal(crest_profiler_stop(NULL), CREST_OK);
    assert_int_equal(
        crest_profiler_start(&(crest_profiler_options){.hz = CREST_PROFILE_HZ_MAX}, NULL),
        CREST_OK);
    crest_profile *profile = begin(CREST_PROFILE_CPU);
    pthread_create(&thread, NULL, burn_both, NULL);
    wait_for_samples(6000);
    text made = folded(profile);
    burning = 0;
    pthread_join(thread, NULL);
    double seven = weight(&made, "burn_seven", NULL), three = weight(&made, "burn_three", NULL);
    assert_true(seven > 0 && three > 0);
    /* Six seconds of CPU time. A kernel of 250 ticks a second gives one sample each 4 ms, with a
       weight of four. So a border between the two may lie wrong by 4 ms either way: a standard
       deviation of 1.6 ms in each 100 ms, and of 0.2 points in sixty of them, of which three points
       are fifteen. By chance alone (6,000 samples at random) it would be 0.59. */
    assert_in_range((uint64_t)(1000 * seven / (seven + three)), 670, 730);
    free(made.bytes);
}

static void test_libraries_reach_their_caller(void **state)
{
    pthread_t thread;
    (void)state;
    crest_profile *profile = begin(CREST_PROFILE_CPU);
    crest_profiler_state before = crest_profiler_status();
    pthread_create(&thread, NULL, call_libraries, NULL);
    wait_for_samples(300);
    text made = folded(profile);
    burning = 0;
    pthread_join(thread, NULL);
    crest_profiler_state after = crest_profiler_status();
    /* all but this thread's: a C library without symbols does not name its start of a thread */
    double of_thread =
        weight(&made, "", NULL) - weight(&made, "test_libraries_reach_their_caller", NULL);
    double reach = weight(&made, "call_libraries", NULL);
    assert_true(reach >= 0.99 * of_thread && of_thread > 0);
    assert_true(weight(&made, "call_libraries;task_of_libraries", "compress") > 0);
    assert_true(after.broken - before.broken <= (after.samples - before.samples) / 100);
    free(made.bytes);
}

static void block(uint64_t height, double seconds)
{
    CREST_PROFILE_SCOPE(&block_time, crest_op_u64(height), NULL);
    burn_seven(seconds);
    {
        CREST_PROFILE_SCOPE(&check_time, crest_op_u64(height), NULL);
        burn_three(seconds / 2);
    }
}

static void test_samples_know_their_operation(void **state)
{
    (void)state;
    crest_profile_thread();
    crest_profile *profile = begin(CREST_PROFILE_CPU);
    burn_seven(0.1);
    for (uint64_t i = 0; i < 20; i++)
        block(i, i == 13 ? 0.3 : 0.015);
    text made = folded(profile);
    assert_true(weight(&made, "[profiled.block-time]", "burn_seven") > 0);
    assert_true(weight(&made, "[profiled.check-time]", "burn_three") > 0);
    assert_true(weight(&made, "[profiled.check-time]", "burn_seven") == 0);
    free(made.bytes);
    text slow = folded(begin(CREST_PROFILE_SLOW));
    double all = weight(&slow, "", NULL);
    /* 450 ms of CPU time of the slow one, against eight of 22 ms */
    assert_true(all > 0 && weight(&slow, "test_samples_know", NULL) == all);
    assert_true(weight(&slow, "[profiled.block-time]", "burn_seven") >= 0.4 * all);
    free(slow.bytes);
}

static volatile sig_atomic_t gone_on;

static void *sleep_long(void *ended)
{
    struct timespec left = {3600, 0};
    pthread_setname_np(pthread_self(), "sleeper");
    gone_on = 1;
    *(int *)ended = nanosleep(&left, NULL) == 0 ? 0 : errno;
    return NULL;
}

static void test_sleepers_are_seen_and_get_no_signal(void **state)
{
    pthread_t thread, busy;
    int ended = -1;
    (void)state;
    gone_on = 0;
    pthread_create(&thread, NULL, sleep_long, &ended);
    pthread_create(&busy, NULL, burn_both, NULL);
    while (!gone_on)
        usleep(1000);
    crest_profile *profile = begin(CREST_PROFILE_WALL);
    wait_for_samples(100);
    text wall = folded(profile);
    assert_true(weight(&wall, "sleep_long", "nanosleep") > 0);
    assert_true(weight(&wall, "burn_both", NULL) > 0);
    text threads = folded(begin(CREST_PROFILE_THREADS));
    assert_true(weight(&threads, "thread sleeper;", "sleep_long") == 1);
    assert_int_equal(ended, -1); /* it still sleeps: nothing has interrupted it */
    burning = 0;
    pthread_join(busy, NULL);
    pthread_cancel(thread);
    pthread_join(thread, NULL);
    free(wall.bytes);
    free(threads.bytes);
}

static void test_one_at_a_time_and_wrong_calls(void **state)
{
    crest_error error;
    (void)state;
    crest_profile *profile = begin(CREST_PROFILE_CPU);
    assert_null(crest_profile_begin(CREST_PROFILE_CPU, &error));
    assert_int_equal(error.status, CREST_ALREADY);
    assert_null(crest_profile_begin((crest_profile_kind)9, &error));
    assert_int_equal(error.status, CREST_INVALID_ARGUMENT);
    assert_int_equal(crest_profile_write(profile, CREST_PROFILE_PPROF, text_write, NULL, &error),
                     CREST_INVALID_ARGUMENT); /* it has not ended */
    crest_profile_free(profile);
    profile = begin(CREST_PROFILE_CPU);
    assert_int_equal(crest_profiler_start(NULL, &error), CREST_ALREADY);
    assert_int_equal(crest_profiler_stop(NULL), CREST_OK);
    assert_int_equal(crest_profile_end(profile, &error), CREST_NOT_RUNNING);
    crest_profile_free(profile);
    assert_int_equal(crest_profiler_stop(NULL), CREST_NOT_RUNNING);
    assert_null(crest_profile_begin(CREST_PROFILE_CPU, &error));
    assert_int_equal(error.status, CREST_NOT_RUNNING);
    assert_int_equal(crest_profiler_start(&(crest_profiler_options){.hz = 1001}, &error),
                     CREST_INVALID_ARGUMENT);
    assert_int_equal(crest_profiler_start(NULL, &error), CREST_OK);
}

static volatile sig_atomic_t hosts;

static void hosts_handler(int number)
{
    hosts += number == SIGPROF;
}

static void test_a_host_that_owns_the_signal(void **state)
{
    crest_error error;
    (void)state;
    int ours = crest_profiler_status().signal;
    assert_int_equal(crest_profiler_stop(NULL), CREST_OK);
    raise(ours); /* ignored: it does not end the process */
    signal(SIGPROF, hosts_handler);
    assert_int_equal(crest_profiler_start(&(crest_profiler_options){.signal = SIGPROF}, &error),
                     CREST_SYSTEM);
    assert_non_null(strstr(error.message, "profile.signal"));
    assert_int_equal(crest_profiler_start(NULL, &error), CREST_OK);
    assert_int_equal(crest_profiler_status().signal, SIGRTMAX);
    raise(SIGPROF);
    assert_int_equal(hosts, 1);
    /* a host that takes the signal while it is used gets no more of ours */
    signal(SIGRTMAX, hosts_handler);
    for (int i = 0; i < PATIENCE_S * 100 && crest_profiler_status().running; i++)
        usleep(10000);
    assert_int_equal(crest_profiler_status().running, 0);
    assert_int_equal(crest_profiler_status().threads, 0);
    crest_profiler_stop(NULL);
    signal(SIGRTMAX, SIG_DFL);
    signal(SIGPROF, SIG_DFL);
    assert_int_equal(crest_profiler_start(NULL, &error), CREST_OK);
}

/* One in fifty has work to do. */
static void *come_and_go(void *number)
{
    if ((uintptr_t)number % 50 == 0)
        burn_three(0.005);
    return NULL;
}

static void test_threads_that_come_and_go(void **state)
{
    (void)state;
    uintptr_t i = 0, all = (uintptr_t)times(100000, 5000);
    for (uint64_t begun_ns = crest_now(); i < all && goes_on(begun_ns); i++) {
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, come_and_go, (void *)i), 0);
        pthread_join(thread, NULL);
    }
    print_message("%u threads\n", (unsigned)i);
    for (i = 0; i < PATIENCE_S * 100 && crest_profiler_status().threads > 2; i++)
        usleep(10000);
    assert_true(crest_profiler_status().threads <= 2);
    assert_int_equal(crest_profiler_status().unsampled, 0);
}

static void test_fork_and_exec(void **state)
{
    pthread_t busy;
    (void)state;
    pthread_create(&busy, NULL, burn_both, NULL);
    for (int i = 0; i < 50; i++) {
        int status;
        pid_t child = fork();
        if (child == 0) {
            burn_three(0.005);
            if (i % 2 == 0)
                execl("/bin/true", "true", (char *)NULL);
            crest_error error;
            if (crest_profiler_status().running || crest_profiler_start(NULL, &error) != CREST_OK)
                _exit(3);
            burn_three(0.05);
            _exit(crest_profiler_status().samples == 0 || crest_profiler_stop(NULL) != CREST_OK);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
    burning = 0;
    pthread_join(busy, NULL);
}

static void test_start_and_stop(void **state)
{
    pthread_t busy;
    (void)state;
    pthread_create(&busy, NULL, burn_both, NULL);
    int i = 0, all = times(10000, 300);
    for (uint64_t begun_ns = crest_now(); i < all && goes_on(begun_ns); i++) {
        assert_int_equal(crest_profiler_stop(NULL), CREST_OK);
        assert_int_equal(crest_profiler_start(&(crest_profiler_options){.hz = 1000}, NULL),
                         CREST_OK);
    }
    print_message("%d starts and stops\n", i);
    burning = 0;
    pthread_join(busy, NULL);
}

/* A jump that skips the scope's end, and then other variables where the scope lay. */
__attribute__((noinline)) static void jump_out(jmp_buf where)
{
    CREST_PROFILE_SCOPE(&block_time, crest_op_u64(1), NULL);
    burn_three(0.01);
    longjmp(where, 1);
}

__attribute__((noinline)) static void fill(void)
{
    volatile char below[8192];
    for (size_t i = 0; i < sizeof below; i++)
        below[i] = (char)0xaa;
    burn_three(0.03);
    for (size_t i = 0; i < sizeof below; i++)
        assert_int_equal((unsigned char)below[i], 0xaa);
}

static void test_jumps_out_of_scopes(void **state)
{
    (void)state;
    crest_profile_thread();
    for (volatile int i = 0; i < 5; i++) {
        jmp_buf where;
        if (setjmp(where) == 0)
            jump_out(where);
        fill();
    }
    assert_true(crest_profiler_status().samples > 0);
}

__attribute__((noinline)) static uint64_t recurse(unsigned depth)
{
    if (depth == 0) {
        burn_three(0.05);
        return sink;
    }
    return recurse(depth - 1) + 1 + (sink & 1);
}

static void test_deep_stacks_are_truncated(void **state)
{
    (void)state;
    crest_profile_thread();
    uint64_t before = crest_profiler_status().truncated;
    recurse(10000);
    assert_true(crest_profiler_status().truncated > before);
}

#if defined(__x86_64__)
/* Runs with a frame pointer and a stack that lead nowhere: the walk has to end, and no more. */
__attribute__((noinline)) static void burn_with_broken_registers(uint64_t rbp)
{
    uint64_t rounds = 30000000;
    __asm__ volatile("push %%rbp\n"
                     "mov %1, %%rbp\n"
                     "1: dec %0\n"
                     "jnz 1b\n"
                     "pop %%rbp\n"
                     : "+r"(rounds)
                     : "r"(rbp)
                     : "cc", "memory");
}

static void test_broken_frame_pointers(void **state)
{
    static const uint64_t broken[] = {0, 1, 0x8000000000000000, UINT64_MAX - 7, 0xdeadbeef000};
    (void)state;
    crest_profile_thread();
    uint64_t before = crest_profiler_status().samples;
    for (size_t i = 0; i < LENGTH(broken); i++)
        burn_with_broken_registers(broken[i]);
    assert_true(crest_profiler_status().samples > before);
}

/* The same with a stack pointer that leads nowhere, or into what is no stack. The handler has a
 * stack of its own, for the kernel could put its frame nowhere. */
__attribute__((noinline)) static void burn_with_broken_stack(uint64_t rsp)
{
    uint64_t rounds = 30000000, kept;
    __asm__ volatile("mov %%rsp, %1\n"
                     "mov %2, %%rsp\n"
                     "1: dec %0\n"
                     "jnz 1b\n"
                     "mov %1, %%rsp\n"
                     : "+&r"(rounds), "=&r"(kept)
                     : "r"(rsp)
                     : "cc", "memory");
}

static void *burn_on_no_stack(void *unused)
{
    static char handlers[65536];
    stack_t before, own = {.ss_sp = handlers, .ss_size = sizeof handlers};
    char *page = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int refused = page == MAP_FAILED || sigaltstack(&own, &before) != 0;
    if (refused)
        return (void *)"no stack of its own";
    memset(page, 0xff, 8192);
    for (size_t i = 0; i < 4096; i += 8) /* words that look like addresses of code */
        memcpy(page + i, &(void *){(char *)&burn_on_no_stack + i}, 8);
    mprotect(page + 8192, 4096, PROT_NONE);
    uint64_t low = (uint64_t)(uintptr_t)page;
    const uint64_t broken[] = {0,   1,          0x8000000000000000, UINT64_MAX - 7, 0xdeadbeef000,
                               low, low + 4096, low + 8184,         low + 8192};
    crest_profile_thread();
    for (size_t i = 0; i < LENGTH(broken); i++)
        burn_with_broken_stack(broken[i]);
    sigaltstack(&before, NULL);
    munmap(page, 3 * 4096);
    return unused;
}

static void test_broken_stacks(void **state)
{
    pthread_t thread;
    (void)state;
    crest_profiler_state before = crest_profiler_status();
    crest_profile *profile = begin(CREST_PROFILE_CPU);
    void *problem;
    assert_int_equal(pthread_create(&thread, NULL, burn_on_no_stack, NULL), 0);
    pthread_join(thread, &problem);
    assert_null(problem);
    text made = folded(profile);
    assert_true(weight(&made, "burn_with_broken_stack", NULL) > 0);
    assert_true(crest_profiler_status().broken > before.broken);
    free(made.bytes);
}
#endif

/* Runs the code of a library that is loaded for this alone, at whatever address: dpkg needs it, so
 * every Debian has it. */
#define LOADED "liblzma.so.5"

__attribute__((noinline)) static int call_loaded(void *library)
{
    static unsigned char bytes[65536];
    uint32_t (*sum)(const uint8_t *, size_t, uint32_t) = NULL;
    void *found = dlsym(library, "lzma_crc32");
    if (found == NULL)
        return 0;
    memcpy(&sum, &found, sizeof sum);
    for (int i = 0; i < 20; i++)
        sink += sum(bytes, sizeof bytes, (uint32_t)i);
    return 1;
}

static uint32_t loads, calls;

static void *load_and_unload(void *unused)
{
    while (burning) {
        void *library = dlopen(LOADED, RTLD_NOW | RTLD_LOCAL);
        if (library == NULL)
            break;
        __atomic_fetch_add(&loads, 1, __ATOMIC_RELAXED);
        __atomic_fetch_add(&calls, (uint32_t)call_loaded(library), __ATOMIC_RELAXED);
        dlclose(library);
    }
    return unused;
}

static void test_loading_while_sampled(void **state)
{
    pthread_t threads[2];
    (void)state;
    loads = calls = 0;
    crest_profile *profile = begin(CREST_PROFILE_CPU);
    for (size_t i = 0; i < LENGTH(threads); i++)
        pthread_create(&threads[i], NULL, load_and_unload, NULL);
    wait_for_samples((uint64_t)times(2000, 200));
    burning = 0;
    for (size_t i = 0; i < LENGTH(threads); i++)
        pthread_join(threads[i], NULL);
    assert_null(dlopen(LOADED, RTLD_NOW | RTLD_NOLOAD)); /* it has gone */
    text made = folded(profile);
    assert_true(loads > 10);
    assert_int_equal(loads, calls);
    /* code that has gone is known by its module and its name; a look may have come too late */
    double in_it = weight(&made, "call_loaded;", NULL);
    double named = in_it - weight(&made, "call_loaded;", "[unknown]");
    print_message("%u loads, %.0f of %.0f ns have a name\n", loads, named, in_it);
    assert_true(named > 0);
    assert_int_equal(crest_profiler_status().lost, 0);
    free(made.bytes);
}

int main(void)
{
    alarm(880); /* a watchdog: what hangs ends with SIGALRM */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_shares_of_cpu_time, start, stop),
        cmocka_unit_test_setup_teardown(test_libraries_reach_their_caller, start, stop),
        cmocka_unit_test_setup_teardown(test_samples_know_their_operation, start, stop),
        cmocka_unit_test_setup_teardown(test_sleepers_are_seen_and_get_no_signal, start, stop),
        cmocka_unit_test_setup_teardown(test_one_at_a_time_and_wrong_calls, start, stop),
        cmocka_unit_test_setup_teardown(test_a_host_that_owns_the_signal, start, stop),
        cmocka_unit_test_setup_teardown(test_threads_that_come_and_go, start, stop),
        cmocka_unit_test_setup_teardown(test_fork_and_exec, start, stop),
        cmocka_unit_test_setup_teardown(test_start_and_stop, start, stop),
        cmocka_unit_test_setup_teardown(test_jumps_out_of_scopes, start, stop),
        cmocka_unit_test_setup_teardown(test_deep_stacks_are_truncated, start, stop),
#if defined(__x86_64__)
        cmocka_unit_test_setup_teardown(test_broken_frame_pointers, start, stop),
        cmocka_unit_test_setup_teardown(test_broken_stacks, start, stop),
#endif
        cmocka_unit_test_setup_teardown(test_loading_while_sampled, start, stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
