/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collecting, deciding, handing out. See trace_keep.h.
 */
#include "tracing/trace_keep.h"
#include "base/alloc.h"
#include "base/atomic.h"
#include "base/hash.h"
#include "base/sync.h"
#include "metrics/child.h"
#include "spans/span_instance.h"
#include "spans/span_sampling.h"
#include "state/span_records.h"
#include "tracing/span_batch.h"
#include "tracing/span_remains.h"
#include "tracing/trace_family.h"
#include "tracing/trace_slow.h"

#include <stdio.h>
#include <string.h>

/* How often the waiting operations are looked through. */
#define KEEP_LOOK_NS UINT64_C(50000000)

struct crest_trace_keep {
    crest_trace_rules rules;
    crest_trace_nodes nodes;
    crest_trace_ops ops;
    crest_trace_list out; /* kept, and not handed out yet */
    uint64_t out_ns;      /* since when */
    crest_trace_slow *slow;
    crest_trace_family *family;
    crest_span_batch_room *batch;
    crest_trace_hand_out *hand_out;
    crest_trace_ask_open *ask_open;
    uint64_t looked_ns;
    double budget;       /* spans that may go out now; a large operation may leave it negative */
    uint64_t budget_ns;  /* when it was filled up */
    uint64_t numberless; /* spans without an operation, which get a trace each */
    uint64_t counts[CREST_TRACE_FATE_COUNT];
    uint64_t late, waiting;
    char tracestate[32];
};

crest_trace_keep *crest_trace_keep_new(uint64_t bytes, crest_trace_hand_out *hand_out,
                                       crest_trace_ask_open *ask_open)
{
    crest_trace_keep *keep = crest_alloc(1, sizeof *keep);
    if (keep == NULL)
        return NULL;
    keep->hand_out = hand_out;
    keep->ask_open = ask_open;
    keep->slow = crest_trace_slow_new();
    keep->family = crest_trace_family_new();
    keep->batch = crest_span_batch_new();
    if (keep->slow == NULL || keep->family == NULL || keep->batch == NULL ||
        !crest_trace_ops_init(&keep->ops) || !crest_trace_nodes_init(&keep->nodes, bytes)) {
        crest_trace_keep_free(keep);
        return NULL;
    }
    return keep;
}

void crest_trace_keep_free(crest_trace_keep *keep)
{
    if (keep == NULL)
        return;
    crest_trace_slow_free(keep->slow);
    crest_trace_family_free(keep->family);
    crest_span_batch_free(keep->batch);
    crest_trace_ops_fini(&keep->ops);
    crest_trace_nodes_fini(&keep->nodes);
    crest_alloc_free(keep);
}

/* `ot=th:T`, its zeros at the end left out (OTEP 235); empty where all or none are sampled. */
static void keep_tracestate(crest_trace_keep *keep)
{
    uint64_t threshold = keep->rules.threshold;
    keep->tracestate[0] = '\0';
    if (threshold == 0 || threshold >> 56 != 0)
        return;
    snprintf(keep->tracestate, sizeof keep->tracestate, "ot=th:%014llx",
             (unsigned long long)threshold);
    for (size_t end = strlen(keep->tracestate); keep->tracestate[end - 1] == '0'; end--)
        keep->tracestate[end - 1] = '\0';
}

void crest_trace_keep_rules(crest_trace_keep *keep, const crest_trace_rules *rules)
{
    keep->rules = *rules;
    keep->budget = rules->rate;
    keep_tracestate(keep);
}

static void keep_add(uint64_t *word, uint64_t n)
{
    crest_atomic_store(word, crest_atomic_load(word) + n);
}

static void keep_count(crest_trace_keep *keep, crest_trace_fate fate, uint64_t spans)
{
    keep_add(&keep->counts[fate], spans);
    keep_add(&keep->waiting, -spans);
}

/* ---- handing out ---- */

