/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walks a distribution in linear and logarithmic steps of value, and in ticks of the fraction of
 * records. See <crest/distribution.h>.
 *
 * A cursor's state:
 *     next_     the next bucket
 *     bucket_   the place behind it
 *     seen_     records below it
 *     level_    where this logarithmic step ends, or this tick is
 */
#include "distributions/distribution_inside.h"

enum { STEPS_NEW, STEPS_ON, STEPS_DONE };

/* Loads the next bucket into the cursor, or a count of 0. */
static void steps_fetch(const crest_distribution *distribution, crest_distribution_cursor *cursor)
{
    if (!crest_distribution_next(distribution, &cursor->bucket_, &cursor->next_))
        cursor->next_.count = 0;
}

/* Non-zero when another step follows. */
static int steps_begin(const crest_distribution *distribution, crest_distribution_cursor *cursor)
{
    if (cursor->state_ == STEPS_NEW)
        steps_fetch(distribution, cursor);
    if (cursor->next_.count == 0) {
        cursor->state_ = STEPS_DONE;
        return 0;
    }
    return 1;
}

static double steps_fraction(const crest_distribution *distribution, uint64_t count)
{
    return count == distribution->count ? 1 : (double)count / (double)distribution->count;
}

/* Makes the step from the end of the last one to `highest`. */
static void steps_take(const crest_distribution *distribution, uint64_t highest,
                       crest_distribution_cursor *cursor)
{
    cursor->lowest = cursor->state_ == STEPS_NEW ? 0 : cursor->highest + 1;
    cursor->highest = highest;
    cursor->count = 0;
    cursor->state_ = STEPS_ON;
    while (cursor->next_.count != 0 && cursor->next_.lowest <= highest) {
        cursor->count = crest_distribution_plus(cursor->count, cursor->next_.count);
        steps_fetch(distribution, cursor);
    }
    cursor->count_to = crest_distribution_plus(cursor->count_to, cursor->count);
    cursor->quantile = steps_fraction(distribution, cursor->count_to);
}

int crest_distribution_next_linear(const crest_distribution *distribution, uint64_t width,
                                   crest_distribution_cursor *cursor)
{
    if (width == 0 || !steps_begin(distribution, cursor))
        return 0;
    uint64_t before = cursor->state_ == STEPS_NEW ? UINT64_MAX : cursor->highest;
    uint64_t highest = before + width; /* before the first step: width - 1 */
    if (cursor->state_ == STEPS_ON && highest < width)
        highest = UINT64_MAX;
    steps_take(distribution, highest, cursor);
    return 1;
}

int crest_distribution_next_logarithmic(const crest_distribution *distribution, uint64_t first,
                                        double factor, crest_distribution_cursor *cursor)
{
    if (first == 0 || !(factor > 1) || !steps_begin(distribution, cursor))
        return 0;
    cursor->level_ = cursor->state_ == STEPS_NEW ? (double)first : cursor->level_ * factor;
    uint64_t end = cursor->level_ < 0x1p64 ? (uint64_t)cursor->level_ : 0;
    if (cursor->state_ == STEPS_NEW)
        end = first;
    uint64_t highest = end - 1;
    /* factors close to 1: a step covers one value at least */
    if (cursor->state_ == STEPS_ON && highest <= cursor->highest)
        highest = cursor->highest + 1;
    steps_take(distribution, highest, cursor);
    return 1;
}

/* The next tick: the distance to 1 halves in this many ticks. Returns 1 once the next tick equals
 * this one; that is before counts beyond 2^50 come to their last bucket. */
static double steps_tick_after(double tick, unsigned ticks)
{
    double left = 1 - tick, half = 0.5;
    while (left <= half && half > 0x1p-60)
        half /= 2;
    double after = tick + half / ticks;
    return after > tick ? after : 1;
}

/* A tick's value, as crest_distribution_quantile computes it. */
static uint64_t steps_value(const crest_distribution *distribution,
                            const crest_distribution_cursor *cursor)
{
    const crest_bucket *bucket = &cursor->next_;
    if (cursor->quantile <= 0)
        return distribution->min;
    if (cursor->quantile >= 1)
        return distribution->max;
    uint64_t value = bucket->lowest + (bucket->highest - bucket->lowest) / 2;
    value = value < distribution->min ? distribution->min : value;
    return value > distribution->max ? distribution->max : value;
}

int crest_distribution_next_percentile(const crest_distribution *distribution, unsigned ticks,
                                       crest_distribution_cursor *cursor)
{
    if (ticks == 0 || cursor->state_ == STEPS_DONE || !steps_begin(distribution, cursor))
        return 0;
    cursor->level_ = cursor->state_ == STEPS_NEW ? 0 : steps_tick_after(cursor->level_, ticks);
    double total = (double)distribution->count;
    uint64_t reached = crest_distribution_plus(cursor->seen_, cursor->next_.count);
    while (reached < distribution->count &&
           (cursor->level_ >= 1 || (double)reached < cursor->level_ * total)) {
        cursor->seen_ = reached;
        steps_fetch(distribution, cursor);
        reached = crest_distribution_plus(reached, cursor->next_.count);
    }
    int last = reached == distribution->count;
    cursor->quantile = last ? 1 : cursor->level_;
    cursor->lowest = cursor->state_ == STEPS_NEW ? distribution->min : cursor->highest;
    cursor->highest = steps_value(distribution, cursor);
    cursor->count = reached - cursor->count_to;
    cursor->count_to = reached;
    cursor->state_ = last ? STEPS_DONE : STEPS_ON;
    return 1;
}
