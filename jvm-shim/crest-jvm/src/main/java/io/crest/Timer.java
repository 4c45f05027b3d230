// SPDX-License-Identifier: Apache-2.0
package io.crest;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

/**
 * How long operations take. A histogram of nanoseconds per {@link Outcome}, exported in seconds.
 *
 * <pre>{@code
 * static final Timer CONNECT = Timer.of("comm.connect-time", "Dial to handshake.");
 *
 * Peer peer = CONNECT.time(() -> dial(address));            // a block
 * Timing timing = CONNECT.start(id); … timing.stop(id);     // a token that travels
 * CONNECT.begin(id); … CONNECT.end(id, Outcome.OK);         // by the id alone, see Keyed
 * long from = CONNECT.startNanos(); … CONNECT.stopNanos(from);
 * }</pre>
 *
 * Timed code that throws is recorded under the {@link Outcome#of outcome of its exception}, and
 * every exception goes on unchanged.
 *
 * <p>Any thread, virtual ones too. A record adds to memory of the thread's own. Once the thread has
 * recorded five durations, one of this power of two among them, a record takes no lock, allocates
 * nothing and calls nothing. The thread's longest duration since the last tick still takes a call,
 * which notes its operation. The clock is {@link System#nanoTime}; for operations begun by their
 * ids, the library's.
 */
public final class Timer extends Keyed {
    /** The address of the histogram of the first outcome. */
    private final long outcomes;

    Timer(Series series) {
        super(series);
        outcomes = handle + Layout.TIMER_OUTCOMES;
    }

    /**
     * The timer of this name in the process, found or made. For settings and labels see {@link
     * Metric}.
     *
     * @param name canonical: letters, digits and _ in words joined by . and -
     * @return never null
     * @throws IllegalArgumentException for an invalid name
     * @throws CrestException when another metric stands in the way
     */
    public static Timer of(String name) {
        return Metric.named(name).timer();
    }

    /**
     * The same, with a help text.
     *
     * @param name as of {@link #of(String)}
     * @param description at most 1,000 bytes of UTF-8
     * @return never null
     * @throws IllegalArgumentException for an invalid name or description
     * @throws CrestException when another metric stands in the way
     */
    public static Timer of(String name, String description) {
        return Metric.named(name).describedAs(description).timer();
    }

    /**
     * Records a duration that was measured elsewhere, as {@link Outcome#OK}.
     *
     * @param durationNanos a negative one counts as 0, and as misuse; one above the range as the
     *     highest, and as misuse
     */
    public void record(long durationNanos) {
        record(durationNanos, Outcome.OK);
    }

    /**
     * Records a duration that was measured elsewhere.
     *
     * @param durationNanos as by {@link #record(long)}
     * @param outcome how it ended; null records nothing and is counted as misuse
     */
    public void record(long durationNanos, Outcome outcome) {
        recordNameless(durationNanos, outcome);
    }

    /**
     * Records a duration that was measured elsewhere, as {@link Outcome#OK}.
     *
     * @param duration as by {@link #record(long)}; null records nothing and is counted as misuse
     */
    public void record(Duration duration) {
        record(duration, Outcome.OK);
    }

    /**
     * Records a duration that was measured elsewhere.
     *
     * @param duration as by {@link #record(Duration)}
     * @param outcome as by {@link #record(long, Outcome)}
     */
    public void record(Duration duration, Outcome outcome) {
        if (duration == null) recordNameless(0, null);
        else recordNameless(nanos(duration), outcome);
    }

    /**
     * Starts timing an operation that has no id, or whose id is not known yet ({@link
     * Timing#bind}).
     *
     * @return the token to end it with
     */
    public Timing start() {
        return new Timing(this, Op.KIND_NONE, 0, System.nanoTime());
    }

    /**
     * Starts timing the operation.
     *
     * @param id the operation's
     * @return the token to end it with
     */
    public Timing start(long id) {
        return new Timing(this, Op.KIND_LONG, id, System.nanoTime());
    }

    /**
     * The same by bytes.
     *
     * @param id the operation's; copied; null or empty is none
     * @return the token to end it with
     */
    public Timing start(byte[] id) {
        return Op.isExact(id)
                ? new Timing(this, id, System.nanoTime())
                : new Timing(this, Op.of(id), System.nanoTime());
    }

    /**
     * The same by a text.
     *
     * @param id the operation's; null or empty is none
     * @return the token to end it with
     */
    public Timing start(String id) {
        return new Timing(this, Op.of(id), System.nanoTime());
    }

