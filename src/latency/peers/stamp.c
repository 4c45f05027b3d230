/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stamps: made, read, sent on, and recorded: how long a message was under way. The bytes are in
 * stamp_code.c, peers' clocks in peer_clock.c. See <crest/stamp.h>.
 *
 * Nothing here locks, allocates or keeps anything.
 */
#include "base/error.h"
#include "base/misuse.h"
#include "instruments/record_slow.h"
#include "latency/peers/peer_clock_inside.h"
#include "latency/peers/peer_filter.h"
#include "latency/peers/stamp_code.h"

#include <string.h>

#define STAMP_AGE_MAX_NS (CREST_STAMP_AGE_MAX_S * INT64_C(1000000000))

_Static_assert(sizeof(crest_stamp) == CREST_STAMP_BYTES, "a stamp is its bytes");

/* The sum of two error bounds; unknown if either is. */
static uint64_t stamp_add(uint64_t a, uint64_t b)
{
    return a == CREST_STAMP_UNKNOWN || b == CREST_STAMP_UNKNOWN || a > UINT64_MAX - b
               ? CREST_STAMP_UNKNOWN
               : a + b;
}

/* ---- making and reading ---- */

static crest_status stamp_refuse(crest_stamp *stamp, crest_error *error, const char *why)
{
    memset(stamp, 0, sizeof *stamp);
    crest_misuse_count(CREST_MISUSE_STAMP, "crest_stamp_make");
    return crest_error_set(error, CREST_INVALID_ARGUMENT, "No stamp can be made: %s.", why);
}

crest_status crest_stamp_make_at(crest_op op, uint64_t wall_ns, uint64_t clock_error_ns,
                                 crest_stamp *stamp, crest_error *error)
{
    crest_stamp_view view = {.origin_ns = wall_ns, .clock_error_ns = clock_error_ns};
    crest_error_clear(error);
    if (!crest_stamp_identify(&op, &view))
        return stamp_refuse(stamp, error,
                            op.length > CREST_OP_EXACT_BYTES
                                ? "the operation's id has more than 32 bytes, which no other "
                                  "process can recognise; name it by a hash of your own"
                                : "the operation has no id");
    if (crest_stamp_wrong(&view) != NULL)
        return stamp_refuse(stamp, error,
                            "the time is none; the machine's clock stands before September 2001 "
                            "or after 2260, or it was not in nanoseconds since 1970");
    crest_stamp_write(&view, stamp);
    return CREST_OK;
}

crest_status crest_stamp_make(crest_op op, crest_stamp *stamp, crest_error *error)
{
    return crest_stamp_make_at(op, crest_wall_now(), crest_wall_error(), stamp, error);
}

/* Version 2 of a stamp: its 32 bytes, the version, and the parent. Of no stamp, zeros. */
static void stamp_extend(const crest_stamp *stamp, crest_span_id parent, crest_stamp_parent *to)
{
    memset(to, 0, sizeof *to);
    if (stamp->bytes[0] == CREST_STAMP_VERSION)
        crest_stamp_write_parent(stamp, parent, to);
}

crest_status crest_stamp_make_under(crest_op op, crest_span_id parent, crest_stamp_parent *stamp,
                                    crest_error *error)
{
    crest_stamp first;
    crest_status status = crest_stamp_make(op, &first, error);
    stamp_extend(&first, parent, stamp);
    return status;
}

crest_span_context crest_stamp_context(const crest_stamp_view *view, crest_op op)
{
    crest_span_context context = {.span = 0};
    if (view->parent != 0 && crest_stamp_names(view, &op)) {
        context = crest_span_context_of(op, view->parent);
        context.remote = 1;
    }
    return context;
}

