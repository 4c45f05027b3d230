/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading events out of rings, of all rings about by time. See <crest/event_reader.h>; event_ring.h
 * has the protocol, whose reader this is.
 *
 * Each ring has a piece of it copied, at most READER_PIECE_BYTES, and its head as last looked at.
 * Rings are looked at together, when every one has been read to that head: so what was written
 * before one look comes out by time.
 */
#define _GNU_SOURCE
#include "base/alloc.h"
#include "base/error.h"
#include "base/uncancelled.h"
#include "base/utf8.h"
#include "events/event_decode.h"
#include "events/event_file.h"
#include "events/event_source.h"
#include "state/state_place.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define READER_PIECE_BYTES (UINT64_C(1) << 16)
/* Looks for a place that the writer does not overwrite meanwhile; each looks an eighth of the ring
 * further. */
#define READER_TRIES 8u

typedef struct reader_ring {
    uint64_t place, events; /* read so far, and lost */
    crest_event_mark head;  /* as last looked at */
    uint64_t from, to;      /* positions that `piece` holds; place lies there, or from == to */
    char *piece;
    crest_event_ring ring; /* its header, as last read */
} reader_ring;

struct crest_event_reader {
    crest_event_source source;
    reader_ring *rings[CREST_EVENT_RINGS_MAX];
    uint64_t ring_count;
    uint64_t piece_bytes;
    crest_event_reader_totals totals;
    crest_event_decoded decoded;
    char thread_name[3 * 16 + 1];
};

/* ---- opening ---- */

static crest_status reader_make(int file, crest_event_reader **made, crest_error *error)
{
    crest_event_reader *reader = crest_alloc(1, sizeof *reader);
    *made = NULL;
    if (reader == NULL) {
        close(file);
        return crest_error_set(error, CREST_NO_MEMORY, "no memory to read events");
    }
    crest_status status = crest_event_source_open(file, &reader->source, error);
    if (status != CREST_OK) {
        crest_alloc_free(reader);
        return status;
    }
    reader->piece_bytes = reader->source.header.ring_bytes < READER_PIECE_BYTES
                              ? reader->source.header.ring_bytes
                              : READER_PIECE_BYTES;
    crest_event_source_learn(&reader->source);
    *made = reader;
    return CREST_OK;
}

crest_status crest_event_reader_open(const char *path, crest_event_reader **reader,
                                     crest_error *error)
{
    CREST_UNCANCELLED;
    crest_error inner;
    *reader = NULL;
    if (path == NULL)
        return crest_error_set(error, CREST_INVALID_ARGUMENT, "no path was given");
    int follow = strncmp(path, "/proc/", 6) == 0 ? 0 : O_NOFOLLOW;
    int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY | follow);
    if (file < 0)
        return crest_error_set(error, CREST_IO, "%s cannot be opened: %s", path,
                               errno == ELOOP ? "it is a symbolic link" : strerror(errno));
    crest_status status = reader_make(file, reader, &inner);
    if (status != CREST_OK)
        crest_error_set(error, status, "%s cannot be read: %s", path, inner.message);
    return status;
}

crest_status crest_event_reader_own(crest_event_reader **reader, crest_error *error)
{
    CREST_UNCANCELLED;
    *reader = NULL;
    int descriptor = crest_events_descriptor();
    if (descriptor < 0)
        return crest_error_set(error, CREST_NOT_RUNNING,
                               "this process writes no events: write events=on");
    int file = fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
    if (file < 0)
        return crest_error_set(error, CREST_SYSTEM, "no descriptor is left: %s", strerror(errno));
    return reader_make(file, reader, error);
}

void crest_event_reader_free(crest_event_reader *reader)
{
    if (reader == NULL)
        return;
    for (uint64_t i = 0; i < reader->ring_count; i++) {
        crest_alloc_free(reader->rings[i]->piece);
        crest_alloc_free(reader->rings[i]);
    }
    crest_event_source_close(&reader->source);
    crest_alloc_free(reader);
}

/* ---- one ring ---- */

static int reader_mark_whole(const crest_event_mark *mark)
{
    return mark->sum == (mark->position ^ mark->events) && mark->position % 8 == 0;
}

/* Goes on to a mark. */
static void reader_move(crest_event_reader *reader, reader_ring *ring, const crest_event_mark *mark)
{
    reader->totals.lost += mark->events - ring->events;
    reader->totals.lost_bytes += mark->position - ring->place;
    ring->place = ring->from = ring->to = mark->position;
    ring->events = mark->events;
}

static int reader_is_ahead(const reader_ring *ring, const crest_event_mark *mark)
{
    return reader_mark_whole(mark) && mark->position > ring->place && mark->events >= ring->events;
}

