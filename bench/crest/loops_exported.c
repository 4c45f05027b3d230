/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The timed loops as a foreign-function interface has them: no header of Crest, so nothing is
 * inlined, but declarations of this file's own for the exported symbols. The callees are in the
 * shared library, by way of the procedure linkage table, as limit/empty-call-so is.
 */
#include "loops.h"

typedef struct crest_op {
    uint64_t word[4];
    uint32_t length, kind;
} crest_op;

struct crest_counter;
struct crest_gauge;
struct crest_histogram;
struct crest_timer;
struct crest_range_sampler;

typedef struct crest_timing {
    struct crest_timer *timer;
    uint64_t start_ns;
    crest_op op;
} crest_timing;

enum { CREST_OUTCOME_OK };

void crest_counter_inc(struct crest_counter *counter);
void crest_gauge_set(struct crest_gauge *gauge, double value);
void crest_histogram_record(struct crest_histogram *histogram, int64_t value);
crest_timing crest_timer_start(struct crest_timer *timer, crest_op op);
int crest_timing_end(crest_timing *timing, crest_op op, int outcome);
int crest_timer_begin(struct crest_timer *timer, crest_op op);
int crest_timer_end(struct crest_timer *timer, crest_op op, int outcome);
void crest_range_sampler_add(struct crest_range_sampler *sampler, int64_t delta);

/* Needs no call: an id is a struct by value. */
static inline crest_op crest_op_u64(uint64_t id)
{
    return (crest_op){{id, 0, 0, 0}, 8, 1};
}

#define LOOPS_PEER LOOPS_PEER_EXPORTED
#define LOOPS_TABLE loops_exported
#include "loops_body.h"
