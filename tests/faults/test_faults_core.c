/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Out of everything, while metrics are declared, recorded, ended, read and written out: faults.h.
 * crest-test: timeout=240 sanitizers=address
 */
#include "faults.h"
#include "support/span_samples.h"

#include <crest/by_name.h>
#include <crest/lane.h>
#include <crest/otlp.h>
#include <crest/prepare.h>
#include <crest/testing.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define EACH_KIND(X)                                                                               \
    X(counter, COUNTER)                                                                            \
    X(gauge, GAUGE)                                                                                \
    X(histogram, HISTOGRAM)                                                                        \
    X(timer, TIMER)                                                                                \
    X(range_sampler, RANGE_SAMPLER)                                                                \
    X(stages, STAGES)

#define KINDS 6u

static const char *const names[KINDS] = {"f.counter", "f.gauge", "f.histogram",
                                         "f.timer",   "f.range", "f.stages"};
static const char *const keys[] = {"peer", "kind"};

static crest_metric_options options_of(unsigned kind)
{
    crest_metric_options options = {.name = names[kind], .description = "Made for a fault."};
    if (kind == KINDS - 1)
        options.stages[0] = "received", options.stages[1] = "stored";
    return options;
}

/* The worse of two. */
static crest_status worse(crest_status one, crest_status other)
{
    return one != CREST_OK ? one : other;
}

/* ---- declaring, finding, resolving ---- */

static crest_status call_registry(fault_run *run, crest_error *error)
{
    (void)error;
    crest_registry_options options = {.prefix = "made", .labels = {{"network", "main"}}};
    crest_registry *made = crest_registry_new(&options);
    if (made == NULL)
        return CREST_NO_MEMORY;
    crest_registry_strict(made, 1);
    crest_metric_options counter = {.name = "f.counter"};
    crest_status status = CREST_OK;
    crest_counter_inc(crest_counter_get(made, &counter, &status));
    run->slot[0] = made;
    crest_registry_free(made);
    return status;
}

static crest_status call_get(fault_run *run, crest_error *error)
{
    (void)error;
    crest_status all = CREST_OK, status;
    crest_metric_options options;
    unsigned kind = 0;
#define GET(type, upper)                                                                           \
    options = options_of(kind);                                                                    \
    run->slot[kind++] = crest_##type##_get(run->registry, &options, &status);                      \
    all = worse(all, status);
    EACH_KIND(GET)
    return all;
}

/* Every handle takes records, whatever became of it; those that were said to be there keep them. */
static void use_handles(fault_run *run)
{
    for (unsigned i = 0; i < KINDS; i++)
        FAULT_HOLDS(run->slot[i] != NULL);
    crest_counter_add(run->slot[0], 3);
    crest_gauge_set(run->slot[1], 1.5);
    crest_histogram_record(run->slot[2], 77);
    crest_timer_record(run->slot[3], 1000, CREST_OUTCOME_OK);
    crest_range_sampler_add(run->slot[4], 2);
    crest_stages_begin(run->slot[5], crest_op_u64(run->number));
    crest_stages_end(run->slot[5], crest_op_u64(run->number), CREST_OUTCOME_OK);
}

static crest_status call_families(fault_run *run, crest_error *error)
{
    (void)error;
    static const char *const values[] = {"node-3", "block"};
    crest_status all = CREST_OK, status;
    crest_metric_options options;
    unsigned kind = 0;
#define FAMILY(type, upper)                                                                        \
    options = options_of(kind);                                                                    \
    crest_##type##_family type##_made =                                                            \
        crest_##type##_family_new(run->registry, &options, keys, 2, &status);                      \
    all = worse(all, status);                                                                      \
    run->slot[kind] = crest_##type##_family_get(&type##_made, values, 2);                          \
    if (all == CREST_OK && ((crest_counter *)run->slot[kind])->handle.slot == 0 && kind < 5)       \
        all = CREST_NO_MEMORY;                                                                     \
    kind++;
    EACH_KIND(FAMILY)
    return all;
}

