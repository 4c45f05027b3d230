// SPDX-License-Identifier: Apache-2.0
package io.crest;

import java.util.Arrays;

/**
 * The instruments of a family that were asked for, by their label values, so that asking again
 * takes no call into the library and no memory. A reader takes no lock.
 *
 * <p>What is found here leads to a series that is there: a series that was closed, retired or idle
 * has a handle with slot 0, and is asked of the library again. The overflow series, which many
 * values share, is not kept.
 */
final class SeenSeries<T extends Instrument> {
    /** Of one family. With more values than these in turn each is asked of the library. */
    private static final int ENTRIES_MAX = 1024;

    private static final int SCATTER = 0x9e3779b9;

    /**
     * Open addressing, a power of two, at most half of it taken, so that each search ends. A writer
     * writes under the lock. A reader sees an instrument whole: all its fields are final.
     */
    private volatile Instrument[] table = new Instrument[8];

    private int count;

    /** The handle that different values led to; 0 for none yet. */
    private long shared;

    /** Values that are not there are null. Null if none is kept, or its series is gone. */
    @SuppressWarnings("unchecked") // keep() puts in nothing else
    T find(String first, String second, String third) {
        Instrument[] all = table;
        int last = all.length - 1;
        for (int at = place(first, second, third) & last; ; at = at + 1 & last) {
            Instrument one = all[at];
            if (one == null) return null;
            String[] values = one.values();
            if (same(values[0], first)
                    && (second == null || same(values[1], second))
                    && (third == null || same(values[2], third)))
                return Memory.intAt(one.handle + Layout.HANDLE_SLOT) != 0 ? (T) one : null;
        }
    }

    /** Of one to three values; keeps nothing of other instruments. */
    synchronized void keep(T made) {
        String[] values = made.values();
        if (values.length > 3 || made.handle == 0 || made.handle == shared) return;
        for (Instrument one : table) {
            if (one == null || one.handle != made.handle) continue;
            if (Arrays.equals(one.values(), values)) return;
            shared = made.handle;
            rebuild();
            return;
        }
        if (count == ENTRIES_MAX) {
            table = new Instrument[8];
            count = 0;
        }
        if (2 * (count + 1) > table.length) rebuild();
        put(table, made);
    }

    /** Without what is gone, and with room for one more. */
    private void rebuild() {
        Instrument[] before = table;
        boolean fits = count < before.length / 4;
        Instrument[] after = new Instrument[fits ? before.length : 2 * before.length];
        count = 0;
        for (Instrument one : before)
            if (one != null
                    && one.handle != shared
                    && Memory.intAt(one.handle + Layout.HANDLE_SLOT) != 0) put(after, one);
        table = after;
    }

    /** In place of one with the same values, whose series is gone. */
    private void put(Instrument[] all, Instrument made) {
        String[] values = made.values();
        int last = all.length - 1;
        String second = values.length > 1 ? values[1] : null;
        String third = values.length > 2 ? values[2] : null;
        int at = place(values[0], second, third) & last;
        while (all[at] != null && !Arrays.equals(all[at].values(), values))
            at = at + 1 & last;
        if (all[at] == null) count++;
        all[at] = made;
    }

    private static boolean same(String kept, String asked) {
        return kept == asked || kept.equals(asked);
    }

    private static int place(String first, String second, String third) {
        int hash = first.hashCode();
        if (second != null) hash = 31 * hash + second.hashCode();
        if (third != null) hash = 31 * hash + third.hashCode();
        hash *= SCATTER;
        return hash ^ hash >>> 16;
    }
}
