/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events: what is declared and refused, what comes out of a ring as it went in, what is lost and
 * counted, threads and their names, forks, and files of processes that were killed. The process
 * writes into one file from the first test on.
 */
#define _GNU_SOURCE
#include "support/event_fixture.h"

#include "base/misuse.h"

#include <crest/profile.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

CREST_EVENT(nothing, "test.nothing", CREST_INFO, "An event without fields.");
CREST_EVENT(numbers, "test.numbers", CREST_WARNING, "Numbers.", (u64, height), (i64, change),
            (double, share), (bool, good));
CREST_EVENT_WITH(texts, "test.texts", CREST_INFO, CREST_MINIMAL, CREST_CONFIDENTIAL, "Texts.",
                 (text, who, 8), (bytes, hash, 32), (op, block), (text, why));
CREST_EVENT_WITH(chatter, "test.chatter", CREST_DEBUG, CREST_MAXIMUM, CREST_PUBLIC, "Off.",
                 (u64, number));
CREST_EVENT(counted, "test.counted", CREST_INFO, "A number twice.", (u64, number), (u64, again));

static unsigned evaluated;

static uint64_t evaluate(void)
{
    return ++evaluated;
}

static void skip_all(crest_event_reader *reader)
{
    crest_event_view event;
    while (crest_event_reader_next(reader, &event))
        continue;
}

static void test_off_until_begun(void **state)
{
    (void)state;
    crest_event_reader *reader;
    crest_error error;
    assert_false(crest_event_on(&counted));
    CREST_EMIT(counted, evaluate(), evaluate());
    assert_int_equal(evaluated, 0);
    assert_int_equal(crest_event_reader_own(&reader, &error), CREST_NOT_RUNNING);
    assert_null(reader);
    event_begin(0, 8);
    assert_true(crest_event_on(&counted));
    assert_false(crest_event_on(&chatter));
    CREST_EMIT(chatter, evaluate());
    assert_int_equal(evaluated, 0);
    crest_event_totals totals;
    crest_event_totals_read(&totals);
    assert_int_equal(totals.written, 0);
    assert_true(totals.declared >= 5);
}

static void test_values(void **state)
{
    (void)state;
    crest_event_view event;
    crest_event_reader *reader = event_open("node.events");
    uint64_t before = crest_now(), wall = crest_wall_now();
    CREST_EMIT(nothing);
    CREST_EMIT(numbers, UINT64_MAX, INT64_MIN, -0.5, 7 > 3);
    assert_true(crest_event_reader_next(reader, &event));
    assert_string_equal(event.info->name, "test.nothing");
    assert_string_equal(event.info->doc, "An event without fields.");
    assert_int_equal(event.value_count, 0);
    assert_int_equal(event.bytes, 16);
    assert_int_equal(event.thread, gettid());
    assert_true(event.ns >= before && event.ns <= crest_now());
    assert_true(event.wall_ns + 1000000000 > wall && event.wall_ns < wall + 1000000000);
    assert_int_equal(event.op.kind, CREST_OP_NONE);
    assert_int_equal(event.span.span, 0);
    assert_true(crest_event_reader_next(reader, &event));
    assert_string_equal(event.info->name, "test.numbers");
    assert_int_equal(event.info->severity, CREST_WARNING);
    assert_int_equal(event.value_count, 4);
    assert_string_equal(event.info->fields[3].name, "good");
    assert_true(event.values[0].as.u == UINT64_MAX);
    assert_true(event.values[1].as.i == INT64_MIN);
    assert_true(event.values[2].as.d == -0.5);
    assert_int_equal(event.values[3].as.u, 1);
    assert_false(crest_event_reader_next(reader, &event));
    event_account(reader);
    crest_event_reader_free(reader);
}

