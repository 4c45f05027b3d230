// SPDX-License-Identifier: Apache-2.0
package io.crest;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;

/**
 * The instruments of one kind under one source, by their names. A reader takes no lock and compares
 * the identity of the name first, as it is a literal as a rule. Entries stay for good.
 *
 * <p>Bounded, also for callers that make names at run time. Names that the library refuses (beyond
 * {@code CREST_BY_NAME_MAX}) are not kept. Names that this table has no place for are looked up in
 * the library at each call.
 */
final class ByName<T extends Instrument> {
    /** Entries of all tables; the library's own table of names has as many. */
    static final int ENTRIES_MAX = 40_000;

    /** Steps to a name. More would take names that were chosen for equal hash codes. */
    static final int STEPS_MAX = 32;

    /** 2^32 by the golden ratio, as Knuth has it. */
    private static final int SCATTER = 0x9e3779b9;

    private static final AtomicInteger ENTRIES = new AtomicInteger();

    final Kind kind;
    private final Function<Series, T> make;

    /**
     * Open addressing: names, each followed by its instrument, so that a search touches one line. A
     * power of two of pairs, at most a quarter of them taken, so that each search ends, and soon. A
     * writer writes under the lock; a reader takes none.
     *
     * <p>Invariant: a reader sees a pair, or a name without its instrument, which counts as not
     * found. It sees an instrument whole: all its fields are final.
     */
    private volatile Object[] table = new Object[2];

    private int count;

    ByName(Kind kind, Function<Series, T> make) {
        this.kind = kind;
        this.make = make;
    }

    /** The instrument, or null if none is kept under that name, or the name is null. */
    @SuppressWarnings("unchecked") // keep() puts in nothing else
    T find(String name) {
        if (name == null) return null;
        Object[] pairs = table;
        int hash = name.hashCode();
        int last = pairs.length - 2;
        for (int at = place(hash) & last; ; at = at + 2 & last) {
            Object key = pairs[at];
            if (key == name) return (T) pairs[at + 1];
            if (key == null) return null;
            // most names that share only the place differ in their hash codes already
            if (key.hashCode() == hash && key.equals(name)) return (T) pairs[at + 1];
        }
    }

    /** The instrument of a handle, kept if there is room; of two racing first uses, the first's. */
    synchronized T keep(String name, String whole, long handle) {
        T known = find(name);
        if (known != null) return known;
        T instrument = make.apply(new Series(handle, kind, whole, null, null));
        if (8 * (count + 1) > table.length) grow();
        if (ENTRIES.incrementAndGet() > ENTRIES_MAX || !put(table, name, instrument)) {
            ENTRIES.decrementAndGet();
        } else {
            count++;
        }
        return instrument;
    }

    private void grow() {
        Object[] pairs = table;
        Object[] grown = new Object[Math.max(8, 2 * pairs.length)];
        count = 0;
        for (int at = 0; at < pairs.length; at += 2) {
            if (pairs[at] == null) continue;
            if (put(grown, (String) pairs[at], pairs[at + 1])) count++;
            else ENTRIES.decrementAndGet();
        }
        table = grown;
    }

    private static boolean put(Object[] pairs, String name, Object instrument) {
        int last = pairs.length - 2;
        int at = place(name.hashCode()) & last;
        for (int step = 0; step < STEPS_MAX; step++, at = at + 2 & last) {
            if (pairs[at] == null) {
                pairs[at + 1] = instrument;
                pairs[at] = name;
                return true;
            }
        }
        return false;
    }

    /** Hash codes of numbered names lie side by side; this scatters them. */
    private static int place(int hashCode) {
        int hash = hashCode * SCATTER;
        return (hash ^ hash >>> 16) << 1;
    }
}
