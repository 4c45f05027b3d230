// SPDX-License-Identifier: Apache-2.0
package io.crest.jvm;

/**
 * Pauses of one collector in nanoseconds. A notification tells whole milliseconds, 0 for each of
 * ZGC's. {@link PerfData} has the sum of all pauses in nanoseconds, and the sum's growth is the
 * pause. If several pauses ended before the first notification came, each gets its share, if that
 * is near to what its notification told.
 *
 * <p>Bound: no pause differs from its notification by more than a millisecond, which is the
 * notification's rounding. What is left of the sum goes to the next pause, up to a millisecond. Not
 * thread-safe.
 */
final class PauseNanos {
    private static final long MILLI = 1_000_000;
    /** With so many pauses not notified, their notifications will not come any more. */
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

    /** Forgets the pauses that were not notified yet. */
    void begin() {
        untold = untoldNanos = 0;
        if (countAt < 0 || timeAt < 0) return;
        count = perf.value(countAt);
        time = perf.value(timeAt);
    }

    /** The next pause; its notification told so many milliseconds. */
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

    /** The value nearest to {@code nanos} that is at most a millisecond from what was told. */
    private static long near(long told, long nanos) {
        return Math.max(Math.max(0, told - MILLI), Math.min(told + MILLI, nanos));
    }
}
