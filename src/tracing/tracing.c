/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tracing thread, its settings, and the public calls around it. See tracing.h.
 */
#define _GNU_SOURCE
#include "tracing/tracing.h"
#include "base/error.h"
#include "base/forked.h"
#include "base/sync.h"
#include "base/thread.h"
#include "base/uncancelled.h"
#include "clock/clock_inside.h"
#include "in_flight/in_flight_walks.h"
#include "spans/span_instance.h"
#include "spans/span_offer.h"
#include "spans/span_rings.h"
#include "spans/span_sampling.h"
#include "spans/traced_metrics.h"
#include "tracing/span_exporters.h"
#include "tracing/trace_keep.h"
#include "tracing/tracing_series.h"
#include "windows/tick_listeners.h"

#include <pthread.h>
#include <string.h>

#define TRACING_SAMPLE_DEFAULT 0.01
#define TRACING_SLOW_DEFAULT 2.0
#define TRACING_RATE_DEFAULT 1000u
#define TRACING_PER_OP_DEFAULT 512u
#define TRACING_BUFFER_DEFAULT (UINT64_C(12) << 20)
#define TRACING_LINGER_NS (2 * CREST_NS_PER_S)
/* Spans that one turn collects from the rings before it looks at what is due. */
#define TRACING_TURN_SPANS 65536u

/* Guards starting and stopping. Lock order: before tracing_lock. */
static pthread_mutex_t tracing_control = PTHREAD_MUTEX_INITIALIZER;
/* Guards all that spans go through, and the exporters' list. Exporters are called under it. */
static pthread_mutex_t tracing_lock = PTHREAD_MUTEX_INITIALIZER;
static crest_trace_keep *tracing_keep; /* made once, stays */
static int tracing_on;
static int tracing_threaded; /* there is a thread to join */
static pthread_t tracing_thread;
static uint32_t tracing_stopping;
static uint32_t tracing_hand;   /* tests make the turns */
static int64_t tracing_wall_ns; /* wall clock minus crest_now */
/* Spans of other tracers: handed on, and taken by no exporter. They are in the totals. */
static uint64_t tracing_given, tracing_refused;

/* Fork handler: the child has no thread, no exporters, and no spans of its parent's. */
static void tracing_forked(void)
{
    crest_mutex_fresh(&tracing_control);
    crest_mutex_fresh(&tracing_lock);
    tracing_keep = NULL; /* its parent's; a lock of malloc may be held, so it is not freed */
    tracing_on = tracing_threaded = 0;
    tracing_stopping = tracing_hand = 0;
    tracing_given = tracing_refused = 0;
    crest_span_exporters_forked();
    crest_tracing_series_forked();
}
CREST_FORKED(TRACING, tracing_forked)

/* ---- spans of another tracer ---- */

static int tracing_givable(const crest_span *span)
{
    return crest_trace_id_valid(&span->trace) && span->id != 0 && span->name != NULL &&
           span->name[0] != '\0' && span->kind < CREST_SPAN_KIND_COUNT &&
           (unsigned)span->outcome < CREST_OUTCOME_COUNT &&
           span->end_unix_ns >= span->start_unix_ns;
}

crest_status crest_spans_give(const crest_span *spans, size_t count)
{
    CREST_UNCANCELLED;
    crest_status status = CREST_OK;
    if (crest_span_exporters_inside())
        return CREST_INVALID_ARGUMENT;
    for (size_t i = 0; i < count; i++)
        if (!tracing_givable(&spans[i]))
            return CREST_INVALID_ARGUMENT;
    pthread_mutex_lock(&tracing_lock);
    if (crest_span_exporters_count() == 0)
        status = CREST_NOT_RUNNING;
    while (status != CREST_NOT_RUNNING && count > 0) {
        size_t part = count < CREST_SPAN_BATCH_MAX ? count : CREST_SPAN_BATCH_MAX;
        int taken = crest_span_exporters_take(spans, part, 0);
        crest_atomic_add(taken ? &tracing_given : &tracing_refused, part);
        if (!taken)
            status = CREST_LIMIT;
        spans += part;
        count -= part;
    }
    pthread_mutex_unlock(&tracing_lock);
    return status;
}

