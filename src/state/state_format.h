/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The format of a state file, as docs/state-format.md tells it: header, table of extents, records
 * of the directory, and where in the cells a reader finds values. Writer: state_file.c. Readers
 * include this header and nothing else of this room.
 *
 *     0        crest_state_header, one page
 *     4096     crest_state_extent[CREST_STATE_EXTENTS_MAX], of which header.extents are in use
 *     65536    the extents' bytes, each at its `offset`
 *
 * All numbers are in the machine's byte order. A reader of a dead process trusts nothing: offsets,
 * lengths and addresses are checked before each use.
 */
#ifndef CREST_STATE_FORMAT_H
#define CREST_STATE_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#define CREST_STATE_MAGIC "CRESTSTA"
#define CREST_STATE_VERSION 3u
#define CREST_STATE_BYTE_ORDER 0x01020304u
#define CREST_STATE_PAGE 4096u
#define CREST_STATE_HEADER_BYTES 65536u

/* What a file ends with; its name without it is the node's, see docs/state-format.md. */
#define CREST_STATE_SUFFIX ".crest"

/* Dead files that one start adopts, at most. */
#define CREST_STATE_CHAIN_MAX 16u

typedef enum crest_state_phase {
    CREST_STATE_BUILDING = 1, /* being opened; what it counts is worth as much as that of LIVE */
    CREST_STATE_LIVE,         /* its process runs, or was killed */
    CREST_STATE_FAREWELL,     /* its process said that it ends */
    CREST_STATE_ADOPTED       /* its totals are in a later file */
} crest_state_phase;

/* Texts end with a NUL and are cut at their room. Words marked (live) change while the process
 * runs; each is stored atomically. */
typedef struct crest_state_header {
    char magic[8];
    uint32_t version;
    uint32_t byte_order;
    uint64_t layout;         /* CREST_STATE_LAYOUT of the writer */
    uint64_t file_id;        /* random, never 0 */
    uint64_t pid;            /* in the writer's PID namespace */
    uint64_t pid_start;      /* field 22 of /proc/PID/stat: clock ticks since boot */
    char boot_id[40];        /* of /proc/sys/kernel/random/boot_id */
    uint64_t opened_ns;      /* crest_now() when the file was opened */
    uint64_t opened_wall_ns; /* since 1970, at the same moment */
    uint64_t beat_ns;        /* (live) crest_now() at the ticker's last beat; at first opened_ns */
    uint64_t beat_wall_ns;   /* (live) the same moment since 1970 */
    uint64_t beats;          /* (live) beats so far */
    uint64_t farewell_wall_ns; /* (live) when the process said that it ends; 0: it did not */
    uint64_t previous_id;      /* file_id of the newest file that this process found; 0: none */
    uint64_t refused_bytes;    /* (live) bytes of cells that had no room in the file */
    uint64_t refused_records;  /* (live) records of the directory that had none */
    uint32_t phase;            /* (live) crest_state_phase */
    uint32_t extents;          /* (live) extents in use; stored after the extent's entry */
    /* Adoption: the ids are written first, then `adopted` says how many there are, and that the
     * thread records marked CREST_STATE_THREAD_ADOPTED count. One store commits it. */
    uint64_t adopted; /* (live) */
    uint64_t adopted_ids[CREST_STATE_CHAIN_MAX];
    char name[64];     /* the file's, without suffix */
    char program[256]; /* the executable's path */
    char service[256]; /* (live) crest_start's; empty before it */
    char instance[256];
    char service_version[256];
    char library[32]; /* crest_version() */
} crest_state_header;

typedef enum crest_state_extent_kind {
    CREST_STATE_CELLS = 1, /* mapped at `address` in the writer; addresses in cells lead there */
    CREST_STATE_DIRECTORY, /* records, one behind the other, `used` bytes of them */
    CREST_STATE_SPANS      /* the same, all of them SPAN */
} crest_state_extent_kind;

typedef struct crest_state_extent {
    uint64_t address; /* CELLS: in the writer */
    uint64_t offset;  /* in the file; a multiple of the page */
    uint64_t bytes;
    uint64_t used; /* (live) DIRECTORY, SPANS: bytes of whole records; stored after the record */
    uint32_t kind;
    uint32_t zero;
} crest_state_extent;

#define CREST_STATE_EXTENTS_MAX                                                                    \
    ((CREST_STATE_HEADER_BYTES - CREST_STATE_PAGE) / sizeof(crest_state_extent))

/* ---- records of the directory ---- */

/*
 * `bytes` is a multiple of 8 and never changes. A record whose series ended is FREE, and its place
 * is used again for another record that needs no more bytes: type FREE is stored, then the body,
 * then `check`, then the type. So a record whose check differs is in the making, or was when its
 * process was killed: a reader passes it over.
 */
typedef struct crest_state_record {
    uint32_t bytes; /* this header included */
    uint32_t type;  /* (live) crest_state_type */
    uint64_t check; /* crest_state_check of the body and the type */
} crest_state_record;

