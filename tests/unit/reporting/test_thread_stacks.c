/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much stack the library's threads have, whatever the process's default is, and how much they
 * and a caller's thread use: pthread_create is this program's own, which looks at the attributes
 * and paints the stack before the thread's function is called.
 *
 * A sanitizer's frames are larger, and it minds the paint. crest-test: sanitizers=none
 */
#define _GNU_SOURCE
#include <crest/crest.h>
#include <crest/prepare.h>
#include <crest/probe.h>
#include <crest/prometheus.h>
#include <crest/timed_io.h>

#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/http_get.h"

#define PAINT 0xa5
#define PAINTED_FROM 2048 /* below the painter's frame */
#define STARTED_MAX 64
/* What docs/limits.md says. */
#define OWN_MOST (128 * 1024)
#define RECORD_MOST (12 * 1024)
#define CALL_MOST (48 * 1024)
/* Smaller than what any of them takes. */
#define DEFAULT_SMALL (16 * 1024)

/* Of a host with large thread-local variables. */
static __thread volatile char large[200 * 1024];

CREST_COUNTER(things, "test.things", "Counted here.");
CREST_COUNTER(others, "test.others", "Counted by a caller.");
CREST_TIMER(spent, "test.spent", "Timed here.");
CREST_HISTOGRAM(sizes, "test.sizes", "Of every size.");
CREST_RANGE_SAMPLER(waiting, "test.waiting", "More or less.");

struct started {
    void *(*run)(void *);
    void *context;
    size_t size; /* that was asked for; 0: the default */
    size_t used;
    int ours;
};

static struct started started[STARTED_MAX];
static unsigned started_count;

/* ---- painting ---- */

static __attribute__((noinline)) size_t paint(unsigned char *low, unsigned char **from)
{
    unsigned char here;
    uintptr_t top = (uintptr_t)&here - PAINTED_FROM;
    *from = (unsigned char *)top;
    for (volatile unsigned char *at = low; (uintptr_t)at < top; at++)
        *at = PAINT;
    return (size_t)(top - (uintptr_t)low);
}

static size_t unpainted(const unsigned char *low, const unsigned char *from)
{
    while (low < from && *low == PAINT)
        low++;
    return (size_t)(from - low) + PAINTED_FROM;
}

/* The lowest address that the thread may use. */
static unsigned char *stack_low(void)
{
    pthread_attr_t attributes;
    void *low;
    size_t size, guard;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
        abort();
    pthread_attr_getstack(&attributes, &low, &size);
    pthread_attr_getguardsize(&attributes, &guard);
    pthread_attr_destroy(&attributes);
    return (unsigned char *)low + guard;
}

static void *painted_run(void *context)
{
    struct started *thread = context;
    unsigned char *from, *low = stack_low();
    paint(low, &from);
    void *result = thread->run(thread->context);
    __atomic_store_n(&thread->used, unpainted(low, from), __ATOMIC_RELEASE);
    return result;
}

/* ---- pthread_create, in place of the C library's ---- */

static int really_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                         void *context)
{
    static int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    if (create == NULL)
        *(void **)&create = dlsym(RTLD_NEXT, "pthread_create");
    return create(thread, attributes, run, context);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                   void *context)
{
    Dl_info caller = {0};
    dladdr(__builtin_return_address(0), &caller);
    const char *slash = caller.dli_fname != NULL ? strrchr(caller.dli_fname, '/') : NULL;
    const char *name = slash != NULL ? slash + 1 : "";
    unsigned index = __atomic_fetch_add(&started_count, 1, __ATOMIC_RELAXED);
    if (index >= STARTED_MAX)
        return really_create(thread, attributes, run, context);
    struct started *entry = &started[index];
    *entry = (struct started){run, context, 0, 0,
                              strncmp(name, "libcrest", 8) == 0 || strncmp(name, "test_", 5) == 0};
    if (attributes != NULL)
        pthread_attr_getstacksize(attributes, &entry->size);
    if (!entry->ours)
        return really_create(thread, attributes, run, context);
    return really_create(thread, attributes, painted_run, entry);
}

/* ---- the library's own ---- */

static void polls(void *context)
{
    (void)context;
    crest_counter_inc(&things);
}

/* Every sort of thread that the library has, at work once. */
static void run_all_threads(const char *folder)
{
    char options[1024];
    crest_error error;
    snprintf(options, sizeof options,
             "interval=1h,system=on,hiccups=on,atexit=off,"
             "pushgateway=http://127.0.0.1:1,statsd=udp://localhost:9,textfile=%s/page.prom",
             folder);
    crest_prometheus_options endpoint = {.listen = "127.0.0.1:0"};
    crest_reporter *scraped = crest_prometheus_new(&endpoint, &error);
    crest_status status = crest_start(options, &error);
    if (status == CREST_OK)
        status = crest_reporter_attach(NULL, scraped, NULL, &error);
    if (status != CREST_OK)
        fail_msg("%s", error.message);
    crest_poll *poll = crest_poll_every("test", polls, NULL, NULL, NULL);
    assert_non_null(poll);
    crest_probe *probe = crest_probe_file("store", folder, NULL, &error);
    assert_non_null(probe);
    size_t length;
    char *page =
        http_get(crest_prometheus_port(scraped), "/metrics",
                 "Accept: application/openmetrics-text\r\nAccept-Encoding: gzip\r\n", &length);
    assert_non_null(page);
    free(page);
    assert_int_equal(crest_reporter_detach(scraped, 20000, &error), CREST_OK);
    crest_reporter_free(scraped);
    crest_probe_stop(probe);
    crest_poll_stop(poll);
    (void)crest_stop(20000, &error); /* the gateway is not there */
}

