/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adoption of dead runs' totals (src/adopt/adoption.h): RUNS starts one behind the other, each of
 * which may be killed between any two steps. Each run records one thing of its own before it
 * adopts. A run that gets through its start must have each thing of all runs before it exactly
 * once; none may ever be there twice. Marking a file may fail, and removing it then, too.
 *
 *     model: holds
 *     model: holds -DRUNS=5
 *     model: fails -DNO_NAMES       committed lists are not read: what was adopted counts again
 *     model: fails -DNAMES_LATE     A2 behind A5: the list is done with before its files are marked
 *     model: fails -DMARK_FIRST     A5 before A4: a kill between them loses what was marked
 *     model: fails -DTABLE_COUNTS   a table counts without a commit: its files count again, too
 *     model: fails -DADD_STUCK      adopts although a file could not be marked
 *     model: fails -DNO_COMMIT      the old files' marks are the commit: a kill between two of them
 */
#ifndef RUNS
#define RUNS 4
#endif

#define AT(now, old) ((now) * RUNS + (old))

bool live[RUNS];  /* the phase is LIVE; else ADOPTED */
bool kept[RUNS];  /* it has a name that starts look for */
bool bound[RUNS]; /* it can be neither marked nor removed */
byte names[RUNS]; /* its committed list, a bit a file; 0: not committed */
byte table[RUNS * RUNS]; /* what it adopted, by the run that recorded it */

byte now, old, file, named, taken;
bool stuck;

/* What `file` says of the run `old`. */
#ifdef TABLE_COUNTS
#define SAYS ((file == old) + table[AT(file, old)])
#else
#define SAYS ((file == old) + (names[file] != 0 -> table[AT(file, old)] : 0))
#endif

/* The process is killed here, or goes on. */
#define MAY_END if :: goto ended :: skip fi

#define EACH_FILE file = 0; do :: file < now ->
#define NEXT_FILE file++ :: else -> break od

/* A1: lists of files that have a name. */
inline read_names()
{
    d_step {
        named = 0;
        EACH_FILE
            if
            :: kept[file] -> named = named | names[file]
            :: else
            fi;
        NEXT_FILE
    }
#ifdef NO_NAMES
    named = 0;
#endif
}

/* A2: each marked at once; a kill may come between two. */
inline mark_named()
{
    EACH_FILE
        if
        :: kept[file] && (named & (1 << file)) && live[file] ->
            if
            :: bound[file] -> stuck = true
            :: else -> live[file] = false
            fi;
            MAY_END
        :: else
        fi;
    NEXT_FILE
}

/* Files that count no more are done with. */
inline let_go()
{
    EACH_FILE
        if
        :: kept[file] && !live[file] -> kept[file] = false; MAY_END
        :: else
        fi;
    NEXT_FILE
}

/* A3 */
inline add()
{
    EACH_FILE
        if
        :: kept[file] && live[file] ->
            d_step {
                old = 0;
                do
                :: old < now -> table[AT(now, old)] = table[AT(now, old)] + SAYS; old++
                :: else -> break
                od;
                taken = taken | (1 << file)
            };
            MAY_END
        :: else
        fi;
    NEXT_FILE
}

/* A5 */
inline mark_taken()
{
    EACH_FILE
        if
        :: (taken & (1 << file)) && kept[file] ->
            if
            :: !bound[file] -> live[file] = false
            :: else
            fi;
            MAY_END;
            kept[file] = false;
            MAY_END
        :: else
        fi;
    NEXT_FILE
}

/* No thing of a run is there twice; in a run that got through, each is there. */
inline judge()
{
    d_step {
        old = 0;
        do
        :: old < now ->
            assert(table[AT(now, old)] <= 1);
            assert(stuck || table[AT(now, old)] == 1);
            old++
        :: else -> break
        od
    }
}

active proctype starts()
{
    now = 0;
    do
    :: now < RUNS ->
        live[now] = true;
        kept[now] = true;
        taken = 0;
        stuck = false;
        if
        :: bound[now] = true
        :: skip
        fi;
        MAY_END;
        read_names();
        MAY_END;
#ifndef NAMES_LATE
        mark_named();
#ifndef ADD_STUCK
        if
        :: stuck -> goto ended
        :: else
        fi;
#endif
        let_go();
#endif
        add();
#ifdef MARK_FIRST
        mark_taken();
        names[now] = taken;
#else
#ifdef NO_COMMIT
        mark_taken();
        names[now] = 255;
#else
        names[now] = taken;
        MAY_END;
        mark_taken();
#endif
#endif
#ifdef NAMES_LATE
        mark_named();
        let_go();
#endif
        judge();
ended:
        now++
    :: else -> break
    od
}
