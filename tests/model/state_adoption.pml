/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adoption of dead runs' totals (src/adopt/adoption.h): RUNS starts one behind the other, each of
 * which may be killed between any two steps. Each run records one thing of its own before it
 * adopts. A run that gets through its start must have each thing of all runs before it exactly
 * once; none may ever be there twice. Marking a file may fail, and removing it then, too.
 *
 * A run that got through may report what is there beyond what was delivered, and then writes down
 * how far the receiver has it (cells/delivered_cells.h). What the next run takes for delivered is
 * what was: less only by a report whose word its run did not live to write, which comes twice.
 *
 *     model: holds
 *     model: holds -DRUNS=5
 *     model: fails -DNO_NAMES       committed lists are not read: what was adopted counts again
 *     model: fails -DNAMES_LATE     A2 behind A5: the list is done with before its files are marked
 *     model: fails -DMARK_FIRST     A5 before A4: a kill between them loses what was marked
 *     model: fails -DTABLE_COUNTS   a table counts without a commit: its files count again, too
 *     model: fails -DADD_STUCK      adopts although a file could not be marked
 *     model: fails -DNO_COMMIT      the old files' marks are the commit: a kill between two of them
 *     model: fails -DWORDS_COUNT    words taken over count without a commit: a kill loses reports
 *     model: fails -DWORDS_LATE     words are taken over behind the commit: a kill between forgets
 *     model: fails -DWORDS_WHOLE    a run's own word has what dead runs delivered, too: it is lost
 *     model: fails -DWORDS_FIRST    the word is written before the report: a kill between loses it
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

byte own[RUNS];       /* words: what it delivered beyond `inherited` */
byte inherited[RUNS]; /* what dead runs had delivered of what it adopted; counts with `names` */

byte now, old, file, named, taken, more;
bool stuck;
byte received, twice; /* all that the receiver got, and what of it came a second time */

/* What `file` says of the run `old`. */
#ifdef TABLE_COUNTS
#define SAYS ((file == old) + table[AT(file, old)])
#else
#define SAYS ((file == old) + (names[file] != 0 -> table[AT(file, old)] : 0))
#endif

/* What `file` says of what was delivered. */
#ifdef WORDS_COUNT
#define WORDS (own[file] + inherited[file])
#else
#define WORDS (own[file] + (names[file] != 0 -> inherited[file] : 0))
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
#ifndef WORDS_LATE
                inherited[now] = inherited[now] + WORDS;
#endif
                taken = taken | (1 << file)
            };
            MAY_END
        :: else
        fi;
    NEXT_FILE
}

#ifdef WORDS_LATE
inline add_words()
{
    EACH_FILE
        if
        :: taken & (1 << file) -> inherited[now] = inherited[now] + WORDS; MAY_END
        :: else
        fi;
    NEXT_FILE
}
#endif

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
        od;
        assert(stuck || inherited[now] == received - twice)
    }
}

/* What is there and was not delivered goes out; then the word is written. */
inline report()
{
    d_step {
        more = 1;
        old = 0;
        do
        :: old < now ->
            if
            :: names[now] != 0 -> more = more + table[AT(now, old)]
            :: else
            fi;
            old++
        :: else -> break
        od;
        file = now;
        more = more - WORDS
    };
#ifdef WORDS_FIRST
    own[now] = own[now] + more;
    MAY_END;
    received = received + more;
#else
    received = received + more;
    if
    :: twice = twice + more; goto ended
    :: skip
    fi;
#ifdef WORDS_WHOLE
    own[now] = own[now] + inherited[now] + more;
#else
    own[now] = own[now] + more;
#endif
#endif
    MAY_END
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
        :: stuck -> goto reports
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
#ifdef WORDS_LATE
        add_words();
#endif
        mark_taken();
#endif
#endif
#ifdef NAMES_LATE
        mark_named();
        let_go();
#endif
        judge();
reports:
        if
        :: report()
        :: skip
        fi;
ended:
        now++
    :: else -> break
    od
}
