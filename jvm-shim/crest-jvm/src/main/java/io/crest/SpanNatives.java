// SPDX-License-Identifier: Apache-2.0
package io.crest;

/** The library's function that takes finished spans (jvm_spans.c). */
final class SpanNatives {
    // How a piece of a span begins, as jvm_spans.c has them.
    static final byte NUMBER = 1;
    static final byte DECIMAL = 2;
    static final byte FLAG = 3;
    static final byte TEXT = 4;
    static final byte EVENT = 5;
    static final byte LINK = 6;
    static final byte MESSAGE = 7;
    static final byte END = 0;

    private SpanNatives() {}

    /**
     * Hands spans to what the process exports spans to.
     *
     * @param bytes the first {@code length} are spans, one after the other, in the machine's order
     * @return the status
     */
    static native int give(byte[] bytes, int length);
}
