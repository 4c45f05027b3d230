/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Coverage time, until a fraction of the nodes has acknowledged an operation. See
 * <crest/coverage.h>.
 *
 * Each operation keeps which nodes have acknowledged, and the k smallest times, sorted. The last of
 * them is the result. An operation that is over keeps its place until another needs it. So a late
 * acknowledgement is told from one of an unknown operation.
 */
#include "base/alloc.h"
#include "base/error.h"
#include "base/misuse.h"
#include "base/sync.h"
#include "base/uncancelled.h"
#include "instruments/record_slow.h"

#include <crest/coverage.h>
#include <crest/family.h>
#include <crest/poll.h>

#include <pthread.h>
#include <string.h>

#define COVERAGE_LOOK_MS 1000u
/* So that 0.07 of 100 is 7, however the processor rounds. */
#define COVERAGE_ROUNDING 1e-9

CREST_COUNTER_FAMILY(coverage_ignored, "peer.acks-ignored",
                     "Acknowledgements that were not counted as coverage.", cause);

typedef enum coverage_phase { COVERAGE_FREE, COVERAGE_UNDER_WAY, COVERAGE_OVER } coverage_phase;

typedef struct coverage_entry {
    crest_op op;
    coverage_phase phase;
    unsigned acks;
    uint64_t wall_ns;   /* when the operation was sent */
    uint64_t begun_ns;  /* the same moment by crest_now() */
    uint64_t enough_ns; /* when enough nodes had acknowledged; 0: not yet */
    uint64_t result_ns; /* of an operation that is covered and over */
    uint64_t *times_ns; /* the `needed` smallest times */
    unsigned char *has; /* by node: it has acknowledged */
} coverage_entry;

struct crest_coverage {
    crest_timer *timer;
    unsigned nodes, needed, size;
    uint64_t deadline_ns, settle_ns;
    crest_poll *poll;
    pthread_mutex_t lock; /* guards what follows */
    crest_coverage_state state;
    uint64_t *times_ns;
    unsigned char *has;
    coverage_entry *entries;
};

/* ---- one operation ---- */

static coverage_entry *coverage_find(crest_coverage *coverage, const crest_op *op)
{
    for (unsigned i = 0; i < coverage->size; i++) {
        coverage_entry *entry = &coverage->entries[i];
        if (entry->phase != COVERAGE_FREE && crest_op_equal(&entry->op, op))
            return entry;
    }
    return NULL;
}

/* A place for another operation: unused, or that of the operation that has been over for
 * longest. */
static coverage_entry *coverage_place(crest_coverage *coverage)
{
    coverage_entry *oldest = NULL;
    for (unsigned i = 0; i < coverage->size; i++) {
        coverage_entry *entry = &coverage->entries[i];
        if (entry->phase == COVERAGE_FREE)
            return entry;
        if (entry->phase == COVERAGE_OVER && (oldest == NULL || entry->begun_ns < oldest->begun_ns))
            oldest = entry;
    }
    return oldest;
}

static void coverage_over(crest_coverage *coverage, coverage_entry *entry, crest_outcome outcome,
                          uint64_t duration_ns)
{
    entry->phase = COVERAGE_OVER;
    entry->result_ns = outcome == CREST_OUTCOME_OK ? duration_ns : 0;
    coverage->state.in_flight--;
    switch (outcome) {
    case CREST_OUTCOME_OK: coverage->state.covered++; break;
    case CREST_OUTCOME_TIMEOUT: coverage->state.timed_out++; break;
    default: coverage->state.cancelled++;
    }
    /* what ended it is told later than it was */
    crest_record_ended(coverage->timer, (int64_t)duration_ns, outcome, &entry->op,
                       entry->begun_ns + duration_ns);
}

/* Sets the k-th smallest time as result, once there are k. */
static void coverage_covered(crest_coverage *coverage, coverage_entry *entry)
{
    coverage_over(coverage, entry, CREST_OUTCOME_OK, entry->times_ns[coverage->needed - 1]);
}

