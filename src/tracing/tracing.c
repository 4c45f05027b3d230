/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tracing thread, its settings, and the public calls around it. See tracing.h.
 */
#define _GNU_SOURCE
#include "tracing/tracing.h"
#include "base/alloc.h"
#include "base/deadline_lock.h"
#include "base/error.h"
#include "base/forked.h"
#include "base/leavable.h"
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
#include "state/span_records.h"
#include "tracing/span_exporters.h"
#include "tracing/span_remains.h"
#include "tracing/trace_keep.h"
#include "tracing/tracing_series.h"
#include "windows/tick_listeners.h"
#include "windows/ticker.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

#define TRACING_SAMPLE_DEFAULT 0.01
#define TRACING_SLOW_DEFAULT 2.0
#define TRACING_RATE_DEFAULT 1000u
#define TRACING_PER_OP_DEFAULT 512u
#define TRACING_BUFFER_DEFAULT (UINT64_C(12) << 20)
#define TRACING_LINGER_NS (2 * CREST_NS_PER_S)
/* How often a remover looks whether an exporter hangs. */
#define TRACING_LOOK_NS (50 * CREST_NS_PER_MS)
/* Spans that one turn collects from the rings before it looks at what is due. */
#define TRACING_TURN_SPANS 65536u

/* The tracing thread, and what its owner waits for. `stopping` is set by the owner, `ended` by the
 * thread, under tracing_ending. */
typedef struct tracing_worker {
    crest_leavable leavable; /* first */
    uint32_t stopping;
    int ended;
} tracing_worker;

/* Guards starting and stopping. Lock order: before tracing_lock. */
static crest_deadline_lock tracing_control = CREST_DEADLINE_LOCK_OPEN;
/* Guards all that spans go through. Exporters are called under it, so a caller with a
 * deadline of its own waits for it until then only. */
static crest_deadline_lock tracing_lock = CREST_DEADLINE_LOCK_OPEN;
/* The workers' lock; a leaf but for the rings' bell. */
static pthread_mutex_t tracing_ending = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t tracing_ended;
static pthread_once_t tracing_once = PTHREAD_ONCE_INIT;
static crest_trace_keep *tracing_keep;  /* made once, stays */
static uint32_t tracing_on;             /* written under control */
static uint32_t tracing_threaded;       /* the same: a worker makes the turns */
static tracing_worker *tracing_working; /* under control; NULL: none */
static uint32_t tracing_hand;           /* tests make the turns */
static int64_t tracing_wall_ns;         /* wall clock minus crest_now */
/* Spans of other tracers: handed on, and taken by no exporter. They are in the totals. */
static uint64_t tracing_given, tracing_refused;

/* Fork handler: the child has no thread, no exporters, and no spans of its parent's. */
static void tracing_forked(void)
{
    crest_deadline_lock_fresh(&tracing_control);
    crest_deadline_lock_fresh(&tracing_lock);
    crest_mutex_fresh(&tracing_ending);
    crest_monotonic_condition(&tracing_ended);
    /* its parent's; a lock of malloc may be held, so they are not freed */
    tracing_keep = NULL;
    tracing_working = NULL;
    tracing_on = tracing_threaded = 0;
    tracing_hand = 0;
    tracing_given = tracing_refused = 0;
    crest_span_exporters_forked();
    crest_tracing_series_forked();
}
CREST_FORKED(TRACING, tracing_forked)

static void tracing_prepare(void)
{
    crest_monotonic_condition(&tracing_ended);
}

static void tracing_take_lock(void)
{
    (void)crest_deadline_lock_take(&tracing_lock, CREST_DEADLINE_NONE);
}

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
    tracing_take_lock();
    if (crest_span_exporters_count() == 0)
        status = CREST_NOT_RUNNING;
    while (status != CREST_NOT_RUNNING && count > 0) {
        size_t part = count < CREST_SPAN_BATCH_MAX ? count : CREST_SPAN_BATCH_MAX;
        int taken = crest_span_exporters_take(spans, part, 0);
        crest_span_remains_note(spans, part);
        crest_atomic_add(taken ? &tracing_given : &tracing_refused, part);
        if (!taken)
            status = CREST_LIMIT;
        spans += part;
        count -= part;
    }
    crest_deadline_lock_drop(&tracing_lock);
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

