// SPDX-License-Identifier: Apache-2.0
package io.crest;

/** The library's functions that make instruments (jvm_metrics.c). */
final class MetricNatives {
    /** Places in the numbers that {@link #make} takes, in the order of C's {@code jvm_wish}. */
    static final int STATUS = 0;

    static final int UNIT = 1;
    static final int BUCKETS = 2;
    static final int BOUND_COUNT = 3;
    static final int RANGE = 4;
    static final int LOWEST = 5;
    static final int HIGHEST = 6;
    static final int DIGITS = 7;
    static final int DEADLINE_MS = 8;
    static final int IDLE_S = 9;
    static final int NO_WINDOWS = 10;
    static final int QUANTILE_COUNT = 11;
    static final int STAGE_COUNT = 12;
    static final int KEY_COUNT = 13;

    /** 0, or one more than the labels of a series of an open family. */
    static final int OPEN_LABELS = 14;

    static final int NUMBERS = 15;

    private MetricNatives() {}

    /**
     * Finds or makes a metric.
     *
     * @param texts its name and description, the stages and the label keys (or the open family's
     *     keys and values in turn), each followed by a NUL
     * @param numbers the status comes back in the first of them
     * @param doubles bounds of buckets, then quantiles
     * @return without keys the handle, never 0; with keys the family's metric, 0 if there is none
     */
    static native long make(int kind, byte[] texts, long[] numbers, double[] doubles);

    /**
     * The handle of the family's series with these values; never 0, though it may record nowhere.
     */
    static native long resolve(int kind, long metric, byte[] values, int count);

    /** The status of releasing the series. */
    static native int release(int kind, long handle);

    /** "NAME: text" of each status, in order. */
    static native String[] statuses();
}
