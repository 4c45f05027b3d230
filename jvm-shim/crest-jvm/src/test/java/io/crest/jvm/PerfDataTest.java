// SPDX-License-Identifier: Apache-2.0
package io.crest.jvm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PerfDataTest {
    @ParameterizedTest
    @ValueSource(strings = {"LITTLE_ENDIAN", "BIG_ENDIAN"})
    void findsCountersAndTexts(String order) {
        boolean little = order.equals("LITTLE_ENDIAN");
        PerfBytes bytes = new PerfBytes(little ? ByteOrder.LITTLE_ENDIAN : ByteOrder.BIG_ENDIAN)
                .with("sun.rt.safepoints", 7)
                .with("sun.gc.collector.0.name", "G1 young collection pauses")
                .with("sun.os.hrt.frequency", 10_000_000);
        PerfData data = bytes.data();
        int place = data.find("sun.rt.safepoints");
        assertEquals(7, data.value(place));
        bytes.set("sun.rt.safepoints", 8);
        assertEquals(8, data.value(place));
        assertEquals("G1 young collection pauses", data.constant("sun.gc.collector.0.name"));
        assertEquals(100, data.tickNanos());
        assertEquals(-1, data.find("sun.rt.none"));
        assertNull(data.constant("sun.rt.safepoints"));
    }

    @Test
    void knowsOnlyItsOwnForm() {
        assertNotNull(PerfData.of(new PerfBytes(ByteOrder.LITTLE_ENDIAN).with("a", 1).bytes()));
        assertNull(PerfData.of(ByteBuffer.allocate(31)));
        assertNull(PerfData.of(ByteBuffer.allocate(64)));
        ByteBuffer later = new PerfBytes(ByteOrder.LITTLE_ENDIAN).with("a", 1).bytes();
        later.put(5, (byte) 3);
        assertNull(PerfData.of(later));
        ByteBuffer unready = new PerfBytes(ByteOrder.LITTLE_ENDIAN).with("a", 1).bytes();
        unready.put(7, (byte) 0);
        assertNull(PerfData.of(unready));
    }

    /** Any bytes: places that are found lie within them, and reading there does not fail. */
    @Test
    void survivesGarbage() {
        Random random = new Random(6);
        int found = 0;
        for (int round = 0; round < 20_000; round++) {
            PerfBytes some = new PerfBytes(ByteOrder.LITTLE_ENDIAN)
                    .with("one", 1).with("two", "text").with("three", 3);
            ByteBuffer bytes = some.bytes();
            for (int i = random.nextInt(4); i >= 0; i--)
                bytes.put(8 + random.nextInt(160), (byte) random.nextInt());
            PerfData data = PerfData.of(bytes);
            for (String name : new String[] {"one", "three"}) {
                int place = data.find(name);
                if (place < 0) continue;
                data.value(place);
                found++;
            }
        }
        assertTrue(found > 1_000, "found " + found);
    }

    @Test
    void isOfThisProcess() {
        PerfData own = PerfData.own();
        assumeTrue(own != null, "this virtual machine shares no performance counters");
        long start = own.value(own.find("sun.rt.createVmBeginTime"));
        assertEquals(ManagementFactory.getRuntimeMXBean().getStartTime(), start, 60_000);
        int loaded = own.find("java.threads.started");
        assertEquals(ManagementFactory.getThreadMXBean().getTotalStartedThreadCount(),
                own.value(loaded), 50);
        assertNotNull(own.constant("java.property.java.vm.name"));
    }

    /** In a container that shares /tmp, another process's file may have this one's name. */
    @Test
    void believesNoFileThatIsNotMapped(@TempDir Path folder) throws Exception {
        Path file = Files.createDirectory(folder.resolve("hsperfdata_me")).resolve("1");
        PerfBytes bytes = new PerfBytes(ByteOrder.LITTLE_ENDIAN).with("a", 1);
        Files.write(file, bytes.bytes().array());
        Object inode = Files.getAttribute(file, "unix:ino");
        Path maps = folder.resolve("maps");
        String line = "7f91cebe3000-7f91cebeb000 rw-s 00000000 fe:00 %s    %s%n";
        Files.writeString(maps, String.format(line, inode, file));
        assertNotNull(PerfData.own(maps));
        Files.writeString(maps, String.format(line, "1" + inode, file));
        assertNull(PerfData.own(maps));
        Files.writeString(maps, String.format(line, inode, file + " (deleted)"));
        assertNull(PerfData.own(maps));
        Files.writeString(maps, "");
        assertNull(PerfData.own(maps));
    }
}
