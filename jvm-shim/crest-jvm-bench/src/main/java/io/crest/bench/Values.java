// SPDX-License-Identifier: Apache-2.0
package io.crest.bench;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;

/**
 * The values that each library records: the same ones in the same order, made before the clock
 * runs. With {@code -Dcrest.bench.inputs=DIR} values, order and bounds are those of a run of {@code
 * make bench}, which gives them to all languages.
 */
final class Values {
    private static final String FOLDER = System.getProperty("crest.bench.inputs");
    private static final long[] LATENCIES = FOLDER == null ? chance() : values();

    static final int COUNT = LATENCIES.length; // a power of two
    static final int MASK = COUNT - 1;

    /** An hour in nanoseconds, and digits: Kamon's default, and Crest's. */
    static final long HIGHEST = 3_600_000_000_000L;

    static final int DIGITS = 2;

    /** Upper bounds of buckets, where a library has them. */
    static final double[] BOUNDS = FOLDER != null ? bounds() : new double[] {
        5_000, 10_000, 25_000, 50_000, 75_000, 100_000, 250_000, 500_000, 750_000, 1e6, 2.5e6, 5e6,
        7.5e6, 1e7
    };

    /** The same for durations: seconds. */
    static final double[] SECONDS = Arrays.stream(BOUNDS).map(bound -> bound / 1e9).toArray();

    private Values() {}

    /** Nanoseconds, log-normal, as latencies are. */
    static long[] latencies() {
        return LATENCIES.clone();
    }

    private static long[] chance() {
        Random random = new Random(7);
        long[] values = new long[1024];
        for (int i = 0; i < values.length; i++)
            values[i] = (long) Math.exp(Math.log(500_000) + 0.8 * random.nextGaussian());
        return values;
    }

    /** Indices below {@code bound}, by chance. */
    static int[] indices(int bound) {
        int[] indices = new int[COUNT];
        if (FOLDER != null) {
            read("order.u32").asIntBuffer().get(indices);
            for (int index : indices)
                if (index >= bound) throw new IllegalStateException("order.u32 has " + index);
            return indices;
        }
        Random random = new Random(11);
        for (int i = 0; i < COUNT; i++) indices[i] = random.nextInt(bound);
        return indices;
    }

    /** How many metrics the indices select from. */
    static int metrics() {
        return FOLDER == null ? 1000 : lines("names.txt").length;
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

    private static long[] values() {
        ByteBuffer file = read("values.i64");
        long[] values = new long[file.remaining() / Long.BYTES];
        file.asLongBuffer().get(values);
        if (Integer.bitCount(values.length) != 1)
            throw new IllegalStateException("values.i64 has " + values.length + " values");
        return values;
    }

    private static double[] bounds() {
        return Arrays.stream(lines("bounds.txt")).mapToDouble(Double::parseDouble).toArray();
    }

    private static ByteBuffer read(String name) {
        try {
            return ByteBuffer.wrap(Files.readAllBytes(Path.of(FOLDER, name)))
                    .order(ByteOrder.LITTLE_ENDIAN);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String[] lines(String name) {
        try {
            return Files.readAllLines(Path.of(FOLDER, name)).toArray(new String[0]);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
