/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file of events, read: header, directory, rings' headers, bytes of rings. Nothing is mapped, and
 * nothing is trusted: offsets and lengths are checked against the file's size at each use, texts
 * are made valid UTF-8.
 */
#ifndef CREST_EVENT_SOURCE_H
#define CREST_EVENT_SOURCE_H

#include "events/event_format.h"

#include <crest/event_reader.h>

/* What the directory tells of an event. */
typedef struct crest_event_entry {
    crest_event_info info;
    crest_event_field fields[CREST_EVENT_FIELDS_MAX];
    struct crest_event_entry *next;
    char text[]; /* name, doc, names of fields */
} crest_event_entry;

typedef struct crest_event_source {
    int file;
    crest_event_file_header header; /* as last read; bounds as first read */
    uint64_t directory_read;        /* bytes of the directory that `entries` has */
    crest_event_entry **entries;    /* by number - 1; NULL: none such */
    size_t entry_count;
    size_t entry_room;
    size_t known; /* entries that there are */
} crest_event_source;

/* Takes the descriptor over, also on failure. A status with a sentence. */
crest_status crest_event_source_open(int file, crest_event_source *source, crest_error *error);
void crest_event_source_close(crest_event_source *source);

/* Reads the header anew; 0 when it cannot be read any more. */
int crest_event_source_look(crest_event_source *source);

/* Reads what has been added to the directory. */
void crest_event_source_learn(crest_event_source *source);

/* The event of this number; NULL. */
const crest_event_entry *crest_event_source_entry(const crest_event_source *source,
                                                  uint64_t number);

/* Rings that there are. */
uint64_t crest_event_source_rings(const crest_event_source *source);

/* A ring's header; 0 when it cannot be read. */
int crest_event_source_ring(const crest_event_source *source, uint64_t ring,
                            crest_event_ring *header);

/* `bytes` of a ring from this position on, at most the ring's. 0 when they cannot be read. */
int crest_event_source_read(const crest_event_source *source, uint64_t ring, uint64_t position,
                            char *into, uint64_t bytes);

#endif
