/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Claiming, publishing and taking payloads. See slowest_board.h for the protocol.
 *
 * The state word: claimed bitmap from bit 0, a bit a place; from BOARD_SHOWN_SHIFT the published
 * place plus one (0: none); from BOARD_TURN_SHIFT the epoch (turn).
 *
 * No ABA: within an epoch the value only rises, and an epoch's number never repeats. So the pair
 * (value, state) never repeats, and a compare-and-swap that succeeds found the board unchanged.
 */
#include "cells/slowest_board.h"
#include "base/atomic.h"

#include <string.h>

#define BOARD_SHOWN_SHIFT 8u
#define BOARD_SHOWN_MASK UINT64_C(7)
#define BOARD_TURN_SHIFT 16u
#define BOARD_PLACES_MASK ((UINT64_C(1) << CREST_NOTE_PLACES) - 1)

_Static_assert(CREST_NOTE_PLACES <= BOARD_SHOWN_SHIFT && CREST_NOTE_PLACES <= BOARD_SHOWN_MASK,
               "the word has no room for so many places");

/* The bit of the published place; 0: none. */
static uint64_t board_shown(uint64_t word)
{
    return (UINT64_C(1) << (word >> BOARD_SHOWN_SHIFT & BOARD_SHOWN_MASK)) >> 1;
}

/*
 * Reads state, then value; not both at once: a change in between makes the compare-and-swap fail.
 * The state is read first with acquire, and each change is a full barrier: so the value is of no
 * earlier epoch than the state.
 */
static void board_look(const crest_note_board *board, uint64_t seen[2])
{
    seen[1] = crest_atomic_load_acquire(&board->shown[1]);
    seen[0] = crest_atomic_load(&board->shown[0]);
}

static int board_change(crest_note_board *board, const uint64_t seen[2], uint64_t value,
                        uint64_t word)
{
    uint64_t expected[2] = {seen[0], seen[1]};
    return crest_atomic_cas_pair(board->shown, expected, value, word);
}

/* Releases a claimed place, unless the board was emptied meanwhile. */
static void board_leave(crest_note_board *board, uint64_t place)
{
    uint64_t seen[2];
    do
        board_look(board, seen);
    while ((seen[1] & place) != 0 && !board_change(board, seen, seen[0], seen[1] & ~place));
}

/* Claims a place for the caller and returns its bit. 0 when none is free, or when *turn has a value
 * as large; then *there is non-zero. */
static uint64_t board_enter(crest_note_board *board, uint64_t value, uint64_t *turn, int *there)
{
    uint64_t seen[2], place;
    do {
        board_look(board, seen);
        *turn = seen[1] >> BOARD_TURN_SHIFT;
        *there = seen[0] >= value;
        uint64_t free = ~(seen[1] | board_shown(seen[1])) & BOARD_PLACES_MASK;
        place = free & (~free + 1);
        if (*there || place == 0)
            return 0;
    } while (!board_change(board, seen, seen[0], seen[1] | place));
    return place;
}

int crest_note_board_write(crest_note_board *board, uint64_t value, const crest_op *op,
                           uint64_t *turn)
{
    int there;
    uint64_t seen[2], place = board_enter(board, value, turn, &there);
    if (place == 0)
        return there;
    unsigned number = (unsigned)__builtin_ctzll(place);
    board->op[number] = *op;
    for (;;) {
        board_look(board, seen);
        *turn = seen[1] >> BOARD_TURN_SHIFT;
        if (seen[0] >= value || (seen[1] & place) == 0)
            break;
        uint64_t word = *turn << BOARD_TURN_SHIFT | (number + UINT64_C(1)) << BOARD_SHOWN_SHIFT |
                        (seen[1] & BOARD_PLACES_MASK & ~place);
        if (board_change(board, seen, value, word))
            return 1;
    }
    board_leave(board, place);
    return seen[0] >= value;
}

int crest_note_board_is_over(const crest_note_board *board, uint64_t turn)
{
    /* acquire: partner of the change that ended the turn; the caller's next look is at a later one
     */
    return crest_atomic_load_acquire(&board->shown[1]) >> BOARD_TURN_SHIFT != turn;
}

int crest_note_board_shows(const crest_note_board *board)
{
    return crest_atomic_load(&board->shown[0]) != 0;
}

void crest_note_board_take(crest_note_board *board, crest_note *note)
{
    uint64_t seen[2], place;
    memset(note, 0, sizeof *note);
    do {
        board_look(board, seen);
        if (seen[0] == 0)
            return;
        place = board_shown(seen[1]);
    } while (!board_change(board, seen, 0,
                           ((seen[1] >> BOARD_TURN_SHIFT) + 1) << BOARD_TURN_SHIFT |
                               (seen[1] & BOARD_PLACES_MASK) | place));
    note->value = seen[0];
    note->op = board->op[__builtin_ctzll(place)];
    board_leave(board, place);
}