/* Hands out up to a batch. */
static void keep_hand_batch(crest_trace_keep *keep, int final)
{
    size_t count;
    crest_span_batch_begin(keep->batch, keep->tracestate);
    uint32_t number = keep->out.first;
    while (number != 0 && crest_span_batch_add(keep->batch, &keep->nodes, number))
        number = crest_trace_node_at(&keep->nodes, number)->next;
    const crest_span *spans = crest_span_batch_spans(keep->batch, &count);
    int taken = keep->hand_out(spans, count, final && number == 0);
    uint64_t own = crest_span_batch_own(keep->batch);
    uint64_t folded = crest_span_batch_folded(keep->batch);
    keep_count(keep, taken ? CREST_TRACE_FATE_KEPT : CREST_TRACE_FATE_EXPORT, own);
    keep_count(keep, taken ? CREST_TRACE_FATE_FOLDED : CREST_TRACE_FATE_EXPORT, folded);
    for (; count > 0; count--)
        crest_trace_node_give(&keep->nodes, crest_trace_list_pop(&keep->nodes, &keep->out));
}

static void keep_hand_out(crest_trace_keep *keep)
{
    while (keep->out.count != 0)
        keep_hand_batch(keep, 0);
}

void crest_trace_keep_final(crest_trace_keep *keep)
{
    do
        keep_hand_batch(keep, 1);
    while (keep->out.count != 0);
}

/* ---- deciding ---- */

static void keep_fill_budget(crest_trace_keep *keep, uint64_t now_ns)
{
    uint64_t passed_ns = now_ns - keep->budget_ns;
    keep->budget += (double)passed_ns / (double)CREST_NS_PER_S * keep->rules.rate;
    if (keep->budget > keep->rules.rate)
        keep->budget = keep->rules.rate;
    keep->budget_ns = now_ns;
}

/* Takes so many spans of the second's budget; an operation larger than that of a whole second may
 * go when nothing else went. */
static int keep_spend(crest_trace_keep *keep, uint64_t spans, uint64_t now_ns)
{
    keep_fill_budget(keep, now_ns);
    if (keep->budget < (double)spans && keep->budget < keep->rules.rate)
        return 0;
    keep->budget -= (double)spans;
    return 1;
}

/* Why the operation is kept; CREST_SPAN_WHY_COUNT: it is not. */
static crest_span_why keep_why(const crest_trace_keep *keep, const crest_trace_op *op)
{
    if (op->sampled || op->randomness >= keep->rules.threshold)
        return CREST_SPAN_SAMPLED;
    return op->failed      ? CREST_SPAN_FAILED
           : op->timed_out ? CREST_SPAN_TIMED_OUT
           : op->slow      ? CREST_SPAN_SLOW
           : op->stuck     ? CREST_SPAN_STUCK
                           : CREST_SPAN_WHY_COUNT;
}

/* Copies the spans from this one on into the state file, if there is one. */
static void keep_note(crest_trace_keep *keep, uint32_t number)
{
    size_t count = crest_state_spans_are_on();
    while (number != 0 && count != 0) {
        crest_span_batch_begin(keep->batch, keep->tracestate);
        while (number != 0 && crest_span_batch_add(keep->batch, &keep->nodes, number))
            number = crest_trace_node_at(&keep->nodes, number)->next;
        const crest_span *spans = crest_span_batch_spans(keep->batch, &count);
        crest_span_remains_note(spans, count);
    }
}

/* Moves a list of completed spans to those that go out. */
static void keep_send(crest_trace_keep *keep, crest_trace_op *op, crest_trace_list *list,
                      uint64_t now_ns)
{
    uint32_t first = list->first;
    for (uint32_t number; (number = crest_trace_list_pop(&keep->nodes, list)) != 0;) {
        crest_trace_node *node = crest_trace_node_at(&keep->nodes, number);
        node->why = op->why;
        node->wall_ns = op->wall_ns;
        node->randomness = op->randomness;
        node->as.record.head &= ~((uint64_t)CREST_SPAN_RANDOM << 32);
        if (op->random)
            node->as.record.head |= (uint64_t)CREST_SPAN_RANDOM << 32;
        if (keep->out.count == 0)
            keep->out_ns = now_ns;
        crest_trace_list_push(&keep->nodes, &keep->out, number);
    }
    keep_note(keep, first);
}

