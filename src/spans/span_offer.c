/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Offering a finished timing as a span. See span_offer.h.
 */
#include "spans/span_offer.h"
#include "spans/span_rings.h"
#include "spans/span_sampling.h"

#include <crest/clock.h>
#include <string.h>

/* The bits of a record's head that a parent sets. */
static uint64_t offer_flags(const crest_span_context *parent)
{
    uint64_t flags = CREST_SPAN_HAS_PARENT;
    if (parent->remote)
        flags |= CREST_SPAN_REMOTE;
    if (parent->flags & CREST_TRACE_SAMPLED)
        flags |= CREST_SPAN_SAMPLED_ABOVE;
    if (parent->flags & CREST_TRACE_RANDOM)
        flags |= CREST_SPAN_RANDOM;
    return flags << 32;
}

uint64_t crest_span_drop_below;

void crest_span_offer(const crest_metric *metric, uint64_t duration_ns, crest_outcome outcome,
                      const crest_op *op, const crest_span_more *more)
{
    const crest_span_timing *timing = more != NULL ? more->timing : NULL;
    uint64_t below = crest_atomic_load(&crest_span_drop_below);
    int under = timing != NULL && timing->parent.span != 0;
    crest_span_place place;
    if (below != 0 && (outcome == CREST_OUTCOME_OK || outcome == CREST_OUTCOME_CANCELLED) &&
        !under && op != NULL && crest_span_randomness_of(op) < below) {
        crest_span_rings_unsampled();
        return;
    }
    unsigned words = timing != NULL ? timing->used / 8u : 0;
    uint64_t head = (uint64_t)outcome << 16;
    if (!crest_span_rings_reserve(words, &place))
        return;
    crest_span_record *record = place.record;
    record->metric = metric;
    record->duration_ns = duration_ns;
    record->end_ns = more != NULL && more->end_ns != 0 ? more->end_ns : crest_now();
    if (op != NULL)
        record->op = *op;
    else
        memset(&record->op, 0, sizeof record->op);
    record->id = timing != NULL ? timing->id : 0;
    record->parent = 0;
    memset(&record->trace, 0, sizeof record->trace);
    if (more != NULL)
        head |= (uint64_t)more->stage << 40;
    if (timing != NULL)
        head |= (uint64_t)timing->kind << 24 |
                (uint64_t)(timing->dropped_attributes > 255 ? 255 : timing->dropped_attributes)
                    << 56;
    if (under && crest_span_context_valid(&timing->parent)) {
        head |= offer_flags(&timing->parent);
        record->trace = timing->parent.trace;
        record->parent = timing->parent.span;
    }
    crest_span_rings_commit(&place, head, timing != NULL ? timing->detail : NULL, words);
}