static void test_texts(void **state)
{
    (void)state;
    crest_event_view event;
    crest_event_reader *reader = event_own();
    skip_all(reader);
    char bytes[40];
    memset(bytes, 0xab, sizeof bytes);
    crest_op block = crest_op_bytes("0123456789abcdef0123456789abcdef", 32);
    CREST_EMIT(texts, "eight...", crest_bytes(bytes, 5), block, NULL);
    CREST_EMIT(texts, "1234567\xc3\xa9", crest_bytes(bytes, 40), crest_op_none(), "");
    CREST_EMIT(texts,
               "a\xff"
               "b",
               crest_bytes(NULL, 3), crest_op_u64(7), "because");
    assert_true(crest_event_reader_next(reader, &event));
    assert_int_equal(event.info->privacy, CREST_CONFIDENTIAL);
    assert_int_equal(event.info->detail, CREST_MINIMAL);
    assert_string_equal(event.values[0].as.text.data, "eight...");
    assert_int_equal(event.values[0].as.text.was_length, 8);
    assert_int_equal(event.values[1].as.text.length, 5);
    assert_memory_equal(event.values[1].as.text.data, bytes, 5);
    assert_true(crest_op_equal(&event.values[2].as.op, &block));
    assert_string_equal(event.values[3].as.text.data, "");
    assert_true(crest_event_reader_next(reader, &event));
    assert_string_equal(event.values[0].as.text.data, "1234567"); /* cut before the character */
    assert_int_equal(event.values[0].as.text.was_length, UINT32_MAX);
    assert_int_equal(event.values[1].as.text.length, 32);
    assert_int_equal(event.values[1].as.text.was_length, 40);
    assert_int_equal(event.values[2].as.op.kind, CREST_OP_NONE);
    assert_true(crest_event_reader_next(reader, &event));
    assert_string_equal(event.values[0].as.text.data, "a\xef\xbf\xbd"
                                                      "b");
    assert_int_equal(event.values[1].as.text.length, 0);
    assert_string_equal(event.values[3].as.text.data, "because");
    event_account(reader);
    crest_event_reader_free(reader);
}

static void test_around(void **state)
{
    (void)state;
    crest_event_view event;
    crest_event_reader *reader = event_own();
    skip_all(reader);
    crest_metric_options options = {.name = "test.time"};
    crest_timer *timer = crest_timer_get(NULL, &options, NULL);
    crest_profile_scope scope;
    crest_op op = crest_op_u64(4711);
    crest_span_context span = crest_span_context_of(op, 99), before;
    crest_profile_enter(&scope, timer, op);
    before = crest_span_current_set(&span);
    CREST_EMIT(nothing);
    crest_span_current_set(&before);
    crest_profile_leave(&scope);
    CREST_EMIT(nothing);
    assert_true(crest_event_reader_next(reader, &event));
#if !FIXTURE_SANITIZED
    assert_true(crest_op_equal(&event.op, &op));
#endif
    assert_int_equal(event.span.span, 99);
    assert_memory_equal(event.span.trace.bytes, span.trace.bytes, sizeof span.trace.bytes);
    assert_true(crest_event_reader_next(reader, &event));
    assert_int_equal(event.op.kind, CREST_OP_NONE);
    assert_int_equal(event.span.span, 0);
    event_account(reader);
    crest_event_reader_free(reader);
}

/* More than a ring holds, three times: the last part is there, in order, and all is accounted. */
static void test_overwritten(void **state)
{
    (void)state;
    crest_event_view event;
    crest_event_reader *reader = event_own();
    skip_all(reader);
    crest_event_reader_totals first = event_account(reader), totals;
    for (uint64_t i = 1; i <= 3000; i++)
        CREST_EMIT(counted, i, i);
    uint64_t last = 0, read = 0;
    while (crest_event_reader_next(reader, &event)) {
        assert_int_equal(event.values[0].as.u, event.values[1].as.u);
        assert_true(last == 0 || event.values[0].as.u == last + 1);
        last = event.values[0].as.u;
        read++;
    }
    totals = event_account(reader);
    assert_int_equal(last, 3000);
    assert_int_equal(totals.written - first.written, 3000);
    assert_int_equal(totals.lost - first.lost, 3000 - read);
    assert_int_equal(totals.lost_bytes - first.lost_bytes, 32 * (3000 - read));
    /* all but the part up to the oldest mark */
    assert_true(read * 32 > CREST_EVENT_RING_BYTES_MIN * 15 / 16);
    crest_event_reader_free(reader);
}

