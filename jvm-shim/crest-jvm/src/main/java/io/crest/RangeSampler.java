// SPDX-License-Identifier: Apache-2.0
package io.crest;

/**
 * How many there are at this moment, when it matters how many there ever were: the length of a
 * queue, connections open, bytes held. The writer of each change keeps the extremes, so that no
 * peak falls between two readings however short it is. The mean over a window is weighted by time.
 *
 * <p>Any thread may use one. Value and time change together in one 16-byte compare-and-swap, which
 * Java has no access to. So each update is one call into the library: about 37 ns, of which C's own
 * update takes 21. It allocates nothing and takes no lock.
 */
public final class RangeSampler extends Instrument {
    RangeSampler(Series series) {
        super(series);
    }

    /**
     * The range sampler of this name in the process, found or made. For settings and labels see
     * {@link Metric}.
     *
     * @param name canonical: letters, digits and _ in words joined by . and -
     * @return never null
     * @throws IllegalArgumentException for an invalid name
     * @throws CrestException when another metric stands in the way
     */
    public static RangeSampler of(String name) {
        return Metric.named(name).rangeSampler();
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
    public static RangeSampler of(String name, String description) {
        return Metric.named(name).describedAs(description).rangeSampler();
    }

    /** Adds one. */
    public void increment() {
        increment(1);
    }

    /**
     * Adds {@code delta}, which may be negative. A sum beyond 64 bits is not applied and is counted
     * as misuse. Never throws.
     */
    public void increment(long delta) {
        if (handle != 0) CellNatives.rangeAdd(handle, delta);
    }

    /** Subtracts one. */
    public void decrement() {
        increment(-1);
    }

    /** Subtracts {@code delta}; otherwise as {@link #increment(long)}. */
    public void decrement(long delta) {
        if (delta != Long.MIN_VALUE) {
            increment(-delta);
            return;
        }
        increment(Long.MAX_VALUE);
        increment(1);
    }

    /** Sets the value, as an addition of the difference: no addition of another thread is lost. */
    public void set(long value) {
        if (handle != 0) CellNatives.rangeSet(handle, value);
    }

    /** Does nothing: the extremes are exact without sampling. For code written for Kamon. */
    public void sample() {}

    /** The value now; 0 before the first update. A call into the library. */
    public long value() {
        return handle == 0 ? 0 : CellNatives.rangeValue(handle);
    }
}
