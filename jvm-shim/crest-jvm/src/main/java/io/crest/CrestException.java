// SPDX-License-Identifier: Apache-2.0
package io.crest;

/**
 * A failure, in a message fit to show an operator: what was tried, on what, what came back, what to
 * do. Thrown where instruments are made and where reporters are started and stopped, never by
 * recording.
 */
public class CrestException extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final Status status;

    /**
     * Made by the library, and by subclasses.
     *
     * @param status why, for programs
     * @param message why, for people
     */
    public CrestException(Status status, String message) {
        this(status, message, null);
    }

    /**
     * The same with another exception as the cause.
     *
     * @param status why, for programs
     * @param message why, for people
     * @param cause null if there is none
     */
    public CrestException(Status status, String message, Throwable cause) {
        super(message, cause);
        this.status = status;
    }

    /**
     * Why, for programs.
     *
     * @return never null if the library made it
     */
    public Status status() {
        return status;
    }
}
