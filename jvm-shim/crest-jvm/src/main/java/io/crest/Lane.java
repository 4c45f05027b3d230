// SPDX-License-Identifier: Apache-2.0
package io.crest;

/**
 * A platform thread's cells: the table that the library keeps for the thread, found by the thread's
 * number. Only that owner thread writes the cells, so an addition is a load, an addition and a
 * store.
 *
 * <p>Thread numbers are never used again, so a lane refers to no thread: nothing here keeps a
 * thread, or a class loader, alive. Where two threads share a place, one of them is found by a
 * {@link ThreadLocal}, which takes longer; its value is of a JDK class for the same reason.
 *
 * <p>Virtual threads have no lane.
 */
final class Lane {
    private static final int LANES = 1024;
    private static final Lane[] BY_NUMBER = new Lane[LANES];

    /** Finds by the thread local before the thread takes the place: at first, and at most. */
    private static final long MISSES_MIN = 64;

    private static final long MISSES_MAX = 1 << 16;

    /** The table's address; finds by the thread local so far; finds at which to take the place. */
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

    /** The calling platform thread's table by the thread local; 0 if it has none (yet). Now and
     * then the thread takes its place back: otherwise short-lived threads, each at its first
     * record, would drive the others from theirs for good. */
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
     * leads to the slot. Called after a call into the library, which makes the table. */
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
