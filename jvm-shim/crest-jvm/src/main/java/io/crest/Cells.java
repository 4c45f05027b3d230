// SPDX-License-Identifier: Apache-2.0
package io.crest;

/**
 * Recording in memory, as the inlined part of the library does it ({@code <crest/cell.h>}), and the
 * calls for the cold path: a thread's first touch, a value out of range, a series that was closed.
 */
final class Cells {
    /** How often the cold path was taken; inexact with several threads; for tests. */
    static int calls;

    private Cells() {}

    /** The series' cell of a table, or 0 for the cold path. */
    private static long cell(long table, long handle) {
        int slot = Memory.intAt(handle + Layout.HANDLE_SLOT);
        long chunk = Memory.longAt(table + ((long) (slot >>> Layout.CHUNK_BITS) << 3));
        return chunk == 0 ? 0 : chunk + ((long) slot << 3);
    }

    /** Adds to a counter. */
    static void add(long counter, long amount) {
        long table = Lane.own();
        if (table != 0) addOwn(table, counter, amount);
        else addElsewhere(counter, amount);
    }

    private static void addOwn(long table, long counter, long amount) {
        long cell = cell(table, counter);
        if (cell == 0 || amount < 0) {
            calls++;
            CellNatives.counterAdd(counter, amount);
            return;
        }
        long before = Memory.longAt(cell), after = before + amount;
        Memory.putRelease(cell, after);
        if ((before & ~after) < 0) CellNatives.counterFull(counter);
    }

    private static void addElsewhere(long counter, long amount) {
        if (counter == 0) return;
        Thread thread = Thread.currentThread();
        if (Threads.isVirtual(thread)) {
            addShared(SharedLanes.of(thread), counter, amount);
            return;
        }
        long table = Lane.ownElsewhere(thread);
        if (table != 0) {
            addOwn(table, counter, amount);
            return;
        }
        CellNatives.counterAdd(counter, amount);
        keep(counter);
    }

    private static void addShared(int lane, long counter, long amount) {
        long table = SharedLanes.table(lane);
        long cell = table == 0 ? 0 : cell(table, counter);
        if (cell == 0 || amount < 0) {
            calls++;
            CellNatives.laneCounterAdd(lane, counter, amount);
            return;
        }
        long before = Memory.getAndAdd(cell, amount);
        if ((before & ~(before + amount)) < 0) CellNatives.counterFull(counter);
    }

    /** Records into a histogram. */
    static void record(long histogram, long value, long times) {
        if (!recorded(histogram, value, times)) recordCold(histogram, value, times);
    }

    private static void recordCold(long histogram, long value, long times) {
        if (histogram == 0) return;
        int lane = lane(histogram);
        if (lane < 0) CellNatives.histogramRecord(histogram, value, times);
        else CellNatives.laneHistogramRecord(lane, histogram, value, times);
        keep(histogram);
    }

    /** Where a record of the calling thread goes that takes a call: a lane's number, or -1 for the
     * thread's own cells, which then has a place among {@link OwnCounts}. */
    static int lane(long histogram) {
        Thread thread = Thread.currentThread();
        if (Threads.isVirtual(thread)) return SharedLanes.of(thread);
        if (Memory.intAt(histogram + Layout.HANDLE_SLOT) >>> Layout.CHUNK_BITS == 0)
            return -1; // closed, or never opened: the call says which
        return hasOwn(histogram) || OwnCounts.take(thread, histogram) ? -1 : SharedLanes.of(thread);
    }

    /** Whether the calling platform thread has counts of its own for the histogram. */
    static boolean hasOwn(long histogram) {
        long table = Lane.own();
        if (table == 0) table = Lane.ownElsewhere(Thread.currentThread());
        long cell = table == 0 ? 0 : cell(table, histogram);
        return cell != 0 && Memory.longAt(cell) != 0;
    }

    /** After a cold call: remembers the thread's table, so that the next record needs no call. */
    static void keep(long handle) {
        calls++;
        if (Lane.own() == 0) Lane.keep(Memory.intAt(handle + Layout.HANDLE_SLOT));
    }

