// SPDX-License-Identifier: Apache-2.0
package io.crest;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;

/**
 * The instruments of one kind under one source, by their names: read without a lock, by the
 * identity of the name first, for it is a literal as a rule. What is in it stays.
 *
 * <p>Bounded, also for callers that make names at run time: the library refuses names beyond
 * {@code CREST_BY_NAME_MAX}, and those it refuses are not kept; and names that this table has no
 * place for are merely asked for anew at each call.
 */
final class ByName<T extends Instrument> {
    /** Entries of all tables; the library's own table of names has as many. */
    static final int ENTRIES_MAX = 40_000;

    /** Steps to a name. More are only needed when somebody chooses names by their hash codes. */
    static final int STEPS_MAX = 32;

    /** 2^32 by the golden ratio, as Knuth has it. */
    private static final int SCATTER = 0x9e3779b9;

    private static final AtomicInteger ENTRIES = new AtomicInteger();

    /** Immutable, so that whoever comes across one sees it whole, also without a lock. */
    private static final class Entry<T> {
        final String name;
        final T instrument;

        Entry(String name, T instrument) {
            this.name = name;
            this.instrument = instrument;
        }
    }

    final Kind kind;
    private final Function<Series, T> make;

    /** A power of two, at most half full, so that each search comes to an end. */
    private volatile Entry<T>[] table = table(1);

    private int count;

    ByName(Kind kind, Function<Series, T> make) {
        this.kind = kind;
        this.make = make;
    }

    /** The instrument, or null if none is kept under that name, or the name is null. */
    T find(String name) {
        if (name == null) return null;
        Entry<T>[] entries = table;
        int last = entries.length - 1;
        for (int at = place(name) & last; ; at = at + 1 & last) {
            Entry<T> entry = entries[at];
            if (entry == null) return null;
            if (entry.name == name || entry.name.equals(name)) return entry.instrument;
        }
    }

    /** The instrument of a handle, kept if there is room: of two first uses, that of the first. */
    synchronized T keep(String name, String whole, long handle) {
        T known = find(name);
        if (known != null) return known;
        T instrument = make.apply(new Series(handle, kind, whole, null, null));
        if (2 * (count + 1) > table.length) grow();
        if (ENTRIES.incrementAndGet() > ENTRIES_MAX || !put(table, new Entry<>(name, instrument))) {
            ENTRIES.decrementAndGet();
        } else {
            count++;
        }
        return instrument;
    }

    private void grow() {
        Entry<T>[] grown = table(2 * table.length);
        count = 0;
        for (Entry<T> entry : table) {
            if (entry == null) continue;
            if (put(grown, entry)) count++;
            else ENTRIES.decrementAndGet();
        }
        table = grown;
    }

    private static <T> boolean put(Entry<T>[] entries, Entry<T> entry) {
        int last = entries.length - 1;
        int at = place(entry.name);
        for (int step = 0; step < STEPS_MAX; step++, at++) {
            if (entries[at & last] == null) {
                entries[at & last] = entry;
                return true;
            }
        }
        return false;
    }

    /** Hash codes of names that are counted through lie side by side; this scatters them. */
    private static int place(String name) {
        int hash = name.hashCode() * SCATTER;
        return hash ^ hash >>> 16;
    }

    @SuppressWarnings({"unchecked", "rawtypes"}) // there is no generic array; nobody else has it
    private static <T> Entry<T>[] table(int length) {
        return (Entry<T>[]) new Entry[length];
    }
}
