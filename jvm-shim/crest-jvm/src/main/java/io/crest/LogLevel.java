// SPDX-License-Identifier: Apache-2.0
package io.crest;

/** How much a message of the log matters: {@link Crest#onLog}. */
public enum LogLevel {
    /** For the curious. */
    INFO(System.Logger.Level.INFO),
    /** Something is not as it should be, and goes on: a server that does not answer, a misuse. */
    WARNING(System.Logger.Level.WARNING),
    /** Something was given up. */
    ERROR(System.Logger.Level.ERROR);

    private static final LogLevel[] ALL = values();

    private final System.Logger.Level severity;

    LogLevel(System.Logger.Level severity) {
        this.severity = severity;
    }

    /**
     * The level of the same name that the platform's loggers have.
     *
     * @return never null
     */
    public System.Logger.Level severity() {
        return severity;
    }

    /** The level of C's number; a level that only a later library has is {@link #ERROR}. */
    static LogLevel of(int number) {
        return number >= 0 && number < ALL.length ? ALL[number] : ERROR;
    }
}