/* What a stop does last: everything is collected and decided, and goes out. Under the lock. */
static void tracing_last_turn(void)
{
    tracing_turn(1, 1);
    crest_trace_keep_final(tracing_keep);
    crest_span_totals totals = crest_spans_totals();
    crest_tracing_series_set(&totals);
}

static int tracing_is_left(const tracing_worker *worker)
{
    pthread_mutex_lock(&tracing_ending);
    int left = worker->leavable.left;
    pthread_mutex_unlock(&tracing_ending);
    return left;
}

static void tracing_work(tracing_worker *worker)
{
    uint64_t sleep_ns = CREST_TRACING_SLEEP_NS_MIN;
    /* acquire: exporters see, in the last batch, what their owner did before it asked for it */
    while (crest_atomic_load32_acquire(&worker->stopping) == 0) {
        size_t taken = 0;
        if (crest_atomic_load32(&tracing_hand) == 0) {
            tracing_take_lock();
            taken = tracing_turn(0, 0);
            crest_deadline_lock_drop(&tracing_lock);
        }
        sleep_ns = taken != 0 ? CREST_TRACING_SLEEP_NS_MIN : 2 * sleep_ns;
        if (sleep_ns > CREST_TRACING_SLEEP_NS)
            sleep_ns = CREST_TRACING_SLEEP_NS;
        crest_span_rings_wait(sleep_ns);
    }
    tracing_take_lock();
    /* one that was left behind, and comes back when tracing goes on, leaves it to the next */
    if (crest_atomic_load32(&tracing_on) != 0 && tracing_is_left(worker))
        tracing_turn(0, 0);
    else
        tracing_last_turn();
    crest_deadline_lock_drop(&tracing_lock);
}

static void tracing_run(crest_leavable *self)
{
    tracing_worker *worker = (tracing_worker *)self;
    crest_leavable_out(self);
    tracing_work(worker);
    (void)crest_leavable_back(self);
    worker->ended = 1;
    pthread_cond_broadcast(&tracing_ended);
}

static void tracing_free(crest_leavable *self)
{
    crest_alloc_free(self);
}

static const crest_leavable_kind tracing_kind = {"crest-tracing", tracing_run, tracing_free};

/* Neither a tick nor the host's loop waits for an exporter: a turn that finds the lock taken is
 * made up by the next one. */
void crest_tracing_turn(void)
{
    if (crest_atomic_load32(&tracing_on) == 0 || crest_atomic_load32(&tracing_threaded) != 0 ||
        !crest_deadline_lock_take(&tracing_lock, 0))
        return;
    if (crest_atomic_load32(&tracing_on) != 0 && crest_atomic_load32(&tracing_hand) == 0)
        tracing_turn(0, 0);
    crest_deadline_lock_drop(&tracing_lock);
}

void crest_tracing_by_hand(void)
{
    crest_atomic_store32(&tracing_hand, 1);
    tracing_take_lock();
    if (tracing_keep != NULL)
        tracing_turn(0, 0);
    crest_deadline_lock_drop(&tracing_lock);
}

/* ---- starting and stopping ---- */

/* Under control: what is made once. */
static crest_status tracing_make(uint64_t bytes, crest_error *error)
{
    if (tracing_keep != NULL)
        return CREST_OK;
    tracing_take_lock();
    /* release: partner of the acquire load in crest_spans_totals */
    if (crest_span_rings_make(bytes / 2))
        crest_atomic_store_ptr_release(
            CREST_PTR(&tracing_keep),
            crest_trace_keep_new(bytes / 2, crest_span_exporters_take, tracing_is_open));
    crest_deadline_lock_drop(&tracing_lock);
    if (tracing_keep != NULL)
        return CREST_OK;
    return crest_error_set(error, CREST_NO_MEMORY,
                           "there is no memory for %llu bytes of spans; ask for less with "
                           "spans.buffer=…",
                           (unsigned long long)bytes);
}