crest_span_totals crest_spans_totals(void)
{
    crest_span_totals totals;
    memset(&totals, 0, sizeof totals);
    /* the keep stays once it is made; what the rings dropped before what they were offered.
       acquire: partner of the release store in tracing_start */
    const crest_trace_keep *keep = crest_atomic_load_ptr_acquire(CREST_PTR(&tracing_keep));
    crest_span_rings_totals rings = crest_span_rings_totals_of();
    uint64_t given = crest_atomic_load(&tracing_given);
    uint64_t refused = crest_atomic_load(&tracing_refused);
    totals.offered = rings.offered + given + refused;
    totals.dropped_full = rings.dropped;
    totals.kept = given;
    totals.dropped_export = refused;
    totals.dropped_sampled = rings.unsampled;
    if (keep == NULL)
        return totals;
    totals.kept += crest_trace_keep_count(keep, CREST_TRACE_FATE_KEPT);
    totals.folded = crest_trace_keep_count(keep, CREST_TRACE_FATE_FOLDED);
    totals.dropped_sampled += crest_trace_keep_count(keep, CREST_TRACE_FATE_SAMPLED_OUT);
    totals.dropped_rate = crest_trace_keep_count(keep, CREST_TRACE_FATE_RATE);
    totals.dropped_memory = crest_trace_keep_count(keep, CREST_TRACE_FATE_MEMORY);
    totals.dropped_export += crest_trace_keep_count(keep, CREST_TRACE_FATE_EXPORT);
    totals.late = crest_trace_keep_late(keep);
    totals.waiting = crest_trace_keep_waiting(keep);
    return totals;
}

/* ---- a turn ---- */

typedef struct tracing_batch {
    uint64_t now_ns;
} tracing_batch;

static void tracing_take(void *context, const crest_span_record *record, const uint64_t *detail)
{
    const tracing_batch *batch = context;
    crest_trace_keep_take(tracing_keep, record, detail, batch->now_ns, tracing_wall_ns);
}

typedef struct tracing_asking {
    const crest_op *op;
    int open;
} tracing_asking;

static void tracing_ask(const crest_in_flight_seen *seen, void *context)
{
    tracing_asking *asking = context;
    if (!asking->open && crest_op_equal(&seen->op, asking->op) && crest_traced(seen->keyed->metric))
        asking->open = 1;
}

static int tracing_is_open(const crest_op *op)
{
    tracing_asking asking = {op, 0};
    crest_in_flight_each(tracing_ask, &asking);
    return asking.open;
}

/* Under the lock: collects, decides, hands out. Returns how many spans were collected. */
static size_t tracing_turn(int all, int out)
{
    tracing_batch batch = {crest_now()};
    tracing_wall_ns = (int64_t)(crest_clock_wall_ns() - batch.now_ns);
    size_t taken = 0, more;
    do {
        more = crest_span_rings_read(tracing_take, &batch, TRACING_TURN_SPANS);
        taken += more;
        crest_trace_keep_turn(tracing_keep, batch.now_ns, all, out);
    } while ((all || out) && more == TRACING_TURN_SPANS);
    crest_span_totals totals = crest_spans_totals();
    crest_tracing_series_set(&totals);
    return taken;
}

static void *tracing_run(void *unused)
{
    (void)unused;
    pthread_setname_np(pthread_self(), "crest-tracing");
    uint64_t sleep_ns = CREST_TRACING_SLEEP_NS_MIN;
    while (crest_atomic_load32(&tracing_stopping) == 0) {
        size_t taken = 0;
        if (crest_atomic_load32(&tracing_hand) == 0) {
            pthread_mutex_lock(&tracing_lock);
            taken = tracing_turn(0, 0);
            pthread_mutex_unlock(&tracing_lock);
        }
        sleep_ns = taken != 0 ? CREST_TRACING_SLEEP_NS_MIN : 2 * sleep_ns;
        if (sleep_ns > CREST_TRACING_SLEEP_NS)
            sleep_ns = CREST_TRACING_SLEEP_NS;
        crest_span_rings_wait(sleep_ns);
    }
    return NULL;
}

/* With threads=off: a tick's turn. The ticker does not wait for an exporter: a turn that finds the
 * lock taken is made up by the next one. */
static void tracing_tick(void)
{
    if (pthread_mutex_trylock(&tracing_lock) != 0)
        return;
    if (tracing_on && !tracing_threaded && crest_atomic_load32(&tracing_hand) == 0)
        tracing_turn(0, 0);
    pthread_mutex_unlock(&tracing_lock);
}

