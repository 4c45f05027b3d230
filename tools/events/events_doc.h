/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Declared events as a page of Markdown, and as lines for a terminal.
 */
#ifndef CREST_EVENTS_DOC_H
#define CREST_EVENTS_DOC_H

#include "events/events_note.h"

#include <stdio.h>

/* A section a first word of names, a table in each. */
void events_doc_page(const events_notes *notes, FILE *to);
/* An event a line, its description below; at most `width` columns, 0: as many as there are. */
void events_doc_list(const events_notes *notes, unsigned width, FILE *to);
/* An event a line of JSON. */
void events_doc_json(const events_notes *notes, FILE *to);

#endif
