// SPDX-License-Identifier: Apache-2.0
package io.crest;

/** How long operations take. */
public final class Timer extends Instrument {
    Timer(Series series) {
        super(series);
    }

    /**
     * The timer of this name in the process, found or made. For settings and labels see {@link
     * Metric}.
     *
     * @param name canonical: letters, digits and _ in words joined by . and -
     * @return never null
     * @throws IllegalArgumentException for a name that is none
     * @throws CrestException when another metric stands in the way
     */
    public static Timer of(String name) {
        return Metric.named(name).timer();
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
    public static Timer of(String name, String description) {
        return Metric.named(name).describedAs(description).timer();
    }
}
