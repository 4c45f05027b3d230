/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exporters: one that calls the library back is told that it may not, one that stops Crest does not
 * wait for itself, a slow one does not hold the ticker up, one that hangs is left behind, exemplars
 * name no span that no exporter has taken, and the last key of attributes is followed by a limit.
 */
#include "base/sync.h"
#include "spans/kept_spans.h"
#include "support/span_fixture.h"
#include "tracing/tracing.h"
#include "windows/tick_listeners.h"

#include <crest/run.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/wait.h>
#include <unistd.h>

/* A call that waits for the exporter which makes it would wait for good. */
#define HUNG_S 60u

CREST_TIMER(work_time, "exported.work", "Work.");

static crest_op work(unsigned number)
{
    crest_op op = crest_op_u64x2(0xe4, number);
    crest_timer_record_op(&work_time, 1000, CREST_OUTCOME_OK, &op);
    return op;
}

/* ---- totals ---- */

static uint64_t totals_stop;

static void *totals_reader(void *unused)
{
    (void)unused;
    while (!__atomic_load_n(&totals_stop, __ATOMIC_RELAXED))
        fixture_equal(crest_spans_totals().offered, 0);
    return NULL;
}

/* They are read while tracing is made for the first time; for ThreadSanitizer. */
static void test_totals_before_the_first(void **state)
{
    pthread_t reader;
    (void)state;
    assert_int_equal(pthread_create(&reader, NULL, totals_reader, NULL), 0);
    spans_begin(&(crest_spans_settings){.spans = "exported.*", .sample = 1});
    __atomic_store_n(&totals_stop, 1, __ATOMIC_RELAXED);
    assert_int_equal(pthread_join(reader, NULL), 0);
    spans_end();
}

/* ---- calling back ---- */

static crest_status back_status[5];
static char back_message[CREST_ERROR_BYTES];

static crest_status back_take(crest_span_exporter *self, const crest_span_batch *batch,
                              crest_error *error)
{
    crest_error why;
    const crest_spans_settings none = {.spans = NULL};
    (void)error;
    back_status[0] = crest_spans_flush(1);
    back_status[1] = crest_spans_give(batch->spans, batch->count);
    back_status[2] = crest_span_exporter_add(self);
    back_status[3] = crest_span_exporter_remove(self);
    back_status[4] = crest_spans_set(&none, &why);
    snprintf(back_message, sizeof back_message, "%s", why.message);
    (void)work(2); /* recording is what it may do */
    return CREST_OK;
}

static void test_calling_back(void **state)
{
    crest_span_exporter back = {.name = "back", .take = back_take, .state = NULL};
    (void)state;
    alarm(HUNG_S);
    spans_begin(&(crest_spans_settings){.spans = "exported.*", .sample = 1});
    assert_int_equal(crest_span_exporter_add(&back), CREST_OK);
    (void)work(1);
    assert_int_equal(crest_spans_flush(1), CREST_OK);
    for (unsigned i = 0; i < sizeof back_status / sizeof *back_status; i++)
        assert_int_equal(back_status[i], CREST_INVALID_ARGUMENT);
    assert_non_null(strstr(back_message, "from a span exporter"));
    assert_int_equal(crest_span_exporter_remove(&back), CREST_OK);
    assert_int_equal(crest_spans_flush(1), CREST_OK);
    assert_int_equal(spans_count, 2);
    spans_end();
    alarm(0);
}

/* In a process of its own: a stop, which an exit is too, ends although its last batch cannot. */
static crest_status stopping_take(crest_span_exporter *self, const crest_span_batch *batch,
                                  crest_error *error)
{
    (void)self, (void)batch, (void)error;
    _exit(crest_stop(1000, NULL) == CREST_OK ? 7 : 8);
}

static void test_stopping(void **state)
{
    crest_span_exporter stopping = {.name = "stopping", .take = stopping_take, .state = NULL};
    int status;
    (void)state;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(HUNG_S);
        if (crest_start("spans=exported.*,spans.sample=1,atexit=off", NULL) == CREST_OK &&
            crest_span_exporter_add(&stopping) == CREST_OK) {
            (void)work(7);
            crest_spans_flush(1);
        }
        _exit(9);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 7);
}

/* ---- a slow one ---- */

static sem_t slow_begun, slow_go_on;

static crest_status slow_take(crest_span_exporter *self, const crest_span_batch *batch,
                              crest_error *error)
{
    (void)self, (void)batch, (void)error;
    sem_post(&slow_begun);
    fixture_equal(sem_wait(&slow_go_on), 0);
    return CREST_OK;
}

static void *slow_flush(void *unused)
{
    (void)unused;
    crest_spans_flush(1);
    return NULL;
}

static void test_ticks_do_not_wait(void **state)
{
    crest_span_exporter slow = {.name = "slow", .take = slow_take, .state = NULL};
    pthread_t flushing;
    (void)state;
    alarm(HUNG_S);
    sem_init(&slow_begun, 0, 0);
    sem_init(&slow_go_on, 0, 0);
    spans_begin(&(crest_spans_settings){.spans = "exported.*", .sample = 1});
    crest_tracing_by_hand();
    (void)work(6);
    assert_int_equal(crest_span_exporter_add(&slow), CREST_OK);
    assert_int_equal(pthread_create(&flushing, NULL, slow_flush, NULL), 0);
    sem_wait(&slow_begun);
    crest_listeners_tick();
    sem_post(&slow_go_on);
    assert_int_equal(pthread_join(flushing, NULL), 0);
    assert_int_equal(crest_span_exporter_remove(&slow), CREST_OK);
    spans_end();
    alarm(0);
}