static crest_status call_labelled(fault_run *run, crest_error *error)
{
    (void)error;
    static const crest_label labels[] = {{"peer", "node-3"}, {"kind", "block"}};
    crest_status all = CREST_OK, status;
    crest_metric_options options;
    unsigned kind = 0;
#define LABELLED(type)                                                                             \
    options = options_of(kind);                                                                    \
    run->slot[kind] = crest_##type##_labelled(run->registry, &options, labels, 2, &status);        \
    all = worse(all, status);                                                                      \
    kind++;
    LABELLED(counter)
    LABELLED(gauge)
    LABELLED(histogram)
    kind++;
    LABELLED(range_sampler)
    return all;
}

static void end_labelled(fault_run *run)
{
    crest_counter_add(run->slot[0], 3);
    crest_gauge_set(run->slot[1], 1.5);
    crest_histogram_record(run->slot[2], 77);
    crest_range_sampler_add(run->slot[4], 2);
}

CREST_COUNTER(declared, "faults.declared", "Registered again and again.");
CREST_COUNTER_FAMILY(declared_family, "faults.declared-family", "The same.", peer);

static crest_status call_register(fault_run *run, crest_error *error)
{
    (void)error;
    char value[16];
    snprintf(value, sizeof value, "%u", run->number % 50);
    crest_status status = crest_handle_register(&declared.handle);
    status = worse(status, crest_family_register(&declared_family.family));
    crest_counter_inc(declared_family_with(value));
    return status;
}

/* ---- recording ---- */

static void *record_first(void *context)
{
    fault_run *run = context;
    for (unsigned i = 0; i < 100; i++) {
        crest_counter_inc(run->slot[0]);
        crest_gauge_add(run->slot[1], 0.5);
        crest_histogram_record(run->slot[2], 10 + i * 1000);
        crest_timer_record(run->slot[3], 1000 + i, i % 2 ? CREST_OUTCOME_OK : CREST_OUTCOME_ERROR);
        crest_range_sampler_add(run->slot[4], 2);
    }
    return NULL;
}

static void begin_handles(fault_run *run)
{
    FAULT_HOLDS(call_get(run, NULL) == CREST_OK);
}

static uint64_t count_of(const crest_snapshot *snapshot, const char *name, const char *label)
{
    crest_series_view view;
    if (crest_snapshot_find(snapshot, name, &label, label != NULL, &view) != CREST_OK)
        return 0;
    return view.distribution ? crest_distribution_count(view.distribution) : view.counter;
}

/* A thread's first touch of series, with all that fails: not one record is lost. */
static crest_status call_record(fault_run *run, crest_error *error)
{
    (void)error;
    pthread_t thread;
    faults_spare(1);
    int failed = pthread_create(&thread, NULL, record_first, run);
    faults_spare(0);
    FAULT_HOLDS(failed == 0);
    faults_spare(1);
    pthread_join(thread, NULL);
    crest_snapshot *snapshot = crest_snapshot_take(run->registry);
    FAULT_HOLDS(count_of(snapshot, "f.counter", NULL) == 100);
    FAULT_HOLDS(count_of(snapshot, "f.histogram", NULL) == 100);
    FAULT_HOLDS(count_of(snapshot, "f.timer", "ok") == 50);
    FAULT_HOLDS(count_of(snapshot, "f.timer", "error") == 50);
    FAULT_HOLDS(crest_gauge_value(run->slot[1]) == 50);
    FAULT_HOLDS(crest_range_sampler_value(run->slot[4]) == 200);
    crest_snapshot_free(snapshot);
    faults_spare(0);
    return CREST_OK;
}

static crest_status call_prepare(fault_run *run, crest_error *error)
{
    (void)run, (void)error;
    return crest_thread_prepare();
}

static crest_status call_lanes(fault_run *run, crest_error *error)
{
    (void)error;
    if (crest_lanes_make(4) == 0)
        return CREST_NO_MEMORY;
    const crest_cells *cells = crest_lane_cells(1);
    FAULT_HOLDS(cells != NULL);
    crest_lane_counter_add(1, run->slot[0], 5);
    crest_lane_histogram_record(2, run->slot[2], 50, 2);
    crest_status status = crest_lane_timer_record(3, run->slot[3], 500, CREST_OUTCOME_OK, NULL);
    faults_spare(1);
    FAULT_HOLDS(crest_counter_value(run->slot[0]) == 5);
    faults_spare(0);
    crest_lane_own(0);
    return status;
}

