// SPDX-License-Identifier: Apache-2.0
package io.crest;

/** How large things are. */
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
     * @throws IllegalArgumentException for a name that is none
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
     * @throws IllegalArgumentException for a name or description that is none
     * @throws CrestException when another metric stands in the way
     */
    public static Histogram of(String name, String description) {
        return Metric.named(name).describedAs(description).histogram();
    }
}