    /**
     * Records a value into a histogram, or a timer's outcome. False: nothing was done, because that
     * takes a call. The caller then makes the call, for the lane of {@link #lane}, and calls {@link
     * #keep} afterwards.
     */
    static boolean recorded(long histogram, long value) {
        return recorded(histogram, value, 1);
    }

    /** The same, several times. */
    static boolean recorded(long histogram, long value, long times) {
        if (times != 1
                && (times < 1 || times > Layout.TIMES_MAX || value >>> Layout.TIMES_BITS_MAX != 0))
            return false;
        long table = Lane.own();
        return table != 0
                ? recordedOwn(table, histogram, value, times)
                : recordedElsewhere(histogram, value, times);
    }

    private static boolean recordedElsewhere(long histogram, long value, long times) {
        if (!Library.AVAILABLE) return false;
        Thread thread = Thread.currentThread();
        long table = Threads.isVirtual(thread) ? 0 : Lane.ownElsewhere(thread);
        return table != 0
                ? recordedOwn(table, histogram, value, times)
                : recordedShared(thread, histogram, value, times);
    }

    /** In the library's order: extremes, count, sum. */
    private static boolean recordedOwn(long table, long histogram, long value, long times) {
        long cell = cell(table, histogram);
        long shard = cell == 0 ? 0 : Memory.longAt(cell);
        if (shard == 0) return recordedShared(Thread.currentThread(), histogram, value, times);
        long block = Memory.longAt(shard + block(value));
        // a negative value finds no block
        if (block == 0
                || value > Memory.longAt(shard + Layout.SHARD_NOTED)
                || value < Memory.longAt(shard + Layout.SHARD_MIN)) return false;
        long count = count(block, value);
        Memory.putRelease(count, Memory.longAt(count) + times);
        long sum = shard + Layout.SHARD_SUM;
        Memory.putRelease(sum, Memory.longAt(sum) + value * times);
        return true;
    }

    /** The same with several writers, which may also raise the note and lower the minimum: by
     * virtual threads, and by those that have no counts of their own for this histogram. */
    private static boolean recordedShared(
            Thread thread, long histogram, long value, long times) {
        if (!Threads.isVirtual(thread) && OwnCounts.due(thread, histogram)) return false;
        long table = SharedLanes.table(SharedLanes.of(thread));
        long cell = table == 0 ? 0 : cell(table, histogram);
        if (cell == 0) return false;
        long shard = Memory.longAcquire(cell);
        if (shard == 0) return false;
        long block = Memory.longAcquire(shard + block(value));
        // acquire: the writer that raised the note had raised the maximum before
        if (block == 0
                || value > Memory.longAcquire(shard + Layout.SHARD_NOTED)
                || value < Memory.longAt(shard + Layout.SHARD_MIN)) return false;
        long before = Memory.getAndAdd(count(block, value), times);
        Memory.getAndAdd(shard + Layout.SHARD_SUM, value * times);
        OwnCounts.added(thread, histogram, before, before + times);
        return true;
    }

    /** Where a shard has the word of the value's block: by its highest bit. */
    private static long block(long value) {
        return (long) (63 - Long.numberOfLeadingZeros(value | 1)) << 3;
    }

    /** The address of the value's count. */
    private static long count(long block, long value) {
        return (block & ~Layout.BLOCK_SHIFT) + ((value >>> (int) block) << 3);
    }

    /** Sets a gauge. */
    static void set(long gauge, double value) {
        if (gauge == 0) return;
        long cell = Memory.longAcquire(gauge + Layout.GAUGE_CELL);
        if (cell == 0 || value != value) CellNatives.gaugeSet(gauge, value);
        else Memory.putRelease(cell, Double.doubleToRawLongBits(value));
    }

    /** Adds to a gauge; what other threads add meanwhile is not lost. */
    static void add(long gauge, double delta) {
        if (gauge == 0) return;
        long cell = Memory.longAcquire(gauge + Layout.GAUGE_CELL);
        if (cell == 0) {
            CellNatives.gaugeAdd(gauge, delta);
            return;
        }
        while (true) {
            long seen = Memory.longAt(cell);
            double value = Double.longBitsToDouble(seen) + delta;
            if (value != value) {
                CellNatives.gaugeAdd(gauge, value);
                return;
            }
            if (Memory.replace(cell, seen, Double.doubleToRawLongBits(value))) return;
        }
    }
}
