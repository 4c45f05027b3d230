// SPDX-License-Identifier: Apache-2.0
package io.crest;

/** One operation with several marks between its begin and its end. */
public final class Stages extends Instrument {
    Stages(Series series) {
        super(series);
    }

    /**
     * The stages of this name in the process, found or made. For settings and labels see {@link
     * Metric}.
     *
     * @param name canonical: letters, digits and _ in words joined by . and -
     * @param description at most 1,000 bytes of UTF-8
     * @param stages 1 to 16 names, none empty, each another one, in order
     * @return never null
     * @throws IllegalArgumentException for names that are none
     * @throws CrestException when another metric stands in the way
     */
    public static Stages of(String name, String description, String... stages) {
        return Metric.named(name).describedAs(description).stages(stages);
    }
}
