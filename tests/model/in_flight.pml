/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of a keyed operation against its deadline: two threads that begin and end one id, a sweep
 * that takes no lock, and a clock; every interleaving. The steps bear the names of the functions in
 * src/in_flight/in_flight_table.c, _entries.h and _walks.c, but for crest_ and walks_ before them. Each line
 * between semicolons is one access of the code. Its loads acquire and its stores release, and they
 * all concern one word and what is published by it, so that sequential consistency is the right
 * model.
 *
 * One entry stands for the table: an entry that is reused for another id goes the same ways as one
 * that is begun anew.
 *
 * Shown:
 *   - each operation that began is recorded exactly once, or is still in flight
 *   - it is recorded as `timeout` if and only if its deadline had passed when it was settled, by the
 *     clock of who settled it, and as itself: with its own id and its own deadline
 *   - an operation without a deadline, which a sweep leaves alone, may be ended by a store
 *   - after a series was closed and what was in flight of it cancelled (RETIRE, with a begin, an end
 *     and a sweep fewer, or there are too many states), nothing of it is in flight
 *
 * model: holds
 * model: holds -DRETIRE
 * model: fails -DNO_GENERATION      the state word does not tell one operation from the next
 * model: fails -DNO_CAS             settling looks, and then writes
 * model: fails -DFIELDS_LAST        an operation begins before its fields are written
 * model: fails -DEND_WITHOUT_CLOCK  the end leaves the deadline to the sweep
 * model: fails -DSTORE_ALWAYS       an operation with a deadline is ended by a store, too
 * model: fails -DNO_LOCK            begin and end do without the stripe's lock
 * model: fails -DRETIRE -DCLOSED_EARLY  a begin looks before it has the lock whether its series is closed
 * model: fails -DRETIRE -DNO_PASS   what is in flight is cancelled without taking the lock once before
 */

#define ENDED 0
#define BEGUN 1
#define EXPIRED 2

#ifdef RETIRE
#define ROUNDS 1
#define SWEEPS 1
#else
#define ROUNDS 2 /* a begin and an end, of the first thread; the second has one */
#define SWEEPS 2
#endif
#define OPERATIONS (ROUNDS + 2)
#define DEADLINE 1
#define TIME_MAX 1

/* The entry: generation and state in one word, and the fields. Operation 0 never was. */
byte state = ENDED;
byte which = 0;
byte overdue = 0; /* 0: never */

bool closed = false; /* the series */
bool locked = false;
byte now = 0;

/* Ghosts. */
byte begun = 0;
byte recorded[OPERATIONS];
byte overdue_of[OPERATIONS];

#define OVERDUE(when, at) ((when) != 0 && (at) >= (when))
#define STATE(word) ((word) % 4)
#define WITH(word, to) ((word) - STATE(word) + (to))
#ifdef NO_GENERATION
#define NEXT(word) BEGUN
#else
#define NEXT(word) (WITH(word, BEGUN) + 4)
#endif

#ifdef NO_LOCK
#define in_flight_lock() skip
#define in_flight_unlock() skip
#else
#define in_flight_lock() atomic { !locked -> locked = true }
#define in_flight_unlock() locked = false
#endif

/* done: whether it was this one */
inline in_flight_settle(from, to, done)
{
#ifdef NO_CAS
    done = state == from;
    if
    :: done -> state = WITH(from, to)
    :: else
    fi
#else
    atomic {
        done = state == from;
        if
        :: done -> state = WITH(from, to)
        :: else
        fi
    }
#endif
}

/* A sweep settles what has a deadline; the others are settled under the lock only. */
inline in_flight_finish(from, done)
{
#ifdef STORE_ALWAYS
    state = WITH(from, ENDED);
    done = true
#else
    if
    :: overdue == 0 ->
        state = WITH(from, ENDED);
        done = true
    :: else -> in_flight_settle(from, ENDED, done)
    fi
#endif
}

/* What was settled as a timeout or an end at this time is recorded after the lock is dropped. */
inline in_flight_record(operation, when, late)
{
    d_step {
        assert(operation != 0);
        recorded[operation]++;
        assert(recorded[operation] == 1);
        assert(late == OVERDUE(overdue_of[operation], when))
    }
}

inline in_flight_start()
{
    seen = state;
#ifdef FIELDS_LAST
    state = NEXT(seen);
#endif
    d_step {
        begun++;
        mine = begun
    };
    if
    :: overdue_of[mine] = at + DEADLINE
    :: overdue_of[mine] = 0
    fi;
    overdue = overdue_of[mine];
    which = mine;
#ifndef FIELDS_LAST
    state = NEXT(seen)
#endif
}