/* Under control: a thread that makes the turns. An error number. */
static int tracing_employ(void)
{
    tracing_worker *worker = crest_alloc(1, sizeof *worker);
    if (worker == NULL)
        return ENOMEM;
    pthread_once(&tracing_once, tracing_prepare);
    crest_leavable_init(&worker->leavable, &tracing_kind, &tracing_ending);
    pthread_mutex_lock(&tracing_ending);
    int failed = crest_leavable_start(&worker->leavable);
    pthread_mutex_unlock(&tracing_ending);
    if (failed)
        crest_alloc_free(worker);
    else
        tracing_working = worker;
    return failed;
}

/* Under control. */
static crest_status tracing_start(uint64_t bytes, crest_error *error)
{
    crest_status status = tracing_make(bytes, error);
    if (status != CREST_OK)
        return status;
    crest_on_tick(crest_tracing_turn);
    if (tracing_on)
        return CREST_OK;
    tracing_take_lock();
    crest_state_spans_open();
    crest_tracing_series_make();
    crest_deadline_lock_drop(&tracing_lock);
    int failed = crest_threads_forbidden() ? 0 : tracing_employ();
    if (failed)
        return crest_error_set(error, CREST_SYSTEM,
                               "spans cannot be collected: no thread: %s; make room for one more "
                               "(ulimit -u, ulimit -v), or leave spans=… out",
                               strerror(failed));
    crest_atomic_store32(&tracing_threaded, tracing_working != NULL);
    crest_atomic_store32(&tracing_on, 1);
    if (tracing_working == NULL)
        crest_ticker_keep(); /* the host's loop runs for its ticks */
    return CREST_OK;
}

/* Under control: ends the worker. 0 when it had not ended at the deadline, and was left behind. */
static int tracing_dismiss(uint64_t until_ns)
{
    tracing_worker *worker = tracing_working;
    struct timespec until = crest_monotonic_timespec(until_ns);
    int late = 0;
    crest_atomic_store32_release(&worker->stopping, 1); /* partner: in tracing_work */
    crest_span_rings_wake();
    pthread_mutex_lock(&tracing_ending);
    while (!worker->ended && !late) {
        if (until_ns == CREST_DEADLINE_NONE)
            pthread_cond_wait(&tracing_ended, &tracing_ending);
        else
            late = pthread_cond_timedwait(&tracing_ended, &tracing_ending, &until) == ETIMEDOUT;
    }
    int ended = worker->ended;
    pthread_mutex_unlock(&tracing_ending);
    tracing_working = NULL;
    crest_atomic_store32(&tracing_on, 0);
    crest_leavable_leave(&worker->leavable);
    return ended;
}

/* What an exporter that has not returned keeps from being done. */
static crest_status tracing_held_up(const char *what, crest_error *error)
{
    char name[CREST_RESOURCE_BYTES_MAX];
    uint64_t busy_ns = crest_span_exporters_busy_ns(name, sizeof name);
    if (busy_ns == 0)
        return crest_error_set(error, CREST_TIMED_OUT, "%s: they are still being collected", what);
    return crest_error_set(error, CREST_TIMED_OUT,
                           "%s: the exporter %s was called %llu ms ago and has not returned; an "
                           "exporter must copy its batch, and send it on a thread of its own",
                           what, name, (unsigned long long)(busy_ns / CREST_NS_PER_MS));
}