crest_status crest_stamp_read(const void *bytes, size_t size, crest_stamp_view *view,
                              crest_error *error)
{
    crest_error_clear(error);
    int sized = bytes != NULL && (size == CREST_STAMP_BYTES || size == CREST_STAMP_PARENT_BYTES);
    const char *wrong =
        sized ? crest_stamp_parse(bytes, size, view) : "there are neither 32 nor 40 bytes of it";
    if (wrong == NULL)
        return CREST_OK;
    memset(view, 0, sizeof *view);
    crest_misuse_count(CREST_MISUSE_STAMP, wrong);
    return crest_error_set(error, CREST_INVALID_ARGUMENT,
                           "What a peer sent as a stamp (%zu bytes) is none: %s.", size, wrong);
}

int crest_stamp_names(const crest_stamp_view *view, const crest_op *op)
{
    crest_stamp_view same;
    return crest_stamp_identify(op, &same) && same.kind == view->kind &&
           same.length == view->length && memcmp(same.id, view->id, sizeof same.id) == 0;
}

/* ---- translating ---- */

/* How long ago the stamp was made, as of `received_ns`, and the error of that. */
static crest_status stamp_measure(const crest_stamp_view *view, const crest_peer_clock *from,
                                  const crest_clock_wall *now, uint64_t received_ns,
                                  crest_propagation *result)
{
    int64_t apparent_ns = (int64_t)(received_ns - view->origin_ns);
    *result = (crest_propagation){.duration_ns = apparent_ns};
    if (from == NULL) {
        uint64_t clocks_ns = stamp_add(view->clock_error_ns, crest_wall_error());
        result->error_ns = stamp_add(view->path_error_ns, clocks_ns);
        return CREST_OK;
    }
    crest_peer_clock_state state;
    unsigned drift_ppm;
    if (crest_peer_clock_at(from, now, &state, &drift_ppm) != CREST_OK) {
        result->error_ns = CREST_STAMP_UNKNOWN;
        return CREST_NOT_FOUND;
    }
    result->corrected = 1;
    result->offset_ns = state.offset_ns;
    /* either may be anything, if this machine's clock or what a peer says is far from the truth */
    if (__builtin_add_overflow(apparent_ns, state.offset_ns, &result->duration_ns))
        result->duration_ns = apparent_ns > 0 ? INT64_MAX : -INT64_MAX;
    /* the offset is as of now; at the time of origin it differed by the drift since then */
    uint64_t since_ns = result->duration_ns > 0 ? (uint64_t)result->duration_ns : 0;
    uint64_t drift_ns = crest_peer_drift(drift_ppm, since_ns);
    result->error_ns = stamp_add(view->path_error_ns, state.error_ns + drift_ns);
    return CREST_OK;
}

crest_status crest_stamp_relay(const crest_stamp_view *view, const crest_peer_clock *from,
                               crest_stamp *stamp)
{
    crest_stamp_view next = *view;
    crest_propagation passed;
    crest_clock_wall now = crest_clock_wall_read();
    crest_status status = crest_stamp_wrong(view) == NULL ? CREST_OK : CREST_INVALID_ARGUMENT;
    if (status == CREST_OK && view->hops == CREST_STAMP_HOPS_MAX)
        status = CREST_LIMIT;
    if (status == CREST_OK) {
        if (stamp_measure(view, from, &now, now.wall_ns, &passed) != CREST_OK)
            stamp_measure(view, NULL, &now, now.wall_ns, &passed);
        next.origin_ns = view->origin_ns - (uint64_t)passed.offset_ns;
        next.path_error_ns = passed.error_ns;
        next.clock_error_ns = crest_wall_error();
        next.hops++;
        if (crest_stamp_wrong(&next) != NULL)
            status = CREST_INVALID_ARGUMENT;
    }
    if (status != CREST_OK) {
        memset(stamp, 0, sizeof *stamp);
        crest_misuse_count(CREST_MISUSE_STAMP, "crest_stamp_relay");
        return status;
    }
    crest_stamp_write(&next, stamp);
    return CREST_OK;
}

