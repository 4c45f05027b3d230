// SPDX-License-Identifier: Apache-2.0
package io.crest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

class SourceTimerTest {
    static { assertTrue(Library.AVAILABLE, Library.problem()); }

    private static final Source COMM = Source.of("source.timed");

    private static long count(String name, Outcome outcome) {
        return TimerTest.count("source_timed_" + name, outcome);
    }

    @Test
    void timesALambdaACallableAndASupplier() throws Exception {
        Callable<String> callable = () -> "called";
        Supplier<String> supplier = () -> "supplied";
        String peer = COMM.timer("connect-time", () -> "dialled");
        assertEquals("dialled", peer);
        assertEquals("called", COMM.timer("connect-time", callable));
        assertEquals("supplied", COMM.timer("connect-time", supplier));
        COMM.timer("connect-time").run(() -> Thread.yield());
        assertEquals(4, count("connect_time", Outcome.OK));
        assertEquals(0, count("connect_time", Outcome.ERROR));
    }

    /** With or without a timer to record it in. */
    @Test
    void noBlockIsRefusedByName() {
        for (String name : new String[] {"none", "not a name"}) {
            NullPointerException e =
                    assertThrows(
                            NullPointerException.class,
                            () -> COMM.timer(name, (Supplier<String>) null));
            assertEquals("the code to be timed", e.getMessage());
            e = assertThrows(
                    NullPointerException.class,
                    () -> COMM.timer(name, (Callable<String>) null));
            assertEquals("the code to be timed", e.getMessage());
            e = assertThrows(
                    NullPointerException.class,
                    () -> COMM.<String, RuntimeException>timer(
                            name, (Timed<String, RuntimeException>) null));
            assertEquals("the code to be timed", e.getMessage());
            e = assertThrows(
                    NullPointerException.class, () -> COMM.<String>timerStage(name, null));
            assertEquals("what makes the stage to be timed", e.getMessage());
        }
    }

    @Test
    void aBlockThatFailsIsRecordedAndRethrown() {
        IOException failure = new IOException("refused");
        assertSame(failure, assertThrows(IOException.class, () -> dial(failure)));
        Supplier<String> supplier = () -> {
            throw new IllegalStateException();
        };
        assertThrows(IllegalStateException.class, () -> COMM.timer("fails", supplier));
        Callable<String> late = () -> {
            throw new TimeoutException();
        };
        assertThrows(TimeoutException.class, () -> COMM.timer("fails", late));
        Callable<String> stopped = () -> {
            throw new CancellationException();
        };
        assertThrows(CancellationException.class, () -> COMM.timer("fails", stopped));
        assertThrows(StackOverflowError.class, () -> COMM.timer("fails", () -> overflow(0)));
        assertEquals(3, count("fails", Outcome.ERROR));
        assertEquals(1, count("fails", Outcome.TIMEOUT));
        assertEquals(1, count("fails", Outcome.CANCELLED));
        assertEquals(0, count("fails", Outcome.OK));
    }

    private static String dial(IOException failure) throws IOException {
        return COMM.timer("fails", () -> refuse(failure));
    }

    private static String refuse(IOException failure) throws IOException {
        throw failure;
    }

    private static int overflow(int depth) {
        return overflow(depth + 1) + 1;
    }

    @Test
    void aStageIsRecordedWhenItEnds() {
        CompletableFuture<String> made = new CompletableFuture<>();
        CompletionStage<String> stage = COMM.timerStage("fetch", () -> made);
        assertEquals(0, count("fetch", Outcome.OK));
        made.complete("block");
        assertEquals("block", stage.toCompletableFuture().join());
        assertEquals(1, count("fetch", Outcome.OK));
        CompletionStage<String> failing =
                COMM.timerStage(
                        "fetch",
                        () -> CompletableFuture.supplyAsync(() -> {
                            throw new IllegalStateException("gone");
                        }));
        assertThrows(CompletionException.class, () -> failing.toCompletableFuture().join());
        assertEquals(1, count("fetch", Outcome.ERROR));
        assertThrows(
                IllegalStateException.class,
                () -> COMM.timerStage("fetch", () -> {
                    throw new IllegalStateException("no stage");
                }));
        assertEquals(2, count("fetch", Outcome.ERROR));
    }

    @Test
    void recordsADurationThatWasMeasuredElsewhere() {
        double outcomes = Page.misuse("invalid-outcome");
        double backwards = Page.misuse("negative-duration");
        COMM.recordTimer("elsewhere", 250_000_000, Outcome.ERROR);
        COMM.recordTimer("elsewhere", 750_000_000, Outcome.ERROR);
        COMM.recordTimer("elsewhere", -1, Outcome.OK);
        COMM.recordTimer("elsewhere", 1, null);
        assertEquals(2, count("elsewhere", Outcome.ERROR));
        assertEquals(1, count("elsewhere", Outcome.OK));
        Page page = Page.now();
        assertEquals(1, page.value("source_timed_elsewhere_seconds_sum{outcome=\"error\"}"));
        assertEquals(outcomes + 1, Page.misuse("invalid-outcome"));
        assertEquals(backwards + 1, Page.misuse("negative-duration"));
    }

    @Test
    void aBlockRunsOnceAlsoWhereThereIsNoTimer() throws Exception {
        COMM.incrementCounter("taken");
        int[] runs = {0};
        double types = Page.misuse("type-clash");
        double names = Page.misuse("invalid-name");
        assertEquals(1, COMM.timer("taken", () -> ++runs[0]));
        assertEquals(2, COMM.timer(null, () -> ++runs[0]));
        Callable<Integer> callable = () -> ++runs[0];
        Supplier<Integer> supplier = () -> ++runs[0];
        assertEquals(3, COMM.timer("not a name", callable));
        assertEquals(4, COMM.timer("not a name", supplier));
        CompletableFuture<String> stage = CompletableFuture.completedFuture("x");
        assertSame(stage, COMM.timerStage("taken", () -> stage));
        assertThrows(IOException.class, () -> COMM.timer("taken", () -> refuse(new IOException())));
        assertEquals(4, runs[0]);
        assertEquals(types + 3, Page.misuse("type-clash"));
        assertEquals(names + 3, Page.misuse("invalid-name"));
    }
}
