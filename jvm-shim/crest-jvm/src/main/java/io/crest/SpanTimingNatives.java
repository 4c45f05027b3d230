// SPDX-License-Identifier: Apache-2.0
package io.crest;

/**
 * The library's functions for running spans (jvm_span_timings.c). A timing crosses as an array:
 * first the longs of its context, then what only the library reads.
 */
final class SpanTimingNatives {
    // The longs of a context.
    static final int TRACE_HIGH = 0;
    static final int TRACE_LOW = 1;
    static final int SPAN = 2;
    static final int FLAGS = 3;

    private SpanTimingNatives() {}

    /** Starts a span below a parent (zeros: none); null where the timer is not traced. */
    static native long[] start(
            long timer, long traceHigh, long traceLow, long parent, int flags,
            int kind, int length, long w0, long w1, long w2, long w3);

    /** The key of a name, which ends with a NUL: to be kept. 0 without memory. */
    static native long key(byte[] name);

    /** Adds a detail, as {@link SpanNatives} numbers them; returns the status. */
    static native int detail(
            long[] timing, int what, long key, long a, long b, long c, byte[] text);

    /** Ends it, recorded into the timer; returns the status. */
    static native int end(long[] timing, long timer, int kind, int outcome);

    /** What native code that this thread calls takes for the span it is in; zeros: none. */
    static native void setCurrent(long traceHigh, long traceLow, long span, int flags);

    /** The context of the span that native code has called this thread in, or null. */
    static native long[] current();

    /** The context of a traceparent, or null. */
    static native long[] parse(byte[] text);
}
