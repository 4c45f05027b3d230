/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading events: of a process that runs, of one that was killed, or of a copy of its file.
 *
 *     crest_event_reader *reader;
 *     crest_event_view event;
 *     if (crest_event_reader_open("/run/node/node.events", &reader, &error) != CREST_OK) …
 *     while (crest_event_reader_next(reader, &event))
 *         printf("%s %llu\n", event.info->name, (unsigned long long)event.wall_ns);
 *     crest_event_reader_free(reader);
 *
 * A file is read and never mapped; nothing in it is trusted. Reading costs the writers nothing:
 * what they overwrite before it is read is lost, and counted exactly, in events and in bytes. Each
 * reader has its own place. Thread-safe for different readers. docs/events-format.md tells of the
 * format.
 */
#ifndef CREST_EVENT_READER_H
#define CREST_EVENT_READER_H

#include <crest/event.h>

typedef struct crest_event_reader crest_event_reader;

/* What an event is, from the file. Texts are borrowed until crest_event_reader_free, and valid
 * UTF-8. */
typedef struct crest_event_info {
    uint32_t number; /* of the event in this file, from 1 */
    const char *name, *doc;
    crest_severity severity;
    crest_detail detail;
    crest_privacy privacy;
    unsigned field_count;
    const crest_event_field *fields;
} crest_event_info;

typedef struct crest_event_value {
    crest_event_type type;
    union {
        uint64_t u; /* also bool: 0 or 1 */
        int64_t i;
        double d;
        crest_op op;
        struct {
            const char *data;    /* of a text NUL-terminated, valid UTF-8 */
            uint32_t length;     /* bytes that are here, without the NUL */
            uint32_t was_length; /* bytes that it had; more than `length` if it was cut. UINT32_MAX
                                    of a text: it went on beyond its bound */
        } text;                  /* and bytes */
    } as;
} crest_event_value;

/* An event. What it points to is borrowed until the next call with the reader. */
typedef struct crest_event_view {
    const crest_event_info *info;
    uint64_t ns;             /* crest_now() of the process */
    uint64_t wall_ns;        /* the same since 1970, by the file's calibration */
    uint64_t thread;         /* the kernel's number; 0: not known any more */
    const char *thread_name; /* or "" */
    crest_op op;             /* that the thread was in, or CREST_OP_NONE */
    crest_span_context span; /* that was current, or zero */
    unsigned value_count;    /* info->field_count */
    const crest_event_value *values;
    uint32_t bytes; /* in the ring */
    uint32_t ring;
} crest_event_view;

/* How far a reader is. At each moment read + lost is what was written up to there, in events and in
 * bytes. */
typedef struct crest_event_reader_totals {
    uint64_t read, read_bytes;
    uint64_t lost, lost_bytes;       /* overwritten before they were read */
    uint64_t written, written_bytes; /* into rings, at the last look at each */
    uint64_t refused, refused_bytes; /* that found no ring, or no room in it: not in `written` */
    uint64_t unreadable; /* read, but of an event or shape that the file does not tell */
    uint64_t rings, rings_refused;
} crest_event_reader_totals;

/* Whose file it is; texts as crest_event_info's. */
typedef struct crest_event_reader_about {
    const char *program, *name;
    uint64_t pid;
    uint64_t opened_wall_ns, beat_wall_ns;
    uint64_t farewell_wall_ns; /* 0: it did not stop */
    uint64_t ring_bytes;
    int alive; /* the process is there, as far as this machine's /proc tells */
    size_t events;
} crest_event_reader_about;

CREST_BEGIN_C

/* Opens a file; *reader is NULL after an error. CREST_IO with a sentence: it cannot be opened, is
 * no regular file, no file of events, or of another version. A symbolic link at the path's end is
 * refused, but under /proc. CREST_NO_MEMORY. error may be NULL. */
CREST_API crest_status crest_event_reader_open(const char *path, crest_event_reader **reader,
                                               crest_error *error);
/* Opens this process's own events; CREST_NOT_RUNNING while it has none. */
CREST_API crest_status crest_event_reader_own(crest_event_reader **reader, crest_error *error);
CREST_API void crest_event_reader_free(crest_event_reader *reader);

/* The next event of all rings, about by time: 1, or 0 when there is none at present; call again
 * later. Blocks on reading the file. */
CREST_API int crest_event_reader_next(crest_event_reader *reader, crest_event_view *view);

/* Goes to the newest events of each ring; what is passed over counts as lost. */
CREST_API void crest_event_reader_skip(crest_event_reader *reader);

CREST_API void crest_event_reader_totals_read(crest_event_reader *reader,
                                              crest_event_reader_totals *totals);
CREST_API void crest_event_reader_tell(crest_event_reader *reader, crest_event_reader_about *about);

/* Event `index`, below about.events. NULL past the end. Read anew at each _tell and _next. */
CREST_API const crest_event_info *crest_event_reader_info(const crest_event_reader *reader,
                                                          size_t index);

CREST_END_C

#ifdef CREST_DISABLE
#include <crest/off/event_reader_off.h>
#endif

#endif