void crest_tracing_by_hand(void)
{
    crest_atomic_store32(&tracing_hand, 1);
    pthread_mutex_lock(&tracing_lock);
    if (tracing_keep != NULL)
        tracing_turn(0, 0);
    pthread_mutex_unlock(&tracing_lock);
}

/* ---- starting and stopping ---- */

/* Under control. */
static crest_status tracing_start(uint64_t bytes, crest_error *error)
{
    if (tracing_keep == NULL) {
        pthread_mutex_lock(&tracing_lock);
        /* release: partner of the acquire load in crest_spans_totals */
        if (crest_span_rings_make(bytes / 2))
            crest_atomic_store_ptr_release(
                CREST_PTR(&tracing_keep),
                crest_trace_keep_new(bytes / 2, crest_span_exporters_take, tracing_is_open));
        pthread_mutex_unlock(&tracing_lock);
        if (tracing_keep == NULL)
            return crest_error_set(error, CREST_NO_MEMORY,
                                   "there is no memory for %llu bytes of spans; ask for less with "
                                   "spans.buffer=…",
                                   (unsigned long long)bytes);
    }
    crest_on_tick(tracing_tick);
    if (tracing_on)
        return CREST_OK;
    pthread_mutex_lock(&tracing_lock);
    crest_tracing_series_make();
    pthread_mutex_unlock(&tracing_lock);
    crest_atomic_store32(&tracing_stopping, 0);
    int failed =
        crest_threads_forbidden() ? 0 : crest_thread_start(&tracing_thread, tracing_run, NULL);
    if (failed)
        return crest_error_set(error, CREST_SYSTEM,
                               "spans cannot be collected: no thread: %s; make room for one more "
                               "(ulimit -u, ulimit -v), or leave spans=… out",
                               strerror(failed));
    pthread_mutex_lock(&tracing_lock);
    tracing_threaded = !crest_threads_forbidden();
    tracing_on = 1;
    pthread_mutex_unlock(&tracing_lock);
    return CREST_OK;
}

/* Under control. */
static void tracing_end(void)
{
    crest_traced_set(NULL);
    if (!tracing_on)
        return;
    if (tracing_threaded) {
        crest_atomic_store32(&tracing_stopping, 1);
        crest_span_rings_wake();
        pthread_join(tracing_thread, NULL);
    }
    pthread_mutex_lock(&tracing_lock);
    tracing_on = tracing_threaded = 0;
    tracing_turn(1, 1);
    crest_trace_keep_final(tracing_keep);
    crest_span_totals totals = crest_spans_totals();
    crest_tracing_series_set(&totals);
    pthread_mutex_unlock(&tracing_lock);
}

void crest_tracing_stop(void)
{
    CREST_UNCANCELLED;
    if (crest_span_exporters_inside())
        return; /* an exporter that stops or exits: the last batch cannot wait for this one */
    pthread_mutex_lock(&tracing_control);
    tracing_end();
    pthread_mutex_unlock(&tracing_control);
}

/* ---- settings ---- */

static crest_status tracing_check(const crest_spans_settings *settings, crest_error *error)
{
    if (settings->sample != settings->sample || settings->sample > 1)
        return crest_error_set(error, CREST_INVALID_ARGUMENT,
                               "spans.sample is a share of operations, from 0 to 1");
    if (settings->slow_factor != settings->slow_factor)
        return crest_error_set(error, CREST_INVALID_ARGUMENT, "spans.slow is no number");
    if (settings->spans != NULL && strlen(settings->spans) >= CREST_SPANS_GLOBS_BYTES)
        return crest_error_set(error, CREST_INVALID_ARGUMENT,
                               "spans=… is longer than %u bytes; use patterns, as casper.*",
                               CREST_SPANS_GLOBS_BYTES - 1);
    if (settings->per_op > CREST_SPANS_PER_OP_MAX)
        return crest_error_set(error, CREST_INVALID_ARGUMENT, "spans.per-op is at most %u",
                               CREST_SPANS_PER_OP_MAX);
    return CREST_OK;
}