    /**
     * The same by an identity that was made before.
     *
     * @param op the operation; null is none
     * @return the token to end it with
     */
    public Timing start(Op op) {
        return new Timing(this, op == null ? Op.NONE : op, System.nanoTime());
    }

    /**
     * The moment that {@link #stopNanos} measures from: for code that must never allocate, not even
     * before the just-in-time compiler removes the token. The caller must pair starts and ends
     * itself.
     *
     * @return of {@link System#nanoTime}
     */
    public long startNanos() {
        return System.nanoTime();
    }

    /**
     * Records the time since then as {@link Outcome#OK}.
     *
     * @param from from {@link #startNanos}
     */
    public void stopNanos(long from) {
        recordNameless(System.nanoTime() - from, Outcome.OK);
    }

    /**
     * Records the time since then.
     *
     * @param from from {@link #startNanos}
     * @param outcome how it ended; null records nothing and is counted as misuse
     */
    public void stopNanos(long from, Outcome outcome) {
        recordNameless(System.nanoTime() - from, outcome);
    }

    /**
     * Times code. A lambda comes here.
     *
     * @param <T> what it returns
     * @param <E> the checked exceptions that it throws
     * @param body run once, on this thread
     * @return what it returns
     * @throws E what it throws; recorded under {@link Outcome#of}, and rethrown as it is
     */
    public <T, E extends Exception> T time(Timed<T, E> body) throws E {
        Objects.requireNonNull(body, "the code to be timed");
        long from = System.nanoTime();
        T result;
        try {
            result = body.run();
        } catch (Throwable thrown) {
            try {
                failed(from, thrown);
            } catch (Throwable ignored) {
                // no stack or memory left to record with: the body's own exception goes on
            }
            throw thrown;
        }
        try {
            stopNanos(from);
        } catch (VirtualMachineError ignored) {
            // the same; the result is not lost with the record
        }
        return result;
    }

    /**
     * Times a {@link Callable}.
     *
     * @param <T> what it returns
     * @param body run once, on this thread
     * @return what it returns
     * @throws Exception what it throws; recorded under {@link Outcome#of}, and rethrown as it is
     */
    public <T> T time(Callable<T> body) throws Exception {
        Objects.requireNonNull(body, "the code to be timed");
        return time((Timed<T, Exception>) body::call);
    }

    /**
     * Times a {@link Supplier}. What it throws is recorded under {@link Outcome#of}, and rethrown
     * as it is.
     *
     * @param <T> what it returns
     * @param body run once, on this thread
     * @return what it returns
     */
    public <T> T time(Supplier<T> body) {
        Objects.requireNonNull(body, "the code to be timed");
        return time((Timed<T, RuntimeException>) body::get);
    }

    /**
     * Times code that returns nothing.
     *
     * @param <E> the checked exceptions that it throws
     * @param body run once, on this thread
     * @throws E what it throws; recorded under {@link Outcome#of}, and rethrown as it is
     */
    public <E extends Exception> void run(Timed.Block<E> body) throws E {
        Objects.requireNonNull(body, "the code to be timed");
        this.<Void, E>time(
                () -> {
                    body.run();
                    return null;
                });
    }

    /**
     * Times work of other threads, until the stage has ended, wherever it does. Its outcome is that
     * {@link Outcome#of of its exception}: a cancelled future is {@link Outcome#CANCELLED}. A stage
     * that never ends is never recorded.
     *
     * @param <T> what the stage ends with
     * @param body makes the stage; run once, on this thread. What it throws is recorded and
     *     rethrown
     * @return to be used in place of the stage: it ends with the same result or exception, after
     *     the record; cancelling or completing it cancels or completes the stage. Null if there is
     *     no stage, which counts as an {@link Outcome#ERROR}.
     */
    public <T> CompletionStage<T> timeStage(Supplier<? extends CompletionStage<T>> body) {
        Objects.requireNonNull(body, "what makes the stage to be timed");
        long from = System.nanoTime();
        try {
            CompletionStage<T> stage = body.get();
            if (stage != null) return timed(stage, from);
        } catch (Throwable thrown) {
            try {
                failed(from, thrown);
            } catch (Throwable ignored) {
                // no stack or memory left to record with: the body's own exception goes on
            }
            throw thrown;
        }
        stopNanos(from, Outcome.ERROR);
        return null;
    }

    /**
     * Starts a span of the operation that this thread is in ({@link Context#current}), below its
     * span. Of none: in a trace of its own.
     *
     * @return to be ended, on any thread
     */
    public SpanTiming startSpan() {
        return new SpanTiming(this, null, Context.current());
    }