typedef enum crest_state_type {
    CREST_STATE_FREE = 1,
    CREST_STATE_METRIC,
    CREST_STATE_SERIES,
    CREST_STATE_THREAD,
    CREST_STATE_SHARED_CHUNK,
    CREST_STATE_KEYED,
    CREST_STATE_IN_FLIGHT,
    CREST_STATE_SPAN
} crest_state_type;

/*
 * A metric. Behind it `bound_count` doubles, then texts, each with its NUL: canonical name,
 * exported name, description; constant labels' keys and values in turn; the keys of its labels (a
 * timer's "outcome" is not among them); the names of its stages. An open family gets a new record
 * with the same id when it gets a key: the record that comes later counts, and series written
 * before it have fewer values than it has keys.
 */
typedef struct crest_state_metric {
    crest_state_record record;
    uint32_t id;     /* from 1 */
    uint32_t kind;   /* crest_kind; a timer and stages are CREST_KIND_TIMER */
    uint32_t unit;   /* crest_unit */
    uint32_t parent; /* id of the metric that this companion belongs to; 0: none */
    uint32_t layout_bits, layout_unit, layout_blocks; /* of a distribution; blocks 0: none */
    uint32_t bound_count; /* bucket limits, in the base unit: seconds, bytes */
    uint64_t layout_highest;
    uint64_t deadline_ns;
    uint32_t constant_count, key_count, stage_count;
    uint32_t open; /* 1: an open family */
} crest_state_metric;

/*
 * A series: one per label values, a timer's one per outcome. Behind it `value_count` texts. Birth
 * 0: adopted from a dead run, and not made in this one yet. Of two records with one slot, as a kill
 * may leave them, that with the higher birth counts.
 */
typedef struct crest_state_series {
    crest_state_record record;
    uint64_t birth; /* number of its life; no other life of the process has it */
    uint64_t
        shared;    /* address of a gauge's double, a range sampler's or a histogram's shared part */
    uint64_t base; /* counters: what its slot's cells held before; to be subtracted */
    uint32_t slot;
    uint32_t metric;      /* id */
    uint32_t made_s;      /* since 1970; 0: not known */
    uint16_t outcome;     /* crest_outcome of a timer */
    uint16_t value_count; /* label values, outcome excluded */
} crest_state_series;

/* A table of cells, of a thread, a lane, or of what was adopted; or, with DELIVERED, of words that
 * say how far receivers of differences have the slots' series, as cells do: in no sum. */
typedef struct crest_state_thread {
    crest_state_record record;
    uint64_t table; /* address of CREST_STATE_CHUNKS addresses of cells, biased by the slot */
    uint64_t flags;
} crest_state_thread;
#define CREST_STATE_THREAD_LANE UINT64_C(1)
#define CREST_STATE_THREAD_ADOPTED UINT64_C(2)
#define CREST_STATE_THREAD_DELIVERED UINT64_C(4)

/* The shared cells of a chunk of slots: slot s is at address + 8 * (s % CREST_STATE_CHUNK). */
typedef struct crest_state_shared_chunk {
    crest_state_record record;
    uint64_t address;
    uint64_t chunk;
} crest_state_shared_chunk;

/* A timer's or stages' child in which operations are begun; entries in flight bear its address.
 * Behind it `value_count` texts: the child's label values, without an outcome. */
typedef struct crest_state_keyed {
    crest_state_record record;
    uint64_t keyed; /* an address that leads nowhere in the file: only a name */
    uint32_t metric;
    uint32_t value_count;
} crest_state_keyed;

/* A block of entries of the table of operations in flight. */
typedef struct crest_state_in_flight {
    crest_state_record record;
    uint64_t address;
    uint32_t entries;
    uint32_t entry_bytes;
} crest_state_in_flight;

/*
 * A finished span that was kept. Behind it `event_count` words, when each event was; two words for
 * each attribute, its crest_span_value_type and its value's bits (of a text 0); then texts: name,
 * status message, key and text of each attribute in turn ("" where it is none), events' names.
 *
 * They lie in two extents of kind SPANS. One is filled; when it has no room, the older one is
 * emptied (`used` 0) and filled: so the last spans are there, of at least one extent's bytes.
 */
typedef struct crest_state_span {
    crest_state_record record;
    uint8_t trace[16];
    uint64_t id, parent; /* parent 0: a root */
    uint64_t start_unix_ns, end_unix_ns;
    uint64_t op[5]; /* crest_op */
    uint64_t folded_count, folded_sum_ns, folded_max_ns;
    uint32_t dropped_attributes;
    uint16_t attribute_count, event_count;
    uint8_t outcome; /* crest_outcome */
    uint8_t kind;    /* crest_span_kind */
    uint8_t why;     /* crest_span_why */
    uint8_t flags;
    uint32_t zero;
} crest_state_span;
_Static_assert(sizeof(crest_state_span) == 144, "a span has no hidden padding");

