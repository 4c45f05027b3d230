// SPDX-License-Identifier: Apache-2.0
package io.crest;

/** Receives what Crest has to say that nobody asked for: {@link Crest#onLog}. */
@FunctionalInterface
public interface LogListener {
    /**
     * Takes one message. Called from a thread of its own, {@code crest-log}, one message after the
     * other. While it takes its time 64 messages wait, and those beyond are counted. What it throws
     * is passed over.
     *
     * @param level how much it matters
     * @param message one sentence or two, fit to show an operator
     */
    void log(LogLevel level, String message);
}
