// SPDX-License-Identifier: Apache-2.0
package io.crest;

/**
 * How the library answers: the twin of C's {@code crest_status}, in its order, with its texts.
 * Loading the native library checks that both are the same.
 *
 * <p>Immutable; any thread.
 */
public enum Status {
    /** It worked. */
    OK("ok"),
    /** An argument is missing or out of range. */
    INVALID_ARGUMENT("an argument is missing or out of range"),
    /** The metric name is not valid. */
    INVALID_NAME("the metric name is not valid"),
    /** A label key or value is not valid. */
    INVALID_LABEL("a label key or value is not valid"),
    /** A text is not valid UTF-8. */
    INVALID_TEXT("a text is not valid UTF-8"),
    /** The name is in use for another kind of metric or with other labels. */
    TYPE_CLASH("the name is in use for another kind of metric or with other labels"),
    /** The exported name is in use by another metric. */
    NAME_CLASH("the exported name is in use by another metric"),
    /** The name differs from another metric's only in case or separators. */
    SPLIT_NAME("the name differs from another metric's only in case or separators"),
    /** A limit of the library is reached. */
    LIMIT("a limit of the library is reached"),
    /** There is no memory. */
    NO_MEMORY("no memory"),
    /** Compiled against headers of another ABI. */
    ABI_MISMATCH("compiled against headers of another ABI"),
    /** The timing belongs to another operation. */
    MISMATCH("the timing belongs to another operation"),
    /** The timing is not running: it has ended before. */
    NOT_RUNNING("the timing is not running"),
    /** A negative amount is not applied. */
    NEGATIVE("a negative amount is not applied"),
    /** An option is unknown or its value is not valid. */
    INVALID_OPTIONS("an option is unknown or its value is not valid"),
    /**
     * There is no such thing. A normal answer to a keyed end or mark: it never began, or is over.
     */
    NOT_FOUND("there is no such thing"),
    /** It is done already. A normal answer to a keyed begin. */
    ALREADY("it is done already"),
    /** The server refused. */
    REFUSED("the server refused"),
    /** The server could not be reached. */
    UNREACHABLE("the server could not be reached"),
    /** Not done before the deadline. */
    TIMED_OUT("not done before the deadline"),
    /** Reading or writing failed. */
    IO("reading or writing failed"),
    /** The operating system refused. */
    SYSTEM("the operating system refused"),
    /** The series has been retired. */
    LATE("the series has been retired"),
    /** A part of what was asked for could not be started; the log says which and why. */
    PARTIAL("a part of what was asked for could not be started");

    private static final Status[] ALL = values();

    private final String text;

    Status(String text) {
        this.text = text;
    }

    /**
     * The library's text for it, without a final dot.
     *
     * @return never null
     */
    public String text() {
        return text;
    }

    /** The status of C's number; {@link #INVALID_ARGUMENT} for a number of a later library's. */
    static Status of(int number) {
        return number >= 0 && number < ALL.length ? ALL[number] : INVALID_ARGUMENT;
    }

    /**
     * How the library's table ("NAME: text" each) differs from this one; null if it does not.
     */
    static String difference(String[] library) {
        for (int i = 0; i < Math.max(ALL.length, library.length); i++) {
            String here = i < ALL.length ? ALL[i].name() + ": " + ALL[i].text : "nothing";
            String there = i < library.length ? library[i] : "nothing";
            if (!here.equals(there))
                return "status " + i + " is " + there + " there and " + here + " here";
        }
        return null;
    }
}
