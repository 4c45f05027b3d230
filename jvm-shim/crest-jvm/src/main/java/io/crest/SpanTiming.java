// SPDX-License-Identifier: Apache-2.0
package io.crest;

import java.util.concurrent.ThreadLocalRandom;

/**
 * A running timing with a place to go: below a parent, with attributes, events and links. Where its
 * timer is not traced ({@code spans=…}) it is a timing like any other, and what a span has besides
 * costs a comparison.
 *
 * <pre>{@code
 * try (SpanTiming fetch = FETCH.startSpan(Op.of(hash)).enter()) {  // current until the end
 *     fetch.set("peer", peer).set("height", height);
 *     fetch.done(download());                                      // OK; left otherwise: ERROR
 * }
 * }</pre>
 *
 * <p>{@link Timer#span(Op, Timed)} does all this around code that is a lambda.
 *
 * <p>For one end: of several, exactly one records. Any thread, and another one may end it; a
 * monitor orders them. It holds no resource: a span that is dropped is not recorded.
 */
public final class SpanTiming implements AutoCloseable {
    private final long from = System.nanoTime();
    private final Op op;
    private final Context context;

    /** The library's timing; null: its timer is not traced. */
    private final long[] words;

    private Timer timer;
    private Outcome closing;
    private int kind = FinishedSpans.INTERNAL;
    private boolean ended;
    private Context.Scope scope;

    SpanTiming(Timer timer, Op wanted, Context parent) {
        this.timer = timer;
        Op named = wanted != null && !wanted.isNone() ? wanted : parent.op;
        Op own = named.isNone() && !parent.hasSpan() ? number() : named;
        words = timer.handle == 0 || !Library.AVAILABLE
                ? null
                : SpanTimingNatives.start(
                        timer.handle, parent.traceHigh, parent.traceLow, parent.span, parent.flags,
                        own.kind, own.length, own.w0, own.w1, own.w2, own.w3);
        op = words == null ? named : own;
        context = words == null
                ? new Context(
                        named, parent.traceHigh, parent.traceLow, parent.span, parent.flags, timer)
                : Context.of(op, words, timer);
    }

    /** For what has no operation: its spans are a trace, found by this number. */
    private static Op number() {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        return Op.of(random.nextLong(), random.nextLong());
    }

    /**
     * The parent of what is done for it, on whatever thread. Where its timer is not traced, that of
     * its own parent.
     *
     * @return never null
     */
    public Context context() {
        return context;
    }

    /**
     * Makes its context this thread's until its end, which then must be on this thread, before that
     * of what was entered earlier.
     *
     * @return this
     */
    public synchronized SpanTiming enter() {
        if (!ended && scope == null) scope = context.enter();
        return this;
    }

    /**
     * An attribute: at most eight a span; a key that is set twice stands twice.
     *
     * @param key its name, of a set that does not grow for ever: 255 in a process
     * @param value its value
     * @return this
     */
    public SpanTiming set(String key, long value) {
        return detail(SpanNatives.NUMBER, key, value, null);
    }

    /**
     * An attribute.
     *
     * @param key as of {@link #set(String, long)}
     * @param value its value
     * @return this
     */
    public SpanTiming set(String key, double value) {
        return detail(SpanNatives.DECIMAL, key, Double.doubleToRawLongBits(value), null);
    }

    /**
     * An attribute.
     *
     * @param key as of {@link #set(String, long)}
     * @param value its value
     * @return this
     */
    public SpanTiming set(String key, boolean value) {
        return detail(SpanNatives.FLAG, key, value ? 1 : 0, null);
    }

    /**
     * An attribute.
     *
     * @param key as of {@link #set(String, long)}
     * @param value its value, cut after 128 bytes; null is the empty text
     * @return this
     */
    public SpanTiming set(String key, String value) {
        return detail(SpanNatives.TEXT, key, 0, value == null ? "" : value);
    }

    /**
     * Something that happens now; at most eight a span.
     *
     * @param name as an attribute's key
     * @return this
     */
    public SpanTiming event(String name) {
        return detail(SpanNatives.EVENT, name, 0, null);
    }

