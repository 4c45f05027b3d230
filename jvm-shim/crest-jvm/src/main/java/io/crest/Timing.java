// SPDX-License-Identifier: Apache-2.0
package io.crest;

/**
 * A running timing: the token that a start returns, and that travels with the operation through
 * queues, threads and callbacks. The end names the operation again, so that a start is only ever
 * paired with the end of the same operation.
 *
 * <pre>{@code
 * Timing timing = connectTime.start(connection.id());
 * ...
 * timing.end(connection.id(), ok ? Outcome.OK : Outcome.ERROR);
 *
 * try (Timing timing = replayTime.start(block.hash())) { // OK also where replay throws
 *     if (!replay(block)) timing.fail();
 * }
 * try (Timing timing = replayTime.start(block.hash()).outcome(Outcome.ERROR)) {
 *     replay(block);
 *     timing.outcome(Outcome.OK); // not reached where it throws
 * }
 * }</pre>
 *
 * For one end: of several ends, on whatever threads, exactly one records; the others get {@link
 * Status#NOT_RUNNING} and are counted as misuse. It holds no resource; a dropped timing is not
 * recorded. An end never throws.
 *
 * <p>Any thread, virtual ones too, and handed from one to another in any way. Its monitor orders
 * two threads that end it at once. A monitor and not a compare-and-swap, because the just-in-time
 * compiler removes a monitor where no other thread can see the object. So a timing that does not
 * leave its method is never allocated, and its start and stop cost two readings of the clock and a
 * record. A timing that does leave is an object of some hundred bytes.
 */
public final class Timing implements AutoCloseable {
    /** Final, so that a thread that sees the object sees all that the constructor wrote. */
    private final long from;

    private Timer timer;
    private Outcome closing = Outcome.OK;
    private boolean ended;

    // the operation's words, as in Op, so that it needs no object of its own
    private int kind;
    private int length;
    private long w0;
    private long w1;
    private long w2;
    private long w3;

    /** For an operation with a number for its id, or without an id. */
    Timing(Timer timer, int kind, long number, long from) {
        this.timer = timer;
        this.kind = kind;
        length = kind == Op.KIND_NONE ? 0 : Op.LONG_BYTES;
        w0 = number;
        this.from = from;
    }

    Timing(Timer timer, Op op, long from) {
        this.timer = timer;
        name(op);
        this.from = from;
    }

    /** For a hash. */
    Timing(Timer timer, byte[] exactly, long from) {
        this.timer = timer;
        kind = Op.KIND_BYTES;
        length = Op.EXACT_BYTES;
        w0 = Op.word(exactly, 0);
        w1 = Op.word(exactly, 1);
        w2 = Op.word(exactly, 2);
        w3 = Op.word(exactly, 3);
        this.from = from;
    }

    /**
     * Ends as {@link Outcome#OK} a timing that was started without an id.
     *
     * @return as by {@link #end(Outcome)}
     */
    public Status stop() {
        return end(Outcome.OK);
    }

    /**
     * Ends as {@link Outcome#OK}.
     *
     * @param id the operation's
     * @return as by {@link #end(long, Outcome)}
     */
    public Status stop(long id) {
        return end(id, Outcome.OK);
    }

    /**
     * Ends as {@link Outcome#OK}.
     *
     * @param id the operation's
     * @return as by {@link #end(long, Outcome)}
     */
    public Status stop(byte[] id) {
        return end(id, Outcome.OK);
    }

    /**
     * Ends as {@link Outcome#OK}.
     *
     * @param id the operation's
     * @return as by {@link #end(long, Outcome)}
     */
    public Status stop(String id) {
        return end(id, Outcome.OK);
    }

    /**
     * Ends as {@link Outcome#OK}.
     *
     * @param op the operation
     * @return as by {@link #end(long, Outcome)}
     */
    public Status stop(Op op) {
        return end(op, Outcome.OK);
    }

    /**
     * Ends a timing that was started without an id, and was not bound to one.
     *
     * @param outcome how
     * @return as by {@link #end(long, Outcome)}: {@link Status#MISMATCH} when it has an id, which
     *     its end must name
     */
    public Status end(Outcome outcome) {
        long now = System.nanoTime();
        Status status;
        synchronized (this) {
            status = ending(kind == Op.KIND_NONE, outcome);
        }
        return ended(status, now, outcome);
    }

    /**
     * Ends and records the duration under the outcome.
     *
     * @param id the operation's
     * @param outcome how
     * @return {@link Status#OK}; {@link Status#MISMATCH} when the timing is of another operation,
     *     or of none: nothing is recorded and it goes on running; {@link Status#NOT_RUNNING} when
     *     it has ended before; {@link Status#INVALID_ARGUMENT} for a null outcome (it goes on
     *     running); {@link Status#LATE} when the timer's series was retired. All but the first are
     *     counted.
     */
    public Status end(long id, Outcome outcome) {
        long now = System.nanoTime();
        Status status;
        synchronized (this) {
            status = ending(kind == Op.KIND_LONG && w0 == id, outcome);
        }
        return ended(status, now, outcome);
    }