#define CREST_STATE_SPANS_BYTES 32768u   /* of each of the two extents */
#define CREST_STATE_SPAN_BYTES_MAX 4096u /* of a record */
#define CREST_STATE_SPAN_ATTRIBUTES_MAX 24u
#define CREST_STATE_SPAN_EVENTS_MAX 8u

/* ---- what the cells hold; each checked beside its structure ---- */

#define CREST_STATE_CHUNK 4096u  /* cells of a chunk: slot / CREST_STATE_CHUNK is its number */
#define CREST_STATE_CHUNKS 1024u /* chunks of a table */

/* A histogram's cell is an address: 0; that of a shard; or, with this bit, that of a beginning. */
#define CREST_STATE_BEGINNING_MARK UINT64_C(8)
/* A beginning's places lie at (address - mark + this); each holds a value plus one, 0 and
 * UINT64_MAX hold none. */
#define CREST_STATE_BEGINNING_AT 4096u
#define CREST_STATE_BEGINNING_VALUES 4u

/* A shard: 64 words that lead to blocks, and extremes. block[top] of a value whose highest bit is
 * `top`: the low six bits are the shift, the others an address; the count of the value is the word
 * at address + 8 * (value >> shift). Block 0 of a layout is at block[0], and block n at
 * block[unit + bits + n]. */
#define CREST_STATE_SHARD_BYTES 552u
#define CREST_STATE_SHARD_SUM 512u
#define CREST_STATE_SHARD_MAX 520u
#define CREST_STATE_SHARD_MIN 528u
#define CREST_STATE_BLOCK_SHIFT UINT64_C(63)

/* A histogram's shared part: records that found no shard, by their number of significant bits. */
#define CREST_STATE_SHARED_BYTES 552u
#define CREST_STATE_SHARED_SUM 0u
#define CREST_STATE_SHARED_MAX 8u
#define CREST_STATE_SHARED_MIN_INVERTED 16u
#define CREST_STATE_SHARED_COUNT 32u
#define CREST_STATE_SHARED_ZEROS 544u

/* A range sampler: an int64_t, plus one while the lowest bit of `held` is set. */
#define CREST_STATE_RANGE_BYTES 128u
#define CREST_STATE_RANGE_VALUE 0u
#define CREST_STATE_RANGE_HELD 72u

/* An entry in flight is begun if (state & 3) == 1. Times are of crest_now(). */
#define CREST_STATE_ENTRY_BYTES 112u
#define CREST_STATE_ENTRY_STATE 0u
#define CREST_STATE_ENTRY_BEGUN_NS 16u
#define CREST_STATE_ENTRY_OVERDUE_NS 24u /* 0: never */
#define CREST_STATE_ENTRY_KEYED 32u
#define CREST_STATE_ENTRY_OP 40u   /* crest_op, 40 bytes */
#define CREST_STATE_ENTRY_LAST 80u /* the stage marked last, from 1; 0: none */
#define CREST_STATE_OP_BYTES 40u

/* FNV-1a over 64-bit words (G. Fowler, L. C. Noll, K.-P. Vo), for layouts and records: it finds
 * torn and damaged records, and is no defence against forged ones. */
#define CREST_STATE_FNV_BASIS UINT64_C(0xcbf29ce484222325)
#define CREST_STATE_FNV_PRIME UINT64_C(0x100000001b3)
#define CREST_STATE_MIX_(hash, word) (((hash) ^ (uint64_t)(word)) * CREST_STATE_FNV_PRIME)

#define CREST_STATE_LAYOUT                                                                         \
    CREST_STATE_MIX_(                                                                              \
        CREST_STATE_MIX_(                                                                          \
            CREST_STATE_MIX_(                                                                      \
                CREST_STATE_MIX_(CREST_STATE_MIX_(CREST_STATE_FNV_BASIS, CREST_STATE_VERSION),     \
                                 CREST_STATE_CHUNK *CREST_STATE_CHUNKS),                           \
                CREST_STATE_SHARD_BYTES * 1000u + CREST_STATE_SHARED_BYTES),                       \
            CREST_STATE_RANGE_BYTES * 1000u + CREST_STATE_ENTRY_BYTES),                            \
        sizeof(crest_state_header) * 1000u + sizeof(crest_state_extent))

/* The check of a record of this type, whose body is `bytes` bytes behind its header. */
static inline uint64_t crest_state_check(uint32_t type, const void *body, size_t bytes)
{
    const unsigned char *from = (const unsigned char *)body;
    uint64_t hash = CREST_STATE_MIX_(CREST_STATE_FNV_BASIS, type);
    for (size_t at = 0; at + sizeof(uint64_t) <= bytes; at += sizeof(uint64_t)) {
        uint64_t word;
        __builtin_memcpy(&word, from + at, sizeof word);
        hash = CREST_STATE_MIX_(hash, word);
        hash ^= hash >> 32;
    }
    return hash;
}

_Static_assert(sizeof(crest_state_header) <= CREST_STATE_PAGE, "the header is one page");
_Static_assert(sizeof(crest_state_extent) == 40, "an extent has no hidden padding");

#endif
