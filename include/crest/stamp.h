/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stamps: 32 bytes that travel in a message, so that its receiver can say how long it took from one
 * process to the other. The origin writes the operation's id and the time into it. The receiver
 * records the propagation time, corrected by what it knows of the sender's clock.
 *
 *     crest_stamp stamp;                                     the sender
 *     crest_stamp_make(crest_op_bytes(block->hash, 32), &stamp, NULL);
 *     send(peer, &stamp, sizeof stamp, block);
 *
 *     crest_stamp_view view;                                 the receiver
 *     crest_op op = crest_op_bytes(block->hash, 32);
 *     if (crest_stamp_read(bytes, CREST_STAMP_BYTES, &view, &error) == CREST_OK)
 *         crest_stamp_record(&propagation, &view, clock_of_sender, CREST_OUTCOME_OK, &op, NULL);
 *     crest_stamp_relay(&view, clock_of_sender, &stamp);     to send it on
 *
 * A relay translates the time into its own clock, so a receiver only ever needs the offset of the
 * neighbour that it has the message from (peer_clock.h). Each translation adds its error bound.
 *
 * Version 1, numbers big-endian:
 *
 *     byte  0      version: 1
 *     byte  1      kind of the operation's id, a crest_op_kind: 1 u64, 2 u64x2, 3 bytes, 4 text
 *     byte  2      bytes of the id as given: 8 for u64, 16 for u64x2, 1 to 32 for bytes and text
 *     byte  3      hops: how often it was relayed
 *     bytes 4-5    error bound of the translations by relays, as below
 *     bytes 6-7    error bound against UTC of the clock that the time is in, as below
 *     bytes 8-15   the time of origin, nanoseconds since 1970, by the clock of the last sender:
 *                  CREST_WALL_NS_MIN to CREST_WALL_NS_MAX
 *     bytes 16-31  the id: of numbers, one or two of eight bytes; of up to 16 bytes, these; zeros
 *                  behind them. Of 17 to 32 bytes, their SipHash-2-4-128 under the key
 *                  "crest wire stamp" (16 bytes of ASCII), bytes as its authors print them
 *
 * An error of ns nanoseconds is 16 bits: e in the upper 5, m in the lower 11, for m << e, rounded
 * up; m is at least 1024 unless e is 0, so that each number has one encoding. 0xffff: unknown.
 *
 * Version 2 is version 1 with byte 0 at 2 and eight bytes more, for traces (trace_context.h):
 *
 *     bytes 32-39  the span of the sender that the receiver's spans are below; 0: none
 *
 * A reader of version 1 alone refuses version 2, and counts it: of 40 bytes by the size, of 32 by
 * the version. So send version 2 to peers that are known to read it. To others send version 1:
 * the trace is the same, as it comes from the operation; only the parent is missing.
 *
 * The digest has a public key, so a sender that chooses ids can make two with the same digest:
 * stamps are for measuring, not for telling messages apart or for authenticating them. And a peer
 * is believed the time that it writes.
 */
#ifndef CREST_STAMP_H
#define CREST_STAMP_H

#include <crest/peer_clock.h>
#include <crest/timer.h>
#include <crest/trace_context.h>

/* Bytes of a stamp, and of one with a parent. */
#define CREST_STAMP_BYTES 32u
#define CREST_STAMP_PARENT_BYTES 40u
/* Their versions, byte 0. */
#define CREST_STAMP_VERSION 1u
#define CREST_STAMP_PARENT_VERSION 2u
/* Bytes of an id that stand in a stamp as they are. */
#define CREST_STAMP_EXACT_BYTES 16u
/* Relays that a stamp survives. */
#define CREST_STAMP_HOPS_MAX 255u
/* A propagation longer than this, either way, is no propagation: one of the clocks is wrong. */
#define CREST_STAMP_AGE_MAX_S 86400u
/* An error bound that is unknown. */
#define CREST_STAMP_UNKNOWN UINT64_MAX

/* A stamp as it is sent. */
typedef struct crest_stamp {
    unsigned char bytes[CREST_STAMP_BYTES];
} crest_stamp;

/* A stamp with a parent, version 2, as it is sent. */
typedef struct crest_stamp_parent {
    unsigned char bytes[CREST_STAMP_PARENT_BYTES];
} crest_stamp_parent;

/* A stamp's contents. */
typedef struct crest_stamp_view {
    uint64_t origin_ns;      /* since 1970, by the clock of the neighbour that sent it */
    uint64_t path_error_ns;  /* of translations by relays; 0 without any; or _UNKNOWN */
    uint64_t clock_error_ns; /* of that clock against UTC, or _UNKNOWN */
    unsigned hops;           /* relays between the origin and that neighbour, itself included */
    uint32_t kind;           /* of the id: crest_op_kind */
    uint32_t length;         /* bytes of the id */
    unsigned char id[16];    /* the id or its digest, as in the stamp */
    crest_op op;             /* the operation; of a digest, crest_op_none() */
    crest_span_id parent;    /* the sender's span; 0: none, or a stamp of version 1 */
} crest_stamp_view;

/* How long a message was under way. */
typedef struct crest_propagation {
    int64_t duration_ns; /* from origin to receipt; negative where the clocks say so */
    uint64_t error_ns;   /* the true one is this far from it at most, or CREST_STAMP_UNKNOWN */
    int64_t offset_ns;   /* the peer's clock minus the local one, by which it was corrected; or 0 */
    int corrected;       /* non-zero: there was a clock to correct it by */
} crest_propagation;

