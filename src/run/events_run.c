/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading the options of events. See events_run.h.
 */
#include "run/events_run.h"
#include "events/event_directory.h"
#include "events/event_format.h"
#include "run/events_rules_run.h"
#include "windows/tick_listeners.h"

#include <crest/event.h>
#include <crest/gauge.h>
#include <string.h>

/* Made when events are asked for: a node without them does not show them. */
static crest_gauge *events_run_gauge(const char *name, const char *description, crest_unit unit)
{
    crest_metric_options options = {.name = name, .description = description, .unit = unit};
    return crest_gauge_get(NULL, &options, NULL);
}

static struct {
    crest_gauge *written, *written_bytes, *refused, *rings, *rings_refused;
} events_run_gauges;

static void events_run_make(void)
{
    events_run_gauges.written =
        events_run_gauge("crest.events-written",
                         "Events written into rings, overwritten ones included.", CREST_NONE);
    events_run_gauges.written_bytes =
        events_run_gauge("crest.events-written-size", "The same in bytes.", CREST_BYTES);
    events_run_gauges.refused = events_run_gauge(
        "crest.events-refused",
        "Events of threads without a ring, and of handlers in excess of it.", CREST_NONE);
    events_run_gauges.rings =
        events_run_gauge("crest.event-rings", "Threads at a time that emitted events.", CREST_NONE);
    events_run_gauges.rings_refused =
        events_run_gauge("crest.event-rings-refused",
                         "Threads that got no ring: too many, or no memory.", CREST_NONE);
}

/* A listener of ticks. */
static void events_run_tick(void)
{
    crest_event_totals totals;
    crest_events_beat();
    crest_event_totals_read(&totals);
    crest_gauge_set(events_run_gauges.written, (double)totals.written);
    crest_gauge_set(events_run_gauges.written_bytes, (double)totals.written_bytes);
    crest_gauge_set(events_run_gauges.refused, (double)totals.refused);
    crest_gauge_set(events_run_gauges.rings, (double)totals.rings);
    crest_gauge_set(events_run_gauges.rings_refused, (double)totals.rings_refused);
}

static crest_status events_run_rings(const crest_options *options, uint64_t *rings,
                                     crest_error *error)
{
    return crest_option_bytes(options, "events.rings", 1, CREST_EVENT_RINGS_MAX,
                              "a number of threads at a time, from 1 to 1024", rings, error);
}

crest_status crest_events_options_read(const crest_options *options, crest_events_options *read,
                                       crest_error *error)
{
    const char *where = crest_option(options, "events");
    *read = (crest_events_options){.on = where != NULL && strcmp(where, "off") != 0 &&
                                         where[0] != '\0'};
    if (read->on && strcmp(where, "on") != 0)
        read->wish.place.dir = where;
    read->wish.place.name = crest_option(options, "events.name");
    crest_status status =
        crest_option_switch(options, "events.disk", &read->wish.place.disk, error);
    if (status == CREST_OK)
        status = crest_option_bytes(
            options, "events.size", CREST_EVENT_RING_BYTES_MIN, CREST_EVENT_RING_BYTES_MAX,
            "a size: write 16KiB to 64MiB, as 64KiB", &read->wish.ring_bytes, error);
    if (status == CREST_OK)
        status = events_run_rings(options, &read->wish.rings, error);
    if (status == CREST_OK)
        status = crest_events_rules_check(options, error);
    uint64_t size = CREST_EVENT_RING_BYTES_MIN;
    while (size < read->wish.ring_bytes)
        size *= 2;
    if (read->wish.ring_bytes != 0)
        read->wish.ring_bytes = size;
    return status;
}

crest_status crest_events_start(const crest_events_options *options, crest_error *error)
{
    if (!options->on)
        return CREST_OK;
    crest_status status = crest_events_begin(&options->wish, error);
    if (status != CREST_OK && status != CREST_ALREADY) {
        crest_log_write(CREST_LOG_WARNING, "crest: no events are written: %s", error->message);
        return CREST_PARTIAL;
    }
    events_run_make();
    events_run_tick();
    crest_on_tick(events_run_tick);
    return CREST_OK;
}

void crest_events_stop(void)
{
    if (crest_events_running())
        crest_events_rules_stop();
    crest_events_end();
}
