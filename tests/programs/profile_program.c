/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A node that is profiled: threads that validate blocks, one in ten of them slow, and one that
 * waits. Its driver gives a command a line on standard input, and reads one line of answer for
 * each.
 *
 *     profile_program OPTIONS      crest_start(OPTIONS); its answer names the address it serves on
 *
 *     work        starts the threads
 *     mix         one that does the same short things again and again, for comparisons
 *     samples     how many samples there were
 *     same FOLDER one profile of two seconds, written to FOLDER/pprof.pb and to FOLDER/otlp.pb
 *     stop        ends them, and crest_stop
 *     exit STATUS
 */
#define _GNU_SOURCE
#include <crest/crest.h>
#include <crest/profile.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define DEADLINE_MS 30000u

CREST_TIMER(block_time, "casper.block-time", "Validation of a block.");
CREST_TIMER(signature_time, "casper.signature-time", "Verification of its signatures.");
CREST_STAGES(consensus, "casper.consensus", "From proposal on.", .stages = {"voted", "final"});

static volatile int working;
static volatile uint64_t sink;
static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
static char address[256];

static void keep_address(crest_log_level severity, const char *message, void *context)
{
    (void)severity;
    (void)context;
    const char *at = strstr(message, "http://");
    if (at != NULL)
        snprintf(address, sizeof address, "%.*s", (int)strcspn(at, " ,\n"), at);
    fprintf(stderr, "%s\n", message);
}

static double cpu_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

__attribute__((noinline)) static void execute_deploys(double seconds)
{
    for (double end = cpu_s() + seconds; cpu_s() < end;)
        for (int i = 0; i < 20000; i++)
            sink += sink * (uint64_t)i;
}

__attribute__((noinline)) static void replay_history(double seconds)
{
    for (double end = cpu_s() + seconds; cpu_s() < end;)
        for (int i = 0; i < 20000; i++)
            sink ^= sink + (uint64_t)i;
}

__attribute__((noinline)) static void verify_signatures(uint64_t height)
{
    CREST_PROFILE_SCOPE(&signature_time, crest_op_u64(height), NULL);
    for (double end = cpu_s() + 0.003; cpu_s() < end;)
        for (int i = 0; i < 20000; i++)
            sink ^= sink * (uint64_t)i;
}

/* 7 ms of deploys and 3 ms of signatures; the tenth block replays the history, for 200 ms. */
__attribute__((noinline)) static void validate_block(uint64_t height)
{
    CREST_PROFILE_SCOPE(&block_time, crest_op_u64(height), NULL);
    execute_deploys(0.007);
    verify_signatures(height);
    if (height % 10 == 0)
        replay_history(0.2);
}

/* Each block's votes are counted, on the way to its first mark. */
__attribute__((noinline)) static void count_votes(uint64_t height)
{
    CREST_PROFILE_STAGE(&consensus, crest_op_u64(height), 0);
    replay_history(0.002);
}

static void *validate_blocks(void *unused)
{
    for (uint64_t height = 1; working; height++) {
        crest_stages_begin(&consensus, crest_op_u64(height));
        validate_block(height);
        count_votes(height);
        crest_stages_mark(&consensus, crest_op_u64(height), 0);
        crest_stages_end(&consensus, crest_op_u64(height), CREST_OUTCOME_OK);
    }
    return unused;
}

/* Of 20 ms or so, not in step with the kernel's tick. */
__attribute__((noinline)) static void validate_short_block(uint64_t height, double length)
{
    CREST_PROFILE_SCOPE(&block_time, crest_op_u64(height), NULL);
    execute_deploys(0.007 * length);
    verify_signatures(height);
    replay_history(0.01 * length);
}

static void *validate_short_blocks(void *unused)
{
    unsigned random = 1;
    for (uint64_t height = 1; working; height++) {
        random = random * 1103515245u + 12345u;
        validate_short_block(height, 0.5 + (double)(random >> 16 & 0xff) / 0xff);
    }
    return unused;
}

/* Waits for a lock that is held, as a stuck operation does. */
__attribute__((noinline)) static void fetch_block(void)
{
    CREST_PROFILE_SCOPE(&block_time, crest_op_text("stuck"), NULL);
    pthread_mutex_lock(&held);
    pthread_mutex_unlock(&held);
}

static void *wait_for_lock(void *unused)
{
    pthread_setname_np(pthread_self(), "fetcher");
    fetch_block();
    return unused;
}

static int write_file(void *file, const void *bytes, size_t length)
{
    return fwrite(bytes, 1, length, file) == length ? 0 : -1;
}

/* The same samples in both forms. */
static void write_both(const char *folder)
{
    static const crest_page_label service = {"service.name", "profiled"};
    char path[2][512];
    snprintf(path[0], sizeof path[0], "%s/pprof.pb", folder);
    snprintf(path[1], sizeof path[1], "%s/otlp.pb", folder);
    FILE *pprof = fopen(path[0], "wb"), *otlp = fopen(path[1], "wb");
    crest_profile *profile = crest_profile_begin(CREST_PROFILE_CPU, NULL);
    crest_status status = profile != NULL && pprof != NULL && otlp != NULL ? CREST_OK : CREST_IO;
    if (status == CREST_OK)
        nanosleep(&(struct timespec){2, 0}, NULL);
    if (status == CREST_OK)
        status = crest_profile_end(profile, NULL);
    if (status == CREST_OK)
        status = crest_profile_write(profile, CREST_PROFILE_PPROF, write_file, pprof, NULL);
    if (status == CREST_OK)
        status = crest_profile_write_otlp(profile, &service, 1, write_file, otlp, NULL);
    if (pprof != NULL && fclose(pprof) != 0)
        status = CREST_IO;
    if (otlp != NULL && fclose(otlp) != 0)
        status = CREST_IO;
    printf("%s %llu\n", status == CREST_OK ? "OK" : crest_status_text(status),
           profile != NULL ? (unsigned long long)crest_profile_samples(profile) : 0);
    crest_profile_free(profile);
}

int main(int count, char **arguments)
{
    crest_error error;
    pthread_t threads[2];
    char line[256];
    crest_log_to(keep_address, NULL);
    crest_status status = crest_start(count > 1 ? arguments[1] : NULL, &error);
    setvbuf(stdout, NULL, _IOLBF, 0);
    printf("%s %s\n", status == CREST_OK ? "OK" : crest_status_text(status),
           status == CREST_OK ? address : error.message);
    while (fgets(line, sizeof line, stdin) != NULL) {
        if (strncmp(line, "work", 4) == 0 || strncmp(line, "mix", 3) == 0) {
            working = 1;
            pthread_mutex_lock(&held);
            pthread_create(&threads[0], NULL,
                           line[0] == 'w' ? validate_blocks : validate_short_blocks, NULL);
            pthread_create(&threads[1], NULL, wait_for_lock, NULL);
            puts("OK");
        } else if (strncmp(line, "samples", 7) == 0) {
            printf("OK %llu\n", (unsigned long long)crest_profiler_status().samples);
        } else if (strncmp(line, "same ", 5) == 0) {
            line[strcspn(line, "\n")] = '\0';
            write_both(line + 5);
        } else if (strncmp(line, "stop", 4) == 0) {
            if (working) {
                working = 0;
                pthread_mutex_unlock(&held);
                pthread_join(threads[0], NULL);
                pthread_join(threads[1], NULL);
            }
            status = crest_stop(DEADLINE_MS, &error);
            puts(status == CREST_OK ? "OK" : error.message);
        } else {
            return atoi(line + 4);
        }
    }
    return 1;
}
