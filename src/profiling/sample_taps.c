/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Continuous readers of CPU samples. See sample_taps.h.
 */
#include "profiling/sample_taps.h"
#include "base/sync.h"
#include "profiling/sample_label.h"

static crest_tap *taps_all;     /* those that are open */
static uint64_t taps_period_ns; /* a sample's; 0: no store, before a begin and after its end */

/* A crest_samples_each. */
static int tap_row(void *context, const uint64_t *frames, unsigned depth, uint64_t label,
                   uint64_t count)
{
    crest_tap *tap = context;
    crest_row row = {.metric = crest_sample_label_metric(label),
                     .stage = crest_sample_label_stage(label),
                     .value = {count, count * tap->period_ns}};
    size_t before = tap->rows.count;
    if (before < CREST_TAP_ROWS_MAX)
        crest_rows_add(&tap->rows, frames, depth, &row);
    if (tap->rows.count == before)
        tap->lost += count;
    return 0;
}

static void tap_since_now(crest_tap *tap)
{
    tap->since_unix_ns = crest_kernel_ns(CLOCK_REALTIME);
    tap->since_ns = crest_monotonic_ns();
}

/* From now on, what the store gets is for this tap too; 0 without memory. */
static int tap_mark(crest_tap *tap)
{
    if (tap->mark != NULL)
        return 1;
    tap->mark = crest_samples_mark_new();
    if (tap->mark == NULL)
        return 0;
    tap->period_ns = taps_period_ns;
    if (tap->rows.count == 0)
        tap_since_now(tap);
    return 1;
}

static void tap_unmark(crest_tap *tap)
{
    crest_samples_mark_free(tap->mark);
    tap->mark = NULL;
}

int crest_tap_open(crest_tap *tap)
{
    if (!tap->open) {
        tap->next = taps_all;
        taps_all = tap;
    }
    tap->open = 1;
    return taps_period_ns == 0 || tap_mark(tap);
}

void crest_tap_close(crest_tap *tap)
{
    for (crest_tap **at = &taps_all; *at != NULL; at = &(*at)->next)
        if (*at == tap) {
            *at = tap->next;
            break;
        }
    tap->open = 0;
    tap_unmark(tap);
    crest_rows_free(&tap->rows);
}

void crest_taps_begin(uint64_t period_ns)
{
    taps_period_ns = period_ns;
    for (crest_tap *tap = taps_all; tap != NULL; tap = tap->next)
        (void)tap_mark(tap); /* else its next take tries */
}

void crest_taps_collect(void)
{
    for (crest_tap *tap = taps_all; tap != NULL; tap = tap->next)
        if (tap->mark != NULL)
            (void)crest_samples_take(tap->mark, tap_row, tap);
}

int crest_tap_take(crest_tap *tap, crest_rows *rows, uint64_t *since_unix_ns, uint64_t *lasted_ns)
{
    uint64_t since_ns = tap->since_ns;
    *since_unix_ns = tap->since_unix_ns;
    if (tap->mark != NULL)
        (void)crest_samples_take(tap->mark, tap_row, tap);
    *rows = tap->rows;
    tap->rows = (crest_rows){.row = NULL};
    tap_since_now(tap);
    *lasted_ns = tap->since_ns - since_ns;
    crest_rows_modules(rows, crest_modules_now());
    return taps_period_ns == 0 || tap_mark(tap);
}

void crest_taps_end(void)
{
    crest_taps_collect();
    for (crest_tap *tap = taps_all; tap != NULL; tap = tap->next)
        tap_unmark(tap);
    taps_period_ns = 0;
}

void crest_taps_forked(void)
{
    for (crest_tap *tap = taps_all; tap != NULL; tap = tap->next) {
        crest_rows_free(&tap->rows);
        tap_unmark(tap);
    }
    taps_period_ns = 0;
}
