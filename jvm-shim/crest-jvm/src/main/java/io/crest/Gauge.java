// SPDX-License-Identifier: Apache-2.0
package io.crest;

/**
 * The value something has now; the last write wins. A gauge never shows what lies between two
 * readings, so it is the last choice: count events with a {@link Counter}, describe quantities with
 * a {@link Histogram}, and what comes and goes with a {@link RangeSampler}.
 *
 * <p>Any thread may use one. All threads share its cell, which is written without a call, a lock or
 * an allocation.
 */
public final class Gauge extends Instrument {
    Gauge(Series series) {
        super(series);
    }

    /**
     * The gauge of this name in the process, found or made. For settings and labels see {@link
     * Metric}.
     *
     * @param name canonical: letters, digits and _ in words joined by . and -
     * @return never null
     * @throws IllegalArgumentException for an invalid name
     * @throws CrestException when another metric stands in the way
     */
    public static Gauge of(String name) {
        return Metric.named(name).gauge();
    }

    /**
     * The same, with a help text.
     *
     * @param name as of {@link #of(String)}
     * @param description at most 1,000 bytes of UTF-8
     * @return never null
     * @throws IllegalArgumentException for an invalid name or description
     * @throws CrestException when another metric stands in the way
     */
    public static Gauge of(String name, String description) {
        return Metric.named(name).describedAs(description).gauge();
    }

    /**
     * Sets the value, in the gauge's unit; infinities are values. NaN is not applied and is counted
     * as misuse. Never throws.
     */
    public void set(double value) {
        Cells.set(handle, value);
    }

    /** Adds one. */
    public void increment() {
        Cells.add(handle, 1.0);
    }

    /**
     * Adds {@code delta}, which may be negative; additions of several threads are all applied. NaN,
     * and a delta whose sum would be NaN, is not applied and is counted as misuse. Never throws.
     */
    public void increment(double delta) {
        Cells.add(handle, delta);
    }

    /** Subtracts one. */
    public void decrement() {
        Cells.add(handle, -1.0);
    }

    /** Subtracts {@code delta}; otherwise as {@link #increment(double)}. */
    public void decrement(double delta) {
        Cells.add(handle, -delta);
    }

    /**
     * Sets the gauge to the wall clock, in seconds since 1970: "last time it happened". A call into
     * the library, which reads the clock.
     */
    public void setToNow() {
        if (handle != 0) CellNatives.gaugeSetToNow(handle);
    }

    /** The value now; 0 before the first write. A call into the library. */
    public double value() {
        return handle == 0 ? 0 : CellNatives.gaugeValue(handle);
    }
}