    /**
     * Another span that it has to do with; at most four a span.
     *
     * @param other without a span it is passed over
     * @return this
     */
    public synchronized SpanTiming link(Context other) {
        if (!ended && words != null && other != null && other.hasSpan())
            SpanTimingNatives.detail(
                    words, SpanNatives.LINK, 0, other.traceHigh, other.traceLow, other.span, null);
        return this;
    }

    /**
     * What it is to its caller and those it calls.
     *
     * @param kind {@link FinishedSpans#SERVER} and so on; another number changes nothing
     * @return this
     */
    public synchronized SpanTiming kind(int kind) {
        if (kind >= FinishedSpans.INTERNAL && kind <= FinishedSpans.CONSUMER) this.kind = kind;
        return this;
    }

    /**
     * {@link #close} ends it as {@link Outcome#ERROR}.
     *
     * @param message why; null or empty: it is not said
     * @return this
     */
    public synchronized SpanTiming fail(String message) {
        closing = Outcome.ERROR;
        if (message != null && !message.isEmpty()) detail(SpanNatives.MESSAGE, null, 0, message);
        return this;
    }

    /**
     * {@link #close} ends it under {@link Outcome#of} of the exception, whose text is the span's.
     *
     * @param thrown null: it did not fail
     * @return this
     */
    public synchronized SpanTiming fail(Throwable thrown) {
        closing = Outcome.of(thrown);
        if (thrown != null && words != null) detail(SpanNatives.MESSAGE, null, 0, shown(thrown));
        return this;
    }

    /**
     * {@link #close} ends it as {@link Outcome#OK}; without this call, as an error.
     *
     * @param <T> what the block ends with
     * @param result of the block
     * @return the result
     */
    public synchronized <T> T done(T result) {
        closing = Outcome.OK;
        return result;
    }

    /**
     * {@link #close} ends it as this.
     *
     * @param outcome how; null is passed over
     * @return this
     */
    public synchronized SpanTiming outcome(Outcome outcome) {
        if (outcome != null) closing = outcome;
        return this;
    }

    /**
     * Records into another timer than its start named, as {@link Timing#into}.
     *
     * @param timer a series of the same family, or any other; null changes nothing
     * @return this
     */
    public synchronized SpanTiming into(Timer timer) {
        if (timer != null && !ended) this.timer = timer;
        return this;
    }

    /**
     * Ends it, on any thread.
     *
     * @param outcome how
     * @return {@link Status#OK}; {@link Status#NOT_RUNNING} when it has ended before; {@link
     *     Status#INVALID_ARGUMENT} for null (it goes on running); {@link Status#LATE} when the
     *     timer's series was retired. All but the first are counted.
     */
    public Status end(Outcome outcome) {
        Context.Scope left;
        synchronized (this) {
            if (ended) return timer.refuse(Status.NOT_RUNNING);
            if (outcome == null) return timer.refuse(Status.INVALID_ARGUMENT);
            ended = true;
            left = scope;
        }
        if (left != null) left.close();
        return words == null
                ? timer.recordOp(
                        System.nanoTime() - from, outcome,
                        op.kind, op.length, op.w0, op.w1, op.w2, op.w3)
                : Status.of(SpanTimingNatives.end(words, timer.handle, kind, outcome.ordinal()));
    }

    /**
     * Ends it: as {@link #done}, {@link #fail} or {@link #outcome} said last, and where none of
     * them was called as an error, for then an exception has left the block. Does nothing if it has
     * ended.
     */
    @Override
    public void close() {
        Outcome outcome;
        synchronized (this) {
            if (ended) return;
            outcome = closing;
        }
        end(outcome == null ? Outcome.ERROR : outcome);
    }

    /** What a span says of an exception; a message that cannot be made is none. */
    private static String shown(Throwable thrown) {
        try {
            return thrown.toString();
        } catch (RuntimeException e) {
            return thrown.getClass().getName();
        }
    }

    private synchronized SpanTiming detail(byte what, String key, long value, String text) {
        if (ended || words == null) return this;
        long named = what == SpanNatives.MESSAGE ? 0 : SpanKeys.of(key);
        SpanTimingNatives.detail(
                words, what, named, value, 0, 0, text == null ? null : Utf8.cut(text));
        return this;
    }
}