static void *in_a_thread(void *number)
{
    prctl(PR_SET_NAME, (uint64_t)(uintptr_t)number == 1 ? "one" : "two");
    for (uint64_t i = 0; i < 10; i++)
        CREST_EMIT(counted, (uint64_t)(uintptr_t)number, i);
    return (void *)(uintptr_t)gettid();
}

/* Two threads after each other have the same ring, and each its own events. */
static void test_threads(void **state)
{
    (void)state;
    crest_event_view event;
    crest_event_reader *reader = event_own();
    skip_all(reader);
    crest_event_totals before, after;
    crest_event_totals_read(&before);
    pthread_t thread;
    void *ids[2];
    for (uintptr_t i = 0; i < 2; i++) {
        assert_int_equal(pthread_create(&thread, NULL, in_a_thread, (void *)(i + 1)), 0);
        pthread_join(thread, &ids[i]);
    }
    crest_event_totals_read(&after);
    assert_int_equal(after.rings, before.rings + 1);
    for (unsigned i = 0; i < 20; i++) {
        assert_true(crest_event_reader_next(reader, &event));
        assert_int_equal(event.values[0].as.u, i / 10 + 1);
        assert_int_equal(event.values[1].as.u, i % 10);
        assert_int_equal(event.thread, (uint64_t)(uintptr_t)ids[i / 10]);
        assert_string_equal(event.thread_name, i < 10 ? "one" : "two");
    }
    event_account(reader);
    crest_event_reader_free(reader);
}

static pthread_barrier_t written, finished;

static void *writes_and_waits(void *times)
{
    for (uint64_t i = 0; i < (uint64_t)(uintptr_t)times; i++)
        CREST_EMIT(counted, i, i);
    pthread_barrier_wait(&written);
    pthread_barrier_wait(&finished);
    return NULL;
}

/* Rings past 2^32 and near 2^64 bytes and events: nothing wraps, all is accounted. */
static void test_large_positions(void **state)
{
    (void)state;
    static const uint64_t starts[] = {0, UINT64_C(1) << 32, UINT64_C(1) << 62};
    crest_event_view event;
    pthread_t threads[LENGTH(starts)];
    crest_event_reader *reader = event_own();
    skip_all(reader);
    pthread_barrier_init(&written, NULL, 2);
    pthread_barrier_init(&finished, NULL, LENGTH(starts) + 1);
    for (unsigned i = 0; i < LENGTH(starts); i++) {
        /* the first one has the ring of a thread that has ended */
        crest_event_rings_begin_at(starts[i] - CREST_EVENT_RING_BYTES_MIN, starts[i] - 100);
        assert_int_equal(pthread_create(&threads[i], NULL, writes_and_waits, (void *)1000), 0);
        pthread_barrier_wait(&written);
        crest_event_reader_totals before, after;
        crest_event_reader_totals_read(reader, &before);
        uint64_t next = 0;
        while (crest_event_reader_next(reader, &event)) {
            assert_true(next == 0 || event.values[0].as.u == next);
            next = event.values[0].as.u + 1;
        }
        after = event_account(reader);
        assert_int_equal(next, 1000);
        assert_true(after.read - before.read > 400);
        assert_int_equal(after.written - before.written, i == 0 ? 1000 : starts[i] + 900);
        assert_int_equal(after.written_bytes - before.written_bytes,
                         i == 0 ? 32000 : starts[i] - CREST_EVENT_RING_BYTES_MIN + 32000);
    }
    crest_event_rings_begin_at(0, 0);
    pthread_barrier_wait(&finished);
    for (unsigned i = 0; i < LENGTH(starts); i++)
        pthread_join(threads[i], NULL);
    crest_event_reader_free(reader);
}