static void keep_decide(crest_trace_keep *keep, crest_trace_op *op, uint64_t now_ns)
{
    crest_span_why why = keep_why(keep, op);
    uint64_t own = op->spans.count, all = own + op->folded;
    crest_trace_fate fate = CREST_TRACE_FATE_SAMPLED_OUT;
    int kept = why != CREST_SPAN_WHY_COUNT;
    if (kept && !keep_spend(keep, own + op->folds.count, now_ns)) {
        fate = CREST_TRACE_FATE_RATE;
        kept = 0;
    }
    op->why = (uint8_t)why;
    crest_trace_op_decided(&keep->ops, op, kept ? CREST_TRACE_KEPT : CREST_TRACE_DROPPED);
    if (!kept) {
        keep_count(keep, fate, all);
        crest_trace_list_give(&keep->nodes, &op->spans);
        crest_trace_list_give(&keep->nodes, &op->folds);
        return;
    }
    op->handed = all;
    crest_trace_family_complete(keep->family, &keep->nodes, op, crest_span_instance());
    keep_send(keep, op, &op->spans, now_ns);
    keep_send(keep, op, &op->folds, now_ns);
    op->folded = 0;
}

/* Whether a waiting operation is due. */
static int keep_is_due(const crest_trace_keep *keep, crest_trace_op *op, uint64_t now_ns)
{
    int over = now_ns - op->first_ns >= CREST_TRACE_WAIT_NS;
    if (!over && (op->root_ns == 0 || now_ns - op->root_ns < keep->rules.linger_ns))
        return 0;
    int open = op->op.kind != CREST_OP_NONE && keep->ask_open(&op->op);
    op->stuck = over && open;
    if (open)
        op->root_ns = now_ns;
    return over || !open;
}

void crest_trace_keep_turn(crest_trace_keep *keep, uint64_t now_ns, int all, int out)
{
    if (all || out || now_ns - keep->looked_ns >= KEEP_LOOK_NS) {
        crest_trace_op *op = crest_trace_op_oldest(&keep->ops), *newer;
        for (; op != NULL; op = newer) {
            newer = crest_trace_op_newer(&keep->ops, op);
            if (all || keep_is_due(keep, op, now_ns))
                keep_decide(keep, op, now_ns);
        }
        keep->looked_ns = now_ns;
    }
    if (keep->out.count >= CREST_SPAN_BATCH_MAX || out ||
        (keep->out.count != 0 && now_ns - keep->out_ns >= CREST_TRACE_BATCH_NS))
        keep_hand_out(keep);
}

/* Makes room: decides the oldest operation by what is there. 0 when there is none. */
static int keep_push_out(crest_trace_keep *keep, uint64_t now_ns)
{
    crest_trace_op *oldest = crest_trace_op_oldest(&keep->ops);
    if (oldest == NULL && keep->out.count == 0)
        return 0;
    if (oldest != NULL)
        keep_decide(keep, oldest, now_ns);
    if (keep->nodes.in_use + CREST_SPAN_SLOTS_MAX >= keep->nodes.count)
        keep_hand_out(keep);
    return 1;
}

/* ---- taking ---- */

/* The span's trace: that of its parent, of its operation, or one of its own. */
static void keep_trace(crest_trace_keep *keep, const crest_span_record *record,
                       crest_trace_id *trace, int *random)
{
    *trace = record->trace;
    *random = (CREST_SPAN_FLAGS(record) & CREST_SPAN_RANDOM) != 0;
    if ((CREST_SPAN_FLAGS(record) & CREST_SPAN_HAS_PARENT) != 0)
        return;
    crest_span_context context = crest_span_context_of(record->op, 1);
    *trace = context.trace;
    *random = (context.flags & CREST_TRACE_RANDOM) != 0;
    if (crest_trace_id_valid(trace))
        return;
    uint64_t words[2];
    words[0] = crest_hash_mix(crest_hash_seed() ^ record->end_ns, ++keep->numberless);
    words[1] = crest_hash_mix(words[0], keep->numberless) | 1;
    memcpy(trace, words, sizeof *trace);
    *random = 1;
}

