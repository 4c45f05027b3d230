// SPDX-License-Identifier: Apache-2.0
package io.crest;

/** The kinds of instruments, in the order of C's {@code crest_kind}, which begins at 1. */
enum Kind {
    COUNTER("counter"),
    GAUGE("gauge"),
    HISTOGRAM("histogram"),
    TIMER("timer"),
    RANGE_SAMPLER("range sampler"),
    STAGES("stages");

    /** As people call it. */
    final String text;

    /** As C numbers it. */
    final int number = ordinal() + 1;

    Kind(String text) {
        this.text = text;
    }

    /** Whether it tells values apart, in buckets of a range. */
    boolean isDistribution() {
        return this == HISTOGRAM || isTimed();
    }

    /** Whether it has operations, with outcomes and deadlines. */
    boolean isTimed() {
        return this == TIMER || this == STAGES;
    }
}
