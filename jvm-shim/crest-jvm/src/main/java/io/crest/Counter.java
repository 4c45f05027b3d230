// SPDX-License-Identifier: Apache-2.0
package io.crest;

/**
 * How many times something happened. Monotonic and exact; the first choice.
 *
 * <pre>{@code
 * static final Counter DEPLOYS = Counter.of("casper.deploys-accepted");
 * DEPLOYS.increment();
 * }</pre>
 *
 * <p>Any thread may use one, virtual threads too. An increment adds to memory of the thread's own:
 * it takes no lock, allocates nothing and calls nothing once the thread has touched the counter.
 */
public final class Counter extends Instrument {
    Counter(Series series) {
        super(series);
    }

    /**
     * The counter of this name in the process, found or made. For settings and labels see {@link
     * Metric}.
     *
     * @param name canonical: letters, digits and _ in words joined by . and -
     * @return never null
     * @throws IllegalArgumentException for an invalid name
     * @throws CrestException when another metric stands in the way
     */
    public static Counter of(String name) {
        return Metric.named(name).counter();
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
    public static Counter of(String name, String description) {
        return Metric.named(name).describedAs(description).counter();
    }

    /** Adds one. Never throws, locks or allocates. */
    public void increment() {
        Cells.add(handle, 1);
    }

    /**
     * Adds {@code times}, in the counter's unit. A negative number is not applied and is counted as
     * misuse. A counter saturates at 2^64 - 1. Never throws, locks or allocates.
     */
    public void increment(long times) {
        Cells.add(handle, times);
    }

    /**
     * What was counted so far, by all threads; beyond 2^63 - 1 it is negative and must be read as
     * unsigned. One call into the library, which reads one word per thread.
     */
    public long value() {
        return handle == 0 ? 0 : CellNatives.counterValue(handle);
    }
}
