/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A catalogue: this program's metrics are not declared here but in 28_catalogue.metrics.yaml, a
 * manifest that a team keeps beside its code. 28_catalogue_metrics.h is generated from it, and so
 * are, for a real node, the tables of METRICS.md, a dashboard and rules:
 *
 *     tools/crest catalogue header 28_catalogue.metrics.yaml -o 28_catalogue_metrics.h
 *     tools/crest catalogue dashboard 28_catalogue.metrics.yaml
 *
 * A name that the manifest lacks has no variable, so recording it does not compile.
 */
#define MEMPOOL_METRICS_DEFINE /* in one source file; the others include the header alone */
#include "28_catalogue_metrics.h"

#include <stdio.h>

/* ---- a pool ---- */

static void take_in(uint64_t id, const char *source, int64_t bytes)
{
    crest_op transaction = crest_op_u64(id);
    crest_stages_begin(&inclusion, transaction);
    crest_counter_inc(transactions_received_with(source));
    crest_histogram_record(&transaction_size, bytes);
    crest_range_sampler_add(&transactions_waiting, +1);
    crest_stages_mark(&inclusion, transaction, INCLUSION_STAGE_TAKEN);
}

/* All reasons are in the manifest: no look-up, none misspelt, and those that never come are 0. */
static void refuse(transactions_refused_reason reason)
{
    crest_counter_inc(transactions_refused_of(reason));
    crest_timer_record(&validate_time, 40000, CREST_OUTCOME_ERROR); /* in ns */
}

static void choose(uint64_t id)
{
    crest_op transaction = crest_op_u64(id);
    crest_stages_mark(&inclusion, transaction, INCLUSION_STAGE_CHOSEN);
    crest_stages_end(&inclusion, transaction, CREST_OUTCOME_OK);
    crest_range_sampler_add(&transactions_waiting, -1);
}

/* ---- what came of it ---- */

static int print(void *context, const void *bytes, size_t length)
{
    (void)context;
    return fwrite(bytes, 1, length, stdout) != length;
}

int main(void)
{
    take_in(1, "api", 300);
    take_in(2, "peer", 250);
    take_in(3, "peer", 5000);
    refuse(TRANSACTIONS_REFUSED_REASON_INVALID);
    choose(2);

    /* Only those whose figures do not depend on the clock. */
    static const char *const names[] = {
        "mempool_transactions_received_total", "mempool_transactions_refused_total",
        "mempool_transactions_waiting",        "mempool_transaction_size_bytes",
        "mempool_inclusion_in_flight",
    };
    crest_page_options options = {.windows = CREST_PAGE_WINDOWS_NONE,
                                  .names = names,
                                  .name_count = sizeof names / sizeof names[0]};
    crest_error error;
    crest_snapshot *snapshot = crest_snapshot_take(NULL);
    crest_status status =
        crest_snapshot_write(snapshot, CREST_FORMAT_PROMETHEUS_TEXT, &options, print, NULL, &error);
    crest_snapshot_free(snapshot);
    if (status != CREST_OK)
        fprintf(stderr, "%s\n", error.message);
    return status != CREST_OK;
}
