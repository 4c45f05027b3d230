// SPDX-License-Identifier: Apache-2.0
package io.crest;

/**
 * A few lanes that belong to no thread ({@code <crest/lane.h>}). A thread's number chooses its
 * lane, and all writers add to it atomically. Virtual threads use them for all they record, as they
 * may move to another carrier at any point; platform threads for histograms that they have no
 * counts of their own of, see {@link OwnCounts}.
 */
final class SharedLanes {
    /** A power of two; a single 0 where there is no memory for lanes. */
    private static final long[] TABLES = tables();

    private SharedLanes() {}

    /** The lane of a virtual thread. */
    static int of(Thread thread) {
        return (int) Threads.number(thread) & (TABLES.length - 1);
    }

    /** The lane of the calling thread; -1 of a platform thread, which has cells of its own. */
    static int current() {
        Thread thread = Thread.currentThread();
        return Threads.isVirtual(thread) ? of(thread) : -1;
    }

    /** The address of a lane's table; 0 if there is none. */
    static long table(int lane) {
        return TABLES[lane];
    }

    private static long[] tables() {
        long[] tables = CellNatives.lanes(Runtime.getRuntime().availableProcessors());
        return tables.length == 0 ? new long[1] : tables;
    }
}
