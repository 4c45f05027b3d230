/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The StatsD reporter: from a snapshot to lines, packets and a socket, and an account of what has
 * arrived. See <crest/statsd.h>. statsd_options.c makes it from options.
 *
 * A report has two rounds: 1. deltas, which are sent once (counters and distributions); 2. levels,
 * which are sent every time (gauges). So gauges do not delay unsent deltas on a slow connection.
 */
#include "common/series_figures.h"
#include "statsd/statsd_reporter.h"

#include <crest/family.h>
#include <stdio.h>
#include <string.h>

/* Of ".p99_999999_15m" and shorter ones. */
#define STATSD_SUFFIX_BYTES 64u

CREST_COUNTER_FAMILY(statsd_packets, "crest.statsd-sent-packets",
                     "Packets that the StatsD reporter has sent.", address);
CREST_COUNTER_FAMILY_OPTIONS(statsd_bytes, "crest.statsd-sent",
                             "What the StatsD reporter has sent.", (.unit = CREST_BYTES), address);
CREST_COUNTER_FAMILY(statsd_dropped_packets, "crest.statsd-dropped-packets",
                     "Packets that the StatsD reporter could not send.", cause);
CREST_COUNTER_FAMILY(statsd_dropped_lines, "crest.statsd-dropped-lines",
                     "Lines that the StatsD reporter left out.", cause);

/* ---- packets ---- */

static void statsd_failed(statsd_reporter *statsd, crest_status status)
{
    statsd->status = status;
    crest_counter_inc(statsd_dropped_packets_with(crest_packet_cause_names[statsd->to->cause]));
}

static int statsd_flush(statsd_reporter *statsd)
{
    crest_line_packet *packet = &statsd->packet;
    if (packet->used == 0)
        return 0;
    crest_status status = crest_packet_socket_send(statsd->to, packet->bytes, packet->used,
                                                   statsd->deadline_ns, statsd->error);
    crest_statsd_sent_confirm(&statsd->sent, statsd->to->confirmed);
    if (status == CREST_OK) {
        crest_counter_inc(statsd_packets_with(statsd->url.shown));
        crest_counter_add(statsd_bytes_with(statsd->url.shown), (int64_t)packet->used);
    } else {
        statsd_failed(statsd, status);
    }
    packet->used = 0;
    return status != CREST_OK;
}

static int statsd_settle_all(statsd_reporter *statsd)
{
    crest_status status =
        crest_packet_socket_settle(statsd->to, statsd->deadline_ns, statsd->error);
    crest_statsd_sent_confirm(&statsd->sent, statsd->to->confirmed);
    if (status != CREST_OK)
        statsd_failed(statsd, status);
    return status != CREST_OK;
}

/* Notes the entry's progress, to be applied when all bytes put so far have arrived. */
static int statsd_mark(statsd_reporter *statsd, uint64_t done)
{
    if (statsd->entry == NULL)
        return 0;
    uint64_t end = statsd->to->offered + statsd->packet.used;
    crest_status status = crest_statsd_sent_mark(&statsd->sent, end, statsd->entry, done);
    if (status == CREST_LIMIT) {
        if (statsd_flush(statsd) || statsd_settle_all(statsd))
            return 1;
        status = crest_statsd_sent_mark(&statsd->sent, end, statsd->entry, done);
        crest_statsd_sent_confirm(&statsd->sent, statsd->to->confirmed);
    }
    if (status != CREST_OK)
        statsd->status = crest_error_set(
            statsd->error, status, "No memory to remember what was sent to %s", statsd->url.shown);
    return status != CREST_OK;
}

/* The encoder's lines go into packets. A line that fits into none is dropped, and not tried again.
 * */
static int statsd_put_line(void *context, const char *line, size_t length, uint64_t done)
{
    statsd_reporter *statsd = context;
    if (!crest_line_packet_holds(&statsd->packet, length)) {
        crest_counter_inc(statsd_dropped_lines_with("too-long"));
        return statsd_mark(statsd, done);
    }
    if (!crest_line_packet_fits(&statsd->packet, length) && statsd_flush(statsd))
        return 1;
    crest_line_packet_add(&statsd->packet, line, length);
    return statsd_mark(statsd, done);
}

/* ---- what is sent once ---- */