/* What a root says of its operation. */
static void keep_judge(crest_trace_keep *keep, crest_trace_op *op, const crest_span_record *record,
                       uint64_t now_ns)
{
    const crest_trace_rules *rules = &keep->rules;
    unsigned outcome = CREST_SPAN_OUTCOME(record);
    if ((CREST_SPAN_FLAGS(record) & CREST_SPAN_SAMPLED_ABOVE) != 0)
        op->sampled = 1;
    if (!crest_trace_is_root(record))
        return;
    op->root_ns = now_ns;
    op->failed |= outcome == CREST_OUTCOME_ERROR;
    op->timed_out |= outcome == CREST_OUTCOME_TIMEOUT;
    if (rules->slow_ns != 0) {
        op->slow |= record->duration_ns >= rules->slow_ns;
    } else if (rules->slow_factor > 0) {
        uint64_t p99_ns = crest_trace_slow_p99_ns(keep->slow, crest_span_metric(record), now_ns);
        op->slow |=
            p99_ns != 0 && (double)record->duration_ns > rules->slow_factor * (double)p99_ns;
        crest_trace_slow_count(keep->slow, crest_span_metric(record), record->duration_ns, now_ns);
    }
}

/* The fold of this span's name in the operation, or 0; *there: a span of its name is there. */
static uint32_t keep_fold_of(const crest_trace_keep *keep, const crest_trace_op *op,
                             const crest_span_record *record, int *there)
{
    const crest_trace_list *lists[] = {&op->folds, &op->spans};
    *there = 0;
    for (unsigned i = 0; i < 2; i++)
        for (uint32_t number = lists[i]->first; number != 0;
             number = crest_trace_node_at(&keep->nodes, number)->next) {
            const crest_span_record *other = &crest_trace_node_at(&keep->nodes, number)->as.record;
            if (crest_span_metric(other) != crest_span_metric(record) ||
                CREST_SPAN_STAGE(other) != CREST_SPAN_STAGE(record))
                continue;
            *there = 1;
            return i == 0 ? number : 0;
        }
    return 0;
}

/* Adds the span to what its fold stands for. */
static void keep_fold_into(crest_span_record *fold, const crest_span_record *record)
{
    uint64_t start = fold->end_ns - fold->duration_ns,
             others = record->end_ns - record->duration_ns;
    uint64_t end = fold->end_ns;
    if ((int64_t)(others - start) < 0)
        start = others;
    if ((int64_t)(record->end_ns - end) > 0)
        end = record->end_ns;
    fold->end_ns = end;
    fold->duration_ns = end - start;
    if (crest_series_child(fold->series) != crest_series_child(record->series))
        fold->head |= CREST_TRACE_FOLD_MIXED;
    fold->detail[CREST_TRACE_FOLD_COUNT]++;
    fold->detail[CREST_TRACE_FOLD_SUM_NS] += record->duration_ns;
    if (fold->detail[CREST_TRACE_FOLD_MAX_NS] < record->duration_ns)
        fold->detail[CREST_TRACE_FOLD_MAX_NS] = record->duration_ns;
}

/* Folds the span, if its operation has as many as it may have and it is not the first of its name;
 * 0 when it is to be a span of its own. */
static int keep_fold(crest_trace_keep *keep, crest_trace_op *op, const crest_span_record *record)
{
    int there;
    if (op->spans.count < keep->rules.per_op)
        return 0;
    uint32_t number = keep_fold_of(keep, op, record, &there);
    if (number == 0) {
        if (!there && op->spans.count < 2 * keep->rules.per_op)
            return 0;
        crest_span_record first = *record;
        first.head &= ~(UINT64_C(0xffff) << 48);
        first.head |= CREST_TRACE_FOLDED;
        first.id = 0;
        first.detail[CREST_TRACE_FOLD_COUNT] = 0;
        first.detail[CREST_TRACE_FOLD_SUM_NS] = first.detail[CREST_TRACE_FOLD_MAX_NS] = 0;
        number = crest_trace_node_take(&keep->nodes, &first, first.detail);
        if (number == 0)
            return 0;
        crest_trace_list_push(&keep->nodes, &op->folds, number);
    }
    keep_fold_into(&crest_trace_node_at(&keep->nodes, number)->as.record, record);
    op->folded++;
    return 1;
}

