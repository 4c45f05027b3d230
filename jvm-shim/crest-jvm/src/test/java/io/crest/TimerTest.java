// SPDX-License-Identifier: Apache-2.0
package io.crest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

class TimerTest {
    static { assertTrue(Library.AVAILABLE, Library.problem()); }

    /** How many of the timer's durations have this outcome. */
    static long count(String exported, Outcome outcome) {
        String text = outcome.name().toLowerCase();
        return (long) Page.now().value(exported + "_seconds_count{outcome=\"" + text + "\"}");
    }

    private static void assertCounts(String exported, long ok, long error, long other) {
        assertEquals(ok, count(exported, Outcome.OK), "ok");
        assertEquals(error, count(exported, Outcome.ERROR), "error");
        assertEquals(
                other,
                count(exported, Outcome.TIMEOUT) + count(exported, Outcome.CANCELLED),
                "timeout and cancelled");
    }

    @Test
    void recordsDurationsUnderTheirOutcomes() {
        Timer timer = Timer.of("timer.recorded", "Recorded.");
        timer.record(1_500_000);
        timer.record(Duration.ofMillis(2), Outcome.ERROR);
        timer.record(Duration.ofMillis(3));
        timer.record(4_000_000, Outcome.CANCELLED);
        Page page = Page.now();
        String sum = "timer_recorded_seconds_sum{outcome=";
        assertEquals(0.0045, page.value(sum + "\"ok\"}"));
        assertEquals(0.002, page.value(sum + "\"error\"}"));
        assertEquals(0.004, page.value(sum + "\"cancelled\"}"));
        assertCounts("timer_recorded", 2, 1, 1);
    }

    @Test
    void whatCannotBeRecordedIsCounted() {
        Timer timer = Timer.of("timer.wrong");
        double backwards = Page.misuse("negative-duration");
        double outcome = Page.misuse("invalid-outcome");
        double clamped = Page.misuse("clamped");
        timer.record(-1);
        timer.record(5, null);
        timer.record((Duration) null);
        timer.record(Duration.ofSeconds(Long.MAX_VALUE));
        timer.record(Duration.ofSeconds(Long.MIN_VALUE));
        assertEquals(backwards + 2, Page.misuse("negative-duration"));
        assertEquals(outcome + 2, Page.misuse("invalid-outcome"));
        assertEquals(clamped + 1, Page.misuse("clamped"));
        assertCounts("timer_wrong", 3, 0, 0);
    }

    @Test
    void anEndNamesTheOperationAndEndsOnce() {
        Timer timer = Timer.of("timer.tokens");
        double mismatch = Page.misuse("timing-mismatch");
        double again = Page.misuse("timing-not-running");
        Timing timing = timer.start(7);
        assertEquals(Status.MISMATCH, timing.stop(8));
        assertEquals(Status.MISMATCH, timing.stop("7"));
        assertEquals(Status.MISMATCH, timing.stop(new byte[] {7}));
        assertEquals(Status.MISMATCH, timing.stop((Op) null));
        assertEquals(Status.MISMATCH, timing.stop());
        assertCounts("timer_tokens", 0, 0, 0);
        assertEquals(Status.INVALID_ARGUMENT, timing.end(7, null));
        assertEquals(Status.OK, timing.stop(7));
        assertEquals(Status.NOT_RUNNING, timing.stop(7));
        assertEquals(Status.NOT_RUNNING, timing.end(Op.of(7), Outcome.ERROR));
        timing.close();
        assertEquals(mismatch + 5, Page.misuse("timing-mismatch"));
        assertEquals(again + 2, Page.misuse("timing-not-running"));
        assertCounts("timer_tokens", 1, 0, 0);
    }

    @Test
    void operationsMayBeNumbersBytesAndTexts() {
        Timer timer = Timer.of("timer.ids");
        byte[] hash = new byte[32];
        byte[] copy = new byte[32];
        for (byte i = 0; i < 32; i++) hash[i] = copy[i] = i;
        Timing timing = timer.start(hash);
        hash[31]++;
        assertEquals(Status.MISMATCH, timing.stop(hash));
        assertEquals(Status.OK, timing.stop(copy));
        byte[] longer = new byte[100];
        timing = timer.start(longer);
        longer[99] = 1;
        assertEquals(Status.MISMATCH, timing.stop(longer));
        assertEquals(Status.OK, timing.stop(new byte[100]));
        timing = timer.start("blöck \ud83d\ude00");
        assertEquals(Status.MISMATCH, timing.stop("blöck \ud83d\ude01"));
        assertEquals(Status.OK, timing.stop(new String("blöck \ud83d\ude00")));
        assertEquals(Status.OK, timer.start(Op.of(7, 8)).end(Op.of(7, 8), Outcome.TIMEOUT));
        assertCounts("timer_ids", 3, 0, 1);
    }