    /**
     * The same by bytes.
     *
     * @param id the operation's
     * @param outcome how
     * @return as by {@link #end(long, Outcome)}
     */
    public Status end(byte[] id, Outcome outcome) {
        long now = System.nanoTime();
        if (!Op.isExact(id)) return endAt(now, Op.of(id), outcome);
        Status status;
        synchronized (this) {
            boolean same = kind == Op.KIND_BYTES && length == Op.EXACT_BYTES
                    && w0 == Op.word(id, 0) && w1 == Op.word(id, 1)
                    && w2 == Op.word(id, 2) && w3 == Op.word(id, 3);
            status = ending(same, outcome);
        }
        return ended(status, now, outcome);
    }

    /**
     * The same by a text.
     *
     * @param id the operation's
     * @param outcome how
     * @return as by {@link #end(long, Outcome)}
     */
    public Status end(String id, Outcome outcome) {
        return endAt(System.nanoTime(), Op.of(id), outcome);
    }

    /**
     * The same by an identity that was made before.
     *
     * @param op the operation
     * @param outcome how
     * @return as by {@link #end(long, Outcome)}
     */
    public Status end(Op op, Outcome outcome) {
        return endAt(System.nanoTime(), op == null ? Op.NONE : op, outcome);
    }

    /**
     * Ends it whatever its operation, as {@link Outcome#OK} unless {@link #outcome} or {@link
     * #fail} said otherwise; does nothing if it was ended. For {@code try (Timing timing = …)},
     * which does not tell whether an exception left the block: where that matters, use {@link
     * Timer#time}.
     */
    @Override
    public void close() {
        long now = System.nanoTime();
        Status status;
        Outcome outcome;
        synchronized (this) {
            if (ended) return;
            outcome = closing;
            status = ending(true, outcome);
        }
        ended(status, now, outcome);
    }

    /**
     * Sets the outcome that {@link #close} ends it with.
     *
     * @param outcome how; null makes {@link #close} record nothing, and count that
     * @return this
     */
    public synchronized Timing outcome(Outcome outcome) {
        closing = outcome;
        return this;
    }

    /**
     * {@link #outcome} with {@link Outcome#ERROR}.
     *
     * @return this
     */
    public Timing fail() {
        return outcome(Outcome.ERROR);
    }

    /**
     * Records into another timer than its start named: for labels that are known only at the end,
     * as in {@code timing.into(answers.with(kind)).stop(id)}.
     *
     * @param timer a series of the same family, or any other; null changes nothing
     * @return this
     */
    public synchronized Timing into(Timer timer) {
        if (timer != null && !ended) this.timer = timer;
        return this;
    }

    /**
     * Names the operation of a timing that was started without an id, once the id is known.
     *
     * @param id the operation's
     * @return {@link Status#OK}, also when it is bound to this operation already; {@link
     *     Status#MISMATCH}, counted, when it is bound to another, or the id is none; {@link
     *     Status#NOT_RUNNING}, counted, when it has ended
     */
    public Status bind(long id) {
        return bind(Op.of(id));
    }

    /**
     * The same by bytes.
     *
     * @param id the operation's
     * @return as by {@link #bind(long)}
     */
    public Status bind(byte[] id) {
        return bind(Op.of(id));
    }

    /**
     * The same by a text.
     *
     * @param id the operation's
     * @return as by {@link #bind(long)}
     */
    public Status bind(String id) {
        return bind(Op.of(id));
    }

    /**
     * The same by an identity that was made before.
     *
     * @param op the operation
     * @return as by {@link #bind(long)}
     */
    public Status bind(Op op) {
        Status status = Status.OK;
        synchronized (this) {
            if (ended) status = Status.NOT_RUNNING;
            else if (op == null || op.isNone() || kind != Op.KIND_NONE && !is(op))
                status = Status.MISMATCH;
            else name(op);
        }
        return status == Status.OK ? status : timer.refuse(status);
    }

    private Status endAt(long now, Op op, Outcome outcome) {
        Status status;
        synchronized (this) {
            status = ending(!op.isNone() && is(op), outcome);
        }
        return ended(status, now, outcome);
    }

    private void name(Op op) {
        kind = op.kind;
        length = op.length;
        w0 = op.w0;
        w1 = op.w1;
        w2 = op.w2;
        w3 = op.w3;
    }

    private boolean is(Op op) {
        return kind == op.kind && length == op.length
                && w0 == op.w0 && w1 == op.w1 && w2 == op.w2 && w3 == op.w3;
    }

    /** Under the monitor. Invariant: exactly one caller is told OK, and its end records. */
    private Status ending(boolean same, Outcome outcome) {
        if (ended) return Status.NOT_RUNNING;
        if (!same) return Status.MISMATCH;
        if (outcome == null) return Status.INVALID_ARGUMENT;
        ended = true;
        return Status.OK;
    }

    private Status ended(Status status, long now, Outcome outcome) {
        return status == Status.OK
                ? timer.recordOp(now - from, outcome, kind, length, w0, w1, w2, w3)
                : timer.refuse(status);
    }
}
