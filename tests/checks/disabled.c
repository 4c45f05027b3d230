/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that declares with every macro and records in every way, for check_disabled.py, which
 * compiles it with CREST_DISABLE as C and as C++, runs it without the library, and looks at the
 * machine code of those functions whose names begin with off_: nothing may be left of them.
 */
#include <crest/by_name.h>
#include <crest/console.h>
#include <crest/crest.h>
#include <crest/json_lines.h>
#include <crest/lane.h>
#include <crest/prometheus.h>
#include <crest/pushgateway.h>
#include <crest/statsd.h>
#include <crest/testing.h>
#include <crest/textfile.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define REQUIRE(condition)                                                                         \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                        \
            failures++;                                                                            \
        }                                                                                          \
    } while (0)

CREST_SOURCE_IN("off", "by-name");
CREST_REGISTRY(component, .prefix = "component");
CREST_REGISTRY_DEFINE(shared_component, .prefix = "shared");
static const double bounds[] = {1, 2};
static const crest_buckets buckets = {bounds, 2};

CREST_COUNTER(counter, "off.counter", "A counter.");
CREST_GAUGE(gauge, "off.gauge", "A gauge.", .unit = CREST_BYTES);
CREST_HISTOGRAM(histogram, "off.histogram", "A histogram.", .buckets = &buckets,
                .range = CREST_RANGE_FINE);
CREST_TIMER(timer, "off.timer", "A timer.", .buckets = CREST_BUCKETS_FAST);
CREST_RANGE_SAMPLER(sampler, "off.sampler", "A range sampler.");
CREST_STAGES(stages, "off.stages", "Stages.", .stages = {"a", "b"});
CREST_MUTEX(mutex, "off.mutex");
CREST_COUNTER_DEFINE(counter_shared, "off.counter-shared", "A counter.");
CREST_GAUGE_DEFINE(gauge_shared, "off.gauge-shared", "A gauge.");
CREST_HISTOGRAM_DEFINE(histogram_shared, "off.histogram-shared", "A histogram.");
CREST_TIMER_DEFINE(timer_shared, "off.timer-shared", "A timer.");
CREST_RANGE_SAMPLER_DEFINE(sampler_shared, "off.sampler-shared", "A range sampler.");
CREST_STAGES_DEFINE(stages_shared, "off.stages-shared", "Stages.", .stages = {"a"});
CREST_MUTEX_DEFINE(mutex_shared, "off.mutex-shared");

CREST_COUNTER_FAMILY(counters, "off.counters", "Counters.", peer, kind);
CREST_GAUGE_FAMILY(gauges, "off.gauges", "Gauges.", peer);
CREST_HISTOGRAM_FAMILY_OPTIONS(histograms, "off.histograms", "Histograms.", (.unit = CREST_BYTES),
                               peer);
CREST_TIMER_FAMILY(timers, "off.timers", "Timers.", peer);
CREST_RANGE_SAMPLER_FAMILY(samplers, "off.samplers", "Range samplers.", peer);
CREST_STAGES_FAMILY(stages_of, "off.stages-of", "Stages.", (.stages = {"a"}), peer);
CREST_COUNTER_FAMILY_DECLARE(counters_shared, peer);
CREST_COUNTER_FAMILY_DEFINE(counters_shared, "off.counters-shared", "Counters.", (), peer);
CREST_TIMER_FAMILY_DECLARE(timers_shared, peer);
CREST_TIMER_FAMILY_DEFINE(timers_shared, "off.timers-shared", "Timers.", (), peer);

CREST_BEGIN_C
void off_counter(int64_t amount);
void off_gauge(double value);
void off_distributions(int64_t value);
void off_timer(uint64_t id);
void off_scope(const char *text);
void off_by_name(const char *name);
void off_labelled(const char *peer);
void off_keyed(const unsigned char *hash);
CREST_END_C

void off_counter(int64_t amount)
{
    crest_counter_inc(&counter);
    crest_counter_add(&counter_shared, amount);
}

void off_gauge(double value)
{
    crest_gauge_set(&gauge, value);
    crest_gauge_add(&gauge_shared, value);
    crest_gauge_set_to_now(&gauge);
}

void off_distributions(int64_t value)
{
    crest_histogram_record(&histogram, value);
    crest_histogram_record_n(&histogram_shared, value, 3);
    crest_range_sampler_add(&sampler, value);
    crest_range_sampler_set(&sampler_shared, value);
}

void off_timer(uint64_t id)
{
    crest_timing timing = crest_timer_start(&timer, crest_op_u64(id));
    crest_timing_stop(&timing, crest_op_u64(id));
    crest_timer_record(&timer_shared, 7, CREST_OUTCOME_ERROR);
}

void off_scope(const char *text)
{
    crest_outcome outcome = CREST_OUTCOME_OK;
    CREST_TIME_SCOPE(&timer, crest_op_text(text), &outcome);
}

void off_by_name(const char *name)
{
    crest_increment_counter("events");
    crest_increment_counter_by(name, 7);
    crest_set_gauge(name, 1.5);
    crest_record("size", 7);
    crest_increment_sampler("queue", -1);
}

