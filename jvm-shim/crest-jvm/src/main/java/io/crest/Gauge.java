// SPDX-License-Identifier: Apache-2.0
package io.crest;

/** The value something has now; the last write wins. */
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
     * @throws IllegalArgumentException for a name that is none
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
     * @throws IllegalArgumentException for a name or description that is none
     * @throws CrestException when another metric stands in the way
     */
    public static Gauge of(String name, String description) {
        return Metric.named(name).describedAs(description).gauge();
    }
}
