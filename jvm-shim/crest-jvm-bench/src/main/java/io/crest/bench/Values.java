// SPDX-License-Identifier: Apache-2.0
package io.crest.bench;

import java.util.Arrays;
import java.util.Random;

/** What everyone records: the same values in the same order, made before the clock runs. */
final class Values {
    static final int COUNT = 1024;
    static final int MASK = COUNT - 1;

    /** An hour in nanoseconds, and digits: Kamon's default, and Crest's. */
    static final long HIGHEST = 3_600_000_000_000L;

    static final int DIGITS = 2;

    /** Upper bounds of buckets, where a library has them. */
    static final double[] BOUNDS = {
        5_000, 10_000, 25_000, 50_000, 75_000, 100_000, 250_000, 500_000, 750_000, 1e6, 2.5e6, 5e6,
        7.5e6, 1e7
    };

    /** The same for durations: seconds. */
    static final double[] SECONDS = Arrays.stream(BOUNDS).map(bound -> bound / 1e9).toArray();

    private Values() {}

    /** Nanoseconds, log-normal about half a millisecond, as latencies are. */
    static long[] latencies() {
        Random random = new Random(7);
        long[] values = new long[COUNT];
        for (int i = 0; i < COUNT; i++)
            values[i] = (long) Math.exp(Math.log(500_000) + 0.8 * random.nextGaussian());
        return values;
    }

    /** Indices below {@code bound}, by chance. */
    static int[] indices(int bound) {
        Random random = new Random(11);
        int[] indices = new int[COUNT];
        for (int i = 0; i < COUNT; i++) indices[i] = random.nextInt(bound);
        return indices;
    }

    /** The sum of the first {@code records} values, begun again at the end. */
    static long sum(long[] values, long records) {
        long all = 0;
        long rest = 0;
        for (int i = 0; i < COUNT; i++) {
            all += values[i];
            if (i < (records & MASK)) rest += values[i];
        }
        return records / COUNT * all + rest;
    }
}