/* ---- one that hangs ---- */

/* Of a stop that keeps its deadline of 200 ms, on a busy machine. */
#define HUNG_STOP_MS 20000u

static sem_t hung_go_on;
static uint32_t hung_returned;

static crest_status hung_take(crest_span_exporter *self, const crest_span_batch *batch,
                              crest_error *error)
{
    (void)self, (void)batch, (void)error;
    fixture_equal(sem_wait(&hung_go_on), 0);
    __atomic_store_n(&hung_returned, 1, __ATOMIC_RELEASE);
    return CREST_OK;
}

/* The stop keeps its deadline, and says what hangs; the exporters that are prompt have the batch,
 * added before or after; and when it has returned all can begin anew. */
static void test_stop_leaves_it_behind(void **state)
{
    crest_span_exporter hung = {.name = "hung", .take = hung_take};
    crest_error error;
    (void)state;
    alarm(HUNG_S);
    sem_init(&hung_go_on, 0, 0);
    assert_int_equal(crest_start("spans=exported.*,spans.sample=1,atexit=off", &error), CREST_OK);
    assert_int_equal(crest_span_exporter_add(&hung), CREST_OK);
    spans_count = spans_finals = 0;
    spans_exporter.prompt = 1;
    assert_int_equal(crest_span_exporter_add(&spans_exporter), CREST_OK);
    (void)work(8);
    uint64_t begun_ns = crest_monotonic_ns();
    assert_int_equal(crest_stop(200, &error), CREST_TIMED_OUT);
    assert_true(crest_monotonic_ns() - begun_ns < HUNG_STOP_MS * CREST_NS_PER_MS);
    assert_int_equal(__atomic_load_n(&hung_returned, __ATOMIC_ACQUIRE), 0);
    assert_non_null(strstr(error.message, "the last spans have not gone out: the exporter hung "));
    assert_int_equal(spans_count, 1);
    /* another is removed without waiting for it, and a flush does not wait for good */
    assert_int_equal(crest_span_exporter_remove(&spans_exporter), CREST_OK);
    assert_int_equal(crest_spans_flush(1), CREST_TIMED_OUT);
    sem_post(&hung_go_on); /* the batch, and the final one */
    sem_post(&hung_go_on);
    assert_int_equal(crest_span_exporter_remove(&hung), CREST_OK);
    assert_int_equal(__atomic_load_n(&hung_returned, __ATOMIC_ACQUIRE), 1);
    spans_exporter.prompt = 0;
    spans_begin(&(crest_spans_settings){.spans = "exported.*", .sample = 1});
    (void)work(9);
    assert_int_equal(crest_spans_flush(1), CREST_OK);
    assert_int_equal(spans_count, 1);
    spans_end();
    spans_assert_whole();
    alarm(0);
}

/* ---- exemplars ---- */

static void test_not_taken(void **state)
{
    crest_trace_id trace;
    crest_span_id id;
    (void)state;
    spans_begin(&(crest_spans_settings){.spans = "exported.*", .sample = 1});
    spans_answer = CREST_NO_MEMORY;
    crest_op lost = work(3);
    crest_spans_flush(1);
    assert_int_equal(crest_kept_spans_find(&lost, "exported.work", &trace, &id), 0);
    spans_answer = CREST_OK;
    crest_op taken = work(4);
    crest_spans_flush(1);
    assert_int_not_equal(crest_kept_spans_find(&taken, "exported.work", &trace, &id), 0);
    spans_end();
}

/* ---- keys ---- */

/* A key that is beyond the process's limit is good: what it would have said is counted. */
static void test_beyond_the_last_key(void **state)
{
    static char names[CREST_SPAN_KEYS_MAX][16];
    static crest_span_key keys[CREST_SPAN_KEYS_MAX];
    crest_span_key beyond = {"beyond", 0}, bad = {"", 0};
    crest_span_timing timing;
    crest_op op = crest_op_u64(5);
    (void)state;
    spans_begin(&(crest_spans_settings){.spans = "exported.*", .sample = 1});
    for (unsigned i = 0; i < CREST_SPAN_KEYS_MAX; i++) {
        snprintf(names[i], sizeof names[i], "key-%u", i);
        keys[i].name = names[i];
        crest_timer_start_under(&work_time, op, NULL, &timing);
        assert_int_equal(crest_span_set_i64(&timing, &keys[i], i), CREST_OK);
    }
    crest_timer_start_under(&work_time, op, NULL, &timing);
    assert_int_equal(crest_span_set_i64(&timing, &beyond, 1), CREST_LIMIT);
    assert_int_equal(crest_span_add_event(&timing, &beyond), CREST_LIMIT);
    assert_int_equal(crest_span_set_i64(&timing, &bad, 1), CREST_INVALID_ARGUMENT);
    assert_int_equal(crest_span_set_i64(&timing, &keys[0], 1), CREST_OK);
    assert_int_equal(crest_span_end(&timing, op, CREST_OUTCOME_OK), CREST_OK);
    crest_spans_flush(1);
    assert_int_equal(spans_count, 1);
    assert_int_equal(spans_seen[0].span.attribute_count, 1);
    assert_int_equal(spans_seen[0].span.dropped_attributes, 1);
    spans_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_totals_before_the_first),
        cmocka_unit_test(test_calling_back),
        cmocka_unit_test(test_stopping),
        cmocka_unit_test(test_ticks_do_not_wait),
        cmocka_unit_test(test_stop_leaves_it_behind),
        cmocka_unit_test(test_not_taken),
        cmocka_unit_test(test_beyond_the_last_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
