/* SPDX-License-Identifier: Apache-2.0 */
// crest-test: timeout=300
/*
 * Samples that another runtime tells of, as a JVM: crest_profile_frame, _add and _cover.
 */
#define _GNU_SOURCE
#include "support/core_fixture.h"

#include "profiling/sample_store.h"

#include <crest/profile.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>

CREST_TIMER(told_time, "told.block-time", "Blocks.");

typedef struct told_text {
    size_t length;
    char bytes[262144];
} told_text;

static told_text told_folded, told_pprof;

static int told_write(void *context, const void *bytes, size_t length)
{
    told_text *to = context;
    if (to->length + length >= sizeof to->bytes)
        return -1;
    memcpy(to->bytes + to->length, bytes, length);
    to->length += length;
    return 0;
}

static int told_has(const told_text *text, const char *wanted)
{
    return memmem(text->bytes, text->length, wanted, strlen(wanted)) != NULL;
}

/* Adds, and writes the profile of that. */
static void told_profile(size_t times, const uint64_t *frames, size_t depth, uint64_t ns)
{
    crest_error error;
    crest_profile *profile = crest_profile_begin(CREST_PROFILE_CPU, &error);
    assert_non_null(profile);
    for (size_t i = 0; i < times; i++)
        assert_int_equal(crest_profile_add(frames, depth, &told_time, ns), CREST_OK);
    assert_int_equal(crest_profile_end(profile, &error), CREST_OK);
    told_folded.length = told_pprof.length = 0;
    assert_int_equal(
        crest_profile_write(profile, CREST_PROFILE_FOLDED, told_write, &told_folded, &error),
        CREST_OK);
    assert_int_equal(
        crest_profile_write(profile, CREST_PROFILE_PPROF, told_write, &told_pprof, &error),
        CREST_OK);
    told_folded.bytes[told_folded.length] = '\0';
    crest_profile_free(profile);
}

static void test_stacks_have_names_and_timer(void **state)
{
    (void)state;
    const uint64_t frames[] = {crest_profile_frame("casper.Validate.replay"),
                               crest_profile_frame("casper.Node.main")};
    assert_int_not_equal(frames[0], frames[1]);
    assert_int_equal(crest_profile_frame("casper.Node.main"), frames[1]);
    crest_timer_record(&told_time, 1, CREST_OUTCOME_OK);
    /* 40 of 25 ms are a second, so 99 samples of a 99th */
    told_profile(40, frames, 2, 25000000);
    assert_true(told_has(&told_folded, "[told.block-time];casper.Node.main;casper.Validate.replay "
                                       "999999990\n"));
    assert_true(told_has(&told_pprof, "casper.Validate.replay"));
    assert_true(told_has(&told_pprof, "told.block-time"));
    /* a profile has what came while it was taken */
    told_profile(0, frames, 2, 0);
    assert_false(told_has(&told_folded, "casper"));
}

static void test_wrong_input_is_refused(void **state)
{
    (void)state;
    static char longest[CREST_PROFILE_NAME_BYTES_MAX + 1];
    uint64_t frame = crest_profile_frame("one"), many[CREST_PROFILE_FRAMES_MAX + 1] = {frame};
    memset(longest, 'x', sizeof longest - 1);
    const uint64_t beyond = crest_profile_frame(longest);
    longest[CREST_PROFILE_NAME_BYTES_MAX - 1] = '\0';
    assert_int_not_equal(crest_profile_frame(longest), beyond);
    assert_int_equal(crest_profile_add(NULL, 1, NULL, 1), CREST_INVALID_ARGUMENT);
    assert_int_equal(crest_profile_add(&frame, 0, NULL, 1), CREST_INVALID_ARGUMENT);
    assert_int_equal(crest_profile_add(many, CREST_PROFILE_FRAMES_MAX + 1, NULL, 1),
                     CREST_INVALID_ARGUMENT);
    assert_int_equal(crest_profile_add(&frame, 1, NULL, CREST_PROFILE_ADD_NS_MAX + 1),
                     CREST_INVALID_ARGUMENT);
    told_profile(1, &beyond, 1, 1000000000);
    assert_true(told_has(&told_folded, "[too many names] "));
    /* a number that no name has */
    const uint64_t unknown = (UINT64_C(1) << 63) + CREST_PROFILE_NAMES_MAX - 1;
    told_profile(1, &unknown, 1, 1000000000);
    assert_true(told_has(&told_folded, "[unknown]+"));
}

/* Names beyond all that there may be are one; those that are there stay. */
static void test_names_are_bounded(void **state)
{
    (void)state;
    char name[32];
    uint64_t first = crest_profile_frame("n0"), last = 0;
    for (unsigned i = 0; i < CREST_PROFILE_NAMES_MAX + 100; i++) {
        snprintf(name, sizeof name, "n%u", i);
        last = crest_profile_frame(name);
    }
    assert_int_equal(crest_profile_frame("n0"), first);
    assert_int_equal(crest_profile_frame("another one"), last);
    told_profile(1, &last, 1, 1000000000);
    assert_true(told_has(&told_folded, "[too many names] "));
}

/* A stream that waits for the profiler has each run from its first sample to its last, and each
 * sample for as long as it stood for. */
