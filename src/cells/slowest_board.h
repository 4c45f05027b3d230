/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A board: the largest value of a turn, and whose it was. Whoever has a larger one writes it up,
 * whoever takes it begins the next turn. Any thread and any handler, at any moment, without a lock;
 * it knows no metrics.
 *
 * A word says which turn it is, which place of a few shows what the value's operation is, and which
 * places are somebody's. A writer takes a place, writes the operation there, and shows it: value
 * and word change together, by a compare-and-swap of 16 bytes. Who takes the note first makes the
 * place his, then reads it. So nobody reads what somebody else writes, value and operation belong
 * together, and nobody waits: a writer that finds no free place, because so many others stopped
 * half way, is told so.
 *
 *     if (crest_note_board_write(&board, value, op, &turn))
 *         ... it, or a larger one, is what this turn's crest_note_board_take gives
 */
#ifndef CREST_SLOWEST_BOARD_H
#define CREST_SLOWEST_BOARD_H

#include <crest/op.h>

/* A record worth telling of, and whose it was. */
typedef struct crest_note {
    uint64_t value;
    crest_op op; /* CREST_OP_NONE: of nobody known */
} crest_note;

/* One shows, one is being read, the others are being written. */
#define CREST_NOTE_PLACES 4u

/* Zeroed it is empty; also when that happens while somebody writes, as to the memory of a child. */
typedef struct crest_note_board {
    uint64_t shown[2]; /* the value, 0: none; the word, see slowest_board.c */
    crest_op op[CREST_NOTE_PLACES];
} __attribute__((aligned(64))) crest_note_board;

/* Writes up the value, unless one as large is there. 0 when all places are somebody's, and nothing
 * was done; otherwise *turn is the turn in which it or a larger one is, or was, on the board. */
int crest_note_board_write(crest_note_board *board, uint64_t value, const crest_op *op,
                           uint64_t *turn);

/* Whether that turn is over. A full barrier is the caller's business. */
int crest_note_board_is_over(const crest_note_board *board, uint64_t turn);

/* Whether there is something to take. */
int crest_note_board_shows(const crest_note_board *board);

/* Takes what is there, value 0 if nothing is, and ends the turn if there was something. A full
 * barrier then. */
void crest_note_board_take(crest_note_board *board, crest_note *note);

#endif
