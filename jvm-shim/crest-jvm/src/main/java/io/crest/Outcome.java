// SPDX-License-Identifier: Apache-2.0
package io.crest;

import java.net.SocketTimeoutException;
import java.nio.channels.ClosedByInterruptException;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;

/**
 * How an operation ended. Each outcome of a timer is a series of its own, with the label {@code
 * outcome}. So failures are measured too, and are not taken for fast successes.
 */
public enum Outcome {
    /** With success. */
    OK,
    /** With an error. */
    ERROR,
    /** It took too long, and is no longer waited for. */
    TIMEOUT,
    /** The program or its user gave it up. */
    CANCELLED;

    /**
     * The outcome of code that ended with this exception. Of {@link CompletionException} and
     * {@link ExecutionException} the cause counts. Allocates nothing; any thread.
     *
     * @param thrown null: nothing was thrown
     * @return {@link #TIMEOUT} for {@link TimeoutException} and {@link SocketTimeoutException},
     *     {@link #CANCELLED} for {@link CancellationException}, {@link InterruptedException} and
     *     {@link ClosedByInterruptException}, {@link #ERROR} for all others, {@link #OK} for null
     */
    public static Outcome of(Throwable thrown) {
        if (thrown == null) return OK;
        Throwable cause = thrown;
        // bounded, for causes may form a circle
        for (int i = 0; i < 8 && wraps(cause) && cause.getCause() != null; i++)
            cause = cause.getCause();
        if (cause instanceof TimeoutException || cause instanceof SocketTimeoutException)
            return TIMEOUT;
        if (cause instanceof CancellationException
                || cause instanceof InterruptedException
                || cause instanceof ClosedByInterruptException) return CANCELLED;
        return ERROR;
    }

    private static boolean wraps(Throwable thrown) {
        return thrown instanceof CompletionException || thrown instanceof ExecutionException;
    }
}