static void test_refused(void **state)
{
    (void)state;
    static const crest_event_field twice[] = {{"a", CREST_EVENT_U64, 0}, {"a", CREST_EVENT_U64, 0}};
    static const crest_event_field wide[] = {{"a", CREST_EVENT_TEXT, 1000},
                                             {"b", CREST_EVENT_TEXT, 100}};
    static const crest_event_field other[] = {{"n", CREST_EVENT_I64, 0}};
    static const struct {
        crest_event_declaration declaration;
        crest_status status;
    } bad[] = {
        {{"test..bad", "doc", 0, 0, 0, 0, twice, NULL}, CREST_INVALID_NAME},
        {{NULL, "doc", 0, 0, 0, 0, twice, NULL}, CREST_INVALID_NAME},
        {{"test.bad", "\xff", 0, 0, 0, 0, twice, NULL}, CREST_INVALID_TEXT},
        {{"test.bad", NULL, 0, 0, 0, 0, twice, NULL}, CREST_INVALID_TEXT},
        {{"test.bad", "doc", CREST_SEVERITY_COUNT, 0, 0, 0, twice, NULL}, CREST_INVALID_ARGUMENT},
        {{"test.bad", "doc", 0, CREST_DETAIL_COUNT, 0, 0, twice, NULL}, CREST_INVALID_ARGUMENT},
        {{"test.bad", "doc", 0, 0, 2, 0, twice, NULL}, CREST_INVALID_ARGUMENT},
        {{"test.bad", "doc", 0, 0, 0, 17, twice, NULL}, CREST_INVALID_ARGUMENT},
        {{"test.bad", "doc", 0, 0, 0, 2, twice, NULL}, CREST_INVALID_ARGUMENT},
        {{"test.bad", "doc", 0, 0, 0, 2, wide, NULL}, CREST_INVALID_ARGUMENT},
        {{"test.counted", "doc", CREST_INFO, CREST_NORMAL, 0, 1, other, NULL}, CREST_TYPE_CLASH},
    };
    for (size_t i = 0; i < LENGTH(bad); i++) {
        crest_event event = {.abi = CREST_EVENT_ABI, .declaration = &bad[i].declaration};
        uint64_t counted_before = crest_misuse_value(crest_misuse_of(bad[i].status));
        assert_int_equal(crest_event_register(&event), bad[i].status);
        assert_int_equal(crest_misuse_value(crest_misuse_of(bad[i].status)), counted_before + 1);
        assert_false(crest_event_on(&event));
        uint64_t none[2] = {0, 0};
        crest_event_write(&event, none);
        crest_event_unregister(&event);
    }
    crest_event stale = {.abi = CREST_EVENT_ABI + 1};
    assert_int_equal(crest_event_register(&stale), CREST_ABI_MISMATCH);
    assert_int_equal(crest_event_register(NULL), CREST_INVALID_ARGUMENT);
}

