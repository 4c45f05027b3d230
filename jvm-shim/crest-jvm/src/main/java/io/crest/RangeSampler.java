// SPDX-License-Identifier: Apache-2.0
package io.crest;

/** How many there are at this moment, when it matters how many there ever were. */
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
     * @throws IllegalArgumentException for a name that is none
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
     * @throws IllegalArgumentException for a name or description that is none
     * @throws CrestException when another metric stands in the way
     */
    public static RangeSampler of(String name, String description) {
        return Metric.named(name).describedAs(description).rangeSampler();
    }
}
