// SPDX-License-Identifier: Apache-2.0
package io.crest;

import java.nio.BufferOverflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Spans that another tracer has finished, with ids, times and names of its own, for the exporters
 * of this process: OTLP, Zipkin, JSON lines. The other tracer has decided that they are kept; no
 * rule of Crest's is applied to them.
 *
 * <pre>{@code
 * FinishedSpans spans = new FinishedSpans();
 * spans.begin(traceHigh, traceLow, id, parent, "casper.block", startNanos, endNanos);
 * spans.kind(FinishedSpans.SERVER).text("peer", address).number("height", height);
 * spans.event("validated", whenNanos).fail("the state differs");
 * Status status = spans.give();
 * }</pre>
 *
 * <p>What is timed with Crest needs none of this: it is traced by the option {@code spans}.
 *
 * <p>Nothing throws; what comes before the first {@link #begin} is left out. For one thread at a
 * time.
 */
public final class FinishedSpans {
    /** A span within its process. */
    public static final int INTERNAL = 0;

    /** A span that answers a request. */
    public static final int SERVER = 1;

    /** A span that makes a request. */
    public static final int CLIENT = 2;

    /** A span that hands out a message. */
    public static final int PRODUCER = 3;

    /** A span that handles a message. */
    public static final int CONSUMER = 4;

    /** A batch of more bytes is given before the next span begins. */
    private static final int BYTES_MAX = 1 << 20;

    private static final int TEXT_CHARS_MAX = 4096;
    private static final int KIND_AT = 6 * Long.BYTES;

    private ByteBuffer bytes = ByteBuffer.allocate(4096).order(ByteOrder.nativeOrder());
    private int began = -1;

    /** None yet. */
    public FinishedSpans() {}

    /**
     * Ends the span before and begins one.
     *
     * @param traceHigh first half of the trace's id, big-endian; 0 for ids of 64 bits
     * @param traceLow second half
     * @param id of the span, not 0
     * @param parent 0: a root
     * @param name what it is called
     * @param startNanos since 1970
     * @param endNanos not before the start
     * @return this
     */
    public FinishedSpans begin(
            long traceHigh, long traceLow, long id, long parent, String name, long startNanos,
            long endNanos) {
        if (bytes.position() > BYTES_MAX) give();
        finish();
        began = bytes.position();
        room(KIND_AT + Long.BYTES);
        bytes.putLong(traceHigh).putLong(traceLow).putLong(id).putLong(parent);
        bytes.putLong(startNanos).putLong(endNanos).putLong(INTERNAL);
        put(name);
        return this;
    }

    /**
     * What it is to its caller and those it calls.
     *
     * @param kind {@link #SERVER} and so on; another number changes nothing
     * @return this
     */
    public FinishedSpans kind(int kind) {
        if (began >= 0 && kind >= INTERNAL && kind <= CONSUMER)
            bytes.put(began + KIND_AT, (byte) kind);
        return this;
    }

    /**
     * Ends as an error.
     *
     * @param message why; null or empty: it is not said
     * @return this
     */
    public FinishedSpans fail(String message) {
        if (began < 0) return this;
        bytes.put(began + KIND_AT + 1, (byte) Outcome.ERROR.ordinal());
        if (message != null && !message.isEmpty()) {
            piece(SpanNatives.MESSAGE);
            put(message);
        }
        return this;
    }

    /**
     * An attribute.
     *
     * @param key its name
     * @param value its value; null is the empty text
     * @return this
     */
    public FinishedSpans text(String key, String value) {
        if (began < 0) return this;
        piece(SpanNatives.TEXT);
        put(key);
        put(value);
        return this;
    }

    /**
     * An attribute.
     *
     * @param key its name
     * @param value its value
     * @return this
     */
    public FinishedSpans number(String key, long value) {
        return word(SpanNatives.NUMBER, key, value);
    }

    /**
     * An attribute.
     *
     * @param key its name
     * @param value its value
     * @return this
     */
    public FinishedSpans decimal(String key, double value) {
        return word(SpanNatives.DECIMAL, key, Double.doubleToRawLongBits(value));
    }

    /**
     * An attribute.
     *
     * @param key its name
     * @param value its value
     * @return this
     */
    public FinishedSpans flag(String key, boolean value) {
        return word(SpanNatives.FLAG, key, value ? 1 : 0);
    }

    /**
     * Something that happened meanwhile.
     *
     * @param name what
     * @param whenNanos since 1970
     * @return this
     */
    public FinishedSpans event(String name, long whenNanos) {
        return word(SpanNatives.EVENT, name, whenNanos);
    }

    /**
     * Another span that this one has to do with.
     *
     * @param traceHigh first half of its trace's id
     * @param traceLow second half
     * @param id of the span
     * @return this
     */
    public FinishedSpans link(long traceHigh, long traceLow, long id) {
        if (began < 0) return this;
        piece(SpanNatives.LINK);
        room(3 * Long.BYTES);
        bytes.putLong(traceHigh).putLong(traceLow).putLong(id);
        return this;
    }

    /**
     * Hands all of them over, and has none again.
     *
     * @return {@link Status#OK}; {@link Status#NOT_RUNNING} where nothing exports spans or there is
     *     no native library; {@link Status#LIMIT} when some were dropped because too many wait,
     *     which is counted; {@link Status#INVALID_ARGUMENT} when one has no id, no trace or no name
     *     and was left out
     */
    public Status give() {
        finish();
        Status status = Status.NOT_RUNNING;
        if (Library.AVAILABLE)
            status = Status.of(SpanNatives.give(bytes.array(), bytes.position()));
        bytes.clear();
        return status;
    }

    private void finish() {
        if (began < 0) return;
        room(1);
        bytes.put(SpanNatives.END);
        began = -1;
    }

    private FinishedSpans word(byte what, String key, long value) {
        if (began < 0) return this;
        piece(what);
        put(key);
        room(Long.BYTES);
        bytes.putLong(value);
        return this;
    }

    private void piece(byte what) {
        room(1);
        bytes.put(what);
    }

    /** Its length without the NUL, the text, and the NUL. */
    private void put(String text) {
        String shown = text == null ? "" : text;
        if (shown.length() > TEXT_CHARS_MAX) shown = shown.substring(0, TEXT_CHARS_MAX);
        byte[] utf8 = Utf8.terminated(shown);
        room(Integer.BYTES + utf8.length);
        bytes.putInt(utf8.length - 1).put(utf8);
    }

    private void room(int more) {
        if (bytes.remaining() >= more) return;
        int size = Math.max(2 * bytes.capacity(), bytes.position() + more);
        if (size < 0) throw new BufferOverflowException();
        ByteBuffer larger = ByteBuffer.allocate(size).order(ByteOrder.nativeOrder());
        bytes.flip();
        bytes = larger.put(bytes);
    }
}