CREST_BEGIN_C

/*
 * Makes a stamp of this operation, now. CREST_OK. CREST_INVALID_ARGUMENT, counted as misuse, with
 * all bytes of *stamp 0, in three cases: crest_op_none(); a wall clock outside of CREST_WALL_NS_MIN
 * to _MAX; an id of more than CREST_OP_EXACT_BYTES. crest_op hashes such an id under a key of this
 * process, so no other process could recognise it: hash it yourself. error: NULL if not wanted. Any
 * thread, any handler. Cost: a call, a clock read and, for more than 16 bytes, a hash.
 */
CREST_API crest_status crest_stamp_make(crest_op op, crest_stamp *stamp, crest_error *error);

/* The same for a time that was taken before, or from another clock: wall_ns was crest_wall_now()
 * then; clock_error_ns is the bound of its error against UTC (rounded up to 0.1 %;
 * CREST_STAMP_UNKNOWN). */
CREST_API crest_status crest_stamp_make_at(crest_op op, uint64_t wall_ns, uint64_t clock_error_ns,
                                           crest_stamp *stamp, crest_error *error);

/* The same with a parent, as version 2: of a span of the sender, crest_span_current().span for one,
 * or 0. */
CREST_API crest_status crest_stamp_make_under(crest_op op, crest_span_id parent,
                                              crest_stamp_parent *stamp, crest_error *error);

/*
 * Reads the stamp in `size` bytes that were received. CREST_OK. CREST_INVALID_ARGUMENT, counted as
 * misuse (`invalid-stamp`), with *view all zero, for another size than that of its version,
 * CREST_STAMP_BYTES or CREST_STAMP_PARENT_BYTES, another version, and anything that
 * crest_stamp_make would not have written; `error` says what (NULL if not wanted). Any thread, any
 * handler. Cost: a call.
 */
CREST_API crest_status crest_stamp_read(const void *bytes, size_t size, crest_stamp_view *view,
                                        crest_error *error);

/* The parent of what the receiver does with the message: the sender's span in the trace of this
 * operation. All zero, which makes a root, without a parent or for another operation. Any parent is
 * believed: one that there is not leaves spans without a parent in the trace. Any thread, any
 * handler. Cost: a call and two hashes at most. */
CREST_API crest_span_context crest_stamp_context(const crest_stamp_view *view, crest_op op);

/* Non-zero when the stamp is of this operation; of an id of more than 16 bytes, when the digests
 * are the same. Any thread, any handler. Cost: a call. */
CREST_API int crest_stamp_names(const crest_stamp_view *view, const crest_op *op);

/*
 * Makes the stamp to send on: the time translated into the local clock by the offset of `from`, the
 * clock of the neighbour that sent it, with one hop more. Without an estimate (from NULL, or none
 * yet) the time stays as it is. The bounds of both clocks against UTC are then added to the error,
 * which is unknown if one of them is. CREST_OK. Both counted as misuse, with all bytes of *stamp 0:
 * CREST_LIMIT after CREST_STAMP_HOPS_MAX hops; CREST_INVALID_ARGUMENT for a view that no stamp gave
 * or a time that leaves CREST_WALL_NS_MIN to _MAX. Any thread, any handler. Cost: a call, clock
 * reads.
 */
CREST_API crest_status crest_stamp_relay(const crest_stamp_view *view, const crest_peer_clock *from,
                                         crest_stamp *stamp);

/* The same with a parent: the relay's span, under which the next receiver's are. */
CREST_API crest_status crest_stamp_relay_under(const crest_stamp_view *view,
                                               const crest_peer_clock *from, crest_span_id parent,
                                               crest_stamp_parent *stamp);

/*
 * Records how long the message was under way: now minus the time of origin, corrected by the offset
 * of `from`, the clock of the neighbour that sent it; uncorrected if that is NULL. `op`, if given,
 * must be the operation of the stamp; the timer remembers it with its slowest record. result: what
 * was measured, also when it was not recorded; NULL if not wanted.
 *
 * CREST_OK. A propagation that is negative by no more than its error bound is recorded as 0. After
 * any other status nothing is recorded, and it is counted in crest_misuse_total and of `from`:
 *
 * - CREST_NEGATIVE: it came before it was sent, by more than the error, or with an unknown error.
 * - CREST_NOT_FOUND: `from` has no estimate (yet).
 * - CREST_MISMATCH: `op` is another operation.
 * - CREST_LIMIT: more than CREST_STAMP_AGE_MAX_S.
 * - CREST_INVALID_ARGUMENT: an invalid outcome, or a view that no stamp gave.
 * - Or why the timer records nowhere.
 *
 * Any thread, any handler. Cost: a call, clock reads and a record.
 */
CREST_API crest_status crest_stamp_record(crest_timer *propagation, const crest_stamp_view *view,
                                          const crest_peer_clock *from, crest_outcome outcome,
                                          const crest_op *op, crest_propagation *result);

/* The same for a message that came at `received_ns`, crest_wall_now() then: when its bytes were
 * read, before it waited in a queue. If the wall clock is set in between, the figure is wrong. */
CREST_API crest_status crest_stamp_record_at(crest_timer *propagation, uint64_t received_ns,
                                             const crest_stamp_view *view,
                                             const crest_peer_clock *from, crest_outcome outcome,
                                             const crest_op *op, crest_propagation *result);

CREST_END_C

#ifdef CREST_DISABLE
#include <crest/off/stamp_off.h>
#endif

#endif
