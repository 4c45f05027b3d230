/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The InfluxDB reporter: from a snapshot to lines, and where they go. See <crest/influxdb.h>.
 * influxdb_options.c makes it from options.
 *
 * Timestamps never repeat and never go back, whatever the clock does, because InfluxDB keeps one
 * value of a series, a field and a timestamp. That is also why a report that failed loses nothing
 * and is counted once, whether or not it had arrived: with Kamon's fields the next report sends all
 * that was recorded since the last success with the timestamp that failed, over what may be there.
 */
#include "influxdb/influxdb_reporter.h"

#include <crest/family.h>

CREST_COUNTER_FAMILY(influxdb_lines, "crest.influxdb-sent-lines",
                     "Lines that the InfluxDB reporter has sent.", address);
CREST_COUNTER_FAMILY_OPTIONS(influxdb_bytes, "crest.influxdb-sent",
                             "What the InfluxDB reporter has sent.", (.unit = CREST_BYTES),
                             address);
CREST_COUNTER_FAMILY(influxdb_dropped, "crest.influxdb-dropped-lines",
                     "Lines and fields that the InfluxDB reporter or its server left out.", cause);

static void influxdb_count_dropped(unsigned dropped)
{
    for (unsigned cause = 0; cause < CREST_INFLUX_CAUSES; cause++)
        if (dropped & 1u << cause)
            crest_counter_inc(influxdb_dropped_with(crest_influx_cause_names[cause]));
}

static crest_status influxdb_put(influxdb_reporter *influxdb, const crest_influx_point *point,
                                 crest_error *error)
{
    crest_influx_line *line = influxdb->line;
    crest_status status = crest_influx_line_make(line, &influxdb->form, point);
    if (status != CREST_OK)
        return crest_error_set(error, status,
                               "No memory for what %s recorded since the last report",
                               point->series->name);
    influxdb_count_dropped(line->dropped);
    if (line->length == 0)
        return CREST_OK;
    status = influxdb->sink->add(influxdb->sink, line->text, line->length, error);
    if (status != CREST_LIMIT)
        return status;
    influxdb_count_dropped(1u << CREST_INFLUX_TOO_LONG);
    return CREST_OK;
}

static crest_status influxdb_put_all(influxdb_reporter *influxdb, const crest_report *report,
                                     uint64_t now, crest_error *error)
{
    crest_series_view series, previous;
    crest_influx_point point = {.series = &series,
                                .report = report,
                                .now = now,
                                .period = influxdb->pending != 0 ? influxdb->pending : now};
    crest_status status = CREST_OK;
    for (size_t i = 0;
         status == CREST_OK && crest_snapshot_series(report->snapshot, i, &series) == CREST_OK;
         i++) {
        int known = crest_report_previous(report, i, &previous) == CREST_OK;
        point.previous = known ? &previous : NULL;
        point.index = i;
        status = influxdb_put(influxdb, &point, error);
    }
    return status;
}

/* What the server refused is written down, and no failure: the body must not be sent again. */
static void influxdb_tell_refused(influxdb_reporter *influxdb)
{
    const crest_influx_sink *sink = influxdb->sink;
    if (sink->refused == 0) {
        influxdb->told = 0;
        return;
    }
    crest_counter_add(influxdb_dropped_with(crest_influx_cause_names[CREST_INFLUX_PARTIAL_WRITE]),
                      (int64_t)sink->refused);
    if (!influxdb->told)
        crest_log_write(CREST_LOG_WARNING,
                        "crest: influxdb: %s took a report without %llu of its lines, which are "
                        "not sent again: %s",
                        sink->shown, (unsigned long long)sink->refused, sink->words);
    influxdb->told = 1;
}

static crest_status influxdb_send(influxdb_reporter *influxdb, const crest_report *report,
                                  crest_error *error)
{
    crest_influx_sink *sink = influxdb->sink;
    uint64_t now = crest_snapshot_wall_ns(report->snapshot) / influxdb->unit_ns;
    if (now <= influxdb->last)
        now = influxdb->last + 1;
    influxdb->last = now;
    crest_status status = sink->begin(sink, report->deadline_ns, error);
    if (status == CREST_OK)
        status = influxdb_put_all(influxdb, report, now, error);
    if (status == CREST_OK)
        status = sink->end(sink, error);
    crest_counter_add(influxdb_lines_with(sink->shown), (int64_t)sink->lines);
    crest_counter_add(influxdb_bytes_with(sink->shown), (int64_t)sink->bytes);
    influxdb_tell_refused(influxdb);
    if (status == CREST_OK)
        influxdb->pending = 0;
    else if (influxdb->pending == 0)
        influxdb->pending = now;
    return status;
}

crest_status crest_influxdb_report(crest_reporter *self, const crest_report *report,
                                   crest_error *error)
{
    influxdb_reporter *influxdb = self->state;
    if (pthread_mutex_trylock(&influxdb->one_at_a_time) != 0)
        return crest_error_set(error, CREST_ALREADY,
                               "Not sent to %s: this reporter is busy with another report",
                               influxdb->sink->shown);
    crest_status status = influxdb_send(influxdb, report, error);
    pthread_mutex_unlock(&influxdb->one_at_a_time);
    return status;
}