static int child_end(pid_t child)
{
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

/* In a child: its parent's rings are not there, and events are off. It may begin its own. */
static int in_child(int own)
{
    crest_event_totals totals;
    CREST_EMIT(counted, 1, 1);
    crest_event_totals_read(&totals);
    if (totals.written != 0 || totals.rings != 0 || crest_events_descriptor() >= 0)
        return 1;
    if (!own)
        return crest_event_on(&counted) ? 2 : 0;
    crest_events_wish wish = {.place = {.dir = state_dir, .name = "node"}};
    if (crest_events_begin(&wish, NULL) != CREST_OK || !crest_event_on(&counted))
        return 3;
    CREST_EMIT(counted, 2, 2);
    crest_event_totals_read(&totals);
    return totals.written == 1 && strcmp(crest_events_path(), state_dir_path("node.2.events")) == 0
               ? 0
               : 4;
}

static void test_forks(void **state)
{
    (void)state;
    crest_event_totals before, after;
    crest_event_totals_read(&before);
    for (int own = 0; own < 2; own++) {
        pid_t child = fork();
        if (child == 0)
            _exit(in_child(own));
        assert_int_equal(child_end(child), 0);
    }
    /* no handler runs in this one: its word for events stays, and leads nowhere */
    pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
    if (child == 0) {
        CREST_EMIT(counted, 3, 3);
        syscall(SYS_exit_group, 0);
    }
    assert_int_equal(child_end(child), 0);
    crest_event_totals_read(&after);
    assert_int_equal(after.written, before.written);
    assert_int_equal(after.refused, before.refused);
    crest_event_view event;
    crest_event_reader *reader = event_open("node.2.events");
    assert_true(crest_event_reader_next(reader, &event));
    assert_int_equal(event.values[0].as.u, 2);
    assert_false(crest_event_reader_next(reader, &event));
    crest_event_reader_free(reader);
}

static int emits_until_killed(int to)
{
    crest_events_wish wish = {.place = {.dir = state_dir, .name = "victim"}};
    if (crest_events_begin(&wish, NULL) != CREST_OK)
        return 1;
    for (uint64_t i = 1;; i++) {
        CREST_EMIT(counted, i, i);
        if (i == 100 && write(to, "x", 1) != 1)
            return 2;
    }
}

/* A process that was killed: its file is whole, up to the event that it was writing. */
static void test_killed(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 5; round++) {
        int ends[2];
        char byte;
        assert_int_equal(pipe(ends), 0);
        pid_t child = fork();
        if (child == 0)
            _exit(emits_until_killed(ends[1]));
        close(ends[1]);
        assert_int_equal(read(ends[0], &byte, 1), 1);
        close(ends[0]);
        kill(child, SIGKILL);
        assert_true(WIFSIGNALED(child_end(child)));
        crest_event_reader *reader = event_open("victim.events");
        crest_event_reader_about about;
        crest_event_view event;
        uint64_t last = 0;
        while (crest_event_reader_next(reader, &event)) {
            assert_int_equal(event.values[0].as.u, event.values[1].as.u);
            assert_true(last == 0 || event.values[0].as.u == last + 1);
            last = event.values[0].as.u;
            assert_int_equal(event.thread, child);
        }
        assert_int_equal(event_account(reader).written, last);
        assert_true(last >= 100);
        crest_event_reader_tell(reader, &about);
        assert_int_equal(about.pid, child);
        assert_false(about.alive);
        assert_int_equal(about.farewell_wall_ns, 0);
        assert_string_equal(about.name, "victim");
        crest_event_reader_free(reader);
    }
    assert_true(state_dir_has("victim.events.previous.3"));
    assert_false(state_dir_has("victim.events.previous.4"));
}

/* A second declaration is the same event; when its object goes, the first one stays. */
static void test_declared_twice(void **state)
{
    (void)state;
    crest_event_view event;
    crest_event_reader *reader = event_own();
    skip_all(reader);
    crest_event again = {.abi = CREST_EVENT_ABI, .declaration = counted.declaration};
    assert_int_equal(crest_event_register(&again), CREST_OK);
    assert_true(crest_event_on(&again));
    assert_ptr_equal(again.known, counted.known);
    uint64_t values[] = {1, 2};
    crest_event_write(&again, values);
    crest_event_unregister(&again);
    assert_false(crest_event_on(&again));
    assert_true(crest_event_on(&counted));
    crest_event_write(&again, values);
    assert_true(crest_event_reader_next(reader, &event));
    assert_string_equal(event.info->name, "test.counted");
    assert_int_equal(event.values[1].as.u, 2);
    assert_false(crest_event_reader_next(reader, &event));
    event_account(reader);
    crest_event_reader_free(reader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_off_until_begun), cmocka_unit_test(test_values),
        cmocka_unit_test(test_texts),           cmocka_unit_test(test_around),
        cmocka_unit_test(test_overwritten),     cmocka_unit_test(test_threads),
        cmocka_unit_test(test_large_positions), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_declared_twice),  cmocka_unit_test(test_forks),
        cmocka_unit_test(test_killed),
    };
    fixture_watchdog(60);
    state_dir_make();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