static crest_status call_by_name(fault_run *run, crest_error *error)
{
    (void)error;
    char name[40];
    crest_op op = crest_op_u64(run->number);
    crest_status status = CREST_OK;
    snprintf(name, sizeof name, "faults.source-%u", run->number % 20);
    crest_source *source = crest_source_get(name);
    FAULT_HOLDS(source != NULL);
    crest_increment_counter_in(source, "n.count");
    crest_increment_counter_by_in(source, "n.count", 2);
    crest_set_gauge_in(source, "n.gauge", 1);
    crest_increment_gauge_in(source, "n.gauge", 1);
    crest_decrement_gauge_in(source, "n.gauge", 1);
    crest_record_in(source, "n.sizes", 9);
    crest_record_n_in(source, "n.sizes", 9, 2);
    crest_increment_sampler_in(source, "n.queue", 1);
    crest_sample_in(source, "n.other");
    crest_timing timing = crest_timer_start_by_name_in(source, "n.time", op);
    status = worse(status, crest_timing_stop(&timing, op));
    status = worse(status, crest_timer_begin_by_name_in(source, "n.keyed", op));
    if (status == CREST_OK)
        status = crest_timer_end_by_name_in(source, "n.keyed", op, CREST_OUTCOME_OK);
    FAULT_HOLDS(crest_counter_by_name_in(source, "n.count") != NULL);
    FAULT_HOLDS(crest_gauge_by_name_in(source, "n.gauge") != NULL);
    FAULT_HOLDS(crest_histogram_by_name_in(source, "n.sizes") != NULL);
    FAULT_HOLDS(crest_timer_by_name_in(source, "n.time") != NULL);
    FAULT_HOLDS(crest_range_sampler_by_name_in(source, "n.queue") != NULL);
    FAULT_HOLDS(crest_stages_by_name_in(source, "n.none") != NULL);
    return status;
}

static crest_status call_by_bare_name(fault_run *run, crest_error *error)
{
    (void)error;
    char name[40];
    crest_op op = crest_op_u64(run->number);
    snprintf(name, sizeof name, "faults.bare-%u.n", run->number % 20);
    crest_increment_counter_by(name, 2);
    (crest_increment_counter)(name);
    FAULT_HOLDS(crest_counter_by_name(name) != NULL);
    snprintf(name, sizeof name, "faults.bare-%u.gauge", run->number % 20);
    (crest_set_gauge)(name, 1);
    (crest_increment_gauge)(name, 1);
    (crest_decrement_gauge)(name, 1);
    FAULT_HOLDS(crest_gauge_by_name(name) != NULL);
    snprintf(name, sizeof name, "faults.bare-%u.size", run->number % 20);
    (crest_record)(name, 9);
    (crest_record_n)(name, 9, 2);
    FAULT_HOLDS(crest_histogram_by_name(name) != NULL);
    snprintf(name, sizeof name, "faults.bare-%u.queue", run->number % 20);
    (crest_increment_sampler)(name, 1);
    (crest_sample)(name);
    FAULT_HOLDS(crest_range_sampler_by_name(name) != NULL);
    snprintf(name, sizeof name, "faults.bare-%u.time", run->number % 20);
    crest_timing timing = (crest_timer_start_by_name)(name, op);
    crest_status status = crest_timing_stop(&timing, op);
    FAULT_HOLDS(crest_timer_by_name(name) != NULL && crest_stages_by_name("no.such") != NULL);
    if (status == CREST_OK && (status = (crest_timer_begin_by_name)(name, op)) == CREST_OK)
        status = (crest_timer_end_by_name)(name, op, CREST_OUTCOME_OK);
    return status;
}

/* ---- operations, locks ---- */

#define OPERATIONS 40u