static int statsd_put_counter(statsd_reporter *statsd, const crest_series_view *series)
{
    crest_statsd_entry *entry = statsd->entry;
    crest_statsd_sent_note(&statsd->sent, entry, entry->counter);
    uint64_t grown = series->counter > entry->counter ? series->counter - entry->counter : 0;
    /* no report follows the last one, so the rest goes now */
    uint64_t amount = statsd->final ? grown : crest_statsd_amount(&statsd->form, series, grown);
    if (amount == 0 && entry->known)
        return 0;
    crest_statsd_identify(&statsd->form, series, statsd->identity);
    return crest_statsd_put_counter(&statsd->form, series, statsd->identity, amount,
                                    statsd_put_line, statsd);
}

static int statsd_put_distribution(statsd_reporter *statsd, const crest_series_view *series)
{
    crest_statsd_entry *entry = statsd->entry;
    crest_statsd_sent_note_counts(&statsd->sent, entry, entry->distribution);
    if (crest_distribution_count(series->distribution) ==
        crest_distribution_count(entry->distribution))
        return 0;
    entry->next = crest_distribution_copy(series->distribution);
    crest_distribution *grown = crest_distribution_copy(series->distribution);
    int stopped = 0;
    if (entry->next == NULL || grown == NULL) {
        statsd->status =
            crest_error_set(statsd->error, CREST_NO_MEMORY,
                            "No memory for what %s recorded since the last report", series->name);
        stopped = 1;
    } else if (crest_distribution_subtract(grown, entry->distribution) == CREST_OK) {
        crest_statsd_identify(&statsd->form, series, statsd->identity);
        stopped = crest_statsd_put_distribution(&statsd->form, series, statsd->identity, grown,
                                                statsd_put_line, statsd);
    }
    crest_distribution_free(grown);
    return stopped;
}

/* A series that this reporter has sent nothing of: what a dead run had sent, if it goes on. */
static int statsd_begin(statsd_reporter *statsd, const crest_series_view *series)
{
    crest_statsd_entry *entry = statsd->entry;
    crest_series_view then;
    if (entry->begun)
        return 0;
    /* zeros where there is nothing */
    (void)crest_report_previous(statsd->sent.under_way, entry->index, &then);
    if (then.distribution != NULL)
        entry->distribution = crest_distribution_copy(then.distribution);
    if (then.distribution != NULL && entry->distribution == NULL) {
        statsd->status = crest_error_set(statsd->error, CREST_NO_MEMORY,
                                         "No memory for what was sent of %s before", series->name);
        return 1;
    }
    entry->counter = then.counter;
    entry->noted = then.counter + crest_distribution_count(then.distribution); /* one is 0 */
    entry->begun = 1;
    return 0;
}

static int statsd_put_once(statsd_reporter *statsd, const crest_series_view *series, size_t index)
{
    statsd->entry = crest_statsd_sent_entry(&statsd->sent, series);
    statsd->entry->index = index;
    int stopped = statsd_begin(statsd, series);
    if (stopped) {
        statsd->entry = NULL;
        return stopped;
    }
    if (series->kind == CREST_KIND_COUNTER)
        stopped = statsd_put_counter(statsd, series);
    else if (series->distribution != NULL)
        stopped = statsd_put_distribution(statsd, series);
    statsd->entry = NULL;
    return stopped;
}

/* ---- what is sent every time ---- */

static int statsd_put_gauge(statsd_reporter *statsd, const char *suffix, double value)
{
    if (value - value != 0) {
        crest_counter_inc(statsd_dropped_lines_with("not-a-number"));
        return 0;
    }
    return crest_statsd_put_gauge(&statsd->form, statsd->identity, suffix, value, statsd_put_line,
                                  statsd);
}

static int statsd_put_figure(void *context, const char *name, double value)
{
    char suffix[STATSD_SUFFIX_BYTES];
    snprintf(suffix, sizeof suffix, ".%s", name);
    return statsd_put_gauge(context, suffix, value);
}

static int statsd_put_always(statsd_reporter *statsd, const crest_report *report, size_t index,
                             const crest_series_view *series)
{
    int range = series->kind == CREST_KIND_RANGE_SAMPLER, gauge = series->kind == CREST_KIND_GAUGE;
    int windows = !gauge && !report->final && (statsd->windows || range);
    if (!range && !gauge && !windows)
        return 0;
    crest_statsd_identify(&statsd->form, series, statsd->identity);
    int stopped = 0;
    if (range || gauge)
        stopped = statsd_put_gauge(
            statsd, "",
            crest_series_in_base_unit(series, range ? (double)series->current : series->gauge));
    return stopped || !windows
               ? stopped
               : crest_window_figures(report->snapshot, index, series, statsd_put_figure, statsd);
}

