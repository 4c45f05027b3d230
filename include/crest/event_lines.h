/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events as lines: of text, for people, and of JSON, for log pipelines and for jq; and the
 * reporters that write them into files while the process runs.
 *
 *     crest_event_view event;                                      (event_reader.h)
 *     char line[CREST_EVENT_TEXT_BYTES];
 *     while (crest_event_reader_next(reader, &event))
 *         puts((crest_event_line_text(&event, line, sizeof line), line));
 *
 * From crest_start: events-json=PATH and events-text=PATH; - is standard output, and stderr
 * standard error. Their interval is 1s. Each reads the process's own rings, so a slow file never
 * makes a writer wait: it loses events then, and says in a line how many. Which events they get is
 * what rules say (event_control.h); without a rule, all that are recorded and not confidential.
 *
 * A line of JSON has
 *
 *   time, timeUnixNano   when: RFC 3339 with nanoseconds, and since 1970
 *   event, severity      its name; "debug" … "emergency"
 *   privacy              "confidential" of such an event, else not there
 *   thread, threadName   the kernel's number; where they are known
 *   operation, traceId, spanId
 *                        what the thread was in, where there was such
 *   values               {FIELD: VALUE} of their types; bytes in hexadecimal, an op as
 *                        crest_op_format writes it
 *   cut                  {FIELD: BYTES}: what a text or bytes had before they were cut; null: more
 *                        than are here
 *
 * or, where events were overwritten before they were read, time, timeUnixNano, lost and lostBytes.
 *
 * Of a text the line is time, severity, name, FIELD=VALUE … and thread; texts are in quotes, with
 * the escapes of JSON, and what was cut ends in three dots.
 */
#ifndef CREST_EVENT_LINES_H
#define CREST_EVENT_LINES_H

#include <crest/event_reader.h>
#include <crest/page.h>
#include <crest/reporter.h>

/* Room for any event's line of text. */
#define CREST_EVENT_TEXT_BYTES 8192u
/* Of the reporters, in milliseconds. */
#define CREST_EVENT_LINES_INTERVAL_MS 1000u

typedef enum crest_event_form { CREST_EVENT_FORM_TEXT, CREST_EVENT_FORM_JSON } crest_event_form;

CREST_BEGIN_C

/* The values as text, "height=12 proposer=\"ab\"", cut at a character to `size` bytes with its NUL;
 * returns the length. Thread-safe. In libcrest, as the next one. */
CREST_API size_t crest_event_values_text(const crest_event_view *event, char *text, size_t size);

/* The whole line, without a line feed. As above. */
CREST_API size_t crest_event_line_text(const crest_event_view *event, char *text, size_t size);

/* "debug" … "emergency"; "minimal" … "maximum"; static. Out of range: "". */
CREST_API const char *crest_severity_text(crest_severity severity);
CREST_API const char *crest_detail_text(crest_detail detail);

/* The line in this form, with its line feed, in pieces; returns what `write` returned when it
 * stopped it, else 0. In libcrest-reporters, as the next one. */
CREST_API int crest_event_line_write(const crest_event_view *event, crest_event_form form,
                                     crest_write_fn *write, void *context);

/*
 * Makes a reporter of this process's events; `path` is copied: a file, - or stderr. NULL with
 * *error filled (error may be NULL): CREST_INVALID_ARGUMENT, CREST_IO, CREST_NO_MEMORY. Owned by
 * the caller. Attach it with an interval of about a second. A report that fails is CREST_IO or
 * CREST_TIMED_OUT; its lines are written by the next one, up to 1 MiB of them, and what its events
 * are overwritten by meanwhile is lost and told. Thread-safe; allocates.
 */
CREST_API crest_reporter *crest_event_lines_new(const char *path, crest_event_form form,
                                                crest_error *error);

CREST_END_C

#ifdef CREST_DISABLE
#include <crest/off/event_lines_off.h>
#endif

#endif