/* A caller that reads the time and then waits for the lock may find an operation that began after
 * its time. That has lasted no time, not nearly 2^64 nanoseconds. */
static uint64_t coverage_since(uint64_t then_ns, uint64_t now_ns)
{
    return now_ns > then_ns ? now_ns - then_ns : 0;
}

static void coverage_abandon(crest_coverage *coverage, coverage_entry *entry)
{
    if (entry->enough_ns != 0)
        coverage_covered(coverage, entry);
    else
        coverage_over(coverage, entry, CREST_OUTCOME_CANCELLED,
                      coverage_since(entry->begun_ns, crest_now()));
}

/* Ends all operations that are due by now. */
static void coverage_look(crest_coverage *coverage, uint64_t now_ns)
{
    for (unsigned i = 0; coverage->state.in_flight != 0 && i < coverage->size; i++) {
        coverage_entry *entry = &coverage->entries[i];
        if (entry->phase != COVERAGE_UNDER_WAY)
            continue;
        int expired = coverage_since(entry->begun_ns, now_ns) >= coverage->deadline_ns;
        int settled = entry->enough_ns != 0 &&
                      coverage_since(entry->enough_ns, now_ns) >= coverage->settle_ns;
        if (settled || (expired && entry->enough_ns != 0))
            coverage_covered(coverage, entry);
        else if (expired)
            coverage_over(coverage, entry, CREST_OUTCOME_TIMEOUT, coverage->deadline_ns);
    }
}

/* Inserts a time into the k smallest, if it is one of them. */
static void coverage_insert(const crest_coverage *coverage, coverage_entry *entry, uint64_t ns)
{
    unsigned kept = entry->acks < coverage->needed ? entry->acks : coverage->needed;
    unsigned at = kept;
    if (kept == coverage->needed) {
        if (ns >= entry->times_ns[kept - 1])
            return;
        at = kept - 1;
    }
    for (; at > 0 && entry->times_ns[at - 1] > ns; at--)
        entry->times_ns[at] = entry->times_ns[at - 1];
    entry->times_ns[at] = ns;
}

/* ---- the public functions ---- */

crest_status crest_coverage_begin(crest_coverage *coverage, crest_op op, uint64_t wall_ns)
{
    if (op.kind == CREST_OP_NONE) {
        crest_misuse_count(CREST_MISUSE_OPERATION, "crest_coverage_begin");
        return CREST_INVALID_ARGUMENT;
    }
    uint64_t now_ns = crest_now();
    crest_status status = CREST_OK;
    pthread_mutex_lock(&coverage->lock);
    coverage_look(coverage, now_ns);
    coverage_entry *entry = coverage_find(coverage, &op);
    if (entry != NULL && entry->phase == COVERAGE_UNDER_WAY)
        status = CREST_ALREADY;
    else if (entry == NULL && (entry = coverage_place(coverage)) == NULL)
        status = CREST_LIMIT;
    if (status == CREST_OK) {
        entry->op = op;
        entry->phase = COVERAGE_UNDER_WAY;
        entry->acks = 0;
        entry->wall_ns = wall_ns;
        entry->begun_ns = now_ns;
        entry->enough_ns = entry->result_ns = 0;
        memset(entry->has, 0, coverage->nodes);
        coverage->state.in_flight++;
    }
    pthread_mutex_unlock(&coverage->lock);
    if (status == CREST_LIMIT)
        crest_misuse_count(CREST_MISUSE_LIMIT, "crest_coverage_begin");
    return status;
}

static crest_status coverage_ignore(uint64_t *count, const char *cause, crest_status status)
{
    ++*count;
    crest_counter_inc(coverage_ignored_with(cause));
    return status;
}

