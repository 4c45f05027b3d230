// SPDX-License-Identifier: Apache-2.0
package io.crest.jvm;

/**
 * Pauses of one collector in nanoseconds. Those that the virtual machine tells of are whole
 * milliseconds, 0 for each of ZGC's; {@link PerfData} has the sum of all in nanoseconds, so that how
 * much it has grown is the pause. Of several that were not told of yet each gets its share.
 *
 * <p>The fine figure is taken only where it is the coarse one, rounded otherwise. Where it is not,
 * the two have lost step, and begin anew. Not thread-safe.
 */
final class PauseNanos {
    private static final long MILLI = 1_000_000;

    private final PerfData perf;
    private final int countAt;
    private final int timeAt;
    private final double tickNanos;
    private long count;
    private long time;
    private long untold;
    private long untoldNanos;

    /** PerfData or the name that it has for this collector's pauses may be null. */
    PauseNanos(PerfData perf, String name) {
        String prefix = perf == null || name == null ? null : prefix(perf, name);
        this.perf = perf;
        countAt = prefix == null ? -1 : perf.find(prefix + "invocations");
        timeAt = prefix == null ? -1 : perf.find(prefix + "time");
        tickNanos = prefix == null ? 1 : perf.tickNanos();
        begin();
    }

    private static String prefix(PerfData perf, String name) {
        for (int i = 0; i < 8; i++) {
            String prefix = "sun.gc.collector." + i + ".";
            if (name.equals(perf.constant(prefix + "name"))) return prefix;
        }
        return null;
    }

    /** Forgets what was not told of yet. */
    void begin() {
        untold = untoldNanos = 0;
        if (countAt < 0 || timeAt < 0) return;
        count = perf.value(countAt);
        time = perf.value(timeAt);
    }

    /** The next pause, which is one of so many milliseconds. */
    long of(long millis) {
        if (countAt < 0 || timeAt < 0) return millis * MILLI;
        long countNow = perf.value(countAt);
        long timeNow = perf.value(timeAt);
        untold += countNow - count;
        untoldNanos += (long) ((timeNow - time) * tickNanos);
        count = countNow;
        time = timeNow;
        if (untold <= 0) return millis * MILLI;
        long nanos = untoldNanos / untold;
        if (Math.abs(nanos - millis * MILLI) > MILLI) {
            begin();
            return millis * MILLI;
        }
        untold--;
        untoldNanos -= nanos;
        return nanos;
    }
}
