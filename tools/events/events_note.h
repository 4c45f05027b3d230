/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events as programs, libraries and objects declare them: read from the section crest_events of an
 * ELF file, which is not run. <crest/event.h> says what the section has.
 */
#ifndef CREST_EVENTS_NOTE_H
#define CREST_EVENTS_NOTE_H

#include <crest/event_reader.h>

/* Declared events; texts are borrowed until events_notes_free. */
typedef struct events_note {
    const char *name, *doc;
    const char *severity, *detail, *privacy; /* words, as "info" */
    unsigned field_count;
    struct events_note_field {
        const char *type, *name;
        unsigned bound; /* bytes of a text or of bytes; otherwise 0 */
    } field[CREST_EVENT_FIELDS_MAX];
} events_note;

typedef struct events_notes {
    events_note *note; /* by name, each once */
    size_t count;
    char **texts; /* what notes point into */
    size_t text_count;
} events_notes;

/* Adds those of an ELF file. 0, or a sentence that says why not (static or error->message). */
const char *events_notes_read(events_notes *notes, const char *path, crest_error *error);

/* Adds what a file of events tells of an event. 0 without memory. */
int events_notes_add(events_notes *notes, const crest_event_info *info);

/* Sorts them, and leaves each name once. */
void events_notes_sort(events_notes *notes);
void events_notes_free(events_notes *notes);

/* Whether the file begins as an ELF file does. */
int events_notes_is_object(const char *path);

#endif
