/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first values of a histogram, and the shard that takes them over: a thread that records, its
 * signal handlers, and a reader, in every interleaving. The steps bear the names of the functions in
 * src/cells/first_values.c, src/cells/shards.c and src/instruments/record_slow.c; each is one access of the code that others can
 * see. All that is read is published by release and loaded by acquire, so sequential consistency is
 * the right model. A shard's counts are one number here: what happens in it is as it ever was.
 *
 * A handler comes between any two steps of the thread and runs to its end before the thread goes on;
 * the reader goes on at any time.
 *
 * Shown:
 *   - in the end what is read is what was recorded, once
 *   - a reading has all records that were done before it, none that had not begun, and is never less
 *     than the one before it
 *
 * model: holds
 * model: holds -DRECORDS=2 -DSIGNALS=3   with more handlers
 * model: fails -DRETURN_IT    what a handler has put is taken for a shard
 * model: fails -DOPEN         what is taken over is not closed before
 * model: fails -DPUT_PLAINLY  a shard is put into the cell whatever is there by then
 * model: fails -DEMPTY_FIRST  places are emptied as they are taken over
 * model: fails -DEMPTY_LATER  places are emptied when the shard has their values
 */

#ifndef RECORDS
#define RECORDS 3
#endif
#ifndef SIGNALS
#define SIGNALS 2
#endif

#define VALUES 2
#define CLOSED 255
#define NOTHING 0
#define BEGINNING 1 /* and then shards, by who made them */
#define WRITERS (1 + SIGNALS)

byte cell = NOTHING;
byte value[VALUES];
byte count[BEGINNING + 1 + WRITERS];

byte signals = SIGNALS;
bool handling = false; /* the thread waits for its handler */
byte number = 0;       /* of the handler */

/* Ghosts. */
byte begun = 0;
byte done = 0;
byte finished = 0;

/* One step of the thread, which no handler holds up; a handler's is one of the same kind. */
#define STEP(me) (me > 0 || !handling)

/* Each writer makes at most one shard of its own at a time, and one that was put is not its own any
 * more: it makes none after that, for the cell then has one. */
inline crest_shard_at(me)
{
    seen = cell;
    if
    :: seen > BEGINNING -> skip
    :: else ->
        count[BEGINNING + 1 + me] = 0;
        i = 0;
        /* crest_beginning_close */
        do
        :: seen == BEGINNING && i < VALUES ->
            atomic { STEP(me);
#ifndef OPEN
                if
                :: value[i] == 0 -> value[i] = CLOSED
                :: else
                fi;
#endif
                i++
            }
        :: else -> break
        od;
        i = 0;
        /* shards_take_over */
        do
        :: seen == BEGINNING && i < VALUES ->
            atomic { STEP(me);
                if
                :: value[i] == 1 ->
                    count[BEGINNING + 1 + me]++;
#ifdef EMPTY_FIRST
                    value[i] = CLOSED
#endif
                :: else
                fi;
                i++
            }
        :: else -> break
        od;
        /* crest_word_change */
        atomic { STEP(me);
            if
#ifdef PUT_PLAINLY
            :: true -> cell = BEGINNING + 1 + me
#else
            :: cell == seen -> cell = BEGINNING + 1 + me
            :: else
#endif
            fi
        };
#ifdef EMPTY_LATER
        i = 0;
        do
        :: i < VALUES -> atomic { STEP(me); value[i] = CLOSED; i++ }
        :: else -> break
        od;
#endif
        i = 0
    fi
}

/* Goes on at `put` with the place of the value, or leaves `put` as false. */
inline beginning_put(me)
{
    i = 0;
    do
    :: i < VALUES && !put ->
        atomic { STEP(me);
            if
            :: value[i] == 0 -> value[i] = 1; put = true
            :: else
            fi;
            i++
        }
    :: else -> break
    od;
    i = 0
}

inline record(me)
{
    atomic { STEP(me); begun++; put = false; seen = cell };
    /* many at once, which no beginning has a place for */
    if
    :: seen = CLOSED
    :: skip
    fi;
    if
    :: seen == NOTHING ->
        /* crest_beginning_add: the value is there before the cell leads to it. A handler that came
         * makes it another's, which is modelled as none: the places are those of whoever was first */
        atomic { STEP(me);
            if
            :: cell == NOTHING -> value[0] = 1; cell = BEGINNING; put = true
            :: else -> seen = cell
            fi
        }
    :: else
    fi;
    if
    :: !put && seen == BEGINNING -> beginning_put(me)
    :: else
    fi;
    if
    :: !put ->
        do
        :: atomic { STEP(me) && cell <= BEGINNING };
            crest_shard_at(me);
#ifdef RETURN_IT
            atomic { STEP(me); count[cell]++ };
            break
#endif
        :: atomic { STEP(me) && cell > BEGINNING -> count[cell]++; break }
        od
    :: else
    fi;
    atomic { STEP(me); done++; seen = 0; put = false }
}

proctype thread()
{
    byte i = 0, seen = 0, records = 0;
    bool put = false;
    do
    :: records < RECORDS -> record(0); records++
    :: else -> break
    od;
    atomic { !handling -> signals = 0; finished++ }
}

/* Handlers of the thread, one after the other; one that comes while another runs waits for it. */
proctype handler()
{
    byte i = 0, seen = 0;
    bool put = false;
    do
    :: atomic { signals > 0 && !finished -> signals--; handling = true; number++ };
        record(number);
        atomic { handling = false }
    :: atomic { signals == 0 -> break }
    od;
    finished++
}

/* crest_distribution_add_shard: a shard's counts, or a beginning's places one after the other. */
inline read(sum)
{
    from = cell;
    sum = 0;
    i = 0;
    do
    :: from == BEGINNING && i < VALUES ->
        atomic { sum = sum + (value[i] == 1 -> 1 : 0); i++ }
    :: else -> break
    od;
    i = 0;
    if
    :: from > BEGINNING -> sum = count[from]
    :: else
    fi
}

proctype reader()
{
    byte i = 0, from = 0, sum = 0, before = 0, least = 0, readings = 0;
    do
    :: readings < 2 ->
        least = done;
        read(sum);
        assert(sum >= least && sum <= begun && sum >= before);
        before = sum;
        readings++
    :: else -> break
    od;
    finished == 2;
    read(sum);
    assert(sum == begun && begun == done)
}

init
{
    atomic {
        run thread();
        run handler();
        run reader()
    }
}
