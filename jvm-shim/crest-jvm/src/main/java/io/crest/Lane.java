// SPDX-License-Identifier: Apache-2.0
package io.crest;

import java.lang.ref.WeakReference;

/**
 * The way from a Java thread to its cells: the table that the library keeps for the platform thread,
 * found by the thread's number in a table of our own, without a {@link ThreadLocal}, whose walk costs
 * more than the addition. Only that thread ever writes those cells, so an addition is a load, an
 * addition and a store.
 *
 * <p>An entry refers to its thread weakly and to nothing else, so that neither a thread nor a class
 * loader lives longer for it.
 */
final class Lane extends WeakReference<Thread> {
    private static final int LANES = 1024;
    private static final Lane[] BY_NUMBER = new Lane[LANES];

    final long table;

    private Lane(Thread thread, long table) {
        super(thread);
        this.table = table;
    }

    /** The lane of the calling thread; null if it has none (yet), which takes the cold path. */
    @SuppressWarnings("deprecation") // threadId() is there from Java 19 on
    static Lane own() {
        Thread thread = Thread.currentThread();
        Lane lane = BY_NUMBER[(int) thread.getId() & (LANES - 1)];
        return lane != null && lane.get() == thread ? lane : null;
    }

    /** Remembers this thread's table, if it is there and leads to the slot. */
    @SuppressWarnings("deprecation")
    static void keep(int slot) {
        long table = Native.table(slot);
        Thread thread = Thread.currentThread();
        if (table != 0) BY_NUMBER[(int) thread.getId() & (LANES - 1)] = new Lane(thread, table);
    }
}
