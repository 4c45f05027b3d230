// SPDX-License-Identifier: Apache-2.0
package io.crest;

/**
 * The library's functions that time (jvm_timers.c). An operation crosses as its kind, its length
 * and its four words; a status comes back as its number.
 */
final class TimerNatives {
    /** Longs of an operation in flight: four words, length, kind, age and stage. */
    static final int ROW = 8;

    private TimerNatives() {}

    /** In a lane ({@link Cells#lane}), or by the calling thread if that is negative. */
    static native int record(
            int lane, long timer, long nanos, int outcome,
            int kind, int length, long w0, long w1, long w2, long w3);

    /** Counts an end that records nothing, and returns its status. */
    static native int refuse(long timer, int status);

    static native int begin(
            long timer, int kind, int length, long w0, long w1, long w2, long w3);

    static native int end(
            long timer, int outcome, int kind, int length, long w0, long w1, long w2, long w3);

    static native int mark(
            long stages, int stage, int kind, int length, long w0, long w1, long w2, long w3);

    /** How many are in flight, and the age of the oldest, into the two longs. */
    static native void inFlight(long timer, long[] figures);

    /** The oldest, each in {@link #ROW} longs; returns how many. */
    static native int oldest(long timer, long[] rows);

    /** The four words of an identity of more than 32 bytes. */
    static native void hash(byte[] bytes, int length, long[] words);
}
