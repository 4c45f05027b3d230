/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When a span is slow. See trace_slow.h.
 */
#include "tracing/trace_slow.h"
#include "base/alloc.h"
#include "base/hash.h"
#include "base/sync.h"

#include <string.h>

/* Counts: 16 a power of two. */
#define SLOW_BITS 4u
#define SLOW_CELLS (64u << SLOW_BITS)

typedef struct slow_set {
    uint32_t cell[SLOW_CELLS];
    uint64_t count;
} slow_set;

typedef struct slow_timer {
    const crest_metric *metric;
    uint64_t began_ns; /* of the set that is being filled */
    uint64_t asked_ns; /* when p99_ns was computed */
    uint64_t p99_ns;
    unsigned filling;
    slow_set set[2];
} slow_timer;

struct crest_trace_slow {
    slow_timer *timer[CREST_TRACE_SLOW_TIMERS];
};

crest_trace_slow *crest_trace_slow_new(void)
{
    return crest_alloc(1, sizeof(crest_trace_slow));
}

void crest_trace_slow_free(crest_trace_slow *slow)
{
    for (unsigned i = 0; slow != NULL && i < CREST_TRACE_SLOW_TIMERS; i++)
        crest_alloc_free(slow->timer[i]);
    crest_alloc_free(slow);
}

/* The timer's counts, made if need be; NULL when there is no place or no memory. */
static slow_timer *slow_find(crest_trace_slow *slow, const crest_metric *metric, uint64_t now_ns)
{
    uint64_t at = crest_hash_mix(0, (uint64_t)(uintptr_t)metric);
    for (unsigned i = 0; i < CREST_TRACE_SLOW_TIMERS; i++) {
        slow_timer **place = &slow->timer[(at + i) % CREST_TRACE_SLOW_TIMERS];
        if (*place == NULL) {
            *place = crest_alloc(1, sizeof **place);
            if (*place == NULL)
                return NULL;
            (*place)->metric = metric;
            (*place)->began_ns = now_ns;
        }
        if ((*place)->metric == metric)
            return *place;
    }
    return NULL;
}

static unsigned slow_cell(uint64_t value)
{
    if (value < 1u << SLOW_BITS)
        return (unsigned)value;
    unsigned shift = 63u - (unsigned)__builtin_clzll(value) - SLOW_BITS;
    return ((shift + 1) << SLOW_BITS) + (unsigned)(value >> shift & ((1u << SLOW_BITS) - 1));
}

/* The largest value of a cell. */
static uint64_t slow_cell_end(unsigned cell)
{
    if (cell < 1u << SLOW_BITS)
        return cell;
    unsigned shift = (cell >> SLOW_BITS) - 1;
    uint64_t first = (UINT64_C(1) << SLOW_BITS | (cell & ((1u << SLOW_BITS) - 1))) << shift;
    return first + ((UINT64_C(1) << shift) - 1);
}

/* Goes over to the other set when this one has been filled for long enough. */
static void slow_turn(slow_timer *timer, uint64_t now_ns)
{
    uint64_t passed_ns = now_ns - timer->began_ns;
    if (passed_ns < CREST_TRACE_SLOW_NS)
        return;
    if (passed_ns >= 2 * CREST_TRACE_SLOW_NS) { /* both are too old */
        memset(timer->set, 0, sizeof timer->set);
        timer->began_ns = now_ns;
        return;
    }
    timer->filling ^= 1;
    memset(&timer->set[timer->filling], 0, sizeof timer->set[0]);
    /* not now: what the other set has would count as long again as this turn is late */
    timer->began_ns += CREST_TRACE_SLOW_NS;
}

void crest_trace_slow_count(crest_trace_slow *slow, const crest_metric *metric,
                            uint64_t duration_ns, uint64_t now_ns)
{
    slow_timer *timer = slow_find(slow, metric, now_ns);
    if (timer == NULL)
        return;
    slow_turn(timer, now_ns);
    timer->set[timer->filling].cell[slow_cell(duration_ns)]++;
    timer->set[timer->filling].count++;
}

static uint64_t slow_p99(const slow_timer *timer)
{
    uint64_t count = timer->set[0].count + timer->set[1].count;
    if (count < CREST_TRACE_SLOW_LEAST)
        return 0;
    uint64_t above = count / 100, seen = 0;
    for (unsigned cell = SLOW_CELLS; cell-- > 0;) {
        seen += (uint64_t)timer->set[0].cell[cell] + timer->set[1].cell[cell];
        if (seen > above)
            return slow_cell_end(cell);
    }
    return 0;
}

uint64_t crest_trace_slow_p99_ns(crest_trace_slow *slow, const crest_metric *metric,
                                 uint64_t now_ns)
{
    slow_timer *timer = slow_find(slow, metric, now_ns);
    if (timer == NULL)
        return 0;
    slow_turn(timer, now_ns);
    if (timer->asked_ns == 0 || now_ns - timer->asked_ns >= CREST_NS_PER_S) {
        timer->p99_ns = slow_p99(timer);
        timer->asked_ns = now_ns;
    }
    return timer->p99_ns;
}
