// SPDX-License-Identifier: Apache-2.0
package io.crest.jvm;

import java.util.function.LongConsumer;

/**
 * Corrects coordinated omission: what a hiccup is recorded as. A thread that is stopped for 50 ms
 * and wakes each millisecond has missed 49 wake-ups, each of which would have found a hiccup.
 * Without them quantiles would be those of the wake-ups, not of the time.
 *
 * <p>The rule is that of the library's own meter (include/crest/hiccups.h), after Gil Tene's
 * HdrHistogram.
 */
final class HiccupFill {
    /** A longer hiccup counts as one of an hour, which is at most 36 million records. */
    static final long LONGEST_NANOS = 3_600_000_000_000L;

    private HiccupFill() {}

    /** Records {@code excess}, and less by {@code resolution} each time, while not below it. */
    static void fill(long excess, long resolution, LongConsumer record) {
        long value = Math.min(excess, LONGEST_NANOS);
        record.accept(value);
        for (value -= resolution; value >= resolution; value -= resolution) record.accept(value);
    }
}
