/* SPDX-License-Identifier: Apache-2.0 */
// crest-test: timeout=600
/*
 * The profiler where the kernel refuses: filters that forbid its system calls, no /proc, no main
 * thread. What cannot be had is told in a sentence, and no thread is woken that may sleep.
 */
#define _GNU_SOURCE
#include "support/profile_edges.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>

/* From now on the process gets EPERM for this system call. */
static void forbid(unsigned number)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {LENGTH(filter), filter};
    must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, 77);
    must(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0, 77);
}

/* A thread whose stack cannot be copied may sleep: it gets no signal, which would end its call. */
static void sleep_unseen(void)
{
    int ended;
    pthread_t thread = sleeper(&ended);
    must(crest_profiler_start(NULL, NULL) == CREST_OK, 3);
    forbid(SYS_process_vm_readv);
    crest_profile *wall = crest_profile_begin(CREST_PROFILE_WALL, NULL);
    must(wall != NULL, 4);
    wait_for_look();
    must(crest_profile_end(wall, NULL) == CREST_OK, 5);
    crest_profile_free(wall);
    crest_profile *threads = crest_profile_begin(CREST_PROFILE_THREADS, NULL);
    must(threads != NULL && crest_profile_end(threads, NULL) == CREST_OK, 6);
    crest_profile_free(threads);
    must(crest_profiler_stop(NULL) == CREST_OK, 7);
    must(ended == -1, 8);
    pthread_cancel(thread);
    pthread_join(thread, NULL);
}

static void test_who_cannot_be_seen_is_not_woken(void **state)
{
    (void)state;
    restricted(sleep_unseen);
}

static void refused_start(const char *call)
{
    crest_error error = {CREST_OK, ""};
    must(crest_profiler_start(NULL, &error) == CREST_SYSTEM, 3);
    must(strstr(error.message, call) != NULL, 4);
    must(crest_profiler_status().running == 0 && crest_profiler_status().threads == 0, 5);
    must(crest_profiler_stop(NULL) == CREST_NOT_RUNNING, 6);
    raise(SIGPROF); /* still ignored */
}

static void start_without_timers(void)
{
    forbid(SYS_timer_create);
    refused_start("timer_create");
}

static void start_without_times(void)
{
    forbid(SYS_timer_settime);
    refused_start("timer_settime");
}

static void burn_for(uint64_t samples)
{
    uint64_t until = crest_profiler_status().samples + samples;
    while (crest_profiler_status().samples < until)
        for (volatile int i = 0; i < 100000; i++)
            continue;
}

static void *burn_on(void *unused)
{
    __atomic_store_n(&asleep, 1, __ATOMIC_RELEASE);
    burn_for(UINT32_MAX);
    return unused;
}

/* A thread that runs cannot be asked where it is: it is told as unseen, and all others as ever. */
static void ask_without_signals(void)
{
    pthread_t thread, waits;
    int ended;
    forbid(SYS_rt_tgsigqueueinfo);
    must(crest_profiler_start(NULL, NULL) == CREST_OK, 3);
    waits = sleeper(&ended);
    asleep = 0;
    pthread_create(&thread, NULL, burn_on, NULL);
    while (!__atomic_load_n(&asleep, __ATOMIC_ACQUIRE))
        usleep(1000);
    crest_profile *threads = crest_profile_begin(CREST_PROFILE_THREADS, NULL);
    must(threads != NULL && crest_profile_end(threads, NULL) == CREST_OK, 4);
    must(folded_ns(threads, "sleep_until_cancelled") == 1, 5);
    must(folded_ns(threads, "burn_on") == 0, 6);
    crest_profile_free(threads);
    must(crest_profiler_stop(NULL) == CREST_OK, 7);
    (void)waits;
}

/* Docker's and Kubernetes' filters forbid perf_event_open, which is not used. */
static void profile_without_perf(void)
{
    forbid(SYS_perf_event_open);
    must(crest_profiler_start(NULL, NULL) == CREST_OK, 3);
    crest_profile *profile = crest_profile_begin(CREST_PROFILE_CPU, NULL);
    must(profile != NULL, 4);
    burn_for(20);
    must(crest_profile_end(profile, NULL) == CREST_OK, 5);
    must(folded_ns(profile, "burn_for") > 0, 6);
    crest_profile_free(profile);
    must(crest_profiler_stop(NULL) == CREST_OK, 7);
}

/* In a root of its own, without /proc: not for the test's user alone, if it may not have that. */
static void start_without_proc(void)
{
    crest_error error = {CREST_OK, ""};
    must(chroot("/usr") == 0 || (unshare(CLONE_NEWUSER) == 0 && chroot("/usr") == 0), 77);
    must(chdir("/") == 0, 77);
    must(crest_profiler_start(NULL, &error) == CREST_SYSTEM, 3);
    must(strstr(error.message, "finds no thread in /proc/self/task: ") != NULL, 4);
    must(strstr(error.message, strerror(ENOENT)) != NULL, 5);
    must(crest_profiler_stop(NULL) == CREST_NOT_RUNNING, 6);
    crest_profile_thread(); /* does nothing */
}

static void test_a_filter_that_forbids_timers(void **state)
{
    (void)state;
    restricted(start_without_timers);
    restricted(start_without_times);
}

static void test_a_filter_that_forbids_signals_to_threads(void **state)
{
    (void)state;
    restricted(ask_without_signals);
}

static void test_a_filter_that_forbids_perf(void **state)
{
    (void)state;
    restricted(profile_without_perf);
}

static void test_a_container_without_proc(void **state)
{
    (void)state;
    restricted(start_without_proc);
}

static void wait_until_main_has_ended(void)
{
    char path[64], line[512];
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)getpid());
    for (line[0] = '\0'; strstr(line, ") Z ") == NULL; usleep(1000)) {
        FILE *file = fopen(path, "re");
        must(file != NULL && fgets(line, sizeof line, file) != NULL, 9);
        fclose(file);
    }
}

/* Once main() has ended by pthread_exit, the process's own number has no memory any more. */
static void *look_after_main(void *unused)
{
    int ended;
    pthread_t thread = sleeper(&ended);
    (void)unused;
    wait_until_main_has_ended();
    must(crest_profiler_start(NULL, NULL) == CREST_OK, 3);
    uint64_t unsampled = crest_profiler_status().unsampled;
    crest_profile *threads = crest_profile_begin(CREST_PROFILE_THREADS, NULL);
    must(threads != NULL && crest_profile_end(threads, NULL) == CREST_OK, 4);
    must(folded_ns(threads, "sleep_until_cancelled") == 1, 5);
    crest_profile_free(threads);
    must(ended == -1, 6);
    must(crest_profiler_status().unsampled == unsampled, 7);
    must(crest_profiler_stop(NULL) == CREST_OK, 8);
    pthread_detach(thread);
    _exit(0);
}

static void end_main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, look_after_main, NULL);
    pthread_detach(thread);
    pthread_exit(NULL);
}

static void test_a_process_without_its_main_thread(void **state)
{
    (void)state;
    assert_int_equal(child_status(end_main), 0);
}

int main(void)
{
    alarm(580); /* a watchdog: what hangs ends with SIGALRM */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_who_cannot_be_seen_is_not_woken),
        cmocka_unit_test(test_a_filter_that_forbids_timers),
        cmocka_unit_test(test_a_filter_that_forbids_signals_to_threads),
        cmocka_unit_test(test_a_filter_that_forbids_perf),
        cmocka_unit_test(test_a_container_without_proc),
        cmocka_unit_test(test_a_process_without_its_main_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
