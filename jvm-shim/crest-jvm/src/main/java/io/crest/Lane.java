// SPDX-License-Identifier: Apache-2.0
package io.crest;

/**
 * The way from a platform thread to its cells: the table that the library keeps for the thread,
 * found by the thread's number. Only that thread ever writes those cells, so an addition is a load,
 * an addition and a store.
 *
 * <p>The numbers of threads are never used again, so that a lane refers to no thread: nothing here
 * keeps a thread, or a class loader, alive. Of two threads that share a place, one is found by a
 * {@link ThreadLocal}, which takes longer; its value is of a class of the JDK's for the same
 * reason.
 *
 * <p>Virtual threads have none.
 */
final class Lane {
    private static final int LANES = 1024;
    private static final Lane[] BY_NUMBER = new Lane[LANES];

    /** So many finds by the thread local before the place is taken, and at most so many later. */
    private static final long MISSES_MIN = 64;

    private static final long MISSES_MAX = 1 << 16;

    /** The table's address; how often it was found here; when the place is to be taken. */
    private static final ThreadLocal<long[]> OWN = new ThreadLocal<>();

    private final long number;

    /** The address of the thread's table. */
    final long table;

    private Lane(long number, long table) {
        this.number = number;
        this.table = table;
    }

    /** The table of the calling thread; 0 if it is not found by its number. */
    static long own() {
        if (!Threads.NUMBERED) return 0;
        long number = Threads.number(Thread.currentThread());
        Lane lane = BY_NUMBER[(int) number & (LANES - 1)];
        return lane != null && lane.number == number ? lane.table : 0;
    }

    /** The table of the calling platform thread by the thread local; 0 if it has none (yet). Now
     * and then the place is taken back: short-lived threads, each at its first record, would
     * otherwise drive the others from theirs for good. */
    static long ownElsewhere(Thread thread) {
        long[] own = OWN.get();
        if (own == null) return 0;
        if (Threads.NUMBERED && ++own[1] == own[2]) {
            own[1] = 0;
            own[2] = Math.min(2 * own[2], MISSES_MAX);
            place(thread, own[0]);
        }
        return own[0];
    }

    /** Remembers the calling thread's table, if it is a platform thread and its table is there and
     * leads to the slot. For who found none, after a call into the library, which makes one. */
    static void keep(int slot) {
        Thread thread = Thread.currentThread();
        if (Threads.isVirtual(thread) || OWN.get() != null) return;
        long table = CellNatives.table(slot);
        if (table == 0) return;
        OWN.set(new long[] {table, 0, MISSES_MIN});
        if (Threads.NUMBERED) place(thread, table);
    }

    private static void place(Thread thread, long table) {
        long number = Threads.number(thread);
        BY_NUMBER[(int) number & (LANES - 1)] = new Lane(number, table);
    }
}