    /**
     * Starts a span of this operation, below the span that this thread is in.
     *
     * @param op the operation; null is the one that the thread is in
     * @return to be ended, on any thread
     */
    public SpanTiming startSpan(Op op) {
        return new SpanTiming(this, op, Context.current());
    }

    /**
     * Starts a span below another one, wherever that is.
     *
     * @param op the operation; null is the parent's
     * @param parent its parent; null or one without a span: the operation's root
     * @return to be ended, on any thread
     */
    public SpanTiming startSpan(Op op, Context parent) {
        return new SpanTiming(this, op, parent == null ? Context.none() : parent);
    }

    /**
     * Times code as a span below the one that this thread is in; what is timed so within it is
     * below this one.
     *
     * @param <T> what it returns
     * @param <E> the checked exceptions that it throws
     * @param body run once, on this thread
     * @return what it returns
     * @throws E what it throws; recorded under {@link Outcome#of}, with its text
     */
    public <T, E extends Exception> T span(Timed<T, E> body) throws E {
        return span(null, body);
    }

    /**
     * The same for this operation.
     *
     * @param <T> what it returns
     * @param <E> the checked exceptions that it throws
     * @param op the operation; null is the one that the thread is in
     * @param body run once, on this thread
     * @return what it returns
     * @throws E as {@link #span(Timed)}
     */
    public <T, E extends Exception> T span(Op op, Timed<T, E> body) throws E {
        Objects.requireNonNull(body, "the code to be timed");
        try (SpanTiming timing = startSpan(op).enter()) {
            try {
                return timing.done(body.run());
            } catch (Throwable thrown) {
                timing.fail(thrown);
                throw thrown;
            }
        }
    }

    /**
     * A span of work that goes on in other threads, until the stage has ended, wherever it does.
     * The span is this thread's while it makes the stage, so that what it hands to executors that
     * carry contexts is below the span.
     *
     * @param <T> what the stage ends with
     * @param op the operation; null is the one that the thread is in
     * @param body makes the stage; run once, on this thread
     * @return as {@link #timeStage}
     */
    public <T> CompletionStage<T> spanStage(Op op, Supplier<? extends CompletionStage<T>> body) {
        Objects.requireNonNull(body, "what makes the stage to be timed");
        SpanTiming timing = startSpan(op);
        CompletionStage<T> stage;
        try (Context.Scope scope = timing.context().enter()) {
            stage = body.get();
        } catch (Throwable thrown) {
            timing.fail(thrown).close();
            throw thrown;
        }
        if (stage != null) return TimedStage.of(stage, thrown -> timing.fail(thrown).close());
        timing.fail("there is no stage").close();
        return null;
    }

    private <T> CompletionStage<T> timed(CompletionStage<T> stage, long from) {
        return TimedStage.of(stage, thrown -> stopNanos(from, Outcome.of(thrown)));
    }

    private void failed(long from, Throwable thrown) {
        stopNanos(from, Outcome.of(thrown));
    }

    private void recordNameless(long nanos, Outcome outcome) {
        recordOp(nanos, outcome, Op.KIND_NONE, 0, 0, 0, 0, 0);
    }

    /** Records the duration of an operation, given by its words; the status says why not. */
    Status recordOp(
            long nanos, Outcome outcome, int kind, int length, long w0, long w1, long w2, long w3) {
        if (outcome != null
                && Cells.recorded(outcomes + outcome.ordinal() * Layout.HISTOGRAM_BYTES, nanos))
            return Status.OK;
        return recordCold(nanos, outcome, kind, length, w0, w1, w2, w3);
    }

    private Status recordCold(
            long nanos, Outcome outcome, int kind, int length, long w0, long w1, long w2, long w3) {
        if (handle == 0) return Status.OK;
        int how = outcome == null ? -1 : outcome.ordinal();
        int lane =
                outcome == null
                        ? SharedLanes.current()
                        : Cells.lane(outcomes + how * Layout.HISTOGRAM_BYTES);
        int status = TimerNatives.record(lane, handle, nanos, how, kind, length, w0, w1, w2, w3);
        if (outcome != null) Cells.keep(outcomes + how * Layout.HISTOGRAM_BYTES);
        return Status.of(status);
    }

    /** Counts an end that a timing refuses. */
    Status refuse(Status status) {
        if (handle != 0) TimerNatives.refuse(handle, status.ordinal());
        return status;
    }

    /** As nanoseconds; a duration too long for a long is longer than any range. */
    private static long nanos(Duration duration) {
        try {
            return duration.toNanos();
        } catch (ArithmeticException e) {
            return duration.isNegative() ? Long.MIN_VALUE : Long.MAX_VALUE;
        }
    }
}
