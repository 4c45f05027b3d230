// SPDX-License-Identifier: Apache-2.0
package io.crest;

import java.time.Duration;

/** A series' operations that began by their ids and have not ended. Immutable; any thread. */
public final class InFlight {
    private final long count;
    private final long oldestNanos;

    InFlight(long count, long oldestNanos) {
        this.count = count;
        this.oldestNanos = oldestNanos;
    }

    /**
     * How many operations.
     *
     * @return 0 or more
     */
    public long count() {
        return count;
    }

    /**
     * The age of the oldest.
     *
     * @return nanoseconds; 0 when there is none
     */
    public long oldestNanos() {
        return oldestNanos;
    }

    /**
     * The age of the oldest.
     *
     * @return zero when there is none
     */
    public Duration oldest() {
        return Duration.ofNanos(oldestNanos);
    }

    @Override
    public String toString() {
        return count + " in flight, the oldest for " + oldest();
    }

    /** An operation in flight. Immutable; any thread. */
    public static final class Operation {
        private final Op op;
        private final long ageNanos;
        private final int stage;

        Operation(Op op, long ageNanos, int stage) {
            this.op = op;
            this.ageNanos = ageNanos;
            this.stage = stage;
        }

        /**
         * The operation.
         *
         * @return never null; its text is how pages name it
         */
        public Op op() {
            return op;
        }

        /**
         * For how long.
         *
         * @return nanoseconds
         */
        public long ageNanos() {
            return ageNanos;
        }

        /**
         * For how long.
         *
         * @return never null
         */
        public Duration age() {
            return Duration.ofNanos(ageNanos);
        }

        /**
         * Of stages: the last stage marked.
         *
         * @return its index; -1: none yet, or a timer
         */
        public int stage() {
            return stage;
        }

        @Override
        public String toString() {
            return op + " for " + age();
        }
    }
}
