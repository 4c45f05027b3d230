/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A range sampler's cell taken from its owner: the owner updates without `lock` in a restartable
 * sequence, others revoke and update with `lock`, every interleaving. The steps bear the names of
 * the functions in include/crest/range_sampler.h and src/bias.c.
 *
 * The state is a number that each update raises by one. The owner's store stays in a buffer of its
 * processor for any time; its own locked instructions and the barrier flush it. The barrier also
 * throws the owner out of its sequence, and so does preemption, which may come at any step.
 *
 * Shown: every update is counted.
 *
 * model: holds
 * model: fails -DNO_BARRIER     who revokes does not make the kernel interrupt the owner
 * model: fails -DONLY_FLUSH     the barrier flushes, but throws nobody out
 * model: fails -DNO_WAIT        who finds the cell being revoked takes it for shared
 * model: fails -DCHECK_BEFORE   the owner looks whose the cell is before the sequence begins
 */

#define OTHERS 2
#define UPDATES 2 /* of the owner; the others make one each */

#define ME 0
#define SHARED 1
#define REVOKING 2

byte owner = ME;
byte value = 0;
byte buffer;
bool buffered = false;
bool inside = false; /* the owner is in its sequence */
bool thrown = false; /* and has been thrown out of it */
byte finished = 0;

inline flush()
{
    if
    :: buffered ->
        value = buffer;
        buffered = false
    :: else
    fi
}

inline crest_bias_barrier()
{
#ifndef NO_BARRIER
    atomic {
        flush();
#ifndef ONLY_FLUSH
        thrown = inside
#endif
    }
#else
    skip
#endif
}

proctype store_buffer()
{
end:
    do
    :: atomic { buffered -> flush() }
    od
}

proctype preemption()
{
end:
    do
    :: atomic { inside && !thrown -> flush(); thrown = true }
    od
}

inline crest_bias_enter(me)
{
    do
    :: seen = owner;
        if
        :: seen == SHARED || (seen == ME && me) -> break
#ifdef NO_WAIT
        :: seen == REVOKING -> break
#else
        :: seen == REVOKING ->
            crest_bias_barrier();
            atomic {
                if
                :: owner == REVOKING -> owner = SHARED
                :: else
                fi
            }
#endif
        :: seen == ME && !me ->
            atomic {
                if
                :: owner == ME -> owner = REVOKING
                :: else
                fi
            };
#ifdef NO_WAIT
            crest_bias_barrier();
            owner = SHARED
#endif
        fi
    od
}

proctype the_owner()
{
    byte seen, old, update = 0;
    bool done;
    do
    :: update < UPDATES ->
        done = false;
#ifdef CHECK_BEFORE
        seen = owner;
#endif
        inside = true;
        /* crest_range_replace_owned: each step happens unless it was thrown out before */
#ifndef CHECK_BEFORE
        atomic {
            if
            :: !thrown -> seen = owner
            :: else
            fi
        };
#endif
        atomic {
            if
            :: !thrown && seen == ME ->
                if
                :: buffered -> old = buffer
                :: else -> old = value
                fi
            :: else
            fi
        };
        atomic {
            if
            :: thrown || seen != ME -> inside = false; thrown = false
            :: !thrown && seen == ME && !buffered ->
                buffer = old + 1;
                buffered = true;
                inside = false;
                done = true
            fi
        };
        if
        :: done
        :: else ->
            crest_bias_enter(true);
            atomic { flush(); value++ }
        fi;
        atomic { update++; old = 0; seen = 0 }
    :: else -> break
    od;
    finished++
}

proctype other()
{
    byte seen;
    crest_bias_enter(false);
    atomic { value++ };
    finished++
}

init
{
    atomic {
        run the_owner();
        run other();
        run other();
        run store_buffer();
        run preemption()
    };
    finished == OTHERS + 1 && !buffered;
    assert(value == UPDATES + OTHERS)
}
