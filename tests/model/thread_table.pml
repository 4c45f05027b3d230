/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread's table from hand to hand: threads that end, threads that adopt, signal handlers that
 * record in between, and a reader that sums, in every interleaving. The steps bear the names of the
 * functions in src/cells/cells.c and src/instruments/record_slow.c; each step is one access of the code that others can
 * see. What orders them there is release and acquire of `owned` and of the list, and the order that
 * a handler sees is the order of the program, so sequential consistency is the right model.
 *
 * A thread records, may be interrupted between any two steps by a handler that records too, and
 * ends: by its destructor, after which it may record once more, or, when its first record came too
 * late for that, without it. An add is a load and a store, since no lock prefix keeps two owners of
 * one cell apart; but no handler comes between the two.
 *
 * Shown:
 *   - in the end the shared cell and all tables together hold every add, once
 *   - a sum taken meanwhile has all adds that were done before it, none that had not begun, and is
 *     never less than the sum before it
 *   - there are never more tables than threads, and none is owned in the end but by who came too late
 *
 * model: holds
 * model: holds -DTHREADS=3 -DSIGNALS=1 -DREAD_LATE   with more threads, and without the sums meanwhile
 * model: fails -DPOINTER_FIRST   the end takes the pointer away before it marks the thread as gone
 * model: fails -DRELEASE_FIRST   it frees the table before it does either
 * model: fails -DRESET           a thread that adopts a table begins at zero
 * model: fails -DNOT_TAKEN_AGAIN -DTHREADS=3 -DSIGNALS=1 -DREAD_LATE   a table whose thread is gone
 *                                is taken as it was when looked at
 */

#ifndef THREADS
#define THREADS 2
#endif
#ifndef SIGNALS
#define SIGNALS 2
#endif

#define NONE 255 /* no table yet; the empty table */
#define GONE 254

/* The tables: pushed, never taken away. */
byte tables = 0;
bool owned[THREADS];
byte owner[THREADS];
byte cell[THREADS];
byte shared = 0;

/* Each thread's two words of thread-local memory, and whether the system knows the thread. */
byte pointer[THREADS];
byte mine[THREADS];
bool exists[THREADS];

bool locked = false; /* crest_lock_take; no handler runs under it */
byte signals = SIGNALS;

/* Ghosts. */
byte begun = 0;
byte done = 0;
byte too_late = 0;
byte finished = 0;

/* Under the lock. The table goes to `found`. */
inline cells_table_adopt(me)
{
    /* the compare-and-swaps, one table after another */
    atomic {
        found = NONE;
        at = 0;
        do
        :: at < tables && owned[at] -> at++
        :: at < tables && !owned[at] -> owned[at] = true; found = at; break
        :: at == tables -> at = 0; break
        od
    };
    /* cells_table_left: the look at `owned`, and the system's answer */
    do
    :: atomic { found == NONE && at < tables && owned[at] };
        atomic {
            if
            :: !exists[owner[at]] ->
#ifndef NOT_TAKEN_AGAIN
                owned[at] = true;
#endif
                found = at
            :: else -> at++
            fi
        }
    :: atomic { found == NONE && at < tables && !owned[at] -> at++ }
    :: atomic { found != NONE || at == tables -> break }
    od;
    atomic {
        if
        :: found == NONE ->
            assert(tables < THREADS);
            owned[tables] = true;
            found = tables;
            tables++
        :: else
        fi;
#ifdef RESET
        cell[found] = 0;
#endif
        owner[found] = me
    }
}

/* The hot path, and behind it crest_counter_add_slow with crest_cells_touch. */
inline crest_counter_add(me)
{
    if
    :: atomic { pointer[me] == NONE -> begun++ };
        atomic { !locked -> locked = true };
        if
        :: mine[me] == NONE -> cells_table_adopt(me); mine[me] = found
        :: else
        fi;
        if
        :: atomic { mine[me] == GONE -> shared++; done++; locked = false }
        :: atomic { mine[me] != GONE -> pointer[me] = mine[me]; seen = cell[pointer[me]] };
            atomic { cell[pointer[me]] = seen + 1; seen = 0; done++; locked = false }
        fi
    :: atomic { pointer[me] != NONE -> begun++; seen = cell[pointer[me]] };
        atomic { cell[pointer[me]] = seen + 1; seen = 0; done++ }
    fi
}

inline maybe_a_handler(me)
{
    if
    :: atomic { signals > 0 -> signals-- }; crest_counter_add(me)
    :: true
    fi
}

inline cells_thread_end(me)
{
    taken = mine[me];
#ifdef RELEASE_FIRST
    owned[taken] = false;
    maybe_a_handler(me);
#endif
#ifdef POINTER_FIRST
    pointer[me] = NONE;
    maybe_a_handler(me);
    mine[me] = GONE;
    maybe_a_handler(me);
#else
    mine[me] = GONE;
    maybe_a_handler(me);
    pointer[me] = NONE;
    maybe_a_handler(me);
#endif
#ifndef RELEASE_FIRST
    owned[taken] = false;
#endif
    maybe_a_handler(me)
}

proctype thread(byte me)
{
    byte found, at, taken, seen;
    maybe_a_handler(me);
    crest_counter_add(me);
    maybe_a_handler(me);
    if
    :: cells_thread_end(me);
        if
        :: crest_counter_add(me) /* in a destructor that comes later */
        :: true
        fi
    :: too_late++ /* its first record came in the last round of destructors */
    fi;
    atomic { exists[me] = false; finished++; found = 0; at = 0; taken = 0 }
}

inline crest_cells_sum()
{
    atomic { sum = shared; at = 0 };
    do
    :: atomic { at < tables -> sum = sum + cell[at]; at++ }
    :: atomic { at == tables -> break }
    od
}

active proctype reader()
{
    byte at, before, sum, least;
    at = 0;
    atomic {
        do
        :: at < THREADS -> pointer[at] = NONE; mine[at] = NONE; exists[at] = true; run thread(at); at++
        :: else -> break
        od
    };
#ifndef READ_LATE
    least = done;
    crest_cells_sum();
    assert(sum >= least && sum <= begun);
    before = sum;
    crest_cells_sum();
    assert(sum >= before && sum <= begun);
#endif
    finished == THREADS;
    crest_cells_sum();
    assert(sum == begun && begun == done);
    at = 0;
    least = 0;
    do
    :: at < tables -> least = least + owned[at]; at++
    :: else -> break
    od;
    assert(least <= too_late)
}
