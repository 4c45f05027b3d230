// SPDX-License-Identifier: Apache-2.0
package io.crest;

import java.util.Arrays;

/**
 * Texts as C takes them: UTF-8 followed by a NUL. JNI's own conversion is modified UTF-8, which
 * differs in a NUL and in characters beyond the first 65,536, and which only Java reads.
 *
 * <p>A NUL within the text and half a surrogate pair have no such form and become a byte that is in
 * no UTF-8. So the library refuses such a name, and counts and replaces the byte in a label value.
 * A NUL would end the text there instead.
 */
final class Utf8 {
    private static final byte NOT_UTF8 = (byte) 0xff;

    /** Of a text of a span, which is cut after fewer bytes. */
    private static final int SHOWN_CHARS = 256;

    private byte[] bytes;
    private int length;

    private Utf8(int capacity) {
        bytes = new byte[capacity];
    }

    /** The text and a NUL. */
    static byte[] terminated(String text) {
        return joined(text);
    }

    /** The begin of a text, for what shows no more of it, without a NUL at the end. */
    static byte[] cut(String text) {
        byte[] all = joined(text.length() > SHOWN_CHARS ? text.substring(0, SHOWN_CHARS) : text);
        return Arrays.copyOf(all, all.length - 1);
    }

    /** The texts, each followed by a NUL. */
    static byte[] joined(String... texts) {
        int capacity = 0;
        for (String text : texts) capacity += text.length() + 1;
        Utf8 all = new Utf8(capacity);
        for (String text : texts) {
            all.add(text);
            all.add((byte) 0);
        }
        return all.length == all.bytes.length ? all.bytes : Arrays.copyOf(all.bytes, all.length);
    }

    private void add(String text) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == 0) {
                add(NOT_UTF8);
            } else if (c < 0x80) {
                add((byte) c);
            } else if (c < 0x800) {
                add((byte) (0xc0 | c >> 6));
                addTail(c);
            } else if (!Character.isSurrogate(c)) {
                add((byte) (0xe0 | c >> 12));
                addTail(c >> 6);
                addTail(c);
            } else if (Character.isHighSurrogate(c)
                    && i + 1 < text.length()
                    && Character.isLowSurrogate(text.charAt(i + 1))) {
                int point = Character.toCodePoint(c, text.charAt(++i));
                add((byte) (0xf0 | point >> 18));
                addTail(point >> 12);
                addTail(point >> 6);
                addTail(point);
            } else {
                add(NOT_UTF8);
            }
        }
    }

    private void addTail(int bits) {
        add((byte) (0x80 | bits & 0x3f));
    }

    private void add(byte b) {
        if (length == bytes.length) bytes = Arrays.copyOf(bytes, 2 * length + 16);
        bytes[length++] = b;
    }
}
