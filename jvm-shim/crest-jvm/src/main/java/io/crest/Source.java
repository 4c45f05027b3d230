// SPDX-License-Identifier: Apache-2.0
package io.crest;

import java.util.concurrent.ConcurrentHashMap;

/**
 * Recording by name, in RNode's words: what is put before every name, with a dot, and the calls
 * that record. A metric is made at the first use of its name.
 *
 * <pre>{@code
 * static final Source COMM = Source.of("rchain.comm");
 * static final Source KADEMLIA = COMM.in("discovery.kademlia");
 *
 * COMM.incrementCounter("events");                 // rchain.comm.events
 * }</pre>
 *
 * <p>A call by name costs a few nanoseconds more than the same call of a handle, and allocates
 * nothing after the first. A declared handle is the better choice where there is one place to
 * declare it: it is exported as zero before its first event, and its name is written once. What is
 * recorded by name, through a handle of the same name, and from C is one and the same series.
 *
 * <p>Recording never throws. A name that is null, not valid, in use for another kind of metric, or
 * one more than the 10,000 that may be made by name records nothing and is counted in
 * {@code crest_misuse_total}.
 *
 * <p>Thread-safe, for virtual threads too.
 */
public final class Source {
    /** Texts of sources that are kept; the library has as many ({@code CREST_SOURCES_MAX}). */
    private static final int SOURCES_MAX = 1000;

    private static final ConcurrentHashMap<String, Source> SOURCES = new ConcurrentHashMap<>();
    private static final Source ROOT = new Source("", 0);

    private final String name;
    private final long handle;
    private final ByName<Counter> counters = new ByName<>(Kind.COUNTER, Counter::new);

    private Source(String name, long handle) {
        this.name = name;
        this.handle = handle;
    }

    /**
     * The source with this text, the same object each time. Makes it at its first use, which takes
     * a lock; there may be 1,000, and what is recorded under further ones is counted as misuse.
     *
     * @param name words of letters, digits and _ joined by single dots and dashes, beginning with a
     *     letter; empty for {@link #root()}
     * @throws IllegalArgumentException if it is null or cannot stand before a name
     */
    public static Source of(String name) {
        if (name == null) throw new IllegalArgumentException("a source is not valid: it is null");
        if (name.isEmpty()) return ROOT;
        Source source = SOURCES.get(name);
        return source != null ? source : make(name);
    }

    private static synchronized Source make(String name) {
        Source source = SOURCES.get(name);
        if (source != null) return source;
        source = new Source(name, Library.AVAILABLE ? Names.source(name) : 0);
        if (SOURCES.size() < SOURCES_MAX) SOURCES.put(name, source);
        return source;
    }

    /** The source that puts nothing before a name. */
    public static Source root() {
        return ROOT;
    }

    /**
     * The source below this one: {@code Source.of("rchain.comm").in("rp")} is
     * {@code Source.of("rchain.comm.rp")}. Keep it: putting the two together allocates.
     *
     * @throws IllegalArgumentException as {@link #of}
     */
    public Source in(String name) {
        if (name == null) throw new IllegalArgumentException("a source is not valid: it is null");
        return of(name.isEmpty() ? this.name : whole(name));
    }

    /** What is put before every name, without its dot; empty for {@link #root()}. */
    public String name() {
        return name;
    }

    /** {@link #name()}. */
    @Override
    public String toString() {
        return name;
    }

    /** Adds one. As {@link #incrementCounter(String, long)}. */
    public void incrementCounter(String name) {
        incrementCounter(name, 1);
    }

    /**
     * Adds to the counter of this name. As {@link Counter#increment(long)}: a negative delta is not
     * applied and is counted as misuse.
     */
    public void incrementCounter(String name, long delta) {
        Counter counter = counters.find(name);
        if (counter == null) counter = first(counters, name);
        if (counter != null) counter.increment(delta);
    }

    /** The instrument of a name that is not kept; null if there is none, which has been counted. */
    private <T extends Instrument> T first(ByName<T> known, String name) {
        if (!Library.AVAILABLE) return null;
        long found = Names.handle(handle, name, known.kind.number);
        return found == 0 ? null : known.keep(name, whole(name), found);
    }

    private String whole(String name) {
        return this.name.isEmpty() ? name : this.name + '.' + name;
    }
}