static crest_status call_operations(fault_run *run, crest_error *error)
{
    (void)error;
    crest_status all = CREST_OK, status;
    crest_op owner = crest_op_text("a connection");
    unsigned begun = 0, owned = 0;
    for (unsigned i = 0; i < OPERATIONS; i++) {
        crest_op op = crest_op_u64(run->number * 1000ull + i);
        all = worse(all, status = crest_timer_begin(run->slot[3], op));
        if (status == CREST_OK)
            status = crest_timer_end(run->slot[3], op, CREST_OUTCOME_OK), begun++;
        FAULT_HOLDS(status == CREST_OK || all != CREST_OK);
        all = worse(all, status = crest_timer_begin_owned(run->slot[3], op, owner));
        owned += status == CREST_OK;
        all = worse(all, status = crest_stages_begin_owned(run->slot[5], op, owner));
        owned += status == CREST_OK;
        if (status == CREST_OK)
            all = worse(all, crest_stages_mark(run->slot[5], op, 0));
    }
    crest_in_flight_op oldest[4];
    (void)crest_timer_oldest(run->slot[3], oldest, 4);
    (void)crest_stages_oldest(run->slot[5], oldest, 4);
    size_t ended = crest_owner_end(owner, CREST_OUTCOME_CANCELLED);
    if (ended != owned)
        faults_wrong("%zu of %u operations of the owner ended", ended, owned);
    FAULT_HOLDS(crest_timer_in_flight(run->slot[3]).count == 0);
    return all;
}

static crest_status call_mutex(fault_run *run, crest_error *error)
{
    (void)error;
    crest_mutex mutex;
    pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
    struct timespec until = {1, 0}, later;
    clock_gettime(CLOCK_REALTIME, &later);
    later.tv_sec += 100;
    crest_status status = crest_mutex_init(&mutex, run->registry, "f.table", NULL);
    if (status != CREST_OK && status != CREST_SYSTEM && mutex.queue == NULL)
        return status;
    int timed = crest_mutex_timedlock(&mutex, &later);
    if (timed != 0)
        timed = crest_mutex_lock(&mutex);
    FAULT_HOLDS(timed == 0);
    crest_mutex_cond_timedwait(&mutex, &condition, &until);
    FAULT_HOLDS(crest_mutex_unlock(&mutex) == 0);
    FAULT_HOLDS(crest_mutex_trylock(&mutex) == 0);
    FAULT_HOLDS(crest_mutex_unlock(&mutex) == 0);
    crest_mutex_scope scope = crest_mutex_scope_begin(&mutex);
    crest_mutex_scope_end(&scope);
    FAULT_HOLDS(crest_mutex_fini(&mutex) == 0);
    return status;
}

/* ---- the end of series ---- */

static void begin_series(fault_run *run)
{
    FAULT_HOLDS(call_families(run, NULL) == CREST_OK);
    use_handles(run);
}

static void begin_many(fault_run *run)
{
    begin_handles(run);
    use_handles(run);
    crest_metric_options options = {.name = "f.many"};
    run->slot[6] = calloc(1, sizeof(crest_counter_family));
    *(crest_counter_family *)run->slot[6] =
        crest_counter_family_new(run->registry, &options, keys, 2, NULL);
    for (unsigned i = 0; i < 30; i++) {
        char value[16];
        snprintf(value, sizeof value, "%u", i);
        const char *values[] = {i % 2 ? "odd" : "even", value};
        crest_counter_inc(crest_counter_family_get(run->slot[6], values, 2));
    }
}

static void end_many(fault_run *run)
{
    free(run->slot[6]);
}

static crest_status call_release(fault_run *run, crest_error *error)
{
    (void)error;
    crest_status all = CREST_OK;
    unsigned kind = 0;
#define RELEASE(type, upper) all = worse(all, crest_##type##_release(run->slot[kind++]));
    EACH_KIND(RELEASE)
    return all;
}

static crest_status call_retire(fault_run *run, crest_error *error)
{
    (void)error;
    return crest_retire(run->registry, "peer", "odd") == 15 ? CREST_OK : CREST_NO_MEMORY;
}

/* ---- reading and pages ---- */

