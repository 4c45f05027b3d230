/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lock-free max register with payload (board), for the largest value of an epoch (turn) and its
 * operation. Any thread and any handler, at any moment; it knows no metrics.
 *
 * State: value, and a word {epoch, published place, bitmap of claimed places}. Both change together
 * by one compare-and-swap of 16 bytes (CAS16), a full barrier. Beside them the payloads: one
 * operation a place.
 *
 *   writer, with a larger value:
 *     W1  claim a free place (CAS16)
 *     W2  write its operation there
 *     W3  publish: value, and its place as the published one (CAS16); the claim ends
 *         a value as large came first: release the place instead
 *   taker (the ticker):
 *     T1  claim the published place, value = 0, epoch + 1 (CAS16)
 *     T2  copy the operation
 *     T3  release the place
 *
 * Invariants: a payload is written and read only under its claim, so value and operation belong
 * together. (value, state) never repeats, so there is no ABA (slowest_board.c). Without a free
 * place, because stopped threads have claimed them all, a writer is told so; it never waits.
 * Model: tests/model/note_board.pml.
 *
 *     if (crest_note_board_write(&board, value, op, &turn))
 *         ... it, or a larger one, is what this turn's crest_note_board_take gives
 */
#ifndef CREST_SLOWEST_BOARD_H
#define CREST_SLOWEST_BOARD_H

#include <crest/op.h>

/* A value worth reporting, and its operation. */
typedef struct crest_note {
    uint64_t value;
    crest_op op; /* CREST_OP_NONE: not known */
} crest_note;

/* One published, one being read, the others being written. */
#define CREST_NOTE_PLACES 4u

/* Zeroed it is empty. Zeroing is safe beside a stopped writer too, as in a forked child's memory.
 */
typedef struct crest_note_board {
    uint64_t shown[2]; /* value (0: none), state: see slowest_board.c */
    crest_op op[CREST_NOTE_PLACES];
} __attribute__((aligned(64))) crest_note_board;

/* Publishes the value, unless one as large is published. 0, and nothing was done, when no place is
 * free. Otherwise the turn *turn has it, or a larger one, on the board. */
int crest_note_board_write(crest_note_board *board, uint64_t value, const crest_op *op,
                           uint64_t *turn);

/* Whether that turn is over. The caller provides a full barrier before. */
int crest_note_board_is_over(const crest_note_board *board, uint64_t turn);

/* Whether a value is published. */
int crest_note_board_shows(const crest_note_board *board);

/* Takes the published note (value 0: none) and, if there was one, ends the turn; a full barrier
 * then. */
void crest_note_board_take(crest_note_board *board, crest_note *note);

#endif
