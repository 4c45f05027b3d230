// SPDX-License-Identifier: Apache-2.0
package io.crest;

import java.util.concurrent.Callable;
import java.util.function.Supplier;

/**
 * Code to be timed, with its own exceptions: {@code timer.time(() -> …)} throws what the lambda
 * throws and nothing else, so that a lambda without checked exceptions needs no {@code try}.
 *
 * @param <T> what it returns
 * @param <E> the checked exceptions that it throws
 */
@FunctionalInterface
public interface Timed<T, E extends Exception> extends Callable<T>, Supplier<T> {
    /**
     * Runs the code.
     *
     * @return its result
     * @throws E as it does
     */
    T run() throws E;

    /** The same as a {@link Callable}. */
    @Override
    default T call() throws E {
        return run();
    }

    /** The same as a {@link Supplier}. A checked exception comes out as it is. */
    @Override
    default T get() {
        try {
            return run();
        } catch (Exception e) {
            throw Timed.<RuntimeException>unchanged(e);
        }
    }

    /** Throws the exception unchanged, past the compiler's check of its type. */
    @SuppressWarnings("unchecked")
    private static <X extends Exception> X unchanged(Exception e) throws X {
        throw (X) e;
    }

    /**
     * Code to be timed that returns nothing.
     *
     * @param <E> the checked exceptions that it throws
     */
    @FunctionalInterface
    interface Block<E extends Exception> {
        /**
         * Runs the code.
         *
         * @throws E as it does
         */
        void run() throws E;
    }
}