static crest_status call_snapshot(fault_run *run, crest_error *error)
{
    (void)error;
    crest_snapshot *snapshot = crest_snapshot_take(run->registry);
    if (snapshot == NULL)
        return CREST_NO_MEMORY;
    FAULT_HOLDS(count_of(snapshot, "f.counter", NULL) == 3);
    FAULT_HOLDS(count_of(snapshot, "f.histogram", NULL) == 1);
    crest_status status = crest_snapshot_select(snapshot, "f.h* f.c*", "f.many");
    if (status == CREST_OK)
        FAULT_HOLDS(crest_snapshot_size(snapshot) == 2);
    crest_snapshot_free(snapshot);
    snapshot = crest_snapshot_take_windows(run->registry, 1);
    if (snapshot == NULL)
        return CREST_NO_MEMORY;
    crest_snapshot_free(snapshot);
    return status;
}

static int add_bytes(void *context, const void *bytes, size_t length)
{
    (void)bytes;
    *(size_t *)context += length;
    return 0;
}

static crest_status call_pages(fault_run *run, crest_error *error)
{
    static const crest_format formats[] = {CREST_FORMAT_PROMETHEUS_TEXT, CREST_FORMAT_OPENMETRICS,
                                           CREST_FORMAT_PROMETHEUS_PROTOBUF};
    crest_snapshot *snapshot = crest_snapshot_take(run->registry);
    if (snapshot == NULL)
        return crest_error_set(error, CREST_NO_MEMORY, "no memory for a snapshot");
    crest_status all = CREST_OK, status;
    crest_page_options options = {.windows = CREST_PAGE_WINDOWS_ALL};
    for (unsigned i = 0; i < 3; i++) {
        size_t length[2] = {0, 0};
        crest_error own = {CREST_OK, ""};
        status = crest_snapshot_write(snapshot, formats[i], &options, add_bytes, &length[0], &own);
        FAULT_HOLDS(status != CREST_OK || length[0] > 500);
        if (all == CREST_OK && (all = status) != CREST_OK)
            *error = own;
        status = crest_page_write(run->registry, formats[i], add_bytes, &length[1], &own);
        FAULT_HOLDS(status != CREST_OK || length[1] > 500);
        if (all == CREST_OK && (all = status) != CREST_OK)
            *error = own;
    }
    crest_snapshot_free(snapshot);
    return all;
}

static int add_body(void *context, const crest_otlp_body *body)
{
    *(size_t *)context += body->length;
    return 0;
}

static crest_status call_bodies(fault_run *run, crest_error *error)
{
    crest_snapshot *snapshot = crest_snapshot_take(run->registry);
    if (snapshot == NULL)
        return crest_error_set(error, CREST_NO_MEMORY, "no memory for a snapshot");
    crest_status all = CREST_OK;
    for (unsigned i = 0; i < 4; i++) {
        size_t length = 0;
        crest_error own = {CREST_OK, ""};
        crest_otlp_options options = {.encoding = i & 1 ? CREST_OTLP_JSON : CREST_OTLP_PROTOBUF,
                                      .histograms =
                                          i & 2 ? CREST_OTLP_EXPLICIT : CREST_OTLP_EXPONENTIAL,
                                      .windows = CREST_PAGE_WINDOWS_ALL};
        crest_status status = crest_otlp_write(snapshot, &options, add_body, &length, &own);
        FAULT_HOLDS(status != CREST_OK || length > 500);
        if (all == CREST_OK && (all = status) != CREST_OK)
            *error = own;
    }
    crest_snapshot_free(snapshot);
    return all;
}

static int add_traces(void *context, const crest_otlp_traces_body *body)
{
    *(size_t *)context += body->length;
    return 0;
}

static crest_status call_traces(fault_run *run, crest_error *error)
{
    (void)run;
    crest_status all = CREST_OK;
    crest_span_batch batch = span_samples();
    for (unsigned i = 0; i < 2; i++) {
        size_t length = 0;
        crest_error own = {CREST_OK, ""};
        crest_otlp_traces_options options = {.encoding = i ? CREST_OTLP_JSON : CREST_OTLP_PROTOBUF};
        crest_status status = crest_otlp_traces_write(&batch, &options, add_traces, &length, &own);
        FAULT_HOLDS(status != CREST_OK || length > 500);
        if (all == CREST_OK && (all = status) != CREST_OK)
            *error = own;
    }
    return all;
}

