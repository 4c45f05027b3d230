// SPDX-License-Identifier: Apache-2.0
package io.crest;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;

/**
 * A stage that is timed: it ends as the original stage does, but only after the record. So a thread
 * that waits for it finds the record made. Actions chained to it are not part of the duration;
 * chained to the original they would be, as a future runs the last chained first.
 *
 * <p>It takes the place of a future: cancelling or completing it cancels or completes the original.
 * An original that cannot be completed goes on by itself, and is recorded when it ends.
 */
final class TimedStage<T> extends CompletableFuture<T> {
    /** The original stage if it is a future; null if it can only make one. */
    private final CompletableFuture<T> future;

    private TimedStage(CompletionStage<T> stage) {
        future = stage instanceof CompletableFuture && stage.toCompletableFuture() == stage
                ? stage.toCompletableFuture()
                : null;
    }

    /** In place of the stage, whose end {@code end} records: it gets what the stage failed with. */
    static <T> TimedStage<T> of(CompletionStage<T> stage, Consumer<Throwable> end) {
        TimedStage<T> timed = new TimedStage<>(stage);
        stage.whenComplete(
                (result, thrown) -> {
                    try {
                        end.accept(thrown);
                    } finally {
                        timed.ended(result, thrown);
                    }
                });
        return timed;
    }

    /** The original stage has ended; a null exception means success. */
    private void ended(T result, Throwable thrown) {
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
