/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread's ring of events: the thread, a handler that interrupts it between any two steps, and a
 * reader in another process, every interleaving. Steps bear the names of src/events/event_ring.h.
 * Each line between semicolons is one access of the code. A writer's words and the reader's are
 * released and acquired in program order, so sequential consistency is the right model: the reader
 * copies before R3, and a word that it copied too new was stored after `reserved` was.
 *
 * Events are of one word and of two; the ring has four words, and a mark each. An event's word is
 * its writer's own position, so a word that was overwritten shows. In the code a mark's pair is made
 * whole by its sum; here it is one step.
 *
 * Shown:
 *   - what the reader takes out is whole: each word is that of its own position
 *   - read + lost is the number of events before its place, and in the end all that were written
 *   - a handler never overwrites what its thread has not published
 *
 * model: holds
 * model: holds -DHANDLED=2 -DEVENTS=1   the handler's second event may have no room
 * model: fails -DHEAD_ONLY        the reader looks at head instead of `reserved` after the copy
 * model: fails -DRESERVE_LATE     a writer moves `reserved` after its words
 * model: fails -DNESTED_PUBLISHES a handler publishes, with its thread's event unfinished
 * model: fails -DNO_LOOK_AGAIN    W9 is left out: a handler's event between W7 and W8 stays unseen
 * model: fails -DNO_ROOM_CHECK -DHANDLED=2 -DEVENTS=1   W2 is left out
 */
#define SIZE 4
#ifndef HANDLED
#define EVENTS 3  /* of the thread; its handler emits HANDLED */
#define HANDLED 1
#endif
#define LAST 12   /* positions, at most */
#define NONE 255

byte word[SIZE];      /* the position of what lies there, and one */
byte reserved = 0, made = 0, depth = 0;
byte head = 0, events = 0;
byte mark_at[SIZE], mark_events[SIZE];
bool starts[LAST + 4]; /* ghost: an event begins there */
byte length[LAST + 4]; /* ghost: of it */
bool handling = false; /* the thread stands still */
byte refused = 0, ended = 0;

/* W1 to W9, of an event with n words. The thread's own steps wait while its handler runs. */
#define STEP(me) (me == 1 || !handling)
#ifdef NO_ROOM_CHECK
#define FITS(n) true
#else
#define FITS(n) (before == 0 || reserved + n - head <= SIZE)
#endif
#ifdef NESTED_PUBLISHES
#define OUTERMOST true
#else
#define OUTERMOST (before == 0)
#endif

inline publish(me)
{
    do
    :: atomic { STEP(me) -> r = reserved };
       atomic { STEP(me) -> e = made };
       if
       :: atomic { STEP(me) && reserved != r -> skip } /* W7 again */
       :: atomic { STEP(me) && reserved == r -> skip };
          atomic { STEP(me) -> mark_at[r % SIZE] = r; mark_events[r % SIZE] = e };
          atomic { STEP(me) -> head = r; events = e };
          atomic { STEP(me) -> depth = 0 };
#ifdef NO_LOOK_AGAIN
          break
#else
          if
          :: atomic { STEP(me) && reserved == r -> break }
          :: atomic { STEP(me) && reserved != r -> depth = 1 }
          fi
#endif
       fi
    od
}

inline emit(me, n)
{
    atomic { STEP(me) -> before = depth; depth = before + 1 }; /* a handler leaves depth as it was */
    if
    :: atomic { STEP(me) && !FITS(n) -> refused++; depth = before }
    :: atomic {
           STEP(me) && FITS(n) -> at = reserved;
           starts[at] = true; length[at] = n;
#ifndef RESERVE_LATE
           reserved = at + n;
           assert(before == 0 || reserved - head <= SIZE)
#endif
       };
       i = 0;
       do
       :: atomic { STEP(me) && i < n -> word[(at + i) % SIZE] = at + i + 1; i++ }
       :: atomic { STEP(me) && i == n -> i = 0; break }
       od;
#ifdef RESERVE_LATE
       atomic { STEP(me) -> reserved = at + n };
#endif
       atomic { STEP(me) -> made++ };
       if
       :: atomic { STEP(me) && !OUTERMOST -> depth = before }
       :: atomic { STEP(me) && OUTERMOST -> skip };
          publish(me)
       fi
    fi
}

active proctype thread()
{
    byte before, at, i, r, e, k = 0;
    do
    :: atomic { !handling && k < EVENTS -> k++ };
       if
       :: k == 2 -> emit(0, 2)
       :: else -> emit(0, 1)
       fi
    :: atomic { !handling && k == EVENTS -> break }
    od;
    ended++
}

/* Comes in anywhere, or not at all. */
active proctype handler()
{
    byte before, at, i, r, e, k = 0;
    do
    :: atomic { k < HANDLED && !handling -> handling = true; k++ };
       emit(1, 2);
       atomic { handling = false; before = 0; at = 0; r = 0; e = 0 }
    :: break
    od;
    ended++
}

active proctype reader()
{
    byte place = 0, seen = 0, read = 0, lost = 0; /* seen: events before place */
    byte h, he, c, j, best, best_events, oldest;
    byte copy[SIZE];
    bool last = false;
    do
    :: last && place == head -> break
    :: else ->
        atomic { last = (ended == 2); h = head; he = events }; /* R1 */
        if
        :: h == place -> skip
        :: else ->
            c = 0;
            do /* R2, at most a ring */
            :: place + c < h && c < SIZE -> copy[c] = word[(place + c) % SIZE]; c++
            :: else -> break
            od;
#ifdef HEAD_ONLY
            atomic { oldest = (head > SIZE -> head - SIZE : 0) };
#else
            atomic { oldest = (reserved > SIZE -> reserved - SIZE : 0) }; /* R3 */
#endif
            if
            :: place >= oldest -> atomic {
                   j = 0;
                   do
                   :: j < c && j + length[place + j] <= c ->
                       assert(starts[place + j]);
                       assert(copy[j] == place + j + 1);
                       assert(length[place + j] == 1 || copy[j + 1] == place + j + 2);
                       seen++; read++;
                       j = j + length[place + j]
                   :: else -> break
                   od;
                   place = place + j
               }
            :: else -> /* R4 */
               best = h; best_events = he; j = 0;
               do
               :: j < SIZE -> atomic {
                      if
                      :: mark_at[j] > place && mark_at[j] >= oldest && mark_at[j] < best ->
                         best = mark_at[j]; best_events = mark_events[j]
                      :: else -> skip
                      fi;
                      j++
                  }
               :: else -> break
               od;
               atomic {
                   assert(best_events >= seen);
                   lost = lost + best_events - seen;
                   seen = best_events;
                   place = best;
                   best = 0; best_events = 0
               }
            fi;
            c = 0; j = 0; oldest = 0
        fi
    od;
    assert(place == reserved);
    assert(read + lost == made);
    assert(made + refused <= EVENTS + HANDLED)
}
