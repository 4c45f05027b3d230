// SPDX-License-Identifier: Apache-2.0
package io.crest.jvm;

/**
 * Pauses of one collector in nanoseconds. Those that the virtual machine tells of are whole
 * milliseconds, 0 for each of ZGC's; {@link PerfData} has the sum of all in nanoseconds, so that
 * how much it has grown is the pause. Where several ended before anybody heard of the first, each
 * gets its share, if that is near to what was told of it.
 *
 * <p>No pause is made to differ from what was told of it by more than a millisecond, which is what
 * that may be wrong by; as much of what is then left of the sum goes to the next one. Not
 * thread-safe.
 */
final class PauseNanos {
    private static final long MILLI = 1_000_000;
    /** So many that nobody heard of will not be told any more. */
    private static final long UNTOLD_MAX = 1_000;

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
        long told = millis * MILLI;
        long nanos = untoldNanos / untold;
        if (Math.abs(nanos - told) > MILLI)
            nanos = untold > 1 ? told : near(told, nanos);
        untold--;
        untoldNanos -= nanos;
        if (untold == 0) untoldNanos = near(0, untoldNanos);
        if (untold > UNTOLD_MAX) begin();
        return nanos;
    }

    /** What is nearest to the one and no more than a millisecond from what was told. */
    private static long near(long told, long nanos) {
        return Math.max(Math.max(0, told - MILLI), Math.min(told + MILLI, nanos));
    }
}
