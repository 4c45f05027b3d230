// SPDX-License-Identifier: Apache-2.0
package io.crest.bench;

import java.util.Random;

/** What everyone records: the same values in the same order, made before the clock runs. */
final class Values {
    static final int COUNT = 1024;
    static final int MASK = COUNT - 1;

    private Values() {}

    /** Nanoseconds, log-normal about half a millisecond, as latencies are. */
    static long[] latencies() {
        Random random = new Random(7);
        long[] values = new long[COUNT];
        for (int i = 0; i < COUNT; i++)
            values[i] = Math.max(1, (long) Math.exp(Math.log(500_000) + 0.8 * random.nextGaussian()));
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
