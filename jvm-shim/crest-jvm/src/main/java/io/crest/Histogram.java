// SPDX-License-Identifier: Apache-2.0
package io.crest;

/**
 * How large things are: every value of the range is counted in a bucket that is narrow relative to
 * the value; count, sum and extremes are exact.
 *
 * <pre>{@code
 * static final Histogram SIZE = Metric.named("casper.block-size").in(Unit.BYTES).histogram();
 * SIZE.record(block.length);
 * }</pre>
 *
 * <p>Any thread may use one, virtual threads too. A record adds to memory of the thread's own, or
 * to memory that several threads share where a process has many pairs of thread and histogram. Once
 * the thread has recorded five values, one of this power of two among them, a record takes no lock,
 * allocates nothing and calls nothing. Two values still take a call: the thread's largest since the
 * last tick, and its least of all.
 */
public final class Histogram extends Instrument {
    Histogram(Series series) {
        super(series);
    }

    /**
     * The histogram of this name in the process, found or made. For settings and labels see {@link
     * Metric}.
     *
     * @param name canonical: letters, digits and _ in words joined by . and -
     * @return never null
     * @throws IllegalArgumentException for an invalid name
     * @throws CrestException when another metric stands in the way
     */
    public static Histogram of(String name) {
        return Metric.named(name).histogram();
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
    public static Histogram of(String name, String description) {
        return Metric.named(name).describedAs(description).histogram();
    }

    /**
     * Records a value, in the histogram's unit. A value above the range counts as the range's
     * highest, and as misuse; a negative one is not applied and is counted as misuse. Never throws,
     * locks or allocates.
     */
    public void record(long value) {
        Cells.record(handle, value, 1);
    }

    /**
     * Records a value {@code times} times; 0 does nothing, and a negative number is not applied and
     * is counted as misuse. Otherwise as {@link #record(long)}.
     */
    public void record(long value, long times) {
        Cells.record(handle, value, times);
    }
}