void off_labelled(const char *peer)
{
    crest_counter_inc(counters_with(peer, "ping"));
    crest_gauge_set(gauges_with(peer), 1);
    crest_histogram_record(histograms_with(peer), 7);
    crest_timer_record(timers_with(peer), 7, CREST_OUTCOME_OK);
    crest_range_sampler_add(samplers_with(peer), 1);
    crest_counter_inc(counters_shared_with(peer));
    crest_timer_record(timers_shared_with(peer), 7, CREST_OUTCOME_OK);
}

void off_keyed(const unsigned char *hash)
{
    crest_op op = crest_op_bytes(hash, 32);
    crest_timer_begin(&timer, op);
    crest_timer_end(&timer, op, CREST_OUTCOME_OK);
    crest_timer_begin_owned(&timer, op, crest_op_u64(1));
    crest_stages_begin(&stages, op);
    crest_stages_begin_owned(&stages, op, crest_op_u64(1));
    crest_owner_end(crest_op_u64(1), CREST_OUTCOME_CANCELLED);
    crest_stages_mark(&stages_shared, op, 0);
    crest_stages_end(stages_of_with("a"), op, CREST_OUTCOME_OK);
}

/* Locks in either build. */
CREST_BEGIN_C
int locked(void);
CREST_END_C
int locked(void)
{
    return crest_mutex_lock(&mutex) == 0 && crest_mutex_unlock(&mutex) == 0;
}

#ifdef CREST_DISABLE
static int failures;

static int side_effects(void)
{
    static int calls;
    return ++calls;
}

static int page_write(void *context, const void *bytes, size_t length)
{
    (void)bytes, (void)length;
    ++*(int *)context;
    return 0;
}

/* What a program may rely on: locks lock, files are read, names are told apart. */
static void test_what_remains(void)
{
    char text[CREST_OP_TEXT_BYTES];
    uint64_t before = crest_now();
    REQUIRE(before > 0 && crest_now() >= before);
    REQUIRE(crest_wall_now() > UINT64_C(1600000000000000000));
    REQUIRE(locked());
    REQUIRE(crest_mutex_lock(&mutex) == 0);
    REQUIRE(crest_mutex_trylock(&mutex) == EBUSY);
    REQUIRE(crest_mutex_unlock(&mutex) == 0);
    {
        CREST_MUTEX_SCOPE(&mutex_shared);
        REQUIRE(crest_mutex_trylock(&mutex_shared) == EBUSY);
    }
    REQUIRE(crest_mutex_trylock(&mutex_shared) == 0 && crest_mutex_unlock(&mutex_shared) == 0);
    crest_op a = crest_op_text("a"), b = crest_op_text("b"), hex = crest_op_hex("0fA0");
    REQUIRE(!crest_op_equal(&a, &b));
    crest_op again = crest_op_bytes("\x0f\xa0", 2);
    REQUIRE(crest_op_equal(&hex, &again));
    REQUIRE(crest_op_format(&hex, text, sizeof text) == 6 && strcmp(text, "0x0fa0") == 0);
    a = crest_op_u64x2(7, 8);
    REQUIRE(crest_op_format(&a, text, 3) == 2 && strcmp(text, "7:") == 0);
    REQUIRE(strcmp(crest_status_text(CREST_OK), "ok") == 0);
    crest_error error;
    REQUIRE(crest_error_set(&error, CREST_IO, "%d", 7) == CREST_IO);
    REQUIRE(error.status == CREST_IO && strcmp(error.message, "7") == 0);
}

/* What does nothing succeeds, what is read is 0, what is looked for is not found. */
static void test_what_does_not(void)
{
    crest_error error;
    memset(&error, 1, sizeof error);
    int writes = 0;
    crest_counter_add(&counter, side_effects());
    REQUIRE(side_effects() == 2);
    REQUIRE(crest_counter_value(&counter) == 0);
    REQUIRE(crest_start("prometheus=not a port", &error) == CREST_OK && error.message[0] == 0);
    REQUIRE(crest_page_write(NULL, CREST_FORMAT_OPENMETRICS, page_write, &writes, &error) ==
            CREST_OK);
    REQUIRE(writes == 0);
    crest_reporter *reporter = crest_prometheus_new(NULL, &error);
    REQUIRE(reporter != NULL && crest_reporter_attach(NULL, reporter, NULL, &error) == CREST_OK);
    crest_reporter_free(reporter);
    crest_snapshot *snapshot = crest_snapshot_take(&component);
    crest_series_view view;
    REQUIRE(snapshot != NULL && crest_snapshot_size(snapshot) == 0);
    REQUIRE(crest_snapshot_find(snapshot, "off.counter", NULL, 0, &view) == CREST_NOT_FOUND);
    crest_snapshot_free(snapshot);
    crest_testing_reading reading;
    REQUIRE(crest_testing_read(NULL, NULL, &reading, &error, "off.counter", NULL) ==
            CREST_NOT_FOUND);
    REQUIRE(reading.counter == 0 && error.status == CREST_NOT_FOUND);
    REQUIRE(crest_counter_get(&shared_component, NULL, NULL) != NULL);
    REQUIRE(crest_stop(0, &error) == CREST_OK);
}

int main(void)
{
    test_what_remains();
    test_what_does_not();
    return failures != 0;
}
#endif
