// SPDX-License-Identifier: Apache-2.0
package io.crest.jvm;

import io.crest.Counter;

/**
 * A counter that shows a total which the virtual machine keeps. It begins where the counter
 * stands, so that one who starts again after a stop counts nothing twice. A total that goes back
 * is waited for. Not thread-safe.
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

    /** What is not a total itself: its growth. */
    void grows(long by) {
        is(seen + by);
    }
}
