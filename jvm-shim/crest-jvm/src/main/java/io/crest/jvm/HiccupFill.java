// SPDX-License-Identifier: Apache-2.0
package io.crest.jvm;

import java.util.function.LongConsumer;

/**
 * What a hiccup is recorded as: itself, and what the looks that it swallowed would have found. Who
 * is stopped for 50 ms and looks each millisecond has not looked 49 times, and each look would
 * have found a hiccup; without them quantiles would be those of the looks, not of the time.
 *
 * <p>The rule is that of the library's own meter (include/crest/hiccups.h), after Gil Tene's
 * HdrHistogram.
 */
final class HiccupFill {
    /** A longer hiccup counts as one of an hour, which is at most 36 million records. */
    static final long LONGEST_NANOS = 3_600_000_000_000L;

    private HiccupFill() {}

    /** Hands on {@code excess}, and less by {@code resolution} each time, while not below it. */
    static void fill(long excess, long resolution, LongConsumer record) {
        long value = Math.min(excess, LONGEST_NANOS);
        record.accept(value);
        for (value -= resolution; value >= resolution; value -= resolution) record.accept(value);
    }
}
