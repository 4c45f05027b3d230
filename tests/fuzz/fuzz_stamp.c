/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stamps from any bytes: what is read is written again as it was, what is relayed can be read, and
 * no time of a peer leads a record astray.
 */
#include "fuzz_input.h"
#include "latency/peers/stamp_code.h"

#include <crest/crest.h>
#include <crest/testing.h>

CREST_TIMER(fuzz_propagation, "fuzz.propagation-time", "Origin to receipt.");

#define FUZZ_WALL UINT64_C(1700000000000000000)

static crest_peer_clock *fuzz_clock;

static int all_zero(const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < size; i++)
        if (at[i] != 0)
            return 0;
    return 1;
}

static void check_record(const crest_stamp_view *view, const crest_peer_clock *from)
{
    crest_propagation result;
    crest_status status =
        crest_stamp_record(&fuzz_propagation, view, from, CREST_OUTCOME_OK, NULL, &result);
    FUZZ_WANTS(status == CREST_OK || status == CREST_NEGATIVE || status == CREST_LIMIT ||
               status == CREST_NOT_FOUND);
    FUZZ_WANTS(status != CREST_NEGATIVE || result.duration_ns < 0);
    FUZZ_WANTS(result.corrected == (from != NULL && status != CREST_NOT_FOUND));
    crest_stamp stamp;
    crest_stamp_view next;
    if (crest_stamp_relay(view, from, &stamp) == CREST_OK) {
        FUZZ_WANTS(crest_stamp_read(&stamp, sizeof stamp, &next, NULL) == CREST_OK);
        FUZZ_WANTS(next.hops == view->hops + 1);
        FUZZ_WANTS(memcmp(next.id, view->id, sizeof next.id) == 0);
        FUZZ_WANTS(next.path_error_ns >= view->path_error_ns);
    } else {
        FUZZ_WANTS(all_zero(&stamp, sizeof stamp));
    }
}

/* Any parent is believed, of the stamp's own operation only. */
static void check_context(const crest_stamp_view *view)
{
    crest_span_context context = crest_stamp_context(view, view->op);
    int named = view->op.kind != CREST_OP_NONE && view->parent != 0;
    FUZZ_WANTS(crest_span_context_valid(&context) == named);
    FUZZ_WANTS(context.span == (named ? view->parent : 0));
    crest_op another = crest_op_text("another");
    context = crest_stamp_context(view, another);
    FUZZ_WANTS(context.span == 0 || crest_op_equal(&view->op, &another));
}

static uint64_t fuzz_number(fuzz_input *input)
{
    uint64_t number = 0;
    for (int i = 0; i < 8; i++)
        number = number << 8 | fuzz_byte(input);
    return number;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_input input = {data, data + size};
    crest_stamp_view view;
    crest_stamp stamp;
    if (fuzz_clock == NULL) {
        crest_testing_clock_set(FUZZ_WALL / 1000);
        crest_testing_clock_set_wall(FUZZ_WALL);
        fuzz_clock = crest_peer_clock_new(NULL, "fuzz", NULL, NULL);
        FUZZ_WANTS(fuzz_clock != NULL);
    }
    size_t whole = size != 0 && data[0] == CREST_STAMP_PARENT_VERSION ? CREST_STAMP_PARENT_BYTES
                                                                      : CREST_STAMP_BYTES;
    size_t used = size < whole ? size : whole;
    crest_status status = crest_stamp_read(data, used, &view, NULL);
    FUZZ_WANTS(status == CREST_OK || status == CREST_INVALID_ARGUMENT);
    input.at += used;
    uint64_t t1 = fuzz_number(&input), t2 = fuzz_number(&input), t3 = fuzz_number(&input);
    if (size > whole) /* a quarter of an hour before now, as t1 goes */
        crest_peer_clock_add(fuzz_clock, FUZZ_WALL - t1 % (UINT64_C(1) << 40), t2, t3, FUZZ_WALL,
                             NULL);
    if (status != CREST_OK) {
        FUZZ_WANTS(all_zero(&view, sizeof view));
        return 0;
    }
    crest_stamp_write(&view, &stamp);
    if (whole == CREST_STAMP_PARENT_BYTES) {
        crest_stamp_parent parent;
        crest_stamp_write_parent(&stamp, view.parent, &parent);
        FUZZ_WANTS(memcmp(&parent, data, sizeof parent) == 0);
        check_context(&view);
    } else {
        FUZZ_WANTS(memcmp(&stamp, data, sizeof stamp) == 0 && view.parent == 0);
    }
    if (view.op.kind != CREST_OP_NONE) {
        FUZZ_WANTS(crest_stamp_names(&view, &view.op));
        FUZZ_WANTS(view.op.length == view.length && view.op.kind == view.kind);
    }
    check_record(&view, NULL);
    check_record(&view, fuzz_clock);
    return 0;
}
