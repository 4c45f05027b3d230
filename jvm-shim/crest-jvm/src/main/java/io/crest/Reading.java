// SPDX-License-Identifier: Apache-2.0
package io.crest;

import java.nio.charset.StandardCharsets;
import java.util.Objects;

/**
 * For tests of instrumented programs: one series of any kind as it was at a moment, by its name and
 * labels. Values are cumulative, and a process has one set of metrics, so compare two readings.
 *
 * <pre>{@code
 * long before = Reading.of("comm.connect-time", "outcome", "ok").count();
 * connect();
 * assertEquals(before + 1, Reading.of("comm.connect-time", "outcome", "ok").count());
 * }</pre>
 *
 * Immutable; any thread. What the series' kind does not have is 0.
 */
public final class Reading {
    /** A name, and key and value of nine labels: a metric's eight and the outcome. */
    private static final int TEXTS_MAX = 19;

    private final long[] numbers = new long[7];
    private final double[] gauge = new double[1];

    private Reading() {}

    /**
     * The series as it is now.
     *
     * @param name the metric's canonical name
     * @param labels keys and values by turns, in any order, for as many labels as tell the series
     *     from the metric's others; of a timer {@code "outcome", "ok"} too
     * @return never null
     * @throws IllegalArgumentException when no series matches, or several do: the message lists
     *     those that are close; or for a key without a value, or more than nine labels
     * @throws IllegalStateException when there is no library, so that nothing is counted
     */
    public static Reading of(String name, String... labels) {
        Objects.requireNonNull(name, "name");
        if (!Library.AVAILABLE)
            throw new IllegalStateException("nothing is counted: " + Library.problem());
        if (labels.length % 2 != 0 || labels.length >= TEXTS_MAX)
            throw new IllegalArgumentException(
                    "labels of \"" + name + "\" are keys and values by turns, of nine labels at"
                            + " most; these are " + labels.length + " texts");
        String[] texts = new String[1 + labels.length];
        texts[0] = name;
        for (int i = 0; i < labels.length; i++)
            texts[i + 1] = Objects.requireNonNull(labels[i], "a label's key or value");
        Reading reading = new Reading();
        byte[] wrong = TestingNatives.read(Utf8.joined(texts), reading.numbers, reading.gauge);
        if (wrong != null)
            throw new IllegalArgumentException(new String(wrong, StandardCharsets.UTF_8));
        return reading;
    }

    /** The value: of a counter, a gauge, or a range sampler. */
    public double value() {
        return gauge[0] + numbers[1] + numbers[2];
    }

    /** How many records a histogram or timer has. */
    public long count() {
        return numbers[3];
    }

    /** The sum of a histogram's values; of a timer in nanoseconds. */
    public long sum() {
        return numbers[4];
    }

    /** The least value of a histogram; of a timer in nanoseconds. 0 without records. */
    public long minimum() {
        return numbers[5];
    }

    /** The largest value of a histogram; of a timer in nanoseconds. 0 without records. */
    public long maximum() {
        return numbers[6];
    }
}