/* Under control. */
static crest_status tracing_end(uint64_t until_ns, crest_error *error)
{
    static const char what[] = "the last spans have not gone out";
    crest_traced_set(NULL);
    if (!tracing_on)
        return CREST_OK;
    if (tracing_working != NULL)
        return tracing_dismiss(until_ns) ? CREST_OK : tracing_held_up(what, error);
    crest_atomic_store32(&tracing_on, 0);
    crest_ticker_release();
    if (!crest_deadline_lock_take(&tracing_lock, until_ns))
        return tracing_held_up(what, error);
    tracing_last_turn();
    crest_deadline_lock_drop(&tracing_lock);
    return CREST_OK;
}

crest_status crest_tracing_stop(uint64_t until_ns, crest_error *error)
{
    CREST_UNCANCELLED;
    crest_error_clear(error);
    if (crest_span_exporters_inside())
        return CREST_OK; /* an exporter that stops or exits: the last batch cannot wait for it */
    if (!crest_deadline_lock_take(&tracing_control, until_ns))
        return tracing_held_up("tracing could not be stopped", error);
    crest_status status = tracing_end(until_ns, error);
    crest_deadline_lock_drop(&tracing_control);
    return status;
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
    if (settings->spans == NULL || strspn(settings->spans, " :,") == strlen(settings->spans))
        return tracing_end(CREST_DEADLINE_NONE, error);
    if (crest_span_instance()[0] == '\0')
        crest_span_instance_set(NULL);
    crest_status status = tracing_start(
        settings->buffer_bytes != 0 ? settings->buffer_bytes : TRACING_BUFFER_DEFAULT, error);
    if (status != CREST_OK)
        return status;
    crest_trace_rules rules = tracing_rules(settings);
    tracing_take_lock();
    crest_trace_keep_rules(tracing_keep, &rules);
    crest_atomic_store(&crest_span_drop_below,
                       rules.slow_ns == 0 && rules.slow_factor <= 0 ? rules.threshold : 0);
    crest_atomic_store32(&tracing_hand, 0);
    crest_deadline_lock_drop(&tracing_lock);
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
    (void)crest_deadline_lock_take(&tracing_control, CREST_DEADLINE_NONE);
    status = tracing_set(settings, error);
    crest_deadline_lock_drop(&tracing_control);
    return status;
}

/* ---- exporters, flush, figures ---- */

crest_status crest_span_exporter_add(crest_span_exporter *exporter)
{
    CREST_UNCANCELLED;
    if (exporter == NULL || exporter->take == NULL || exporter->name == NULL ||
        crest_span_exporters_inside())
        return CREST_INVALID_ARGUMENT;
    return crest_span_exporters_add(exporter);
}

/* Takes the lock unless an exporter has held it for longer than it may. */
static int tracing_take_lock_of_prompt(void)
{
    char name[2];
    while (!crest_deadline_lock_take(&tracing_lock, crest_monotonic_ns() + TRACING_LOOK_NS))
        if (crest_span_exporters_busy_ns(name, sizeof name) >
            CREST_SPAN_EXPORT_MS * CREST_NS_PER_MS)
            return 0;
    return 1;
}

crest_status crest_span_exporter_remove(crest_span_exporter *exporter)
{
    CREST_UNCANCELLED;
    if (crest_span_exporters_inside())
        return CREST_INVALID_ARGUMENT;
    if (tracing_take_lock_of_prompt()) {
        if (tracing_keep != NULL)
            tracing_turn(0, 1);
        crest_deadline_lock_drop(&tracing_lock);
    }
    return crest_span_exporters_remove(exporter);
}

crest_status crest_spans_flush(int all)
{
    CREST_UNCANCELLED;
    if (crest_span_exporters_inside())
        return CREST_INVALID_ARGUMENT;
    if (!tracing_take_lock_of_prompt())
        return CREST_TIMED_OUT;
    crest_status status = tracing_keep != NULL ? CREST_OK : CREST_NOT_RUNNING;
    if (tracing_keep != NULL)
        tracing_turn(all, 1);
    crest_deadline_lock_drop(&tracing_lock);
    return status;
}
