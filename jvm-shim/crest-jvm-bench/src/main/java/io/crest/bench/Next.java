// SPDX-License-Identifier: Apache-2.0
package io.crest.bench;

import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** One thread's walk over the values and ids, and the sum of those taken. */
@State(Scope.Thread)
public class Next {
    private final long[] values = Values.latencies();

    /** How many were taken. */
    int taken;

    private long ticked;
    private long backwards;

    long value() {
        return values[taken++ & Values.MASK];
    }

    /** A number that no other call of this thread had: an operation's id. */
    long id() {
        return taken++;
    }

    /** Adds a duration that no library records. */
    void ticked(long nanos) {
        ticked++;
        if (nanos < 0) backwards++;
    }

    @TearDown
    public void tell() {
        if (ticked > 0) Totals.found(ticked, backwards == 0, "the clock went back");
        Totals.taken(taken, Values.sum(values, taken));
    }
}
