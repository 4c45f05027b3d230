// SPDX-License-Identifier: Apache-2.0
package io.crest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;

class TimedStageTest {
    static { assertTrue(Library.AVAILABLE, Library.problem()); }

    private static CompletableFuture<String> timed(Timer timer, CompletionStage<String> stage) {
        return timer.timeStage(() -> stage).toCompletableFuture();
    }

    @Test
    void endsWithTheStageOnAnotherPool() throws Exception {
        Timer timer = Timer.of("staged.pool");
        ExecutorService pool = Executors.newFixedThreadPool(2);
        try {
            for (int i = 0; i < 1000; i++) {
                int id = i;
                assertEquals(id, timer.timeStage(
                        () -> CompletableFuture.supplyAsync(() -> id, pool))
                        .toCompletableFuture().get());
                // a thread that waits for the stage finds it recorded
                if (i % 100 == 0) assertEquals(i + 1, TimerTest.count("staged_pool", Outcome.OK));
            }
        } finally {
            pool.shutdown();
        }
        assertEquals(1000, TimerTest.count("staged_pool", Outcome.OK));
    }

    @Test
    void lastsAsLongAsTheStageWithoutWhatIsChainedToIt() throws Exception {
        Timer timer = Timer.of("staged.long");
        CompletableFuture<String> stage = new CompletableFuture<>();
        long from = System.nanoTime();
        CompletableFuture<Double> chained = timed(timer, stage).thenApply(result -> {
            double most = (System.nanoTime() - from) / 1e9;
            pause(60);
            return most;
        });
        pause(60);
        stage.complete("x");
        double sum = Page.now().value("staged_long_seconds_sum{outcome=\"ok\"}");
        assertTrue(sum >= 0.06 && sum <= chained.get(), sum + " s, at most " + chained.get());
    }

    private static void pause(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void exceptionsAreThoseOfTheStage() throws Exception {
        Timer timer = Timer.of("staged.failed");
        IOException io = new IOException("io");
        CompletableFuture<String> stage = new CompletableFuture<>();
        CompletableFuture<String> timed = timed(timer, stage);
        stage.completeExceptionally(io);
        assertSame(io, assertThrows(ExecutionException.class, timed::get).getCause());
        assertSame(io, timed.handle((result, thrown) -> thrown).get());
        CompletableFuture<String> derived = timed(timer, stage.thenApply(x -> x));
        assertSame(io, assertThrows(CompletionException.class, derived::join).getCause());
        assertEquals(2, TimerTest.count("staged_failed", Outcome.ERROR));
        CompletableFuture<String> late =
                timed(timer, new CompletableFuture<String>().orTimeout(1, TimeUnit.MILLISECONDS));
        assertTrue(assertThrows(ExecutionException.class, late::get).getCause()
                instanceof TimeoutException);
        assertEquals(1, TimerTest.count("staged_failed", Outcome.TIMEOUT));
    }

    @Test
    void cancellingTheTimedOneCancelsTheStage() {
        Timer timer = Timer.of("staged.cancelled");
        CompletableFuture<String> stage = new CompletableFuture<>();
        CompletableFuture<String> timed = timed(timer, stage);
        assertFalse(timed.isDone());
        assertTrue(timed.cancel(true));
        assertTrue(stage.isCancelled());
        assertTrue(timed.isCancelled());
        assertThrows(CancellationException.class, timed::join);
        CompletableFuture<String> other = new CompletableFuture<>();
        CompletableFuture<String> otherTimed = timed(timer, other);
        other.cancel(false);
        assertTrue(otherTimed.isCancelled());
        assertEquals(2, TimerTest.count("staged_cancelled", Outcome.CANCELLED));
    }

    @Test
    void completingTheTimedOneCompletesTheStage() throws Exception {
        Timer timer = Timer.of("staged.completed");
        CompletableFuture<String> stage = new CompletableFuture<>();
        CompletableFuture<String> timed = timed(timer, stage);
        timed.complete("early");
        assertEquals("early", stage.get());
        CompletableFuture<String> waiting =
                timed(timer, new CompletableFuture<>()).orTimeout(1, TimeUnit.MILLISECONDS);
        assertThrows(ExecutionException.class, waiting::get);
        CompletableFuture<String> minimal =
                timed(timer, new CompletableFuture<String>().minimalCompletionStage());
        minimal.completeExceptionally(new IOException());
        assertTrue(minimal.isCompletedExceptionally());
        assertEquals(1, TimerTest.count("staged_completed", Outcome.OK));
        assertEquals(1, TimerTest.count("staged_completed", Outcome.TIMEOUT));
    }

    @Test
    void whatMakesTheStageMayFail() {
        Timer timer = Timer.of("staged.unmade");
        RuntimeException none = new IllegalStateException();
        assertSame(none, assertThrows(IllegalStateException.class,
                () -> timer.timeStage(() -> { throw none; })));
        assertNull(timer.timeStage(() -> null));
        assertThrows(NullPointerException.class, () -> timer.timeStage(null));
        assertEquals(2, TimerTest.count("staged_unmade", Outcome.ERROR));
    }

    @Test
    void aStageThatHasEndedIsRecordedAtOnce() {
        Timer timer = Timer.of("staged.ended");
        assertEquals("x", timed(timer, CompletableFuture.completedFuture("x")).join());
        assertEquals(1, TimerTest.count("staged_ended", Outcome.OK));
    }
}
