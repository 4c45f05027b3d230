/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One metric of each instrument, a record of all of them, and a look at whether all records are
 * there: shared by the program and the library of check_order.py, which each have their own.
 */
#ifndef CREST_TESTS_ORDER_RECORDS_H
#define CREST_TESTS_ORDER_RECORDS_H

#include <crest/crest.h>

#include <stdio.h>
#include <unistd.h>

CREST_COUNTER(order_events, ORDER_NAME ".events", "Of all steps.");
CREST_GAUGE(order_level, ORDER_NAME ".level", "Of all steps.");
CREST_HISTOGRAM(order_sizes, ORDER_NAME ".size", "Of all steps.");
CREST_TIMER(order_times, ORDER_NAME ".run-time", "Of all steps.");
CREST_RANGE_SAMPLER(order_queue, ORDER_NAME ".queue", "Of all steps.");
CREST_COUNTER_FAMILY(order_kinds, ORDER_NAME ".kinds", "Of all steps.", kind);

static uint64_t order_wanted;

static void order_record(void)
{
    order_wanted++;
    crest_counter_inc(&order_events);
    crest_gauge_add(&order_level, 1);
    crest_histogram_record(&order_sizes, (int64_t)order_wanted);
    crest_timer_record(&order_times, 1, CREST_OUTCOME_OK);
    crest_range_sampler_add(&order_queue, 1);
    crest_counter_inc(order_kinds_with("one"));
}

static uint64_t order_count(const char *name, const char *value)
{
    crest_snapshot *snapshot = crest_snapshot_take(NULL);
    crest_series_view view;
    uint64_t count = 0;
    if (snapshot != NULL &&
        crest_snapshot_find(snapshot, name, &value, value != NULL, &view) == CREST_OK)
        count = crest_distribution_count(view.distribution);
    crest_snapshot_free(snapshot);
    return count;
}

/* Ends the process if a record is missing, or says so if none is. */
static void order_check(const char *who)
{
    if (crest_counter_value(&order_events) != order_wanted ||
        crest_gauge_value(&order_level) != (double)order_wanted ||
        crest_range_sampler_value(&order_queue) != (int64_t)order_wanted ||
        crest_counter_value(order_kinds_with("one")) != order_wanted ||
        order_count(ORDER_NAME ".size", NULL) != order_wanted ||
        order_count(ORDER_NAME ".run-time", "ok") != order_wanted) {
        dprintf(2, "%s: not all of %d steps are there\n", who, (int)order_wanted);
        _exit(1);
    }
    dprintf(1, "%s: %d steps\n", who, (int)order_wanted);
}

#endif