static void test_streams_have_whole_runs(void **state)
{
    (void)state;
    static const crest_profiler_options slower = {.hz = 50};
    const uint64_t frame = crest_profile_frame("streamed");
    crest_error error;
    assert_int_equal(crest_profiler_stop(&error), CREST_OK);
    uint64_t before = crest_samples_counts().samples;
    crest_profile_stream *stream = crest_profile_stream_open(&error);
    assert_non_null(stream);
    for (unsigned run = 0; run < 2; run++) {
        assert_int_equal(crest_profiler_start(run == 0 ? NULL : &slower, &error), CREST_OK);
        assert_int_equal(crest_profile_add(&frame, 1, NULL, 1000000000), CREST_OK);
        assert_int_equal(crest_profiler_stop(&error), CREST_OK);
    }
    uint64_t taken = crest_samples_counts().samples - before;
    assert_true(taken >= 99 + 50);
    crest_profile *profile = crest_profile_stream_next(stream, &error);
    assert_non_null(profile);
    assert_int_equal(crest_profile_samples(profile), taken);
    told_folded.length = 0;
    assert_int_equal(
        crest_profile_write(profile, CREST_PROFILE_FOLDED, told_write, &told_folded, &error),
        CREST_OK);
    told_folded.bytes[told_folded.length] = '\0';
    assert_true(told_has(&told_folded, "streamed 999999990\n"));
    assert_true(told_has(&told_folded, "streamed 1000000000\n"));
    crest_profile_free(profile);
    profile = crest_profile_stream_next(stream, &error);
    assert_non_null(profile);
    assert_int_equal(crest_profile_samples(profile), 0);
    crest_profile_free(profile);
    crest_profile_stream_close(stream);
    assert_int_equal(crest_profiler_start(NULL, &error), CREST_OK);
}

/* ---- what is left to the other runtime ---- */

/* dec %rdi; jnz -5; ret: code as a compiler makes it at run time. Source: Intel's manual. */
static const unsigned char told_machine_code[] = {0x48, 0xff, 0xcf, 0x75, 0xfb, 0xc3};
static void (*told_loop)(uint64_t times);
static uint32_t told_going;

static void *told_burn(void *unused)
{
    crest_profile_thread();
    while (__atomic_load_n(&told_going, __ATOMIC_RELAXED))
        told_loop(50000000);
    return unused;
}

/* A runtime that looks at its threads by a signal: most samples are taken within its handler. */
static void told_look(int signal)
{
    (void)signal;
    for (volatile int i = 0; i < 2000000; i++)
        continue;
}

static void told_wait_for(uint64_t (*count)(void), pthread_t thread)
{
    for (uint64_t before = count(); count() < before + 20; usleep(2000)) {
#if !defined(__SANITIZE_THREAD__) /* which runs handlers later, from elsewhere */
        pthread_kill(thread, SIGUSR2);
#else
        (void)thread;
#endif
    }
}

static uint64_t told_elsewhere(void)
{
    return crest_samples_counts().elsewhere;
}

static uint64_t told_stored(void)
{
    return crest_samples_counts().samples;
}

/* Profiles the loop for a while; whether a sample lies in its page. */
static int told_page_seen(int covered, const char *within)
{
    pthread_t thread;
    crest_error error;
    crest_profile_cover(covered);
    told_going = 1;
    crest_profile *profile = crest_profile_begin(CREST_PROFILE_CPU, &error);
    assert_non_null(profile);
    assert_int_equal(pthread_create(&thread, NULL, told_burn, NULL), 0);
    told_wait_for(covered ? told_elsewhere : told_stored, thread);
    __atomic_store_n(&told_going, 0, __ATOMIC_RELAXED);
    pthread_join(thread, NULL);
    assert_int_equal(crest_profile_end(profile, &error), CREST_OK);
    told_folded.length = 0;
    assert_int_equal(
        crest_profile_write(profile, CREST_PROFILE_FOLDED, told_write, &told_folded, &error),
        CREST_OK);
    crest_profile_free(profile);
    return told_has(&told_folded, within);
}

static void test_code_that_it_samples_is_counted_only(void **state)
{
    char within[64]; /* an address of that page, but for its last digits */
    (void)state;
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(page != MAP_FAILED);
    memcpy(page, told_machine_code, sizeof told_machine_code);
    assert_int_equal(mprotect(page, 4096, PROT_READ | PROT_EXEC), 0);
    memcpy(&told_loop, &page, sizeof told_loop);
    snprintf(within, sizeof within, "[unknown]+0x%lx", (unsigned long)(uintptr_t)page >> 12);
    signal(SIGUSR2, told_look);
    assert_false(told_page_seen(1, within));
    /* all samples of a while may have been taken in the handler, or in other threads */
    int seen = 0;
    for (int tries = 0; tries < 100 && !seen; tries++)
        seen = told_page_seen(0, within);
    assert_true(seen);
    signal(SIGUSR2, SIG_DFL);
    munmap(page, 4096);
}

static int told_start(void **state)
{
    crest_error error;
    (void)state;
    crest_status status = crest_profiler_start(NULL, &error);
    if (status != CREST_OK)
        print_message("%s\n", error.message);
    return status != CREST_OK;
}

static int told_stop(void **state)
{
    (void)state;
    const uint64_t frame = crest_profile_frame("one");
    crest_profile_cover(1);
    crest_profile_cover(0);
    return crest_profiler_stop(NULL) != CREST_OK ||
           crest_profile_add(&frame, 1, NULL, 1) != CREST_NOT_RUNNING;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stacks_have_names_and_timer),
        cmocka_unit_test(test_wrong_input_is_refused),
        cmocka_unit_test(test_streams_have_whole_runs),
        cmocka_unit_test(test_code_that_it_samples_is_counted_only),
        cmocka_unit_test(test_names_are_bounded),
    };
    return cmocka_run_group_tests(tests, told_start, told_stop);
}
