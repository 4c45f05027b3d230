// SPDX-License-Identifier: Apache-2.0
package io.crest;

/** The cold path of recording in memory ({@link Cells}); jvm_cells.c. */
final class CellNatives {
    private CellNatives() {}

    /** The figures that {@link Layout} compares. */
    static native long[] layout();

    /** The table of this thread's cells if it leads to the slot's cell, else 0. */
    static native long table(int slot);

    static native void counterAdd(long counter, long amount);

    static native void counterFull(long counter);

    static native long counterValue(long counter);

    /** The tables of the lanes, made if need be for so many processors; empty without memory. */
    static native long[] lanes(int processors);

    static native void laneCounterAdd(int lane, long counter, long amount);

    static native void laneHistogramRecord(int lane, long histogram, long value, long times);

    static native void histogramRecord(long histogram, long value, long times);

    static native void gaugeSet(long gauge, double value);

    static native void gaugeAdd(long gauge, double delta);

    static native void gaugeSetToNow(long gauge);

    static native double gaugeValue(long gauge);

    static native void rangeAdd(long sampler, long delta);

    static native void rangeSet(long sampler, long value);

    static native long rangeValue(long sampler);
}
