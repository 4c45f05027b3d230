// SPDX-License-Identifier: Apache-2.0
package io.crest;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Which pairs of a platform thread and a histogram (or a timer's outcome) have counts that only
 * that thread writes. A thread's counts take 1 to 50 KB for each histogram, so 200 threads with 40
 * timers would take 200 MB. There are at most so many such pairs; all others add atomically to
 * {@link SharedLanes}, of which there are as many as processors. Both are exact.
 *
 * <p>States of a pair, in a cell of the thread's table:
 *
 * <ol>
 *   <li>0: it shares. Its first record takes one of the {@link #FIRST} places, while there are any.
 *   <li>0 and promised: the thread's record was the 1,024th of a count in its lane, and took one of
 *       the {@link #BUSY} places. So a pair gets its place sooner the more it records.
 *   <li>not 0: it has its own, from the next record on, and keeps it.
 * </ol>
 *
 * <p>Invariant: places are taken before the library makes counts, so there are never more pairs
 * than places. The library makes more by itself only for records that come by native code.
 */
final class OwnCounts {
    /** Places for the pairs that come first: all that a program with few of them needs. */
    static final int FIRST = 128;

    /** Places for pairs that record much. */
    static final int BUSY = 128;

    /** A lane's count that passes a multiple of 1,024. */
    private static final int OFTEN_BITS = 10;

    private static final int PROMISES = 64;

    private static final AtomicInteger FIRST_LEFT = new AtomicInteger(FIRST);
    private static final AtomicInteger BUSY_LEFT = new AtomicInteger(BUSY);

    /** The pairs that got a place and have not recorded since; 0: none. A pair that is driven out
     * by another passes its place on. */
    private static final AtomicLongArray PROMISED = new AtomicLongArray(PROMISES);

    private OwnCounts() {}

    /** Whether the pair's next record makes counts of its own, by a call. */
    static boolean due(Thread thread, long histogram) {
        if (FIRST_LEFT.get() > 0 || !Threads.NUMBERED) return true;
        long pair = pair(thread, histogram);
        return PROMISED.get(place(pair)) == pair;
    }

    /** The same, and takes the place. */
    static boolean take(Thread thread, long histogram) {
        if (!Threads.NUMBERED) return true;
        long pair = pair(thread, histogram);
        return PROMISED.compareAndSet(place(pair), pair, 0)
                || FIRST_LEFT.get() > 0 && FIRST_LEFT.getAndDecrement() > 0;
    }

    /** After an addition to a lane's count, by a platform thread: gives the pair a place if the
     * count says that it records much. */
    static void added(Thread thread, long histogram, long before, long after) {
        if ((before ^ after) >>> OFTEN_BITS == 0 || BUSY_LEFT.get() <= 0) return;
        if (Threads.isVirtual(thread) || BUSY_LEFT.getAndDecrement() <= 0) return;
        long pair = pair(thread, histogram);
        if (PROMISED.getAndSet(place(pair), pair) != 0) BUSY_LEFT.getAndIncrement();
    }

    /** Never 0. The number of a thread is cut to 16 bits: two threads, 65,536 apart, may be taken
     * for each other, and one of them gets the other's place. */
    private static long pair(Thread thread, long histogram) {
        return histogram ^ Threads.number(thread) << 48;
    }

    private static int place(long pair) {
        return (int) ((pair * 0x9e3779b97f4a7c15L) >>> 58) & (PROMISES - 1);
    }
}
