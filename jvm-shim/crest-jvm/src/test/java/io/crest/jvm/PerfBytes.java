// SPDX-License-Identifier: Apache-2.0
package io.crest.jvm;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;

/** Performance counters as HotSpot writes them, to be changed by name. */
final class PerfBytes {
    private final ByteBuffer bytes;
    private final Map<String, Integer> places = new HashMap<>();
    private int end = 32;

    PerfBytes(ByteOrder order) {
        bytes = ByteBuffer.allocate(4096);
        bytes.putInt(0, 0xcafec0c0);
        bytes.order(order);
        bytes.put(4, (byte) (order == ByteOrder.LITTLE_ENDIAN ? 1 : 0));
        bytes.put(5, (byte) 2);
        bytes.put(7, (byte) 1);
        bytes.putInt(24, end);
    }

    PerfBytes with(String name, long value) {
        int valueAt = entry(name, 'J', 0, Long.BYTES);
        places.put(name, valueAt);
        bytes.putLong(valueAt, value);
        return this;
    }

    PerfBytes with(String name, String value) {
        byte[] text = value.getBytes(StandardCharsets.ISO_8859_1);
        int valueAt = entry(name, 'B', text.length + 1, text.length + 1);
        for (int i = 0; i < text.length; i++) bytes.put(valueAt + i, text[i]);
        return this;
    }

    /** Begins an entry; returns the place of its value, a multiple of eight. */
    private int entry(String name, char type, int length, int valueBytes) {
        byte[] text = name.getBytes(StandardCharsets.ISO_8859_1);
        int valueAt = (20 + text.length + 1 + 7) / 8 * 8;
        int entryBytes = (valueAt + valueBytes + 7) / 8 * 8;
        bytes.putInt(end, entryBytes);
        bytes.putInt(end + 4, 20);
        bytes.putInt(end + 8, length);
        bytes.put(end + 12, (byte) type);
        bytes.putInt(end + 16, valueAt);
        for (int i = 0; i < text.length; i++) bytes.put(end + 20 + i, text[i]);
        int value = end + valueAt;
        end += entryBytes;
        bytes.putInt(28, bytes.getInt(28) + 1);
        return value;
    }

    void set(String name, long value) {
        bytes.putLong(places.get(name), value);
    }

    ByteBuffer bytes() {
        return bytes;
    }

    PerfData data() {
        return PerfData.of(bytes.duplicate());
    }
}