/* A span of an operation that has been decided. */
static void keep_take_late(crest_trace_keep *keep, crest_trace_op *op,
                           const crest_span_record *record, const uint64_t *detail, uint64_t now_ns)
{
    keep_add(&keep->late, 1);
    if (op->state == CREST_TRACE_DROPPED && op->why != CREST_SPAN_WHY_COUNT) {
        keep_count(keep, CREST_TRACE_FATE_RATE, 1);
        return;
    }
    if (op->state == CREST_TRACE_DROPPED) {
        op->why = (uint8_t)keep_why(keep, op);
        if (op->why == CREST_SPAN_WHY_COUNT) {
            keep_count(keep, CREST_TRACE_FATE_SAMPLED_OUT, 1);
            return;
        }
    }
    crest_trace_op_decided(&keep->ops, op, op->state);
    if (op->handed >= 2 * (uint64_t)keep->rules.per_op || !keep_spend(keep, 1, now_ns)) {
        keep_count(keep, CREST_TRACE_FATE_RATE, 1);
        return;
    }
    crest_trace_list one = {0, 0, 0};
    uint32_t number = crest_trace_node_take(&keep->nodes, record, detail);
    if (number == 0) {
        keep_count(keep, CREST_TRACE_FATE_MEMORY, 1);
        return;
    }
    op->state = CREST_TRACE_KEPT;
    op->handed++;
    crest_trace_list_push(&keep->nodes, &one, number);
    crest_trace_family_late(&keep->nodes, op, number, crest_span_instance());
    keep_send(keep, op, &one, now_ns);
}

/* An operation's randomness is that of its id, as its writers find it; of a trace that another
 * made, the trace id's. */
static uint64_t keep_randomness(const crest_span_record *record, const crest_trace_id *trace)
{
    crest_trace_id own = crest_trace_id_of(record->op);
    uint64_t words[4] = {0, 0, 0, 0};
    if (memcmp(&own, trace, sizeof own) == 0)
        return crest_span_randomness_of(&record->op);
    memcpy(words, trace, sizeof *trace);
    return crest_span_randomness(words, 0);
}

/* The operation of a trace, made if need be; NULL without a place. */
static crest_trace_op *keep_op(crest_trace_keep *keep, const crest_span_record *record,
                               const crest_trace_id *trace, uint64_t now_ns)
{
    crest_trace_op *op = crest_trace_op_find(&keep->ops, trace);
    if (op != NULL)
        return op;
    op = crest_trace_op_make(&keep->ops, trace);
    if (op == NULL && keep_push_out(keep, now_ns))
        op = crest_trace_op_make(&keep->ops, trace);
    if (op == NULL)
        return NULL;
    op->first_ns = now_ns;
    op->randomness = keep_randomness(record, trace);
    return op;
}

void crest_trace_keep_take(crest_trace_keep *keep, const crest_span_record *record,
                           const uint64_t *detail, uint64_t now_ns, int64_t wall_ns)
{
    crest_trace_id trace;
    int random;
    keep_add(&keep->waiting, 1);
    keep_trace(keep, record, &trace, &random);
    while (keep->nodes.in_use + CREST_SPAN_SLOTS_MAX >= keep->nodes.count &&
           keep_push_out(keep, now_ns))
        continue;
    crest_trace_op *op = keep_op(keep, record, &trace, now_ns);
    if (op == NULL) {
        keep_count(keep, CREST_TRACE_FATE_MEMORY, 1);
        return;
    }
    if (op->op.kind == CREST_OP_NONE)
        op->op = record->op;
    if (op->spans.count == 0 && op->handed == 0) {
        op->wall_ns = wall_ns;
        op->random = random != 0;
    }
    keep_judge(keep, op, record, now_ns);
    if (op->state != CREST_TRACE_WAITING) {
        keep_take_late(keep, op, record, detail, now_ns);
        return;
    }
    if (keep_fold(keep, op, record))
        return;
    uint32_t number = crest_trace_node_take(&keep->nodes, record, detail);
    if (number != 0)
        crest_trace_list_push(&keep->nodes, &op->spans, number);
    else
        keep_count(keep, CREST_TRACE_FATE_MEMORY, 1);
}

/* ---- figures ---- */

uint64_t crest_trace_keep_count(const crest_trace_keep *keep, crest_trace_fate fate)
{
    return crest_atomic_load(&keep->counts[fate]);
}

uint64_t crest_trace_keep_late(const crest_trace_keep *keep)
{
    return crest_atomic_load(&keep->late);
}

uint64_t crest_trace_keep_waiting(const crest_trace_keep *keep)
{
    return crest_atomic_load(&keep->waiting);
}
