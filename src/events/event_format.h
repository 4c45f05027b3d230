/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The format of a file of events, as docs/events-format.md tells it. Writers: event_file.c and
 * event_rings.c. Reader: event_reader.c.
 *
 *     0                   crest_event_file_header, one page
 *     4096                the directory: what each event is; `directory_used` bytes of it
 *     rings_offset        rings, ring_stride bytes each: crest_event_ring, ring_bytes of events
 *
 * All numbers are in the machine's byte order. A reader trusts nothing of it.
 */
#ifndef CREST_EVENT_FORMAT_H
#define CREST_EVENT_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#define CREST_EVENT_MAGIC "CRESTEVT"
#define CREST_EVENT_VERSION 1u
#define CREST_EVENT_BYTE_ORDER 0x01020304u
#define CREST_EVENT_PAGE 4096u
#define CREST_EVENT_DIRECTORY_BYTES (1u << 20)
#define CREST_EVENT_SUFFIX ".events"

#define CREST_EVENT_RING_BYTES_MIN (UINT64_C(1) << 14)
#define CREST_EVENT_RING_BYTES_MAX (UINT64_C(1) << 26)
#define CREST_EVENT_RINGS_MAX 1024u

typedef enum crest_event_phase {
    CREST_EVENT_LIVE = 1, /* its process runs, or was killed */
    CREST_EVENT_FAREWELL  /* its process said that it ends */
} crest_event_phase;

/* Texts end with a NUL. Words marked (live) change while the process runs. */
typedef struct crest_event_file_header {
    char magic[8];
    uint32_t version;
    uint32_t byte_order;
    uint64_t file_id;
    uint64_t pid;
    uint64_t pid_start; /* field 22 of /proc/PID/stat: clock ticks since boot */
    char boot_id[40];
    uint64_t opened_ns; /* crest_now(), and the wall clock at the same moment */
    uint64_t opened_wall_ns;
    uint64_t beat_ns; /* (live) the same at the ticker's last beat; at first as opened */
    uint64_t beat_wall_ns;
    uint64_t farewell_wall_ns; /* (live) 0: it did not say that it ends */
    uint64_t directory_used;   /* (live) bytes of whole records; stored after the record */
    uint64_t directory_bytes;
    uint64_t rings_offset;
    uint64_t ring_stride;
    uint64_t ring_bytes; /* a power of two */
    uint64_t rings_max;
    uint64_t rings_given;     /* (live) rings that have pages; stored after the pages are there */
    uint64_t rings_refused;   /* (live) threads that got none */
    uint64_t refused;         /* (live) events of threads without a ring, and their bytes */
    uint64_t refused_bytes;   /* (live) */
    uint64_t records_refused; /* (live) events that found no room in the directory */
    uint32_t phase;           /* (live) crest_event_phase */
    uint32_t zero;
    char name[64];
    char program[256];
} crest_event_file_header;

/* ---- the directory ---- */

/* A record: this, the event's name and doc, and a name for each field, all with a NUL, padded to
 * `bytes`, a multiple of 8. `check` is FNV-1a over the words behind it. */
typedef struct crest_event_record {
    uint32_t bytes; /* this header included */
    uint32_t zero;
    uint64_t check;
    uint32_t number; /* from 1 */
    uint8_t severity, detail, privacy, field_count;
    struct {
        uint16_t type, bound;
    } field[16];
} crest_event_record;

static inline uint64_t crest_event_check(const uint64_t *words, size_t count)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ words[i]) * UINT64_C(0x100000001b3);
    return hash;
}

/* ---- rings ---- */

#define CREST_EVENT_MARKS 32u
#define CREST_EVENT_OWNERS 8u

/* A position and how many events lie before it. A position only grows, so a reader that copied two
 * versions mixed finds sum != position ^ events. */
typedef struct crest_event_mark {
    uint64_t
        position; /* bytes since the ring began; at `position % ring_bytes` behind its header */
    uint64_t events;
    uint64_t sum;
} crest_event_mark;

/* Which thread wrote from a position on. sum: all the words before it, exclusive-or. */
typedef struct crest_event_owner {
    uint64_t from;
    uint64_t thread;
    uint64_t name[2]; /* 16 bytes of text */
    uint64_t sum;
} crest_event_owner;

/* What a ring begins with. event_ring.h has the protocol. */
typedef struct crest_event_ring {
    crest_event_mark head; /* what is before it is whole: readers stop here */
    uint64_t reserved;     /* what is before reserved - ring_bytes may be overwritten */
    uint64_t made;         /* the writer's: events so far */
    uint64_t depth;        /* the writer's: how many emissions are under way, handlers nested */
    uint64_t refused, refused_bytes; /* of handlers, in excess of what the ring holds */
    uint64_t owners;                 /* so many threads had it; the last ones are in `owner` */
    uint64_t rest[7];
    crest_event_owner owner[CREST_EVENT_OWNERS];
    crest_event_mark mark[CREST_EVENT_MARKS]; /* the latest in each 1/32 of the ring */
} crest_event_ring;
#define CREST_EVENT_RING_HEADER_BYTES 4096u
_Static_assert(sizeof(crest_event_ring) <= CREST_EVENT_RING_HEADER_BYTES, "the ring's header");

/* ---- events ---- */

/* Word 0: number of the event, words with both first ones, flags. Word 1: crest_now(). Then what
 * the flags say, then the values. */
#define CREST_EVENT_HEAD(number, words, flags)                                                     \
    ((uint64_t)(number) | (uint64_t)(words) << 32 | (uint64_t)(flags) << 48)
#define CREST_EVENT_HAS_OP 1u   /* five words of crest_op */
#define CREST_EVENT_HAS_SPAN 2u /* 16 bytes of trace id, the span id, flags */
#define CREST_EVENT_OP_WORDS 5u
#define CREST_EVENT_SPAN_WORDS 4u
/* Words of an event, at most. */
#define CREST_EVENT_WORDS_MAX (2u + CREST_EVENT_OP_WORDS + CREST_EVENT_SPAN_WORDS + 128u)

#endif
