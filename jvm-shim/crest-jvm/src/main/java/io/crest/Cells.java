// SPDX-License-Identifier: Apache-2.0
package io.crest;

/**
 * Recording in memory, as the inlined part of the library's own calls does it ({@code
 * <crest/cell.h>}), and the calls for what that leaves to the cold path: a thread's first touch, a
 * value out of range, a series that was closed.
 */
final class Cells {
    /** How often the cold path was taken, roughly when by several threads: what tests look at. */
    static int calls;

    private Cells() {}

    /** The calling thread's cell of the series, or 0 for the cold path. */
    private static long cell(long handle) {
        long table = Lane.own();
        if (table == 0) return 0;
        int slot = Memory.intAt(handle + Layout.HANDLE_SLOT);
        long chunk = Memory.longAt(table + ((long) (slot >>> Layout.CHUNK_BITS) << 3));
        return chunk == 0 ? 0 : chunk + ((long) slot << 3);
    }

    /** Adds to a counter. */
    static void add(long counter, long amount) {
        long cell = cell(counter);
        if (cell == 0 || amount < 0) {
            addCold(counter, amount);
            return;
        }
        long before = Memory.longAt(cell), after = before + amount;
        Memory.putRelease(cell, after);
        if ((before & ~after) < 0) CellNatives.counterFull(counter);
    }

    private static void addCold(long counter, long amount) {
        if (counter == 0) return;
        CellNatives.counterAdd(counter, amount);
        keep(counter);
    }

    /** Records into a histogram. */
    static void record(long histogram, long value, long times) {
        if (!recorded(histogram, value, times)) recordCold(histogram, value, times);
    }

    private static void recordCold(long histogram, long value, long times) {
        if (histogram == 0) return;
        CellNatives.histogramRecord(histogram, value, times);
        keep(histogram);
    }

    /** After a call into the library: the way back without one. */
    static void keep(long handle) {
        calls++;
        if (Lane.own() == 0) Lane.keep(Memory.intAt(handle + Layout.HANDLE_SLOT));
    }

    /**
     * Records a value into a histogram, or a timer's outcome; false if nothing was done, because
     * that takes a call: who makes it calls {@link #keep} afterwards.
     */
    static boolean recorded(long histogram, long value) {
        return recorded(histogram, value, 1);
    }

    /** The same, several times. The order is the library's: extremes, count, sum. */
    static boolean recorded(long histogram, long value, long times) {
        if (times != 1
                && (times < 1 || times > Layout.TIMES_MAX || value >>> Layout.TIMES_BITS_MAX != 0))
            return false;
        long cell = cell(histogram);
        if (cell == 0) return false;
        long shard = Memory.longAt(cell);
        if (shard == 0) return false;
        int top = 63 - Long.numberOfLeadingZeros(value | 1);
        long block = Memory.longAt(shard + ((long) top << 3));
        // a negative value finds no block
        if (block == 0
                || value > Memory.longAt(shard + Layout.SHARD_NOTED)
                || value < Memory.longAt(shard + Layout.SHARD_MIN)) return false;
        long count = (block & ~Layout.BLOCK_SHIFT) + ((value >>> (int) block) << 3);
        Memory.putRelease(count, Memory.longAt(count) + times);
        long sum = shard + Layout.SHARD_SUM;
        Memory.putRelease(sum, Memory.longAt(sum) + value * times);
        return true;
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