    @Test
    void anIdMayComeLater() {
        Timer timer = Timer.of("timer.bound");
        double mismatch = Page.misuse("timing-mismatch");
        Timing timing = timer.start();
        assertEquals(Status.MISMATCH, timing.stop(7));
        assertEquals(Status.MISMATCH, timing.bind((byte[]) null));
        assertEquals(Status.MISMATCH, timing.bind(""));
        assertEquals(Status.OK, timing.bind(7));
        assertEquals(Status.OK, timing.bind(7));
        assertEquals(Status.MISMATCH, timing.bind(8));
        assertEquals(Status.MISMATCH, timing.stop());
        assertEquals(Status.OK, timing.stop(7));
        assertEquals(Status.NOT_RUNNING, timing.bind(7));
        assertEquals(mismatch + 5, Page.misuse("timing-mismatch"));
        Timing nameless = timer.start((String) null);
        assertEquals(Status.MISMATCH, nameless.stop((String) null));
        assertEquals(Status.OK, nameless.stop());
        assertCounts("timer_bound", 2, 0, 0);
    }

    @Test
    void aBlockEndsItsTiming() {
        Timer timer = Timer.of("timer.closed");
        try (Timing timing = timer.start(1)) {
            assertEquals(0, count("timer_closed", Outcome.OK));
        }
        try (Timing timing = timer.start(2)) {
            timing.fail();
        }
        try (Timing timing = timer.start(3)) {
            timing.end(3, Outcome.TIMEOUT);
        }
        try (Timing timing = timer.start()) {
            timing.outcome(Outcome.CANCELLED);
        }
        assertThrows(IOException.class, () -> {
            try (Timing timing = timer.start(4).fail()) {
                throw new IOException("lost");
            }
        });
        assertCounts("timer_closed", 1, 2, 2);
    }

    @Test
    void labelsMayBeKnownOnlyAtTheEnd() {
        Family<Timer> answers = Metric.named("timer.answers").labelled("kind").timer();
        Timing timing = answers.with("?").start(9);
        assertEquals(Status.OK, timing.into(answers.with("pong")).stop(9));
        String start = "timer_answers_seconds_count{kind=";
        assertEquals(1, Page.now().value(start + "\"pong\",outcome=\"ok\"}"));
        assertEquals(0, Page.now().value(start + "\"?\",outcome=\"ok\"}"));
    }

    @Test
    void codeIsTimedAndItsResultComesBack() throws Exception {
        Timer timer = Timer.of("timer.code");
        Callable<String> callable = () -> "called";
        Supplier<String> supplier = () -> "supplied";
        String[] ran = new String[1];
        assertEquals("lambda", timer.time(() -> "lambda")); // no checked exception, no try
        assertEquals("called", timer.time(callable));
        assertEquals("supplied", timer.time(supplier));
        timer.run(() -> ran[0] = "ran");
        assertEquals("ran", ran[0]);
        long from = timer.startNanos();
        timer.stopNanos(from);
        timer.stopNanos(from, Outcome.ERROR);
        assertCounts("timer_code", 5, 1, 0);
        assertThrows(NullPointerException.class, () -> timer.time((Callable<String>) null));
        assertThrows(NullPointerException.class, () -> timer.run(null));
        assertCounts("timer_code", 5, 1, 0);
    }

    private static <E extends Exception> String thrower(E exception) throws E {
        throw exception;
    }

    @Test
    void exceptionsAreRecordedAndGoOnAsTheyAre() {
        Timer timer = Timer.of("timer.thrown");
        IOException io = new IOException("io");
        assertSame(io, assertThrows(IOException.class, () -> timer.time(() -> thrower(io))));
        RuntimeException runtime = new IllegalStateException("state");
        assertSame(runtime, assertThrows(IllegalStateException.class,
                () -> timer.run(() -> thrower(runtime))));
        TimeoutException timeout = new TimeoutException();
        assertSame(timeout, assertThrows(TimeoutException.class,
                () -> timer.time((Callable<String>) () -> thrower(timeout))));
        InterruptedException interrupted = new InterruptedException();
        assertSame(interrupted, assertThrows(InterruptedException.class,
                () -> timer.time(() -> thrower(interrupted))));
        CancellationException cancelled = new CancellationException();
        assertSame(cancelled, assertThrows(CancellationException.class,
                () -> timer.time((Supplier<String>) () -> thrower(cancelled))));
        AssertionError error = new AssertionError("error");
        assertSame(error, assertThrows(AssertionError.class,
                () -> timer.run(() -> { throw error; })));
        assertCounts("timer_thrown", 0, 3, 3);
    }

