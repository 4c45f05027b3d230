// SPDX-License-Identifier: Apache-2.0
package io.crest;

/** How many times something happened. Monotonic and exact; the first choice. */
public final class Counter extends Instrument {
    Counter(Series series) {
        super(series);
    }

    /**
     * The counter of this name in the process, found or made. For settings and labels see {@link
     * Metric}.
     *
     * @param name canonical: letters, digits and _ in words joined by . and -
     * @return never null
     * @throws IllegalArgumentException for a name that is none
     * @throws CrestException when another metric stands in the way
     */
    public static Counter of(String name) {
        return Metric.named(name).counter();
    }

    /**
     * The same, with a help text.
     *
     * @param name as of {@link #of(String)}
     * @param description at most 1,000 bytes of UTF-8
     * @return never null
     * @throws IllegalArgumentException for a name or description that is none
     * @throws CrestException when another metric stands in the way
     */
    public static Counter of(String name, String description) {
        return Metric.named(name).describedAs(description).counter();
    }

    public void increment() {
        increment(1);
    }

    public void increment(long times) {
        Lane lane = Lane.own();
        if (lane != null && times >= 0) {
            int slot = Memory.intAt(handle);
            long chunk = Memory.longAt(lane.table + ((long) (slot >>> 12) << 3));
            if (chunk != 0) {
                long cell = chunk + ((long) slot << 3);
                Memory.putRelease(cell, Memory.longAt(cell) + times);
                return;
            }
        }
        Native.counterAdd(handle, times);
        if (lane == null) Lane.keep(Memory.intAt(handle));
    }

    public long value() {
        return Native.counterValue(handle);
    }
}
