/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which events are recorded, how often, and what they go to besides the ring: rules, which may
 * change while the process runs; and counters of events, which no rule and no limit touches.
 *
 *     crest_events_set("*: warning; casper: debug limit=100/s to=log", &error);
 *
 * Rules are separated by semicolons and ends of lines; a # begins a comment, up to the line's end.
 * A rule is a namespace, a colon and words, each kind once:
 *
 *   debug info notice warning error critical alert emergency
 *                                      recorded from this severity on; off: never
 *   minimal normal detailed maximum    recorded up to this detail
 *   limit=N/s, N/m, N/h                so many of each event, N at once; limit=off
 *   to=OUTPUT:OUTPUT                   log (crest_log_to), text and json (event_lines.h); ring:
 *                                      into the ring alone
 *
 * A namespace is * for all events, or a name: it holds for the event of that name and for all whose
 * name goes on behind a dot or dash. Of the rules that hold for an event the longest that says a
 * thing decides it, each thing by itself. What none says is info, normal, limit=off and
 * to=text:json. A confidential event goes into the ring alone, whatever the rules say.
 *
 * Once a second each limiter that held events back says how many, as an event of its own,
 * crest.event-limit.
 */
#ifndef CREST_EVENT_CONTROL_H
#define CREST_EVENT_CONTROL_H

#include <crest/counter.h>
#include <crest/event.h>

/* Rules of one text, and its bytes; events of a second, minute or hour in limit=. */
#define CREST_EVENT_RULES_MAX 256u
#define CREST_EVENT_RULES_BYTES_MAX 32768u
#define CREST_EVENT_LIMIT_MAX 1000000u

/* What an event goes to besides the ring: bits. */
#define CREST_EVENT_TO_LOG 1u
#define CREST_EVENT_TO_TEXT 2u
#define CREST_EVENT_TO_JSON 4u

/* CREST_EVENT_COUNTED(event, counter): each emission of the event also counts one, at file scope
 * behind the declarations of both. It counts while the event is off or held back, too. */
#ifndef CREST_DISABLE
#define CREST_EVENT_COUNTED(event, counter)                                                        \
    __attribute__((constructor)) static void event##_crest_count(void)                             \
    {                                                                                              \
        crest_event_counted(&event, &counter);                                                     \
    }                                                                                              \
    typedef crest_event event##_crest_counted
#else
#define CREST_EVENT_COUNTED(event, counter) typedef crest_event event##_crest_counted
#endif

CREST_BEGIN_C

/* Replaces all rules, at once for the events that there are, and for those of libraries that are
 * loaded later. NULL or "": the defaults. CREST_INVALID_OPTIONS with a sentence that names the rule
 * and what could stand there, and CREST_NO_MEMORY; the rules stay as they were then. error may be
 * NULL. Thread-safe; locks; allocates; not for handlers. */
CREST_API crest_status crest_events_set(const char *rules, crest_error *error);

/* As CREST_EVENT_COUNTED, which calls it. Of several counters of an event the last counts.
 * CREST_OK; CREST_INVALID_ARGUMENT: the event is not registered; or why the counter is none.
 * Thread-safe; locks; allocates. */
CREST_API crest_status crest_event_counted(crest_event *event, crest_counter *counter);

/* What the event of this number goes to, of this process's own reader (event_reader.h): bits
 * CREST_EVENT_TO_*; 0 for one that there is not. Thread-safe; locks. */
CREST_API unsigned crest_event_goes_to(uint32_t number);

CREST_END_C

#ifdef CREST_DISABLE
#include <crest/off/event_control_off.h>
#endif

#endif
