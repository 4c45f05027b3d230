// SPDX-License-Identifier: Apache-2.0
package io.crest;

/** How many times something happened. Monotonic and exact; the first choice. */
public final class Counter {
    private final long handle;

    private Counter(long handle) {
        this.handle = handle;
    }

    public static Counter of(String name) {
        return new Counter(Native.counterGet(name));
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
