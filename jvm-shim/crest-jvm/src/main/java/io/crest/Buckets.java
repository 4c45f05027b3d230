// SPDX-License-Identifier: Apache-2.0
package io.crest;

import java.util.Arrays;

/**
 * The upper bounds of the buckets that a histogram or timer is exported with: in the base unit
 * (seconds, bytes), ascending, +Inf implied. The histogram itself is finer, see {@link Range};
 * quantiles of windows come from it. Immutable; any thread.
 */
public final class Buckets {
    /** At most so many bounds. */
    static final int COUNT_MAX = 64;

    /** 5 ms to 10 s: every client library's default. */
    public static final Buckets DEFAULT = new Buckets(1);

    /** 10 µs to 1 s. */
    public static final Buckets FAST = new Buckets(2);

    /** 0.1 s to an hour. */
    public static final Buckets SLOW = new Buckets(3);

    /** 512 B to 16 MiB. */
    public static final Buckets BYTES = new Buckets(4);

    /** 0.05 to 0.95. */
    public static final Buckets RATIO = new Buckets(5);

    /** 1 to 1,000,000: bare numbers. */
    public static final Buckets MAGNITUDES = new Buckets(6);

    /** The number of one of C's sets; 0: the bounds are here. */
    final int preset;

    /** Not to be written to. */
    final double[] bounds;

    private Buckets(int preset) {
        this(preset, new double[0]);
    }

    private Buckets(int preset, double[] bounds) {
        this.preset = preset;
        this.bounds = bounds;
    }

    /**
     * The caller's own bounds.
     *
     * @param bounds 1 to 64, each finite, 0 or more and above the previous one; copied
     * @return the set
     * @throws IllegalArgumentException for other bounds; the message says which
     */
    public static Buckets of(double... bounds) {
        if (bounds == null || bounds.length == 0)
            throw new IllegalArgumentException(
                    "there are no bucket bounds; give one, or none of your own");
        if (bounds.length > COUNT_MAX)
            throw new IllegalArgumentException(
                    "there are " + bounds.length + " bucket bounds; " + COUNT_MAX
                            + " is the limit, +Inf not counted");
        for (int i = 0; i < bounds.length; i++) {
            String what = null;
            if (Double.isNaN(bounds[i]) || Double.isInfinite(bounds[i]))
                what = "is not a finite number (+Inf is implied)";
            else if (bounds[i] < 0) what = "is negative";
            else if (i > 0 && bounds[i] <= bounds[i - 1])
                what = "is not above the one before it";
            if (what != null)
                throw new IllegalArgumentException(
                        "bucket bound " + (i + 1) + " of " + bounds.length + ", " + bounds[i] + ", "
                                + what);
        }
        return new Buckets(0, Arrays.stream(bounds).map(b -> b + 0.0).toArray()); // -0 becomes 0
    }
}
