/* SPDX-License-Identifier: Apache-2.0 */
/* Failures in what events call: begun, ruled, read back, written as lines. See faults.h. */
#define _GNU_SOURCE
#include "faults.h"

#include <crest/event.h>
#include <crest/event_control.h>
#include <crest/event_lines.h>
#include <crest/event_reader.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

CREST_EVENT(happened, "f.happened", CREST_INFO, "It happened.", (u64, number), (text, why));
CREST_COUNTER(times, "f.times", "How often f.happened was emitted.");

static const char *events_folder(void)
{
    static char folder[80];
    snprintf(folder, sizeof folder, "/dev/shm/crest-faults-events-%d", (int)getpid());
    return folder;
}

static crest_status worse(crest_status status, crest_status other)
{
    return status != CREST_OK ? status : other;
}

/* Rules, and that refused ones leave them as they are. */
static crest_status ruled(crest_error *error)
{
    crest_error refused;
    crest_status status = crest_events_set("f: info limit=1000000/s; *: error", error);
    crest_status wrong = crest_events_set("f: loud", &refused);
    FAULT_HOLDS(wrong == CREST_INVALID_OPTIONS || wrong == CREST_NO_MEMORY);
    return worse(status, crest_events_set(NULL, status == CREST_OK ? error : &refused));
}

/* Reads all that there is; in what is read nothing is torn. */
static crest_status read_back(crest_event_reader *reader)
{
    crest_event_view event;
    crest_event_reader_about about;
    crest_event_reader_totals totals;
    crest_event_reader_tell(reader, &about);
    for (size_t i = 0; i < about.events; i++)
        FAULT_HOLDS(crest_event_reader_info(reader, i) != NULL);
    while (crest_event_reader_next(reader, &event))
        if (strcmp(event.info->name, "f.happened") == 0)
            FAULT_HOLDS(event.value_count == 2 && event.values[0].as.u == 17 &&
                        strcmp(event.values[1].as.text.data, "because") == 0 &&
                        crest_event_goes_to(event.info->number) != CREST_EVENT_TO_LOG);
    crest_event_reader_skip(reader);
    crest_event_reader_totals_read(reader, &totals);
    FAULT_HOLDS(totals.read + totals.lost <= totals.written);
    crest_event_reader_free(reader);
    return CREST_OK;
}

static crest_status call_events(fault_run *run, crest_error *error)
{
    char options[300], path[200];
    crest_error later;
    crest_event_reader *reader;
    snprintf(options, sizeof options,
             "service=faults,atexit=off,interval=1h,events=%s,events.name=f,events.size=16KiB",
             events_folder());
    crest_status status = crest_start(options, error);
    if (status != CREST_OK && status != CREST_PARTIAL)
        return status;
    status = status == CREST_PARTIAL ? CREST_OK : status; /* it measures all the same */
    FAULT_HOLDS(crest_event_register(&happened) != CREST_ABI_MISMATCH);
    crest_status counted = crest_event_counted(&happened, &times);
    FAULT_HOLDS(counted == CREST_OK || counted == CREST_NO_MEMORY || counted == CREST_LIMIT);
    for (unsigned i = 0; i < 20; i++)
        CREST_EMIT(happened, 17, "because");
    status = worse(status, ruled(status == CREST_OK ? error : &later));
    if (crest_event_reader_own(&reader, &later) == CREST_OK)
        read_back(reader);
    snprintf(path, sizeof path, "%s/f.events", events_folder());
    if (crest_event_reader_open(path, &reader, &later) == CREST_OK)
        read_back(reader);
    else
        FAULT_HOLDS(strchr(later.message, ' ') != NULL);
    snprintf(path, sizeof path, "%s/lines", run->folder);
    crest_reporter *lines = crest_event_lines_new(path, CREST_EVENT_FORM_JSON, &later);
    if (lines != NULL) {
        crest_report report = {.deadline_ns = UINT64_MAX};
        crest_status written = lines->report(lines, &report, &later);
        FAULT_HOLDS(written == CREST_OK || strchr(later.message, ' ') != NULL);
    } else {
        FAULT_HOLDS(strchr(later.message, ' ') != NULL);
    }
    crest_reporter_free(lines);
    return worse(status, crest_stop(faults_patience_ms(5000), &later));
}

static void end_events(fault_run *run)
{
    static const char *const ends[] = {"f.lock",
                                       "f.events.lock",
                                       "f.events",
                                       "f.events.previous",
                                       "f.events.previous.2",
                                       "f.events.previous.3"};
    char path[200];
    for (unsigned i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", events_folder(), ends[i]);
        unlink(path);
    }
    rmdir(events_folder());
    snprintf(path, sizeof path, "%s/lines", run->folder);
    unlink(path);
    crest_event_unregister(&happened);
    crest_event_register(&happened);
}

static const fault_scenario scenarios[] = {
    {"events", NULL, call_events, end_events, FAULT_TELLS | FAULT_SLOW, " write "},
};

int main(int argc, char **argv)
{
    return faults_main(argc, argv, scenarios, sizeof scenarios / sizeof scenarios[0]);
}
