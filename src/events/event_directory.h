/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The directory of the file of events: what each event is. And whether events are written.
 */
#ifndef CREST_EVENT_DIRECTORY_H
#define CREST_EVENT_DIRECTORY_H

#include "events/event_format.h"

#include <crest/event.h>

/* All under the list's lock (event_known.h), but for the last one, which any thread may call. */

/* The file whose directory it is; NULL: none. */
void crest_event_directory_of(crest_event_file_header *header);

/* Writes an event into it, if there is a file. */
void crest_event_directory_add(uint32_t number, const crest_event_declaration *declaration);

void crest_events_running_set(int running);
int crest_events_running(void);

#endif
