/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events to the log callback. See event_log.h.
 */
#include "events/event_log.h"
#include "base/atomic.h"
#include "base/error.h"
#include "base/forked.h"
#include "events/event_directory.h"
#include "events/event_rules_now.h"
#include <crest/event_control.h>
#include <crest/event_lines.h>

/* Taken by the thread that is in a turn; guards the others. */
static uint32_t event_log_busy;
static crest_event_reader *event_log_reader; /* NULL: events have not begun, or none goes here */
static uint64_t event_log_lost;
static int event_log_begun; /* a turn saw events run: a reader that is made later begins with now */

/* Fork handler: the child's events are others, and its parent's reader is left behind. */
static void event_log_forked(void)
{
    event_log_busy = 0;
    event_log_reader = NULL;
    event_log_lost = 0;
    event_log_begun = 0;
}
CREST_FORKED(EVENT_LOG, event_log_forked)

static crest_log_level event_log_level(crest_severity severity)
{
    return severity >= CREST_ERROR     ? CREST_LOG_ERROR
           : severity == CREST_WARNING ? CREST_LOG_WARNING
                                       : CREST_LOG_INFO;
}

static void event_log_read(void)
{
    crest_event_view event;
    crest_event_reader_totals totals;
    char line[CREST_ERROR_BYTES];
    for (unsigned i = 0; i < CREST_EVENT_LOG_TURN; i++) {
        if (!crest_event_reader_next(event_log_reader, &event))
            break;
        if ((crest_event_goes_to(event.info->number) & CREST_EVENT_TO_LOG) == 0)
            continue;
        crest_event_line_text(&event, line, sizeof line);
        crest_log_write(event_log_level(event.info->severity), "%s", line);
    }
    crest_event_reader_totals_read(event_log_reader, &totals);
    if (totals.lost != event_log_lost)
        crest_log_write(CREST_LOG_WARNING,
                        "crest: %llu events were overwritten before the log could have them",
                        (unsigned long long)(totals.lost - event_log_lost));
    event_log_lost = totals.lost;
}

/* Non-zero when there is a reader now. */
static int event_log_open(void)
{
    if (crest_event_reader_own(&event_log_reader, NULL) != CREST_OK)
        return 0;
    if (event_log_begun) {
        crest_event_reader_totals totals;
        crest_event_reader_skip(event_log_reader);
        crest_event_reader_totals_read(event_log_reader, &totals);
        event_log_lost = totals.lost;
    }
    return 1;
}

/* Taken: leaves the rings. */
static void event_log_close(void)
{
    crest_event_reader_free(event_log_reader);
    event_log_reader = NULL;
    event_log_lost = 0;
}

static void event_log_work(int last)
{
    int wanted = crest_event_rules_any(CREST_EVENT_TO_LOG) && crest_log_wanted();
    if (crest_atomic_exchange32(&event_log_busy, 1) != 0)
        return;
    if (wanted && (event_log_reader != NULL || event_log_open()))
        event_log_read();
    event_log_begun = !last && (event_log_begun || crest_events_running());
    if (!wanted || last)
        event_log_close();
    /* release: partner of the exchange above, on another thread */
    crest_atomic_exchange32_release(&event_log_busy, 0);
}

void crest_event_log_turn(void)
{
    event_log_work(0);
}

void crest_event_log_end(void)
{
    event_log_work(1);
}