/* ---- a report ---- */

/* The reporting process as tags: from options, else from Datadog's variables. */
static void statsd_describe(statsd_reporter *statsd, const crest_resource *resource)
{
    const char *service = resource->service, *version = resource->version;
    const char *env = statsd->env;
    size_t length = 0, size = sizeof statsd->tags;
    for (unsigned i = 0; i < resource->label_count; i++) {
        const crest_page_label *label = &resource->labels[i];
        if (strcmp(label->key, "env") == 0)
            env = NULL;
        length = crest_statsd_tag(statsd->tags, length, size, label->key, label->value);
    }
    length = crest_statsd_tag(statsd->tags, length, size, "env", env);
    length = crest_statsd_tag(statsd->tags, length, size, "service",
                              service != NULL && service[0] != '\0' ? service : statsd->service);
    length = crest_statsd_tag(statsd->tags, length, size, "version",
                              version != NULL && version[0] != '\0' ? version : statsd->version);
    length = crest_statsd_tag(statsd->tags, length, size, "dd.internal.entity_id", statsd->entity);
    statsd->tags[length] = '\0';
}

static void statsd_put_all(statsd_reporter *statsd, const crest_report *report)
{
    crest_series_view series;
    int stopped = 0;
    for (size_t i = 0; crest_snapshot_series(report->snapshot, i, &series) == CREST_OK && !stopped;
         i++)
        stopped = statsd_put_once(statsd, &series, i);
    for (size_t i = 0; crest_snapshot_series(report->snapshot, i, &series) == CREST_OK && !stopped;
         i++)
        stopped = statsd_put_always(statsd, report, i, &series);
    if (!stopped && !statsd_flush(statsd))
        statsd_settle_all(statsd);
}

/* The end of a report, unless it is still on its way over a slow connection. */
static void statsd_end(statsd_reporter *statsd)
{
    crest_statsd_sent_confirm(&statsd->sent, statsd->to->confirmed);
    statsd->unsettled = crest_packet_socket_unsettled(statsd->to);
    if (!statsd->unsettled)
        crest_statsd_sent_end(&statsd->sent, &statsd->form);
}

/* Bytes of the last report that are still on their way come first: until they have arrived or are
 * lost, the deltas are not known. */
static crest_status statsd_resume(statsd_reporter *statsd, const crest_report *report,
                                  crest_error *error)
{
    if (!statsd->unsettled)
        return CREST_OK;
    crest_status status = crest_packet_socket_resume(statsd->to, report->deadline_ns, error);
    statsd_end(statsd);
    if (status != CREST_OK)
        statsd_failed(statsd, status);
    return status;
}

static crest_status statsd_send(statsd_reporter *statsd, const crest_report *report,
                                crest_error *error)
{
    statsd->error = error;
    statsd->deadline_ns = report->deadline_ns;
    statsd->final = report->final;
    statsd->packet.used = 0;
    statsd->status = CREST_OK;
    if (statsd->form.dialect == CREST_STATSD_DATADOG)
        statsd_describe(statsd, report->resource);
    crest_status status = statsd_resume(statsd, report, error);
    if (status != CREST_OK)
        return status;
    status = crest_packet_socket_open(statsd->to, report->deadline_ns, error);
    if (status != CREST_OK) {
        statsd_failed(statsd, status);
        return status;
    }
    status = crest_statsd_sent_begin(&statsd->sent, crest_snapshot_size(report->snapshot));
    if (status != CREST_OK)
        return crest_error_set(error, status, "No memory to remember what is sent to %s",
                               statsd->url.shown);
    statsd->sent.under_way = report;
    statsd_put_all(statsd, report);
    statsd_end(statsd);
    statsd->sent.under_way = NULL;
    return statsd->status;
}

crest_status crest_statsd_report(crest_reporter *self, const crest_report *report,
                                 crest_error *error)
{
    statsd_reporter *statsd = self->state;
    if (pthread_mutex_trylock(&statsd->one_at_a_time) != 0)
        return crest_error_set(error, CREST_ALREADY,
                               "Not sent to %s: this reporter is busy with another report",
                               statsd->url.shown);
    crest_packet_socket_rearm(statsd->to);
    crest_status status = statsd_send(statsd, report, error);
    pthread_mutex_unlock(&statsd->one_at_a_time);
    return status;
}