static crest_trace_rules tracing_rules(const crest_spans_settings *settings)
{
    double sample = settings->sample != 0 ? settings->sample : TRACING_SAMPLE_DEFAULT;
    double factor = settings->slow_factor != 0 ? settings->slow_factor : TRACING_SLOW_DEFAULT;
    const double all = (double)CREST_SPAN_NONE;
    crest_trace_rules rules = {
        .threshold = sample > 0 ? (uint64_t)((1.0 - sample) * all) : CREST_SPAN_NONE,
        .slow_factor = factor > 0 ? factor : 0,
        .slow_ns = settings->slow_ns,
        .rate = settings->rate != 0 ? settings->rate : TRACING_RATE_DEFAULT,
        .per_op = settings->per_op != 0 ? settings->per_op : TRACING_PER_OP_DEFAULT,
        .linger_ns = TRACING_LINGER_NS};
    return rules;
}

/* Under control. */
static crest_status tracing_set(const crest_spans_settings *settings, crest_error *error)
{
    if (settings->spans == NULL || strspn(settings->spans, " :,") == strlen(settings->spans)) {
        tracing_end();
        return CREST_OK;
    }
    if (crest_span_instance()[0] == '\0')
        crest_span_instance_set(NULL);
    crest_status status = tracing_start(
        settings->buffer_bytes != 0 ? settings->buffer_bytes : TRACING_BUFFER_DEFAULT, error);
    if (status != CREST_OK)
        return status;
    crest_trace_rules rules = tracing_rules(settings);
    pthread_mutex_lock(&tracing_lock);
    crest_trace_keep_rules(tracing_keep, &rules);
    crest_atomic_store(&crest_span_drop_below,
                       rules.slow_ns == 0 && rules.slow_factor <= 0 ? rules.threshold : 0);
    crest_atomic_store32(&tracing_hand, 0);
    pthread_mutex_unlock(&tracing_lock);
    char globs[CREST_SPANS_GLOBS_BYTES];
    strcpy(globs, settings->spans);
    for (char *comma = globs; (comma = strchr(comma, ',')) != NULL;)
        *comma = ':';
    crest_traced_set(globs);
    crest_tracing_series_forget_noted();
    return CREST_OK;
}

crest_status crest_spans_set(const crest_spans_settings *settings, crest_error *error)
{
    CREST_UNCANCELLED;
    crest_error_clear(error);
    if (settings == NULL)
        return crest_error_set(error, CREST_INVALID_ARGUMENT, "there are no settings");
    if (crest_span_exporters_inside())
        return crest_error_set(error, CREST_INVALID_ARGUMENT,
                               "spans cannot be set from a span exporter, which tracing waits for; "
                               "call crest_spans_set on another thread");
    crest_status status = tracing_check(settings, error);
    if (status != CREST_OK)
        return status;
    pthread_mutex_lock(&tracing_control);
    status = tracing_set(settings, error);
    pthread_mutex_unlock(&tracing_control);
    return status;
}

/* ---- exporters, flush, figures ---- */

crest_status crest_span_exporter_add(crest_span_exporter *exporter)
{
    CREST_UNCANCELLED;
    if (exporter == NULL || exporter->take == NULL || exporter->name == NULL ||
        crest_span_exporters_inside())
        return CREST_INVALID_ARGUMENT;
    pthread_mutex_lock(&tracing_lock);
    crest_status status = crest_span_exporters_add(exporter);
    pthread_mutex_unlock(&tracing_lock);
    return status;
}

crest_status crest_span_exporter_remove(crest_span_exporter *exporter)
{
    CREST_UNCANCELLED;
    if (crest_span_exporters_inside())
        return CREST_INVALID_ARGUMENT;
    pthread_mutex_lock(&tracing_lock);
    if (tracing_keep != NULL)
        tracing_turn(0, 1);
    crest_status status = crest_span_exporters_remove(exporter);
    pthread_mutex_unlock(&tracing_lock);
    return status;
}

crest_status crest_spans_flush(int all)
{
    CREST_UNCANCELLED;
    if (crest_span_exporters_inside())
        return CREST_INVALID_ARGUMENT;
    pthread_mutex_lock(&tracing_lock);
    crest_status status = tracing_keep != NULL ? CREST_OK : CREST_NOT_RUNNING;
    if (tracing_keep != NULL)
        tracing_turn(all, 1);
    pthread_mutex_unlock(&tracing_lock);
    return status;
}
