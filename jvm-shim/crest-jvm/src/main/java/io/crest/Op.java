// SPDX-License-Identifier: Apache-2.0
package io.crest;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * The identity of an operation: an integer, a pair of integers, bytes (a block hash) or a text. A
 * duration is only ever taken between a start and an end that name the same operation. Native code
 * of the process makes the same identity of the same number, bytes or text.
 *
 * <p>Methods that take one take a long, bytes or a text too; keeping an Op saves making it again.
 * Immutable, by value; any thread.
 */
public final class Op {
    /** C's {@code crest_op_kind}. */
    static final int KIND_NONE = 0;

    static final int KIND_LONG = 1;
    static final int KIND_PAIR = 2;
    static final int KIND_BYTES = 3;
    static final int KIND_TEXT = 4;

    static final int LONG_BYTES = 8;

    /** Up to so many bytes are kept and compared exactly. */
    static final int EXACT_BYTES = 32;

    /** No operation: of a timing whose id is not known. */
    static final Op NONE = new Op(KIND_NONE, 0, 0, 0, 0, 0);

    private static final int PREFIX_BYTES = 16;
    private static final VarHandle WORDS =
            MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.nativeOrder());

    final int kind;
    final int length;
    final long w0;
    final long w1;
    final long w2;
    final long w3;

    Op(int kind, int length, long w0, long w1, long w2, long w3) {
        this.kind = kind;
        this.length = length;
        this.w0 = w0;
        this.w1 = w1;
        this.w2 = w2;
        this.w3 = w3;
    }

    /**
     * An integer, which is printed as unsigned.
     *
     * @param id any
     * @return never null
     */
    public static Op of(long id) {
        return new Op(KIND_LONG, LONG_BYTES, id, 0, 0, 0);
    }

    /**
     * A pair of integers.
     *
     * @param first any
     * @param second any
     * @return never null
     */
    public static Op of(long first, long second) {
        return new Op(KIND_PAIR, 2 * LONG_BYTES, first, second, 0, 0);
    }

    /**
     * Bytes, such as a hash. Up to 32 are kept and compared exactly. Of more, the first 16 and a
     * 128-bit hash of them all are kept; the hash is a call into the library.
     *
     * @param id copied; null or empty is no operation, which ends no timing
     * @return never null
     */
    public static Op of(byte[] id) {
        return id == null ? NONE : of(KIND_BYTES, id, id.length);
    }

    /**
     * A text. Otherwise as bytes: those of its UTF-8.
     *
     * @param id null or empty is no operation, which ends no timing
     * @return never null
     */
    public static Op of(String id) {
        if (id == null) return NONE;
        byte[] bytes = Utf8.terminated(id);
        return of(KIND_TEXT, bytes, bytes.length - 1);
    }

    private static Op of(int kind, byte[] bytes, int length) {
        if (length == 0) return NONE;
        if (length > EXACT_BYTES) return hashed(kind, bytes, length);
        byte[] all = length == EXACT_BYTES ? bytes : Arrays.copyOf(bytes, EXACT_BYTES);
        return new Op(kind, length, word(all, 0), word(all, 1), word(all, 2), word(all, 3));
    }

    private static Op hashed(int kind, byte[] bytes, int length) {
        long[] words = new long[4];
        if (Library.AVAILABLE) TimerNatives.hash(bytes, length, words);
        else words[2] = Arrays.hashCode(bytes);
        return new Op(kind, length, words[0], words[1], words[2], words[3]);
    }

    /** Whether it has the bytes of four words, as a 256-bit hash has. */
    static boolean isExact(byte[] id) {
        return id != null && id.length == EXACT_BYTES;
    }

    /** A word of an id that is exact. */
    static long word(byte[] exactly, int index) {
        return (long) WORDS.get(exactly, index * LONG_BYTES);
    }

    boolean isNone() {
        return kind == KIND_NONE;
    }

    /** Whether both are the same operation, kind included. */
    boolean is(Op other) {
        return kind == other.kind && length == other.length && w0 == other.w0 && w1 == other.w1
                && w2 == other.w2 && w3 == other.w3;
    }

    /** The same number and the same text are two operations. */
    @Override
    public boolean equals(Object other) {
        return other instanceof Op && is((Op) other);
    }

    @Override
    public int hashCode() {
        return Long.hashCode(((w0 * 31 + w1) * 31 + w2) * 31 + w3) * 31 + kind;
    }

    /**
     * As the library writes it on its pages: {@code 7}, {@code 7:8}, {@code 0x12ab}, {@code text};
     * an ellipsis where it was too long to be kept; {@code -} for none.
     */
    @Override
    public String toString() {
        switch (kind) {
            case KIND_LONG:
                return Long.toUnsignedString(w0);
            case KIND_PAIR:
                return Long.toUnsignedString(w0) + ":" + Long.toUnsignedString(w1);
            case KIND_BYTES:
                return hexadecimal() + (length > EXACT_BYTES ? "…" : "");
            case KIND_TEXT:
                return text() + (length > EXACT_BYTES ? "…" : "");
            default:
                return "-";
        }
    }

    private byte[] kept() {
        byte[] bytes = new byte[EXACT_BYTES];
        WORDS.set(bytes, 0, w0);
        WORDS.set(bytes, 8, w1);
        WORDS.set(bytes, 16, w2);
        WORDS.set(bytes, 24, w3);
        return Arrays.copyOf(bytes, length > EXACT_BYTES ? PREFIX_BYTES : length);
    }

    private String hexadecimal() {
        StringBuilder digits = new StringBuilder("0x");
        for (byte b : kept()) {
            digits.append(Character.forDigit(b >> 4 & 15, 16));
            digits.append(Character.forDigit(b & 15, 16));
        }
        return digits.toString();
    }

    /** Without a last character that was cut in the middle. */
    private String text() {
        byte[] bytes = kept();
        int whole = bytes.length;
        if (length > EXACT_BYTES) {
            int lead = whole - 1;
            while (lead > whole - 4 && (bytes[lead] & 0xc0) == 0x80) lead--;
            int first = bytes[lead] & 0xff;
            int needed = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
            if (lead + needed > whole) whole = lead;
        }
        return new String(bytes, 0, whole, StandardCharsets.UTF_8);
    }
}