/* R1, and R3: reads the ring's header. 0 when it cannot be read. */
static int reader_header(crest_event_reader *reader, uint64_t number)
{
    reader_ring *ring = reader->rings[number];
    if (!crest_event_source_ring(&reader->source, number, &ring->ring))
        return 0;
    if (reader_is_ahead(ring, &ring->ring.head) && ring->ring.head.position >= ring->head.position)
        ring->head = ring->ring.head;
    return 1;
}

/* What is before this position may be overwritten. */
static uint64_t reader_oldest(const crest_event_reader *reader, const reader_ring *ring)
{
    uint64_t size = reader->source.header.ring_bytes;
    return ring->ring.reserved > size ? ring->ring.reserved - size : 0;
}

/* R4: the place was overwritten; goes to the lowest mark at `least` or later, or to the head. */
static void reader_lapped(crest_event_reader *reader, reader_ring *ring, uint64_t least)
{
    const crest_event_mark *best = &ring->head;
    for (unsigned i = 0; i < CREST_EVENT_MARKS; i++) {
        const crest_event_mark *mark = &ring->ring.mark[i];
        if (reader_is_ahead(ring, mark) && mark->position >= least &&
            mark->position < best->position && mark->events <= best->events)
            best = mark;
    }
    if (best->position > ring->place)
        reader_move(reader, ring, best);
}

/* What lies up to the head is no event, as only in a damaged file. */
static void reader_damaged(crest_event_reader *reader, reader_ring *ring)
{
    reader->totals.unreadable++;
    reader_move(reader, ring, &ring->head);
}

/* R2 to R4: copies what comes next. 0 when there is nothing up to the head. */
static int reader_fill(crest_event_reader *reader, uint64_t number)
{
    reader_ring *ring = reader->rings[number];
    uint64_t size = reader->source.header.ring_bytes;
    for (unsigned tries = 0; tries < READER_TRIES && ring->place < ring->head.position; tries++) {
        uint64_t bytes = ring->head.position - ring->place;
        if (bytes > reader->piece_bytes)
            bytes = reader->piece_bytes;
        ring->from = ring->to = ring->place;
        if (!crest_event_source_read(&reader->source, number, ring->place, ring->piece, bytes) ||
            !reader_header(reader, number))
            return 0;
        uint64_t oldest = reader_oldest(reader, ring);
        if (ring->place >= oldest) {
            ring->to = ring->place + bytes;
            return 1;
        }
        reader_lapped(reader, ring, oldest + tries * (size / READER_TRIES));
    }
    if (ring->place < ring->head.position)
        reader_move(reader, ring, &ring->head);
    return 0;
}

/* The words of the ring's next event; NULL when there is none up to its head. */
static const uint64_t *reader_peek(crest_event_reader *reader, uint64_t number)
{
    reader_ring *ring = reader->rings[number];
    for (unsigned again = 0; again < 2; again++) {
        uint64_t left = ring->to - ring->place;
        const uint64_t *words =
            (const uint64_t *)(const void *)(ring->piece + (ring->place - ring->from));
        if (left >= 16) {
            unsigned count = crest_event_words(words[0]);
            if (count != 0 && 8 * count <= left)
                return words;
            if (count == 0 || ring->to == ring->head.position) {
                reader_damaged(reader, ring);
                return NULL;
            }
        }
        if (!reader_fill(reader, number))
            return NULL;
    }
    /* the copy begins with what is no event, or is shorter than one */
    reader_damaged(reader, ring);
    return NULL;
}

/* ---- all rings ---- */

/* Memory for one more ring; 0 without. */
static int reader_add_ring(crest_event_reader *reader)
{
    reader_ring *ring = crest_alloc(1, sizeof *ring);
    if (ring == NULL || (ring->piece = crest_alloc(1, reader->piece_bytes)) == NULL) {
        crest_alloc_free(ring);
        return 0;
    }
    reader->rings[reader->ring_count++] = ring;
    return 1;
}

/* Looks at the file anew; non-zero if a ring has more. */
static int reader_look(crest_event_reader *reader)
{
    int more = 0;
    if (!crest_event_source_look(&reader->source))
        return 0;
    while (reader->ring_count < crest_event_source_rings(&reader->source))
        if (!reader_add_ring(reader))
            break;
    for (uint64_t i = 0; i < reader->ring_count; i++)
        if (reader_header(reader, i))
            more |= reader->rings[i]->head.position > reader->rings[i]->place;
    crest_event_source_look(&reader->source); /* what their events are was told before them */
    crest_event_source_learn(&reader->source);
    return more;
}

/* The ring whose next event is the oldest; UINT64_MAX: there is none. */
static uint64_t reader_oldest_ring(crest_event_reader *reader)
{
    uint64_t best = UINT64_MAX, best_ns = 0;
    for (uint64_t i = 0; i < reader->ring_count; i++) {
        const reader_ring *ring = reader->rings[i];
        if (ring->place >= ring->head.position)
            continue;
        const uint64_t *words = reader_peek(reader, i);
        if (words == NULL || (best != UINT64_MAX && words[1] >= best_ns))
            continue;
        best = i;
        best_ns = words[1];
    }
    return best;
}