inline in_flight_try_begin()
{
    at = now;
    expired = 0;
#ifdef CLOSED_EARLY
    late = closed;
#endif
    in_flight_lock();
#ifndef CLOSED_EARLY
    late = closed;
#endif
    seen = state;
    if
    :: late -> skip /* CREST_LATE */
    :: !late && STATE(seen) == BEGUN && !OVERDUE(overdue, at) -> skip /* CREST_ALREADY */
    :: !late && STATE(seen) == BEGUN && OVERDUE(overdue, at) ->
        old = which;
        in_flight_settle(seen, EXPIRED, won);
        if
        :: won -> expired = old
        :: else
        fi;
        in_flight_start()
    :: !late && STATE(seen) != BEGUN -> in_flight_start()
    fi;
    in_flight_unlock();
    if
    :: expired != 0 -> in_flight_record(expired, at, true)
    :: else
    fi
}

inline crest_in_flight_end()
{
    at = now;
    expired = 0;
    old = 0;
    in_flight_lock();
    seen = state;
    if
    :: STATE(seen) != BEGUN -> skip /* CREST_NOT_FOUND, CREST_TIMED_OUT */
#ifdef END_WITHOUT_CLOCK
    :: STATE(seen) == BEGUN ->
#else
    :: STATE(seen) == BEGUN && OVERDUE(overdue, at) ->
        old = which;
        in_flight_settle(seen, EXPIRED, won);
        if
        :: won -> expired = old
        :: else
        fi;
        old = 0
    :: STATE(seen) == BEGUN && !OVERDUE(overdue, at) ->
#endif
        old = which;
        in_flight_finish(seen, won);
        if
        :: won -> skip
        :: else -> old = 0 /* a sweep was faster */
        fi
    fi;
    in_flight_unlock();
    if
    :: expired != 0 -> in_flight_record(expired, at, true)
    :: else
    fi;
    if
    :: old != 0 -> in_flight_record(old, at, false)
    :: else
    fi
}

inline in_flight_sweep_entry()
{
    at = now;
    seen = state;
    if
    :: STATE(seen) == BEGUN ->
        /* in_flight_read: a later operation's fields are told by the state */
        old = which;
        mine = overdue;
        if
        :: state == seen && OVERDUE(mine, at) ->
            in_flight_settle(seen, EXPIRED, won);
            if
            :: won -> in_flight_record(old, at, true)
            :: else
            fi
        :: else
        fi
    :: STATE(seen) == EXPIRED ->
        in_flight_lock();
        in_flight_settle(seen, ENDED, won);
        in_flight_unlock()
    :: else
    fi
}

byte finished = 0;

proctype thread(byte round)
{
    byte at, seen, mine, old, expired;
    bool won, late;
    do
    :: round != 0 ->
        in_flight_try_begin();
        crest_in_flight_end();
        d_step { /* what is no longer used makes no states */
            at = 0; seen = 0; mine = 0; old = 0; expired = 0; won = false; late = false;
            round--
        }
    :: else -> break
    od;
    finished++
}

proctype sweep()
{
    byte at, seen, mine, old, times = 0;
    bool won;
    do
    :: times < SWEEPS ->
        in_flight_sweep_entry();
        d_step {
            at = 0; seen = 0; mine = 0; old = 0; won = false;
            times++
        }
    :: else -> break
    od;
    finished++
}

/* crest_in_flight_close, and crest_in_flight_cancel with in_flight_cancel_entry */
proctype retire()
{
    byte at, seen, mine, old;
    bool won;
    closed = true;
    at = now;
#ifndef NO_PASS
    in_flight_lock();
    in_flight_unlock();
#endif
    do
    :: seen = state;
        if
        :: STATE(seen) == ENDED -> break
        :: STATE(seen) != ENDED ->
            old = which;
            mine = overdue;
            if
            :: state == seen ->
                in_flight_lock();
                in_flight_settle(seen, ENDED, won);
                in_flight_unlock();
                if
                :: won && STATE(seen) == BEGUN -> in_flight_record(old, at, OVERDUE(mine, at))
                :: else
                fi
            :: else
            fi
        fi
    od;
    finished++
}

proctype clock()
{
    do
    :: now < TIME_MAX -> now++
    :: else -> break
    od
}

init
{
    byte i = 1;
    atomic {
        run thread(ROUNDS);
        run thread(1);
        run sweep();
#ifdef RETIRE
        run retire();
#endif
        run clock()
    };
#ifdef RETIRE
    finished == 4;
    assert(STATE(state) == ENDED);
#else
    finished == 3;
#endif
    d_step {
        do
        :: i <= begun ->
            assert(recorded[i] == 1 || (i == which && STATE(state) == BEGUN));
            i++
        :: else -> break
        od
    }
}