    private static int deeper(int depth) {
        return deeper(depth + 1) + 1;
    }

    @Test
    void errorsOfTheMachineAreRecordedToo() {
        Timer timer = Timer.of("timer.errors");
        assertThrows(StackOverflowError.class, () -> timer.time(() -> deeper(0)));
        assertThrows(OutOfMemoryError.class, () -> timer.time(() -> new long[Integer.MAX_VALUE]));
        assertCounts("timer_errors", 0, 2, 0);
    }

    /** Nested timings until the stack is full: each must let the StackOverflowError through. */
    private static int timedDeeper(Timer timer) {
        return timer.time(() -> timedDeeper(timer) + 1);
    }

    @Test
    void anErrorIsNotMaskedWhereNoStackIsLeft() {
        Timer timer = Timer.of("timer.full-stack");
        assertThrows(StackOverflowError.class, () -> timedDeeper(timer));
        assertTrue(count("timer_full_stack", Outcome.ERROR) > 10);
        assertEquals(0, count("timer_full_stack", Outcome.OK));
    }

    /** Goes down until the stack is full, and times a little at each depth on the way back. */
    private static int deepest(
            Timer timer, Timed<String, RuntimeException> body, int depth) {
        int reached;
        try {
            reached = deepest(timer, body, depth + 1);
        } catch (StackOverflowError full) {
            reached = depth;
        }
        try {
            timer.time(body);
        } catch (StackOverflowError full) {
            return reached; // no stack for the call itself
        }
        return reached;
    }

    @Test
    void timingWhereNoStackIsLeftBreaksNothing() {
        Timer timer = Timer.of("timer.edge");
        for (int i = 0; i < 5; i++) assertTrue(deepest(timer, () -> "x", 0) > 100);
        timer.record(5);
        assertEquals(Status.OK, timer.start(1).stop(1));
        assertTrue(count("timer_edge", Outcome.OK) > 100);
    }

    /** A class that is first initialised there, and fails, would stay unusable. */
    @Test
    void aFirstRecordWhereNoStackIsLeftBreaksNothing() throws Exception {
        for (String what : List.of("start", "begin", "timer", "histogram")) {
            ChildJvm child = new ChildJvm().with("-Xss512k");
            assertEquals("besides: []", child.run(FullStackMain.class, what), what);
        }
    }

    @Test
    void outcomesOfExceptions() {
        assertEquals(Outcome.OK, Outcome.of(null));
        assertEquals(Outcome.ERROR, Outcome.of(new IOException()));
        assertEquals(Outcome.ERROR, Outcome.of(new CompletionException(null)));
        assertEquals(Outcome.TIMEOUT, Outcome.of(new SocketTimeoutException()));
        assertEquals(Outcome.TIMEOUT, Outcome.of(
                new ExecutionException(new CompletionException(new TimeoutException()))));
        assertEquals(Outcome.CANCELLED, Outcome.of(
                new CompletionException(new CancellationException())));
        CompletionException round = new WithoutCause();
        round.initCause(new ExecutionException(round));
        assertEquals(Outcome.ERROR, Outcome.of(round));
    }

    private static final class WithoutCause extends CompletionException {}

    @Test
    void whatIsRetiredIsLate() {
        Family<Timer> family = Metric.named("timer.retired").labelled("peer").timer();
        Timer timer = family.with("timer.gone");
        Timing timing = timer.start(1);
        timer.record(5);
        assertEquals(1, Crest.retire("peer", "timer.gone"));
        assertEquals(Status.LATE, timing.stop(1));
        assertEquals(Status.LATE, timer.start(2).stop(2));
        assertEquals(Status.LATE, timer.begin(3));
        assertEquals(Status.NOT_RUNNING, timing.stop(1));
    }

    @Test
    void aClosedTimerComesBackWithItsNextRecord() {
        Family<Timer> family = Metric.named("timer.released").labelled("peer").timer();
        Timer timer = family.with("a");
        timer.record(5);
        timer.close();
        timer.close();
        timer.record(6);
        assertEquals(Status.OK, timer.start(1).stop(1));
        String sample = "timer_released_seconds_count{peer=\"a\",outcome=\"ok\"}";
        assertEquals(3, Page.now().value(sample));
    }
}
