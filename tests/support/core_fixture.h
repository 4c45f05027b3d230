/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the tests of the core share: cmocka with its includes, metrics at run time in one line, and
 * a series of a snapshot by name. Tests nothing itself.
 */
#ifndef CREST_TESTS_CORE_FIXTURE_H
#define CREST_TESTS_CORE_FIXTURE_H

#include <crest/crest.h>
#include <crest/testing.h>

#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/thread_asserts.h"

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

#if defined(__SANITIZE_ADDRESS__)
#define FIXTURE_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FIXTURE_ADDRESS_SANITIZER 1
#endif
#endif

#if defined(CREST_THREAD_SANITIZER) || defined(FIXTURE_ADDRESS_SANITIZER)
#define FIXTURE_SANITIZED 1
#else
#define FIXTURE_SANITIZED 0
#endif

/* As many times as wished; a tenth of it under a sanitizer, which is about as much slower. */
#define FIXTURE_TIMES(times) ((times) / (FIXTURE_SANITIZED ? 10 : 1))

/* Ends a program that hangs. A thread, because the library holds its lock with signals blocked. */
__attribute__((unused)) static void *fixture_watch(void *seconds)
{
    sleep((unsigned)(uintptr_t)seconds);
    fprintf(stderr, "it hangs\n");
    _exit(2);
}

/* How much longer scripts/run-tests waits on a busy machine. */
#define FIXTURE_BUSY 5

/* Seconds of a machine that has nothing else to do. Waits as much longer as scripts/run-tests does
 * on a busy one, and twice that under a sanitizer. */
__attribute__((unused)) static void fixture_watchdog(unsigned seconds)
{
    pthread_t watch;
    seconds *= FIXTURE_BUSY * (FIXTURE_SANITIZED ? 2 : 1);
    assert_int_equal(pthread_create(&watch, NULL, fixture_watch, (void *)(uintptr_t)seconds), 0);
    pthread_detach(watch);
}

/* The shortest sleep. Where many threads want to run, a thread that sleeps is soon run again. A
 * thread that yields or spins waits until each of these has had its turn. */
__attribute__((unused)) static void fixture_nap(void)
{
    nanosleep(&(struct timespec){0, 1000}, NULL);
}

/* Waits until the condition holds, which another thread brings about. At first without a nap, so
 * that on an idle machine it is seen at once. */
#define FIXTURE_AWAIT(condition)                                                                   \
    do {                                                                                           \
        for (unsigned fixture_looks = 0; !(condition); fixture_looks++)                            \
            if (fixture_looks >= 1000)                                                             \
                fixture_nap();                                                                     \
    } while (0)

/*
 * For a test that forks beside threads, if the child allocates or makes a thread. ThreadSanitizer
 * does not support threads in such a child. The allocator of GCC 12's AddressSanitizer leaves the
 * child its locks as they were: if a thread of the parent allocated at that moment, a child that
 * allocates hangs, whichever library allocates.
 */
__attribute__((unused)) static void fixture_skip_child_with_threads(void)
{
#if FIXTURE_SANITIZED
    print_message("the child of a process with threads cannot allocate under a sanitizer\n");
    skip();
#endif
}

__attribute__((unused)) static crest_registry *fixture_registry(const char *prefix)
{
    crest_registry_options options = {.prefix = prefix};
    crest_registry *registry = crest_registry_new(&options);
    fixture_holds(registry != NULL);
    return registry;
}

#define FIXTURE_GET(kind)                                                                          \
    __attribute__((unused)) static crest_##kind *fixture_##kind(crest_registry *registry,          \
                                                                const char *name)                  \
    {                                                                                              \
        crest_metric_options options = {.name = name};                                             \
        crest_status status;                                                                       \
        crest_##kind *made = crest_##kind##_get(registry, &options, &status);                      \
        fixture_equal(status, CREST_OK);                                                           \
        fixture_holds(made != NULL);                                                               \
        return made;                                                                               \
    }

FIXTURE_GET(counter)
FIXTURE_GET(gauge)
FIXTURE_GET(histogram)
FIXTURE_GET(timer)
FIXTURE_GET(range_sampler)

__attribute__((unused)) static crest_snapshot *fixture_snapshot(crest_registry *registry)
{
    crest_snapshot *snapshot = crest_snapshot_take(registry);
    fixture_holds(snapshot != NULL);
    return snapshot;
}

/* The series with this name and, unless `value` is NULL, this one label value. */
__attribute__((unused)) static crest_series_view fixture_series(const crest_snapshot *snapshot,
                                                                const char *name, const char *value)
{
    crest_series_view view;
    if (crest_snapshot_find(snapshot, name, &value, value != NULL, &view) != CREST_OK)
        fail_msg("the snapshot has no series %s{%s}", name, value ? value : "");
    return view;
}

/* Reads a series by registry, name, label keys and values. Without such a series the test fails,
 * naming what is close. */
#define FIXTURE_READING(registry, ...)                                                             \
    __extension__({                                                                                \
        crest_testing_reading fixture_found;                                                       \
        crest_error fixture_error;                                                                 \
        if (crest_testing_read(registry, NULL, &fixture_found, &fixture_error, __VA_ARGS__,        \
                               NULL) != CREST_OK)                                                  \
            fail_msg("%s", fixture_error.message);                                                 \
        fixture_found;                                                                             \
    })

/* Sums the counts of all buckets, and asserts that the buckets ascend and are disjoint. */
__attribute__((unused)) static uint64_t fixture_buckets(const crest_distribution *distribution)
{
    uint64_t count = 0, above = 0;
    crest_bucket bucket;
    for (size_t cursor = 0; crest_distribution_next(distribution, &cursor, &bucket);) {
        assert_true(count == 0 || bucket.lowest > above);
        assert_true(bucket.highest >= bucket.lowest);
        assert_true(bucket.count != 0);
        count += bucket.count;
        above = bucket.highest;
    }
    return count;
}

#endif
