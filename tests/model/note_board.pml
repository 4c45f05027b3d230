/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The slowest operation of a tick: a thread, a handler that interrupts it anywhere or another thread
 * of the same series, and the ticker, every interleaving. The steps bear the names of the functions
 * in src/cells/slowest_board.c and src/metrics/slowest_note.c; the thread and its handler have one shard, so one word
 * `noted`. Each line between semicolons is one access of the code. Between a writer's store
 * to `noted` and its look at the turn, and between the ticker's end of a turn and its reset of
 * `noted`, there are full barriers, so sequential consistency is the right model.
 *
 * A look at the board in two loads, and a compare-and-swap that fails when either has changed
 * since, are one step here, when it does not fail. What the board has no place for is counted too,
 * but then takes the lock, which is not in the model.
 *
 * Shown, for all ticks:
 *   - the operation that the ticker reads is that of the value beside it
 *   - a record that wrote a note, or found a larger one, has a note in the tick in which it is
 *     counted, or in one up to that after its end
 *   - a record that only compared has one in a tick from that of the comparison on
 *
 * model: holds
 * model: holds -DOTHER           another thread instead of the handler
 * model: fails -DWORDS_FIRST     the ticker resets the words before it takes the note
 * model: fails -DNO_LOOK         a writer does not look again
 * model: fails -DNO_PLACES       a writer writes where the last note shows
 */

#define WRITERS 3 /* the first thread, its handler, the other thread */
#define PLACES 4
#ifdef OTHER
#define TICKS 1
#else
#define TICKS 2 /* while the writers write; one more follows */
#endif
#define ALL (TICKS + 2)
#define RECORDS 3 /* two of the first thread */
#define NONE 255

/* The board: value and word change at once. */
byte value = 0;
byte shown = NONE;
byte turn = 0;
bool taken[PLACES];
byte op[PLACES];

byte noted[WRITERS]; /* of each shard: the handler has the first thread's */

/* Ghosts. */
byte tick = 0; /* grows when the counts are read */
byte note[ALL];
byte finished = 0;
bool in_handler = false;

#define OF(me) (me == 1 -> 0 : me)

/* Some tick from `from` to `to` has a note as large. The last ticks are checked at the end. */
typedef promise { byte with; byte from; byte to };
promise promises[RECORDS];
byte promised = 0;

inline promise_that(v, first, last)
{
    promises[promised].with = v;
    promises[promised].from = first;
    promises[promised].to = last;
    promised++
}

/* The place is NONE when there is none, or the note is not needed. */
inline crest_note_board_write(me, v)
{
    atomic { /* board_enter */
        place = NONE;
        in_turn = turn;
        there = value >= v;
        if
        :: there -> skip
        :: else ->
#ifdef NO_PLACES
            place = (shown == NONE -> 0 : shown)
#else
            if
            :: !taken[0] && shown != 0 -> place = 0
            :: else ->
                if
                :: !taken[1] && shown != 1 -> place = 1
                :: else ->
                    if
                    :: !taken[2] && shown != 2 -> place = 2
                    :: else ->
                        if
                        :: !taken[3] && shown != 3 -> place = 3
                        :: else -> skip
                        fi
                    fi
                fi
            fi;
            if
            :: place != NONE -> taken[place] = true
            :: else -> skip
            fi
#endif
        fi
    };
    if
    :: place == NONE -> skip
    :: else ->
        op[place] = 0; /* half of it */
        op[place] = v;
        atomic {
            in_turn = turn;
            there = true;
            taken[place] = false;
            if
            :: value >= v -> skip
            :: else -> value = v; shown = place
            fi
        }
    fi
}

inline crest_slowest_record(me, v)
{
    began = tick;
    if
    :: v <= noted[OF(me)] -> /* crest_shard_record */
        atomic { promise_that(v, began, tick + 1) }
    :: else ->
        crest_note_board_write(me, v);
        if
        :: !there -> skip /* takes the lock */
        :: else ->
            noted[OF(me)] = v;
            began = tick; /* it is counted */
            do
            :: atomic {
                   turn == in_turn ->
                   promise_that(v, began, tick + 1);
                   break
               }
            :: turn != in_turn ->
#ifdef NO_LOOK
                atomic { promise_that(v, began, tick + 1) };
                break
#else
                crest_note_board_write(me, v);
                if
                :: there -> skip
                :: else -> noted[OF(me)] = 0; break
                fi
#endif
            od
        fi
    fi
}

/* Runs whenever it likes, and the first thread only when it does not. */
proctype handler()
{
    byte place, in_turn, began, v;
    bool there;
    in_handler = true;
    v = 2;
    crest_slowest_record(1, v);
    atomic { place = 0; in_turn = 0; began = 0; v = 0; there = false; in_handler = false; finished++ }
}

proctype thread() provided (!in_handler)
{
    byte place, in_turn, began, v;
    bool there;
    if
    :: v = 1 /* rising */
    :: v = 3 /* falling */
    fi;
    crest_slowest_record(0, v);
    v = 4 - v;
    crest_slowest_record(0, v);
    atomic { place = 0; in_turn = 0; began = 0; v = 0; there = false; finished++ }
}

proctype other()
{
    byte place, in_turn, began, v;
    bool there;
    if
    :: v = 1
    :: v = 3
    fi;
    crest_slowest_record(2, v);
    atomic { place = 0; in_turn = 0; began = 0; v = 0; there = false; finished++ }
}

inline reset_words()
{
    noted[0] = 0;
    noted[2] = 0
}

inline crest_slowest_take()
{
#ifdef WORDS_FIRST
    reset_words();
#endif
    if
    :: atomic { value == 0 -> skip }
    :: atomic {
           value != 0 ->
           mine = shown;
           note[tick] = value;
           taken[mine] = true;
           value = 0;
           shown = NONE;
           turn++
       };
       assert(op[mine] == note[tick]);
       atomic { taken[mine] = false; mine = 0 }
    fi;
#ifndef WORDS_FIRST
    reset_words();
#endif
    tick++ /* the counts are read */
}

active proctype ticker()
{
    byte mine = 0, i = 0, t = 0;
    bool kept;
    atomic {
        run thread();
#ifdef OTHER
        run other()
#else
        run handler()
#endif
    };
    do
    :: tick < TICKS -> crest_slowest_take()
    :: else -> break
    od;
    finished == 2;
    crest_slowest_take();
    atomic {
        i = 0;
        do
        :: i < promised ->
            kept = false;
            t = promises[i].from;
            do
            :: t <= promises[i].to && t < ALL -> kept = kept || note[t] >= promises[i].with; t++
            :: else -> break
            od;
            assert(kept);
            i++
        :: else -> break
        od
    }
}