static void test_own_size(void **state)
{
    (void)state;
    char folder[] = "/tmp/crest-stacks-XXXXXX", page[64];
    assert_non_null(mkdtemp(folder));
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, DEFAULT_SMALL);
    assert_int_equal(pthread_setattr_default_np(&small), 0);
    run_all_threads(folder);
    snprintf(page, sizeof page, "%s/page.prom", folder);
    assert_int_equal(unlink(page), 0);
    assert_int_equal(rmdir(folder), 0);
    unsigned ours = 0;
    size_t most = 0, with_tls = CREST_THREAD_STACK_BYTES + sizeof large;
    for (unsigned i = 0; i < started_count; i++)
        if (started[i].ours) {
            ours++;
            assert_in_range(started[i].size, with_tls, with_tls + 64 * 1024);
            most = started[i].used > most ? started[i].used : most;
        }
    print_message("%u threads, at most %zu bytes of stack\n", ours, most);
    assert_in_range(ours, 7, STARTED_MAX);
    assert_in_range(most, PAINTED_FROM, OWN_MOST);
}

static void *asked_run(void *context)
{
    (void)context;
    return NULL;
}

static void test_asked_size(void **state)
{
    (void)state;
    assert_int_equal(crest_thread_stack(CREST_THREAD_STACK_BYTES_MIN - 1), CREST_INVALID_ARGUMENT);
    assert_int_equal(crest_thread_stack(CREST_THREAD_STACK_BYTES_MAX + 1), CREST_INVALID_ARGUMENT);
    static const size_t asked[] = {CREST_THREAD_STACK_BYTES_MIN, 1 << 20, CREST_THREAD_STACK_BYTES};
    for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++) {
        assert_int_equal(crest_thread_stack(asked[i]), CREST_OK);
        unsigned index = __atomic_load_n(&started_count, __ATOMIC_RELAXED);
        pthread_t thread;
        assert_int_equal(crest_reporter_thread(&thread, asked_run, NULL), 0);
        pthread_join(thread, NULL);
        assert_in_range(started[index].size, asked[i] + sizeof large,
                        asked[i] + sizeof large + 64 * 1024);
    }
}

/* ---- a caller's thread ---- */

static void *record_all(void *context)
{
    crest_op op = crest_op_text("block");
    crest_counter_inc(&others);
    crest_timing timing = crest_timer_start(&spent, op);
    crest_timing_stop(&timing, op);
    crest_timer_begin(&spent, op);
    crest_timer_end(&spent, op, CREST_OUTCOME_OK);
    crest_range_sampler_add(&waiting, 3);
    for (int64_t value = 1; value < INT64_MAX / 2; value *= 2)
        crest_histogram_record(&sizes, value);
    return context;
}

static void *call_all(void *context)
{
    crest_registry *registry = crest_registry_new(NULL);
    crest_metric_options options = {.name = "test.late"};
    crest_counter_inc(crest_counter_get(registry, &options, NULL));
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    crest_prometheus_write(NULL, stream);
    fclose(stream);
    free(text);
    crest_registry_free(registry);
    crest_error error;
    crest_options_check("statsd=udp://127.0.0.1:9,prometheus=127.0.0.1:0", &error);
    return context;
}

/* What a thread with the stack of an ordinary one takes of it for the calls. */
static size_t stack_of(void *(*calls)(void *))
{
    struct started thread = {.run = calls};
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 2 << 20);
    pthread_t id;
    assert_int_equal(really_create(&id, &attributes, painted_run, &thread), 0);
    assert_int_equal(pthread_join(id, NULL), 0);
    pthread_attr_destroy(&attributes);
    return thread.used;
}

static void test_callers(void **state)
{
    (void)state;
    size_t record = stack_of(record_all), call = stack_of(call_all);
    print_message("recording: %zu bytes of stack; other calls: %zu\n", record, call);
    assert_in_range(record, PAINTED_FROM, RECORD_MOST);
    assert_in_range(call, PAINTED_FROM, CALL_MOST);
}

int main(void)
{
    large[0] = 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_callers),
        cmocka_unit_test(test_own_size),
        cmocka_unit_test(test_asked_size),
    };
    return cmocka_run_group_tests_name("thread_stacks", tests, NULL, NULL);
}
