/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long messages take between processes. Two nodes in one program: b's clock is three seconds
 * ahead of a's. From pings a estimates the offset, from stamps in blocks it reads when they were
 * made, and it records how long they were under way. Then a sends a block of its own, and measures
 * how long it takes until three of its four neighbours have it. The clocks are test clocks, so that
 * it prints the same each time; a real program calls crest_wall_now() instead.
 */
#include <crest/crest.h>
#include <crest/testing.h>
#include <inttypes.h>
#include <stdio.h>

#define MS UINT64_C(1000000)
#define B_IS_AHEAD (UINT64_C(3000) * MS)

CREST_TIMER(propagation, "casper.block-propagation-time", "From its proposer to here.");
CREST_TIMER(coverage_time, "casper.block-coverage-time", "Until 3 of 4 neighbours have it.");

static uint64_t clock_of_b(void)
{
    return crest_wall_now() + B_IS_AHEAD;
}

/* A message is under way for so long. */
static void pass(uint64_t ns)
{
    crest_testing_clock_advance(ns);
}

/* b's answer to a ping bears two times: when it came, and when the answer left. */
static void ping(crest_peer_clock *b, uint64_t there_ns, uint64_t back_ns)
{
    uint64_t t1 = crest_wall_now();
    pass(there_ns);
    uint64_t t2 = clock_of_b(), t3 = clock_of_b();
    pass(back_ns);
    crest_peer_clock_add(b, t1, t2, t3, crest_wall_now(), NULL);
}

static void show_clock(const crest_peer_clock *b)
{
    crest_peer_clock_state state;
    crest_status status = crest_peer_clock_read(b, &state);
    if (status != CREST_OK)
        printf("b's clock: %s\n", crest_status_text(status));
    else
        printf("b's clock: %+.3f s, give or take %.3f s\n", (double)state.offset_ns / 1e9,
               (double)state.error_ns / 1e9);
}

/* What a does with a block's stamp; `b` NULL: without an estimate of b's clock. */
static void receive(const char *how, const crest_stamp *stamp, const crest_op *block,
                    const crest_peer_clock *b)
{
    crest_error error;
    crest_stamp_view view;
    crest_propagation took;
    if (crest_stamp_read(stamp, sizeof *stamp, &view, &error) != CREST_OK) {
        printf("%s: %s\n", how, error.message);
        return;
    }
    crest_status status =
        crest_stamp_record(&propagation, &view, b, CREST_OUTCOME_OK, block, &took);
    printf("%s: %.3f s, %s\n", how, (double)took.duration_ns / 1e9, crest_status_text(status));
}

static void blocks_from_b(crest_peer_clock *b)
{
    crest_op block = crest_op_text("block 1"), other = crest_op_text("block 2");
    crest_stamp stamp;
    crest_stamp_make_at(block, clock_of_b(), CREST_STAMP_UNKNOWN, &stamp, NULL);
    printf("stamp:");
    for (unsigned i = 0; i < CREST_STAMP_BYTES; i++)
        printf("%s%02x", i % 8 == 0 ? " " : "", stamp.bytes[i]);
    printf("\n");
    pass(40 * MS);
    receive("block 1", &stamp, &block, b);
    receive("block 1, uncorrected", &stamp, &block, NULL);
    receive("block 1, taken for another", &stamp, &other, b);
    stamp.bytes[0] = 9;
    receive("block 1 of a later version", &stamp, &block, b);
}

/* Acknowledgements carry the time that each neighbour's own crest_stamp_record found. */
static void block_of_a(void)
{
    const int64_t took_ms[] = {70, 20, 90, 30};
    crest_coverage_options options = {.nodes = 4, .fraction = 0.75};
    crest_coverage *coverage = crest_coverage_new(&coverage_time, &options, NULL);
    crest_op block = crest_op_text("block 3");
    crest_coverage_begin(coverage, block, crest_wall_now());
    for (unsigned node = 0; node < 4; node++)
        crest_coverage_add_after(coverage, &block, node, took_ms[node] * (int64_t)MS);
    crest_coverage_free(coverage);

    crest_testing_reading reading;
    crest_testing_read(NULL, NULL, &reading, NULL, "casper.block-coverage-time", "outcome", "ok",
                       NULL);
    printf("3 of 4 had block 3 after %.3f s\n", (double)reading.sum / 1e9);
}

int main(void)
{
    crest_testing_clock_set(1000000 * MS);
    crest_testing_clock_set_wall(UINT64_C(1700000000000) * MS);
    crest_error error;
    crest_peer_clock *b = crest_peer_clock_new(NULL, "b", NULL, &error);
    if (b == NULL) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    show_clock(b);
    ping(b, 10 * MS, 30 * MS); /* not alike both ways: half the difference wrong */
    show_clock(b);
    ping(b, 2 * MS, 4 * MS); /* a quick one, which is worth more */
    show_clock(b);
    blocks_from_b(b);
    block_of_a();
    crest_peer_clock_free(b);
    crest_testing_clock_real();
    return 0;
}
