/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The thread's current span: each thread's own, put back, shown to profilers only when that is
 * wanted, and whole wherever a signal handler interrupts a change.
 */
#include "spans/current_span.h"
#include "support/core_fixture.h"

#include <pthread.h>
#include <signal.h>
#include <sys/time.h>

static crest_span_context context_of(uint64_t number)
{
    crest_span_context context = crest_span_context_of(crest_op_u64(number), number);
    context.remote = number % 2;
    return context;
}

static void current_is(const crest_span_context *wanted)
{
    crest_span_context now = crest_span_current();
    assert_memory_equal(&now.trace, &wanted->trace, sizeof now.trace);
    assert_true(now.span == wanted->span);
    assert_int_equal(now.flags, wanted->flags);
    assert_int_equal(now.remote, wanted->remote);
}

static void *other_thread(void *span)
{
    *(uint64_t *)span = crest_span_current().span;
    return NULL;
}

static void test_nested(void **state)
{
    (void)state;
    crest_span_context none = {.span = 0}, outer = context_of(1), inner = context_of(2);
    current_is(&none);
    crest_span_context before_outer = crest_span_current_set(&outer);
    current_is(&outer);
    crest_span_context before_inner = crest_span_current_set(&inner);
    current_is(&inner);
    pthread_t thread;
    uint64_t others = 1;
    assert_int_equal(pthread_create(&thread, NULL, other_thread, &others), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(others == 0);
    crest_span_current_set(&before_inner);
    current_is(&outer);
    crest_span_current_set(&before_outer);
    current_is(&none);
    /* half a context is none */
    outer.span = 0;
    crest_span_current_set(&outer);
    current_is(&none);
    crest_span_current_set(NULL);
    current_is(&none);
}

static void test_shown(void **state)
{
    (void)state;
    crest_span_context first = context_of(1), second = context_of(0x0102030405060708);
    crest_span_current_set(&first);
    assert_null(otel_thread_ctx_v1);
    crest_current_span_show(1);
    assert_null(otel_thread_ctx_v1); /* from the next change on */
    crest_span_current_set(&second);
    assert_non_null(otel_thread_ctx_v1);
    const uint8_t span[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    assert_memory_equal(otel_thread_ctx_v1->trace, second.trace.bytes, 16);
    assert_memory_equal(otel_thread_ctx_v1->span, span, 8);
    assert_int_equal(otel_thread_ctx_v1->valid, 1);
    assert_int_equal(otel_thread_ctx_v1->flags, CREST_TRACE_RANDOM);
    assert_int_equal(otel_thread_ctx_v1->attributes_bytes, 0);
    crest_span_current_set(NULL);
    assert_int_equal(otel_thread_ctx_v1->valid, 0);
    crest_current_span_show(0);
    crest_span_current_set(NULL);
    assert_null(otel_thread_ctx_v1);
    /* another tracer's record is left where it is */
    crest_otel_thread_record others;
    otel_thread_ctx_v1 = &others;
    crest_current_span_show(1);
    crest_current_span_show(0);
    crest_span_current_set(&first);
    assert_ptr_equal(otel_thread_ctx_v1, &others);
    otel_thread_ctx_v1 = NULL;
    crest_span_current_set(NULL);
}

static volatile sig_atomic_t torn, interrupted;

/* A handler with a scope of its own: what it sees is whole, and it leaves what it found. */
static void handler(int signal)
{
    (void)signal;
    crest_span_context seen = crest_span_current(), mine = context_of(3);
    if (crest_span_context_valid(&seen)) {
        crest_span_context whole = context_of(seen.span);
        torn += memcmp(&whole.trace, &seen.trace, sizeof whole.trace) != 0 ||
                whole.remote != seen.remote;
    }
    crest_span_context before = crest_span_current_set(&mine);
    crest_span_current_set(&before);
    interrupted++;
}

static void test_interrupted(void **state)
{
    (void)state;
    struct sigaction action = {.sa_handler = handler}, old;
    struct itimerval often = {{0, 50}, {0, 50}}, never = {{0, 0}, {0, 0}};
    crest_span_context one = context_of(1), two = context_of(2);
    assert_int_equal(sigaction(SIGALRM, &action, &old), 0);
    assert_int_equal(setitimer(ITIMER_REAL, &often, NULL), 0);
    for (int i = 0; interrupted < 500; i++) {
        const crest_span_context *mine = i % 2 ? &one : &two;
        crest_span_current_set(mine);
        crest_span_context now = crest_span_current();
        assert_true(now.span == mine->span);
        assert_memory_equal(&now.trace, &mine->trace, sizeof now.trace);
    }
    setitimer(ITIMER_REAL, &never, NULL);
    sigaction(SIGALRM, &old, NULL);
    assert_int_equal(torn, 0);
    crest_span_current_set(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nested),
        cmocka_unit_test(test_shown),
        cmocka_unit_test(test_interrupted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