/* Under the lock; `entry` NULL: the operation is unknown. */
static crest_status coverage_take(crest_coverage *coverage, coverage_entry *entry, unsigned node,
                                  int64_t after_ns)
{
    crest_coverage_state *state = &coverage->state;
    uint64_t ns = after_ns > 0 ? (uint64_t)after_ns : 0;
    if (node >= coverage->nodes) {
        coverage_ignore(&state->unknown, "unknown", CREST_OK);
        return CREST_INVALID_ARGUMENT;
    }
    if (entry == NULL)
        return coverage_ignore(&state->unknown, "unknown", CREST_NOT_FOUND);
    if (entry->has[node])
        return coverage_ignore(&state->repeated, "repeated", CREST_ALREADY);
    entry->has[node] = 1;
    if (entry->phase == COVERAGE_OVER)
        return ns < entry->result_ns
                   ? coverage_ignore(&state->decisive, "decisive", CREST_TIMED_OUT)
                   : coverage_ignore(&state->late, "late", CREST_TIMED_OUT);
    coverage_insert(coverage, entry, ns);
    entry->acks++;
    if (entry->acks == coverage->needed)
        entry->enough_ns = crest_now();
    if (entry->acks == coverage->nodes)
        coverage_covered(coverage, entry);
    return CREST_OK;
}

crest_status crest_coverage_add(crest_coverage *coverage, const crest_op *op, unsigned node,
                                uint64_t wall_ns)
{
    pthread_mutex_lock(&coverage->lock);
    coverage_look(coverage, crest_now());
    coverage_entry *entry = coverage_find(coverage, op);
    int64_t after_ns = entry != NULL ? (int64_t)(wall_ns - entry->wall_ns) : 0;
    crest_status status = coverage_take(coverage, entry, node, after_ns);
    pthread_mutex_unlock(&coverage->lock);
    return status;
}

crest_status crest_coverage_add_after(crest_coverage *coverage, const crest_op *op, unsigned node,
                                      int64_t after_ns)
{
    pthread_mutex_lock(&coverage->lock);
    coverage_look(coverage, crest_now());
    coverage_entry *entry = coverage_find(coverage, op);
    crest_status status = coverage_take(coverage, entry, node, after_ns);
    pthread_mutex_unlock(&coverage->lock);
    return status;
}

crest_status crest_coverage_cancel(crest_coverage *coverage, const crest_op *op)
{
    pthread_mutex_lock(&coverage->lock);
    coverage_look(coverage, crest_now());
    coverage_entry *entry = coverage_find(coverage, op);
    int running = entry != NULL && entry->phase == COVERAGE_UNDER_WAY;
    if (running)
        coverage_abandon(coverage, entry);
    pthread_mutex_unlock(&coverage->lock);
    return running ? CREST_OK : CREST_NOT_FOUND;
}

void crest_coverage_read(crest_coverage *coverage, crest_coverage_state *state)
{
    pthread_mutex_lock(&coverage->lock);
    coverage_look(coverage, crest_now());
    *state = coverage->state;
    pthread_mutex_unlock(&coverage->lock);
}

/* ---- making ---- */

static void coverage_polled(void *context)
{
    crest_coverage *coverage = context;
    pthread_mutex_lock(&coverage->lock);
    coverage_look(coverage, crest_now());
    pthread_mutex_unlock(&coverage->lock);
}

static int coverage_options_fit(const crest_coverage_options *options)
{
    return options->nodes >= 1 && options->nodes <= CREST_COVERAGE_NODES_MAX &&
           options->fraction >= 0 && options->fraction <= 1 &&
           options->deadline_ms <= CREST_COVERAGE_MS_MAX &&
           options->settle_ms <= CREST_COVERAGE_MS_MAX &&
           options->in_flight <= CREST_COVERAGE_IN_FLIGHT_MAX;
}

/* How many nodes are enough for the fraction. */
static unsigned coverage_needed(unsigned nodes, double fraction)
{
    if (fraction == 0)
        fraction = CREST_COVERAGE_FRACTION_DEFAULT;
    double exact = fraction * nodes - COVERAGE_ROUNDING;
    unsigned needed = exact > 0 ? (unsigned)exact + ((double)(unsigned)exact < exact) : 1;
    return needed < 1 ? 1 : needed > nodes ? nodes : needed;
}