crest_status crest_stamp_relay_under(const crest_stamp_view *view, const crest_peer_clock *from,
                                     crest_span_id parent, crest_stamp_parent *stamp)
{
    crest_stamp first;
    crest_status status = crest_stamp_relay(view, from, &first);
    stamp_extend(&first, parent, stamp);
    return status;
}

/* ---- recording ---- */

static void stamp_count_early(const crest_peer_clock *from, int recorded)
{
    /* recorded as 0: usual where the clocks' errors exceed the way */
    if (!recorded)
        crest_misuse_count(CREST_MISUSE_EARLY,
                           from != NULL ? crest_peer_clock_name(from) : "without a peer clock");
    if (from != NULL)
        crest_peer_clock_count_early(from, recorded);
}

static crest_status stamp_keep(crest_timer *propagation, const crest_peer_clock *from,
                               crest_outcome outcome, const crest_op *op,
                               const crest_propagation *measured, uint64_t end_ns)
{
    int64_t duration_ns = measured->duration_ns;
    if (duration_ns > STAMP_AGE_MAX_NS || duration_ns < -STAMP_AGE_MAX_NS) {
        crest_misuse_count(CREST_MISUSE_STAMP, "a propagation of more than a day");
        return CREST_LIMIT;
    }
    if (duration_ns < 0) {
        int recorded = measured->error_ns != CREST_STAMP_UNKNOWN &&
                       (uint64_t)-duration_ns <= measured->error_ns;
        stamp_count_early(from, recorded);
        if (!recorded)
            return CREST_NEGATIVE;
        duration_ns = 0;
    }
    return crest_record_ended(propagation, duration_ns, outcome, op, end_ns);
}

static crest_status stamp_record(crest_timer *propagation, const crest_clock_wall *now,
                                 uint64_t received_ns, const crest_stamp_view *view,
                                 const crest_peer_clock *from, crest_outcome outcome,
                                 const crest_op *op, crest_propagation *result)
{
    crest_propagation unwanted;
    if (result == NULL)
        result = &unwanted;
    memset(result, 0, sizeof *result);
    if ((unsigned)outcome >= CREST_OUTCOME_COUNT || crest_stamp_wrong(view) != NULL ||
        received_ns < CREST_WALL_NS_MIN || received_ns > CREST_WALL_NS_MAX) {
        crest_misuse_count(CREST_MISUSE_STAMP, "crest_stamp_record");
        return CREST_INVALID_ARGUMENT;
    }
    if (op != NULL && !crest_stamp_names(view, op)) {
        crest_misuse_count(CREST_MISUSE_STAMP, "another operation's");
        return CREST_MISMATCH;
    }
    if (stamp_measure(view, from, now, received_ns, result) != CREST_OK) {
        crest_peer_clock_count_without(from);
        return CREST_NOT_FOUND;
    }
    if (op == NULL && view->op.kind != CREST_OP_NONE)
        op = &view->op;
    /* the message may have waited since it came */
    uint64_t ago_ns = now->wall_ns > received_ns ? now->wall_ns - received_ns : 0;
    return stamp_keep(propagation, from, outcome, op, result, crest_now() - ago_ns);
}

crest_status crest_stamp_record(crest_timer *propagation, const crest_stamp_view *view,
                                const crest_peer_clock *from, crest_outcome outcome,
                                const crest_op *op, crest_propagation *result)
{
    crest_clock_wall now = crest_clock_wall_read();
    return stamp_record(propagation, &now, now.wall_ns, view, from, outcome, op, result);
}

crest_status crest_stamp_record_at(crest_timer *propagation, uint64_t received_ns,
                                   const crest_stamp_view *view, const crest_peer_clock *from,
                                   crest_outcome outcome, const crest_op *op,
                                   crest_propagation *result)
{
    crest_clock_wall now = crest_clock_wall_read();
    return stamp_record(propagation, &now, received_ns, view, from, outcome, op, result);
}
