/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The update of a range sampler against the change of its windows: two writers, one rotator, every
 * interleaving. The steps bear the names of the functions in include/crest/range_sampler.h and
 * src/cells/range_cell.c. Each line between semicolons is one access of the code; all of those that
 * order matters for are full barriers there, so that sequential consistency is the right model.
 *
 * Of the extremes only the maximum is here; the minimum is its mirror image, and neither of them
 * looks at the other. A failed compare-and-swap changes nothing and is left out.
 *
 * Shown, for all windows:
 *   - a value that stood is within the maximum of a window no later than the one in which its writer
 *     made its second step: on time, unless the writer was preempted in between
 *   - a maximum is a value that stood in its window, or one whose writer was so late
 *   - the value that stands when the window changes is within the maximum of either window
 *
 * model: holds
 * model: fails -DREAD_FIRST      the rotator reads the value before it takes the extremes
 * model: fails -DNO_MERGE        it does not extend the next window's extremes by the value
 * model: fails -DEXTEND_FIRST    the writers extend the extremes before they replace the value
 */

#define WRITERS 2
#define UPDATES 2 /* of the first writer; the second makes one */
#define ROTATIONS 2 /* while the writers write; one more follows */
#define WINDOWS 3
#define ZERO (WRITERS * UPDATES + 1)
#define NONE 0 /* the maximum of a window that has none: below every value */

/* The cell. Values are shifted so that the least that can be is 1. */
byte value = ZERO;
byte maximum = ZERO;

/* What the ticker has been told. */
byte read_maximum[WINDOWS];

/* Ghosts: which window the value is in, and which the extremes; they differ during a change. */
byte window_of_value = 0;
byte window_of_maximum = 0;
short stood[WINDOWS];   /* a bit for each value that stood, or came late */
byte standing[WINDOWS]; /* when the window ended */
byte finished = 0;

/* The values of all updates, and between which windows they have to appear. */
byte updated[WRITERS * UPDATES];
byte updated_from[WRITERS * UPDATES];
byte updated_to[WRITERS * UPDATES];

inline crest_range_replace(me, change)
{
    /* the compare-and-swap that succeeds; those that fail change nothing */
    atomic {
        value = value + change - 1;
        mine = value;
        updated[me] = mine;
        updated_from[me] = window_of_value;
        stood[window_of_value] = stood[window_of_value] | (1 << mine)
    }
}

/* `to` is the window whose maximum was seen last: there the value has to be by then. */
inline crest_range_extend(with, to)
{
    atomic {
        seen = maximum;
        to = window_of_maximum
    }
    do
    :: with > seen ->
        atomic {
            to = window_of_maximum;
            if
            :: maximum == seen ->
                maximum = with;
                stood[to] = stood[to] | (1 << with);
                break
            :: else -> seen = maximum
            fi
        }
    :: else -> break
    od;
    skip
}

inline choose(change)
{
    if
    :: change = 0 /* -1 */
    :: change = 2 /* +1 */
    fi
}

proctype crest_range_sampler_add(byte writer)
{
    byte mine, seen, change, update = 0;
    do
    :: true ->
#ifdef EXTEND_FIRST
        atomic {
            choose(change);
            mine = value + change - 1
        }
        crest_range_extend(mine, updated_to[writer * UPDATES + update]);
        crest_range_replace(writer * UPDATES + update, change);
#else
        atomic {
            choose(change);
            crest_range_replace(writer * UPDATES + update, change)
        }
        crest_range_extend(mine, updated_to[writer * UPDATES + update]);
#endif
        atomic {
            mine = 0;
            seen = 0;
            change = 0;
            update++;
            if
            :: update == UPDATES - writer -> finished++; break
            :: else
            fi
        }
    od
}

/* The value stands on both sides of the moment at which the window changes. */
inline change_window(now)
{
    standing[now] = value;
    if
    :: now + 1 < WINDOWS ->
        window_of_value = now + 1;
        stood[window_of_value] = stood[window_of_value] | (1 << value)
    :: else
    fi
}

inline take_maximum(now)
{
    atomic {
        read_maximum[now] = maximum;
        maximum = NONE;
        if
        :: now + 1 < WINDOWS -> window_of_maximum = now + 1
        :: else
        fi
#ifdef READ_FIRST
        ;
        change_window(now)
#endif
    }
}

inline range_read(now)
{
    atomic {
        mine = value
#ifndef READ_FIRST
        ;
        change_window(now)
#endif
    }
}

inline crest_range_rotate(now)
{
#ifdef READ_FIRST
    range_read(now);
    take_maximum(now);
#else
    take_maximum(now);
    range_read(now);
#endif
#ifndef NO_MERGE
    crest_range_extend(mine, i);
#endif
    d_step {
        if
        :: mine > read_maximum[now] -> read_maximum[now] = mine
        :: else
        fi;
        mine = 0;
        seen = 0;
        i = 0;
        now++
    }
}

proctype ticker()
{
    byte mine, seen, window = 0, i, at;
    bool found;
    do
    :: window < ROTATIONS -> crest_range_rotate(window)
    :: else -> break
    od;
    finished == WRITERS;
    crest_range_rotate(window);

    d_step {
        /* no value is missed */
        i = 0;
        do
        :: i < WRITERS * UPDATES ->
            found = false;
            at = updated_from[i];
            do
            :: at <= updated_to[i] ->
                found = found || read_maximum[at] >= updated[i];
                at++
            :: else -> break
            od;
            assert(found || updated[i] == 0);
            i++
        :: else -> break
        od;
        /* none is made up, and what stands is seen from both sides */
        at = 0;
        do
        :: at < WINDOWS ->
            assert(stood[at] & (1 << read_maximum[at]));
            assert(standing[at] <= read_maximum[at]);
            assert(at == 0 || standing[at - (at > 0)] <= read_maximum[at]);
            at++
        :: else -> break
        od
    }
}

init
{
    atomic {
        stood[0] = 1 << ZERO;
        run crest_range_sampler_add(0);
        run crest_range_sampler_add(1);
        run ticker()
    }
}