static uint64_t coverage_ms(uint32_t ms, uint32_t otherwise_ms)
{
    return (ms != 0 ? ms : otherwise_ms) * CREST_NS_PER_MS;
}

static void coverage_discard(crest_coverage *coverage)
{
    crest_alloc_free(coverage->entries);
    crest_alloc_free(coverage->times_ns);
    crest_alloc_free(coverage->has);
    crest_alloc_free(coverage);
}

static crest_coverage *coverage_make(crest_timer *timer, const crest_coverage_options *options)
{
    crest_coverage *coverage = crest_alloc(1, sizeof *coverage);
    if (coverage == NULL)
        return NULL;
    coverage->timer = timer;
    coverage->nodes = options->nodes;
    coverage->needed = coverage_needed(options->nodes, options->fraction);
    coverage->size =
        options->in_flight != 0 ? options->in_flight : CREST_COVERAGE_IN_FLIGHT_DEFAULT;
    coverage->deadline_ns = coverage_ms(options->deadline_ms, CREST_COVERAGE_DEADLINE_MS_DEFAULT);
    coverage->settle_ns = coverage_ms(options->settle_ms, CREST_COVERAGE_SETTLE_MS_DEFAULT);
    coverage->state.needed = coverage->needed;
    coverage->entries = crest_alloc(coverage->size, sizeof *coverage->entries);
    coverage->times_ns = crest_alloc(coverage->size, coverage->needed * sizeof(uint64_t));
    coverage->has = crest_alloc(coverage->size, coverage->nodes);
    if (coverage->entries == NULL || coverage->times_ns == NULL || coverage->has == NULL) {
        coverage_discard(coverage);
        return NULL;
    }
    for (unsigned i = 0; i < coverage->size; i++) {
        coverage->entries[i].times_ns = coverage->times_ns + (size_t)i * coverage->needed;
        coverage->entries[i].has = coverage->has + (size_t)i * coverage->nodes;
    }
    pthread_mutex_init(&coverage->lock, NULL);
    return coverage;
}

crest_coverage *crest_coverage_new(crest_timer *timer, const crest_coverage_options *options,
                                   crest_error *error)
{
    CREST_UNCANCELLED;
    crest_error_clear(error);
    if (timer == NULL || options == NULL || !coverage_options_fit(options)) {
        crest_error_set(error, CREST_INVALID_ARGUMENT,
                        "Coverage cannot be measured: it needs a timer, 1 to %u nodes, a fraction "
                        "of up to 1, times of up to %u ms and at most %u operations in flight.",
                        CREST_COVERAGE_NODES_MAX, CREST_COVERAGE_MS_MAX,
                        CREST_COVERAGE_IN_FLIGHT_MAX);
        return NULL;
    }
    crest_poll_options every = {.interval_ms = COVERAGE_LOOK_MS};
    crest_coverage *coverage = coverage_make(timer, options);
    crest_status status = CREST_NO_MEMORY;
    if (coverage != NULL)
        coverage->poll =
            crest_poll_every("peer.coverage", coverage_polled, coverage, &every, &status);
    if (coverage != NULL && coverage->poll != NULL)
        return coverage;
    crest_error_set(error, status, "Coverage cannot be measured: %s.", crest_status_text(status));
    if (coverage != NULL) {
        pthread_mutex_destroy(&coverage->lock);
        coverage_discard(coverage);
    }
    return NULL;
}

void crest_coverage_free(crest_coverage *coverage)
{
    CREST_UNCANCELLED;
    if (coverage == NULL)
        return;
    crest_poll_stop(coverage->poll);
    coverage_look(coverage, crest_now());
    for (unsigned i = 0; i < coverage->size; i++)
        if (coverage->entries[i].phase == COVERAGE_UNDER_WAY)
            coverage_abandon(coverage, &coverage->entries[i]);
    pthread_mutex_destroy(&coverage->lock);
    coverage_discard(coverage);
}
