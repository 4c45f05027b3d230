// SPDX-License-Identifier: Apache-2.0
package io.crest.jvm;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The performance counters of this process's own HotSpot: a few figures that no bean has, above all
 * safepoints, and times in nanoseconds that beans round to milliseconds.
 *
 * <p>HotSpot keeps them in a file that it has mapped, {@code /tmp/hsperfdata_USER/PID}, for {@code
 * jstat}. The file is there by default. It is missing with {@code -XX:-UsePerfData} or {@code
 * -XX:+PerfDisableSharedMem}, after its deletion, and in other virtual machines; then these figures
 * are absent. Where several containers share a /tmp, a file of that name may be another process's.
 * So it is read only if this process has that very file mapped.
 *
 * <p>The form is that of HotSpot's perfMemory.hpp, version 2.0, which every JDK since 5 has had.
 */
final class PerfData {
    private static final int MAGIC = 0xcafec0c0;
    private static final int MAJOR = 2;
    private static final int AT_BYTE_ORDER = 4;
    private static final int AT_MAJOR = 5;
    private static final int AT_ACCESSIBLE = 7;
    private static final int AT_ENTRIES = 24;
    private static final int AT_COUNT = 28;
    private static final int HEADER_BYTES = 32;
    private static final int ENTRY_BYTES = 20;
    /** HotSpot has some 300 entries and 32 KiB; a file with far more is not read to its end. */
    private static final int ENTRIES_MAX = 10_000;
    private static final int FILE_BYTES_MAX = 16 << 20;

    private final ByteBuffer data;
    private final Map<String, Integer> longs = new HashMap<>();
    private final Map<String, String> texts = new HashMap<>();

    private PerfData(ByteBuffer data) {
        this.data = data;
        index();
    }

    /** This process's counters, or null where there are none that can be read. */
    static PerfData own() {
        try {
            return own(Path.of("/proc/self/maps"));
        } catch (IOException | RuntimeException e) {
            return null;
        }
    }

    /** Likewise, with another list of this process's mappings. */
    static PerfData own(Path maps) throws IOException {
        for (String line : Files.readAllLines(maps, StandardCharsets.ISO_8859_1)) {
            int at = line.indexOf('/');
            if (at < 0 || !line.contains("/hsperfdata_")) continue;
            Path file = Path.of(line.substring(at));
            String[] fields = line.split(" +", 6);
            if (!Files.isRegularFile(file) || !fields[4].equals(inode(file))) continue;
            try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
                long bytes = Math.min(channel.size(), FILE_BYTES_MAX);
                return of(channel.map(FileChannel.MapMode.READ_ONLY, 0, bytes));
            }
        }
        return null;
    }

    /** The counters in these bytes, or null for other bytes, or an unknown format. */
    static PerfData of(ByteBuffer data) {
        data.order(ByteOrder.BIG_ENDIAN);
        if (data.capacity() < HEADER_BYTES || data.getInt(0) != MAGIC) return null;
        boolean little = data.get(AT_BYTE_ORDER) != 0;
        data.order(little ? ByteOrder.LITTLE_ENDIAN : ByteOrder.BIG_ENDIAN);
        if (data.get(AT_MAJOR) != MAJOR || data.get(AT_ACCESSIBLE) == 0) return null;
        return new PerfData(data);
    }

    private static String inode(Path file) throws IOException {
        return String.valueOf(Files.getAttribute(file, "unix:ino"));
    }

    /** Indexes the counters. An entry that would lie outside of the file ends the list. */
    private void index() {
        int at = data.getInt(AT_ENTRIES);
        int count = Math.min(data.getInt(AT_COUNT), ENTRIES_MAX);
        int last = data.capacity() - ENTRY_BYTES;
        for (int i = 0; i < count && at >= HEADER_BYTES && at <= last; i++) {
            int bytes = data.getInt(at);
            if (bytes < ENTRY_BYTES || bytes > data.capacity() - at) return;
            entry(at, bytes);
            at += bytes;
        }
    }

    private void entry(int at, int bytes) {
        int nameAt = data.getInt(at + 4);
        int length = data.getInt(at + 8);
        int type = data.get(at + 12);
        int valueAt = data.getInt(at + 16);
        if (nameAt < ENTRY_BYTES || nameAt >= bytes || valueAt < ENTRY_BYTES) return;
        String name = text(at + nameAt, bytes - nameAt);
        if (type == 'J' && length == 0 && valueAt <= bytes - Long.BYTES)
            longs.put(name, at + valueAt);
        else if (type == 'B' && length > 0 && valueAt <= bytes - length)
            texts.put(name, text(at + valueAt, length));
    }

    private String text(int at, int longest) {
        byte[] bytes = new byte[longest];
        int length = 0;
        while (length < longest && data.get(at + length) != 0) {
            bytes[length] = data.get(at + length);
            length++;
        }
        return new String(bytes, 0, length, StandardCharsets.ISO_8859_1);
    }

    /** A counter's place, for {@link #value}; -1 if there is none of that name. */
    int find(String name) {
        return longs.getOrDefault(name, -1);
    }

    /** The first of these names that exists. */
    int findAny(List<String> names) {
        return names.stream().mapToInt(this::find).filter(at -> at >= 0).findFirst().orElse(-1);
    }

    /** A counter's value now, by its place from {@link #find}. */
    long value(int place) {
        return data.getLong(place);
    }

    /** A constant's text, or null. */
    String constant(String name) {
        return texts.get(name);
    }

    /** Nanoseconds of a tick, in which HotSpot keeps times. */
    double tickNanos() {
        int frequency = find("sun.os.hrt.frequency");
        return frequency < 0 || value(frequency) <= 0 ? 1 : 1e9 / value(frequency);
    }
}
