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

/* What else of a timing is in the head. */
static uint64_t offer_head(const crest_span_timing *timing)
{
    uint64_t dropped = timing->dropped_attributes > 255 ? 255 : timing->dropped_attributes;
    uint64_t has_id = timing->id != 0 ? (uint64_t)CREST_SPAN_HAS_ID << 32 : 0;
    return (uint64_t)timing->kind << 24 | has_id | dropped << 56;
}

uint64_t crest_span_drop_below;

/* Puts the span into the ring. Apart, so that one that is dropped saves no registers for it. */
__attribute__((noinline)) static void offer_put(const crest_series *series, uint64_t duration_ns,
                                                crest_outcome outcome, const crest_op *op,
                                                const crest_span_more *more)
{
    static const crest_op no_op = {{0, 0, 0, 0}, 0, CREST_OP_NONE};
    const crest_span_timing *timing = more != NULL ? more->timing : NULL;
    int under = timing != NULL && timing->parent.span != 0;
    crest_span_place place;
    const crest_op *named = op != NULL ? op : &no_op;
    unsigned words = 0, fixed = 4 + crest_span_op_words(named->kind);
    uint64_t head = (uint64_t)outcome << 16;
    if (timing != NULL) {
        words = timing->used / 8u;
        head |= offer_head(timing);
        under = under && crest_span_context_valid(&timing->parent);
        fixed += (timing->id != 0) + (under ? 3u : 0u);
    }
    if (!crest_span_rings_reserve(fixed + words, &place))
        return;
    uint64_t *word = place.word;
    memcpy(&word[1], &series, sizeof series);
    word[2] = more != NULL && more->end_ns != 0 ? more->end_ns : crest_now();
    word[3] = duration_ns;
    word[4] = (uint64_t)named->length << 32 | named->kind;
    /* all of it, as the slot has room; what the kind does not have is written over */
    memcpy(&word[5], named->word, sizeof named->word);
    unsigned at = 5 + crest_span_op_words(named->kind);
    if (more != NULL)
        head |= (uint64_t)more->stage << 40;
    if (timing != NULL && timing->id != 0)
        word[at++] = timing->id;
    if (under) {
        head |= offer_flags(&timing->parent);
        word[at] = timing->parent.span;
        memcpy(&word[at + 1], &timing->parent.trace, sizeof timing->parent.trace);
        at += 3;
    }
    crest_span_rings_commit(&place, head, at, timing != NULL ? timing->detail : NULL, words);
}

/* Whether a span's parent was given, which may be kept. */
static int offer_is_under(const crest_span_more *more)
{
    return more != NULL && more->timing != NULL && more->timing->parent.span != 0;
}

void crest_span_offer(const crest_series *series, uint64_t duration_ns, crest_outcome outcome,
                      const crest_op *op, const crest_span_more *more)
{
    uint64_t below = crest_atomic_load(&crest_span_drop_below);
    if (below != 0 && (outcome == CREST_OUTCOME_OK || outcome == CREST_OUTCOME_CANCELLED) &&
        op != NULL && !offer_is_under(more) && crest_span_randomness_of(op) < below)
        crest_span_rings_unsampled();
    else
        offer_put(series, duration_ns, outcome, op, more);
}
