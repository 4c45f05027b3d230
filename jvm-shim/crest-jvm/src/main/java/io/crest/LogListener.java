// SPDX-License-Identifier: Apache-2.0
package io.crest;

/** Receives Crest's messages about events that no call returns: {@link Crest#onLog}. */
@FunctionalInterface
public interface LogListener {
    /**
     * Takes one message. Called from a thread of Crest's own, {@code crest-log}, one message after
     * the other. While a call lasts, up to 64 messages wait, and further ones are counted.
     * Exceptions are ignored.
     *
     * @param level how much it matters
     * @param message one sentence or two, fit to show an operator
     */
    void log(LogLevel level, String message);
}
