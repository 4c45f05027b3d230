// SPDX-License-Identifier: Apache-2.0
package io.crest;

/**
 * The values that a histogram or timer tells apart: from the lowest to the highest, in the metric's
 * unit, with so many significant decimal digits. The names of the ranges are Kamon's. A value below
 * counts as it is, but no finer than the lowest; a value above counts as the highest, and is
 * counted as misuse. Memory is taken per power of two that was recorded in, and grows tenfold a
 * digit. Immutable; any thread.
 */
public final class Range {
    /** 1 to an hour of nanoseconds, 1 digit. */
    public static final Range LOOSE = new Range(1);

    /** 1 to an hour of nanoseconds, 2 digits: buckets less than 1 % wide. */
    public static final Range DEFAULT = new Range(2);

    /** 1 to an hour of nanoseconds, 3 digits. */
    public static final Range FINE = new Range(3);

    /** 1 to 100, 2 digits. */
    public static final Range PERCENTAGE = new Range(4);

    /** Count, sum and extremes only; no buckets, no quantiles. */
    public static final Range NONE = new Range(5);

    /** The number of one of C's ranges; 0: the other fields have it. */
    final int preset;

    final long lowest;
    final long highest;
    final int digits;

    private Range(int preset) {
        this(preset, 0, 0, 0);
    }

    private Range(int preset, long lowest, long highest, int digits) {
        this.preset = preset;
        this.lowest = lowest;
        this.highest = highest;
        this.digits = digits;
    }

    /**
     * The caller's own range.
     *
     * @param lowest 1 or more
     * @param highest at least twice the lowest, at most 2^62; rounded up to the next 2^n - 1
     * @param digits 1 to 5; 0 keeps count, sum and extremes only
     * @return the range
     * @throws IllegalArgumentException for other values
     */
    public static Range of(long lowest, long highest, int digits) {
        if (lowest < 1 || highest / 2 < lowest || highest > 1L << 62 || digits < 0 || digits > 5)
            throw new IllegalArgumentException(
                    "no range from " + lowest + " to " + highest + " with " + digits
                            + " digits: the lowest is 1 or more, the highest at least twice the"
                            + " lowest and at most 2^62, digits are 0 to 5");
        return new Range(0, lowest, highest, digits);
    }
}
