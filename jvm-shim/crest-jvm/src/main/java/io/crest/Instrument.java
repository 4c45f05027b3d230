// SPDX-License-Identifier: Apache-2.0
package io.crest;

/**
 * What all instruments have in common: one series of a metric, to be resolved once and recorded
 * through.
 *
 * <p>Instruments live as long as the process; the series stays when the garbage collector takes
 * this object. Two objects of one series are interchangeable. Immutable; any thread, virtual ones
 * too.
 */
public abstract class Instrument implements AutoCloseable {
    /** The address of C's handle; 0 when there is no library. */
    final long handle;

    private final Series series;

    Instrument(Series series) {
        this.series = series;
        this.handle = series.handle;
        // initialises the recording classes here: a first record may have no stack left for that
        if (handle == 0) return;
        Lane.own();
        SharedLanes.current();
        OwnCounts.due(Thread.currentThread(), handle);
    }

    /** In the order of the keys; null in a metric without labels. Not to be written to. */
    final String[] values() {
        return series.values;
    }

    /**
     * The metric's canonical name, as it was given.
     *
     * @return never null
     */
    public final String name() {
        return series.name;
    }

    /**
     * Releases the series for this caller. A series with labels is exported once more and then
     * goes; a later record, by any thread, is safe and brings it back. Does nothing for a metric
     * without labels. Further calls change nothing. Cost: a call into the library, which locks.
     */
    @Override
    public final void close() {
        if (handle != 0 && series.values != null)
            MetricNatives.release(series.kind.number, handle);
    }

    /**
     * What it is, for people: {@code counter comm.messages (ping, 10.0.0.7)}.
     *
     * @return never null
     */
    @Override
    public final String toString() {
        String values = series.values == null ? "" : " (" + String.join(", ", series.values) + ")";
        return series.kind.text + " " + series.name + values;
    }
}
