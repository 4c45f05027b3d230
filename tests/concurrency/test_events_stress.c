/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events under load, with a reader that reads meanwhile: threads that write, that come and go, and
 * forks. Each event bears a check word and bytes that follow from its number, in records of many
 * lengths: none is torn, none out of order, and in the end read + lost is what was written, in
 * events and in bytes, past 2^32 of both.
 *
 *     test_events_stress            about a million events
 *     test_events_stress 100000000  so many
 */
#define _GNU_SOURCE
#include "support/event_fixture.h"

#include <sys/syscall.h>
#include <sys/wait.h>

#define WRITERS 4u
#define RING_BYTES (UINT64_C(1) << 16)
#define PAUSE 400u
#define PASSERS 200u
#define PASSED 50u
/* What is in front of a writer's first event: so all pass 2^32 in the first part of a run. */
#define BEFORE_EVENTS ((UINT64_C(1) << 32) - 1000)
#define BEFORE_BYTES ((UINT64_C(1) << 32) - RING_BYTES)

CREST_EVENT(checked, "stress.checked", CREST_INFO, "A number and what follows from it.",
            (u64, writer), (u64, number), (bytes, filling, 64), (u64, check));

static uint64_t stress_events = 1000000;
static uint64_t stress_running; /* writers that have not finished */
static uint64_t stress_bytes;   /* of events in rings, header and length word included */
static pthread_barrier_t stress_written;

static uint64_t check_of(uint64_t writer, uint64_t number)
{
    return (number * UINT64_C(0x9e3779b97f4a7c15) ^ writer << 56) + 1;
}

static uint64_t filling_of(uint64_t number)
{
    return number * 7 % 65;
}

/* Returns the bytes that it takes in a ring: six words and the filling, in words. */
static uint64_t emit_checked(uint64_t writer, uint64_t number)
{
    unsigned char filling[64];
    memset(filling, (int)(number & 0xff), sizeof filling);
    CREST_EMIT(checked, writer, number, crest_bytes(filling, filling_of(number)),
               check_of(writer, number));
    return 8 * (6 + (filling_of(number) + 7) / 8);
}

static void *writes(void *writer)
{
    uint64_t bytes = 0;
    for (uint64_t i = 1; i <= stress_events / WRITERS; i++) {
        bytes += emit_checked((uint64_t)(uintptr_t)writer, i);
        /* half of them let the reader keep up now and then, the others lap it all the time */
        if ((uintptr_t)writer % 2 == 0 && i % PAUSE == 0)
            fixture_nap();
    }
    __atomic_add_fetch(&stress_bytes, bytes, __ATOMIC_RELAXED);
    __atomic_sub_fetch(&stress_running, 1, __ATOMIC_RELEASE);
    pthread_barrier_wait(&stress_written); /* no writer gets a ring of another that has ended */
    return NULL;
}

/* Reads an event and checks it; `last`: each writer's last number. */
static int read_checked(crest_event_reader *reader, uint64_t *last, size_t writers)
{
    crest_event_view event;
    if (!crest_event_reader_next(reader, &event))
        return 0;
    assert_string_equal(event.info->name, "stress.checked");
    assert_int_equal(event.value_count, 4);
    uint64_t writer = event.values[0].as.u, number = event.values[1].as.u;
    const char *filling = event.values[2].as.text.data;
    assert_in_range(writer, 0, writers - 1);
    assert_true(event.values[3].as.u == check_of(writer, number));
    assert_int_equal(event.values[2].as.text.length, filling_of(number));
    for (uint64_t i = 0; i < filling_of(number); i++)
        assert_int_equal((unsigned char)filling[i], number & 0xff);
    assert_true(number > last[writer]);
    last[writer] = number;
    return 1;
}

/* Reads until no writer is running and nothing is left; at each pause, all is accounted. */
static crest_event_reader_totals read_all(crest_event_reader *reader, uint64_t *last,
                                          size_t writers)
{
    for (int ended = 0; !ended;) {
        ended = __atomic_load_n(&stress_running, __ATOMIC_ACQUIRE) == 0;
        while (read_checked(reader, last, writers))
            continue;
        event_account(reader);
    }
    return event_account(reader);
}