static crest_status call_stream(fault_run *run, crest_error *error)
{
    faults_spare(1);
    FILE *stream = fopen("/dev/null", "w");
    faults_spare(0);
    FAULT_HOLDS(stream != NULL);
    int failed = crest_prometheus_write(run->registry, stream);
    fclose(stream);
    return failed ? crest_error_set(error, CREST_IO, "the stream could not be written") : CREST_OK;
}

static crest_status call_distribution(fault_run *run, crest_error *error)
{
    (void)run, (void)error;
    crest_status all = CREST_OK;
    crest_distribution *one = crest_distribution_new(CREST_RANGE_FINE);
    if (one == NULL)
        return CREST_NO_MEMORY;
    uint64_t recorded = 0;
    for (unsigned i = 0; i < 40; i++) {
        crest_status status = crest_distribution_record(one, 1ll << i, 2);
        recorded += status == CREST_OK ? 2 : 0;
        all = worse(all, status);
    }
    FAULT_HOLDS(crest_distribution_count(one) == recorded);
    crest_distribution *copy = crest_distribution_copy(one);
    if (copy != NULL) {
        FAULT_HOLDS(crest_distribution_count(copy) == recorded);
        crest_status status = crest_distribution_add(copy, one);
        FAULT_HOLDS(crest_distribution_count(copy) == recorded * (status == CREST_OK ? 2 : 1));
        all = worse(all, status);
        if (status == CREST_OK)
            all = worse(all, crest_distribution_subtract(copy, one));
    } else {
        all = worse(all, CREST_NO_MEMORY);
    }
    crest_distribution_free(copy);
    crest_distribution_free(one);
    return all;
}

static crest_status call_testing(fault_run *run, crest_error *error)
{
    crest_testing_mark *mark = crest_testing_mark_take(run->registry);
    if (mark == NULL)
        return crest_error_set(error, CREST_NO_MEMORY, "no memory for a mark");
    crest_counter_add(run->slot[0], 4);
    crest_histogram_record(run->slot[2], 50);
    crest_testing_reading reading;
    uint64_t median;
    crest_status status = crest_testing_grew(mark, 4, error, "f.counter", NULL);
    if (status == CREST_OK)
        status = crest_testing_read(run->registry, mark, &reading, error, "f.counter", NULL);
    if (status == CREST_OK)
        FAULT_HOLDS(reading.counter == 4);
    if (status == CREST_OK)
        status =
            crest_testing_quantile(run->registry, mark, 0.5, &median, error, "f.histogram", NULL);
    crest_testing_mark_free(mark);
    return status;
}

static const fault_scenario scenarios[] = {
    {"registry", NULL, call_registry, NULL, 0, NULL},
    {"get", NULL, call_get, use_handles, 0, NULL},
    {"families", NULL, call_families, use_handles, 0, NULL},
    {"labelled", NULL, call_labelled, end_labelled, 0, NULL},
    {"register", NULL, call_register, NULL, 0, NULL},
    {"record", begin_handles, call_record, NULL, 0, NULL},
    {"prepare", begin_handles, call_prepare, use_handles, 0, NULL},
    {"lanes", begin_handles, call_lanes, use_handles, 0, NULL},
    {"by-name", NULL, call_by_name, NULL, 0, NULL},
    {"by-bare-name", NULL, call_by_bare_name, NULL, 0, NULL},
    {"operations", begin_handles, call_operations, NULL, 0, NULL},
    {"mutex", NULL, call_mutex, NULL, 0, NULL},
    {"release", begin_series, call_release, NULL, 0, NULL},
    {"retire", begin_many, call_retire, end_many, 0, NULL},
    {"snapshot", begin_many, call_snapshot, end_many, 0, NULL},
    {"pages", begin_many, call_pages, end_many, FAULT_TELLS, NULL},
    {"bodies", begin_many, call_bodies, end_many, FAULT_TELLS, NULL},
    {"traces", NULL, call_traces, NULL, FAULT_TELLS, NULL},
    {"stream", begin_many, call_stream, end_many, FAULT_TELLS, NULL},
    {"distribution", NULL, call_distribution, NULL, 0, NULL},
    {"testing", begin_handles, call_testing, NULL, FAULT_TELLS, NULL},
};

int main(int argc, char **argv)
{
    return faults_main(argc, argv, scenarios, sizeof scenarios / sizeof scenarios[0]);
}
