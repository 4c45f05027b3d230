// SPDX-License-Identifier: Apache-2.0
package io.crest;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * Times operations that begin here and end elsewhere, where the two sides share nothing but the
 * operation's id: a request and its answer, a block announced and a block stored. What has begun
 * and not ended is in flight. Its count, the age of the oldest and the stuck operations can be
 * read, and are exported.
 *
 * <pre>{@code
 * Timer fetch = Metric.named("comm.fetch-time").deadline(Duration.ofSeconds(30)).timer();
 * fetch.begin(hash);
 * ... // another thread, another class
 * fetch.end(hash, Outcome.OK);
 * }</pre>
 *
 * Where one side can hand an object to the other, a {@link Timing} costs less and has no bounds.
 * Operations of two metrics, or of two series of a family, are never the same one. However many
 * ends race with each other and with the deadline, each begin is recorded once.
 *
 * <p>Any thread. Cost: a call into the library, which takes a lock for some ten nanoseconds. With
 * ids that are longs nothing is allocated.
 */
public abstract class Keyed extends Instrument {
    /** Operations that one call lists at most. */
    private static final int OLDEST_MAX = 1000;

    Keyed(Series series) {
        super(series);
        // as in Instrument: a class whose initialisation fails once stays unusable
        Op.of(Outcome.OK.name());
    }

    /**
     * Begins the operation.
     *
     * @param id the operation's
     * @return {@link Status#OK}; {@link Status#ALREADY} when it is in flight: the first begin
     *     stays, which is a normal answer; {@link Status#LIMIT} when too much is in flight, {@link
     *     Status#NO_MEMORY}, and {@link Status#LATE} for a series that was retired, all counted
     */
    public final Status begin(long id) {
        return begin(Op.KIND_LONG, Op.LONG_BYTES, id, 0, 0, 0);
    }

    /**
     * The same by bytes.
     *
     * @param id the operation's; null or empty is none
     * @return as by {@link #begin(long)}; {@link Status#INVALID_ARGUMENT}, counted, for none
     */
    public final Status begin(byte[] id) {
        return begin(Op.of(id));
    }

    /**
     * The same by a text.
     *
     * @param id the operation's; null or empty is none
     * @return as by {@link #begin(long)}; {@link Status#INVALID_ARGUMENT}, counted, for none
     */
    public final Status begin(String id) {
        return begin(Op.of(id));
    }

    /**
     * The same by an identity that was made before.
     *
     * @param op the operation; null is none
     * @return as by {@link #begin(long)}; {@link Status#INVALID_ARGUMENT}, counted, for none
     */
    public final Status begin(Op op) {
        Op id = op == null ? Op.NONE : op;
        return begin(id.kind, id.length, id.w0, id.w1, id.w2, id.w3);
    }

    /**
     * Ends the operation and records its duration under the outcome.
     *
     * @param id the operation's
     * @param outcome how
     * @return {@link Status#OK}; {@link Status#NOT_FOUND} when it is not in flight, which is a
     *     normal answer: it never began, has ended, or began before a restart; {@link
     *     Status#TIMED_OUT} when it took longer than the metric's deadline and was recorded as
     *     timed out; {@link Status#INVALID_ARGUMENT}, counted, for a null outcome; {@link
     *     Status#LATE}, counted, for a series that was retired
     */
    public final Status end(long id, Outcome outcome) {
        return end(outcome, Op.KIND_LONG, Op.LONG_BYTES, id, 0, 0, 0);
    }

    /**
     * The same by bytes.
     *
     * @param id the operation's; null or empty is none
     * @param outcome how
     * @return as by {@link #end(long, Outcome)}; {@link Status#INVALID_ARGUMENT}, counted, for
     *     none
     */
    public final Status end(byte[] id, Outcome outcome) {
        return end(Op.of(id), outcome);
    }

    /**
     * The same by a text.
     *
     * @param id the operation's; null or empty is none
     * @param outcome how
     * @return as by {@link #end(long, Outcome)}; {@link Status#INVALID_ARGUMENT}, counted, for
     *     none
     */
    public final Status end(String id, Outcome outcome) {
        return end(Op.of(id), outcome);
    }

    /**
     * The same by an identity that was made before.
     *
     * @param op the operation; null is none
     * @param outcome how
     * @return as by {@link #end(long, Outcome)}; {@link Status#INVALID_ARGUMENT}, counted, for
     *     none
     */
    public final Status end(Op op, Outcome outcome) {
        Op id = op == null ? Op.NONE : op;
        return end(outcome, id.kind, id.length, id.w0, id.w1, id.w2, id.w3);
    }

    /**
     * Ends the operation as {@link Outcome#OK}.
     *
     * @param id the operation's
     * @return as by {@link #end(long, Outcome)}
     */
    public final Status end(long id) {
        return end(id, Outcome.OK);
    }

    /**
     * Ends the operation as {@link Outcome#OK}.
     *
     * @param id the operation's; null or empty is none
     * @return as by {@link #end(byte[], Outcome)}
     */
    public final Status end(byte[] id) {
        return end(id, Outcome.OK);
    }

    /**
     * Ends the operation as {@link Outcome#OK}.
     *
     * @param id the operation's; null or empty is none
     * @return as by {@link #end(String, Outcome)}
     */
    public final Status end(String id) {
        return end(id, Outcome.OK);
    }

    /**
     * Ends the operation as {@link Outcome#OK}.
     *
     * @param op the operation; null is none
     * @return as by {@link #end(Op, Outcome)}
     */
    public final Status end(Op op) {
        return end(op, Outcome.OK);
    }

    /**
     * How much is in flight of this series. Cost: reads all that is in flight, under no lock.
     *
     * @return never null
     */
    public final InFlight inFlight() {
        long[] figures = new long[2];
        if (handle != 0) TimerNatives.inFlight(handle, figures);
        return new InFlight(figures[0], figures[1]);
    }

    /**
     * The oldest operations in flight of this series, the oldest first. Cost as {@link #inFlight}.
     *
     * @param count at most so many; a negative number is 0, and more than 1,000 are 1,000
     * @return never null, not to be changed
     */
    public final List<InFlight.Operation> oldest(int count) {
        int most = Math.max(0, Math.min(count, OLDEST_MAX));
        long[] rows = new long[most * TimerNatives.ROW];
        int found = handle == 0 || most == 0 ? 0 : TimerNatives.oldest(handle, rows);
        List<InFlight.Operation> operations = new ArrayList<>(found);
        for (int at = 0; at < found * TimerNatives.ROW; at += TimerNatives.ROW) {
            Op op = new Op((int) rows[at + 5], (int) rows[at + 4], rows[at], rows[at + 1],
                    rows[at + 2], rows[at + 3]);
            operations.add(new InFlight.Operation(op, rows[at + 6], (int) rows[at + 7]));
        }
        return Collections.unmodifiableList(operations);
    }

    private Status begin(int kind, int length, long w0, long w1, long w2, long w3) {
        if (handle == 0) return Status.OK;
        return Status.of(TimerNatives.begin(handle, kind, length, w0, w1, w2, w3));
    }

    private Status end(Outcome outcome, int kind, int length, long w0, long w1, long w2, long w3) {
        if (handle == 0) return Status.OK;
        int how = outcome == null ? -1 : outcome.ordinal();
        return Status.of(TimerNatives.end(handle, how, kind, length, w0, w1, w2, w3));
    }
}
