/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slow operations. See slow_operations.h.
 *
 * Places that are handed over go through these states:
 *
 *   FREE     a thread swaps it to TAKEN, fills it, stores FULL with release
 *   FULL     the profiler's thread copies it, stores FREE
 */
#include "profiling/slow_operations.h"
#include "base/alloc.h"
#include "base/atomic.h"
#include "profiling/operations.h"
#include "profiling/sample_label.h"

enum { SLOW_FREE, SLOW_TAKEN, SLOW_FULL };

#define SLOW_PROBES 16u
#define SLOW_NS_PER_MS UINT64_C(1000000)

typedef struct slow_operation {
    const struct crest_metric *metric;
    crest_op op;
    uint64_t number, start_ns, end_ns;
    uint32_t shared; /* it may have further parts, of the same number */
} slow_operation;

typedef struct slow_handed {
    uint32_t state;
    slow_operation what;
} slow_handed;

/* Kept, with its stacks: head, frames, head, frames … A head is depth | stage << 32. */
typedef struct slow_kept {
    slow_operation what;
    uint64_t *words;
    size_t used, room;
    unsigned stacks;
} slow_kept;

static slow_handed slow_handed_over[CREST_SLOW_HANDED];
static uint64_t slow_handed_next, slow_handed_count;
static slow_kept slow_all[CREST_SLOW_KEPT];
static uint64_t slow_zero_ns;

void crest_slow_begin(uint64_t zero_ns)
{
    slow_zero_ns = zero_ns;
}

uint64_t crest_slow_count(void)
{
    return crest_atomic_load(&slow_handed_count);
}

void crest_slow_ended(const crest_profile_scope *scope, uint64_t now_ns)
{
    uint64_t at = crest_atomic_load(&slow_handed_next);
    crest_atomic_add(&slow_handed_count, 1);
    for (unsigned i = 0; i < SLOW_PROBES; i++) {
        slow_handed *place = &slow_handed_over[(at + i) % CREST_SLOW_HANDED];
        /* acquire: partner of the release store of SLOW_FREE */
        if (!crest_atomic_cas32_acquire(&place->state, SLOW_FREE, SLOW_TAKEN))
            continue;
        crest_atomic_store(&slow_handed_next, at + i + 1);
        place->what = (slow_operation){scope->metric,   scope->op, crest_operations_number(scope),
                                       scope->start_ns, now_ns,    scope->shared};
        /* partner: the acquire load in crest_slow_take */
        crest_atomic_store32_release(&place->state, SLOW_FULL);
        return;
    }
}

static uint64_t slow_took(const slow_operation *operation)
{
    return operation->end_ns - operation->start_ns;
}

static void slow_forget(slow_kept *kept)
{
    crest_alloc_free(kept->words);
    *kept = (slow_kept){.words = NULL};
}

/* Where to keep it: a free place, or that of the fastest, of its metric if that has enough. NULL:
 * it is not among the slowest. */
static slow_kept *slow_place(const slow_operation *operation)
{
    slow_kept *free_one = NULL, *fastest = NULL, *fastest_own = NULL;
    unsigned own = 0;
    for (unsigned i = 0; i < CREST_SLOW_KEPT; i++) {
        slow_kept *kept = &slow_all[i];
        if (kept->what.end_ns == 0) {
            free_one = kept;
            continue;
        }
        if (fastest == NULL || slow_took(&kept->what) < slow_took(&fastest->what))
            fastest = kept;
        if (kept->what.metric != operation->metric)
            continue;
        own++;
        if (fastest_own == NULL || slow_took(&kept->what) < slow_took(&fastest_own->what))
            fastest_own = kept;
    }
    if (own < CREST_SLOW_PER_METRIC && free_one != NULL)
        return free_one;
    slow_kept *rival = own >= CREST_SLOW_PER_METRIC ? fastest_own : fastest;
    return slow_took(&rival->what) < slow_took(operation) ? rival : NULL;
}