static void test_live_reader(void **state)
{
    (void)state;
    pthread_t threads[WRITERS];
    uint64_t last[WRITERS] = {0};
    stress_events = FIXTURE_TIMES(stress_events);
    crest_event_rings_begin_at(BEFORE_BYTES, BEFORE_EVENTS);
    event_begin(RING_BYTES, 64);
    crest_event_reader *reader = event_own();
    stress_running = WRITERS;
    pthread_barrier_init(&stress_written, NULL, WRITERS);
    for (uintptr_t i = 0; i < WRITERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, writes, (void *)i), 0);
    crest_event_reader_totals totals = read_all(reader, last, WRITERS);
    for (unsigned i = 0; i < WRITERS; i++)
        fixture_join(threads[i], NULL);
    totals = event_account(reader);
    for (unsigned i = 0; i < WRITERS; i++)
        assert_int_equal(last[i], stress_events / WRITERS);
    assert_int_equal(totals.rings, WRITERS);
    assert_int_equal(totals.refused, 0);
    assert_int_equal(totals.written, WRITERS * (BEFORE_EVENTS + stress_events / WRITERS));
    assert_int_equal(totals.written_bytes, WRITERS * BEFORE_BYTES + stress_bytes);
    assert_true(totals.read > 0 && totals.lost >= WRITERS * BEFORE_EVENTS);
    print_message("%llu events: %llu read, %llu lost\n", (unsigned long long)stress_events,
                  (unsigned long long)totals.read,
                  (unsigned long long)(totals.lost - WRITERS * BEFORE_EVENTS));
    crest_event_reader_free(reader);
    crest_event_rings_begin_at(0, 0);
}

/* ---- threads that come and go, and forks, with a reader meanwhile ---- */

static uint64_t passed_before;

static void *passes(void *writer)
{
    for (uint64_t i = 1; i <= PASSED; i++)
        emit_checked((uint64_t)(uintptr_t)writer, i);
    return NULL;
}

/* Four at a time, in rings of others before them. */
static void *comes_and_goes(void *unused)
{
    (void)unused;
    for (uintptr_t i = 0; i < PASSERS; i += WRITERS) {
        pthread_t threads[WRITERS];
        for (uintptr_t k = 0; k < WRITERS; k++)
            fixture_equal(pthread_create(&threads[k], NULL, passes, (void *)(i + k)), 0);
        for (unsigned k = 0; k < WRITERS; k++)
            fixture_join(threads[k], NULL);
    }
    __atomic_sub_fetch(&stress_running, 1, __ATOMIC_RELEASE);
    return NULL;
}

static void test_threads_come_and_go(void **state)
{
    (void)state;
    pthread_t thread;
    uint64_t last[PASSERS] = {0};
    crest_event_totals totals;
    crest_event_totals_read(&totals);
    passed_before = totals.written;
    crest_event_reader *reader = event_own();
    crest_event_reader_skip(reader);
    stress_running = 1;
    assert_int_equal(pthread_create(&thread, NULL, comes_and_goes, NULL), 0);
    read_all(reader, last, PASSERS);
    fixture_join(thread, NULL);
    crest_event_totals_read(&totals);
    assert_int_equal(totals.written - passed_before + totals.refused, PASSERS * PASSED);
    assert_int_equal(totals.refused, 0);
    assert_true(totals.rings <= 2 * WRITERS + 2);
    crest_event_reader_free(reader);
}

/* A child that emits writes nothing into the rings that its parent's threads are writing. */
static void forks_a_child(int raw)
{
    pid_t child = raw ? (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL) : fork();
    if (child == 0) {
        passes((void *)(uintptr_t)WRITERS);
        syscall(SYS_exit_group, 0);
    }
    int status;
    assert_true(child > 0 && waitpid(child, &status, 0) == child);
    assert_int_equal(status, 0);
}

static void test_forks(void **state)
{
    (void)state;
    pthread_t thread;
    uint64_t last[PASSERS] = {0};
    crest_event_totals before, after;
    crest_event_totals_read(&before);
    crest_event_reader *reader = event_own();
    crest_event_reader_skip(reader);
    stress_running = 1;
    assert_int_equal(pthread_create(&thread, NULL, comes_and_goes, NULL), 0);
    for (int i = 0; i < 20; i++) {
        forks_a_child(i % 2);
        while (read_checked(reader, last, PASSERS))
            continue;
    }
    read_all(reader, last, PASSERS);
    fixture_join(thread, NULL);
    crest_event_totals_read(&after);
    /* a thread gets no ring while another one forks: that is counted, and its next event tries */
    assert_int_equal(after.written - before.written + after.refused - before.refused,
                     PASSERS * PASSED);
    assert_true(after.written > before.written);
    crest_event_reader_free(reader);
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_live_reader),
        cmocka_unit_test(test_threads_come_and_go),
        cmocka_unit_test(test_forks),
    };
    if (count > 1)
        stress_events = strtoull(arguments[1], NULL, 10);
    else
        fixture_watchdog(60);
    state_dir_make();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
