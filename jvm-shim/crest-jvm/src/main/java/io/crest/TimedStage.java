// SPDX-License-Identifier: Apache-2.0
package io.crest;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * A stage that is timed: ends as another one does, but only after that was recorded. Who waits for
 * it therefore finds the record made, and what is chained to it is not part of the duration, as it
 * would be if it were chained to the other stage, which runs the last chained first.
 *
 * <p>It takes the place of a future: who cancels or completes it does so to that. A stage that
 * cannot be completed goes on by itself, and is recorded when it ends.
 */
final class TimedStage<T> extends CompletableFuture<T> {
    /** The other stage if it is a future; null if it only makes one. */
    private final CompletableFuture<T> future;

    TimedStage(CompletionStage<T> stage) {
        future = stage instanceof CompletableFuture && stage.toCompletableFuture() == stage
                ? stage.toCompletableFuture()
                : null;
    }

    /** The other stage has ended; a null exception says well. */
    void ended(T result, Throwable thrown) {
        if (thrown == null) super.complete(result);
        else super.completeExceptionally(thrown);
    }

    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
        return future == null
                ? super.cancel(mayInterruptIfRunning)
                : future.cancel(mayInterruptIfRunning);
    }

    @Override
    public boolean complete(T value) {
        return future == null ? super.complete(value) : future.complete(value);
    }

    @Override
    public boolean completeExceptionally(Throwable thrown) {
        return future == null
                ? super.completeExceptionally(thrown)
                : future.completeExceptionally(thrown);
    }
}
