// SPDX-License-Identifier: Apache-2.0
package io.crest.jvm;

import io.crest.Counter;

/**
 * A counter that shows a total which the virtual machine keeps. It begins at the counter's value,
 * so that a restart after a stop counts nothing twice. When a total goes back, the counter waits
 * until the total has passed its value. Not thread-safe.
 */
final class Total {
    private final Counter counter;
    private long seen;

    Total(Counter counter) {
        this.counter = counter;
        seen = counter.value();
    }

    void is(long total) {
        if (total <= seen) return;
        counter.increment(total - seen);
        seen = total;
    }

    /** For a source that is no total: its growth. */
    void grows(long by) {
        is(seen + by);
    }
}