static void reader_tell_thread(crest_event_reader *reader, const reader_ring *ring,
                               crest_event_view *view)
{
    uint64_t from = 0;
    char name[17] = "";
    view->thread_name = reader->thread_name;
    reader->thread_name[0] = '\0';
    for (unsigned i = 0; i < CREST_EVENT_OWNERS; i++) {
        const crest_event_owner *owner = &ring->ring.owner[i];
        if (owner->sum != (owner->from ^ owner->thread ^ owner->name[0] ^ owner->name[1]) ||
            owner->thread == 0 || owner->from > ring->place || owner->from < from)
            continue;
        from = owner->from;
        view->thread = owner->thread;
        memcpy(name, owner->name, 16);
    }
    crest_utf8_copy(name, reader->thread_name, sizeof reader->thread_name, NULL);
}

/* Takes the ring's next event out; 0 when it cannot be told what it is. */
static int reader_take(crest_event_reader *reader, uint64_t number, crest_event_view *view)
{
    reader_ring *ring = reader->rings[number];
    const uint64_t *words = reader_peek(reader, number);
    if (words == NULL)
        return 0;
    unsigned count = crest_event_words(words[0]);
    memcpy(reader->decoded.words, words, 8 * count);
    const crest_event_entry *entry = crest_event_source_entry(&reader->source, (uint32_t)words[0]);
    int whole = entry != NULL && crest_event_decode(&entry->info, &reader->decoded, view);
    if (whole) {
        const crest_event_file_header *header = &reader->source.header;
        view->wall_ns = header->beat_wall_ns + (view->ns - header->beat_ns);
        view->ring = (uint32_t)number;
        reader_tell_thread(reader, ring, view);
    }
    ring->place += 8 * count;
    ring->events++;
    reader->totals.read++;
    reader->totals.read_bytes += 8 * count;
    reader->totals.unreadable += !whole;
    return whole;
}

int crest_event_reader_next(crest_event_reader *reader, crest_event_view *view)
{
    CREST_UNCANCELLED;
    for (int looked = 0;;) {
        uint64_t ring = reader_oldest_ring(reader);
        if (ring != UINT64_MAX) {
            if (reader_take(reader, ring, view))
                return 1;
        } else if (looked++ > 0 || !reader_look(reader)) {
            return 0;
        }
    }
}

void crest_event_reader_skip(crest_event_reader *reader)
{
    CREST_UNCANCELLED;
    reader_look(reader);
    for (uint64_t i = 0; i < reader->ring_count; i++)
        if (reader->rings[i]->head.position > reader->rings[i]->place)
            reader_move(reader, reader->rings[i], &reader->rings[i]->head);
}

void crest_event_reader_totals_read(crest_event_reader *reader, crest_event_reader_totals *totals)
{
    const crest_event_file_header *header = &reader->source.header;
    *totals = reader->totals;
    totals->rings = reader->ring_count;
    totals->rings_refused = header->rings_refused;
    totals->refused = header->refused;
    totals->refused_bytes = header->refused_bytes;
    for (uint64_t i = 0; i < reader->ring_count; i++) {
        const reader_ring *ring = reader->rings[i];
        totals->written += ring->head.events;
        totals->written_bytes += ring->head.position;
        totals->refused += ring->ring.refused;
        totals->refused_bytes += ring->ring.refused_bytes;
    }
}

static int reader_alive(const crest_event_file_header *header)
{
    char boot_id[40];
    crest_state_boot_id(boot_id);
    return header->phase == CREST_EVENT_LIVE && strcmp(header->boot_id, boot_id) == 0 &&
           header->pid_start != 0 && crest_state_pid_start(header->pid) == header->pid_start;
}

void crest_event_reader_tell(crest_event_reader *reader, crest_event_reader_about *about)
{
    CREST_UNCANCELLED;
    crest_event_source_look(&reader->source);
    crest_event_source_learn(&reader->source);
    const crest_event_file_header *header = &reader->source.header;
    *about = (crest_event_reader_about){.program = header->program,
                                        .name = header->name,
                                        .pid = header->pid,
                                        .opened_wall_ns = header->opened_wall_ns,
                                        .beat_wall_ns = header->beat_wall_ns,
                                        .farewell_wall_ns = header->farewell_wall_ns,
                                        .ring_bytes = header->ring_bytes,
                                        .alive = reader_alive(header),
                                        .events = reader->source.entry_count};
}

const crest_event_info *crest_event_reader_info(const crest_event_reader *reader, size_t index)
{
    const crest_event_entry *entry = crest_event_source_entry(&reader->source, index + 1);
    return entry != NULL ? &entry->info : NULL;
}