/* A crest_samples_each. */
static int slow_keep_stack(void *context, const uint64_t *frames, unsigned depth, uint64_t label,
                           uint64_t count)
{
    slow_kept *kept = context;
    int own = crest_sample_label_metric(label) == kept->what.metric;
    (void)count;
    if (kept->used + depth + 1 > kept->room) {
        size_t room = kept->room * 2 + depth + 256;
        uint64_t *words = crest_alloc_resize(kept->words, room, sizeof *words);
        if (words == NULL)
            return 1;
        kept->words = words;
        kept->room = room;
    }
    kept->words[kept->used++] = depth | (uint64_t)(own ? crest_sample_label_stage(label) : 0) << 32;
    for (unsigned i = 0; i < depth; i++)
        kept->words[kept->used++] = frames[i];
    return ++kept->stacks == CREST_SLOW_STACKS_MAX;
}

static uint32_t slow_ms(uint64_t time_ns)
{
    return time_ns > slow_zero_ns ? (uint32_t)((time_ns - slow_zero_ns) / SLOW_NS_PER_MS) : 0;
}

/* With what was kept of the same operation, whose earlier parts may be of other threads. */
static slow_kept *slow_whole(slow_operation *operation)
{
    for (unsigned i = 0; operation->shared && i < CREST_SLOW_KEPT; i++) {
        const slow_operation *kept = &slow_all[i].what;
        if (kept->end_ns == 0 || !kept->shared || kept->number != operation->number ||
            kept->metric != operation->metric)
            continue;
        if (kept->start_ns < operation->start_ns)
            operation->start_ns = kept->start_ns;
        if (kept->end_ns > operation->end_ns)
            operation->end_ns = kept->end_ns;
        return &slow_all[i];
    }
    return NULL;
}

static void slow_judge(slow_operation *operation)
{
    slow_kept *kept = slow_whole(operation);
    if (kept == NULL)
        kept = slow_place(operation);
    if (kept == NULL)
        return;
    slow_forget(kept);
    kept->what = *operation;
    (void)crest_samples_of(operation->number, slow_ms(operation->start_ns),
                           slow_ms(operation->end_ns) + 1, slow_keep_stack, kept);
    if (kept->stacks == 0)
        slow_forget(kept);
}

static void slow_age(uint64_t now_ns)
{
    for (unsigned i = 0; i < CREST_SLOW_KEPT; i++)
        if (slow_all[i].what.end_ns != 0 && slow_all[i].what.end_ns + CREST_SLOW_WINDOW_NS < now_ns)
            slow_forget(&slow_all[i]);
}

void crest_slow_take(uint64_t now_ns)
{
    slow_age(now_ns);
    for (unsigned i = 0; i < CREST_SLOW_HANDED; i++) {
        slow_handed *place = &slow_handed_over[i];
        /* acquire: partner of the release store in crest_slow_ended */
        if (crest_atomic_load32_acquire(&place->state) != SLOW_FULL)
            continue;
        slow_operation operation = place->what;
        /* partner: the swap in crest_slow_ended */
        crest_atomic_store32_release(&place->state, SLOW_FREE);
        slow_judge(&operation);
    }
}

int crest_slow_each(uint64_t now_ns, crest_slow_each_fn *each, void *context)
{
    slow_age(now_ns);
    for (unsigned i = 0; i < CREST_SLOW_KEPT; i++) {
        const slow_kept *kept = &slow_all[i];
        crest_slow_stack stack = {
            .metric = kept->what.metric, .op = &kept->what.op, .took_ns = slow_took(&kept->what)};
        for (size_t at = 0; at < kept->used; at += stack.depth + 1) {
            stack.depth = (uint32_t)kept->words[at];
            stack.stage = (uint32_t)(kept->words[at] >> 32);
            stack.frames = &kept->words[at + 1];
            if (each(context, &stack))
                return 1;
        }
    }
    return 0;
}

void crest_slow_end(void)
{
    for (unsigned i = 0; i < CREST_SLOW_KEPT; i++)
        slow_forget(&slow_all[i]);
}
