// SPDX-License-Identifier: Apache-2.0
package io.crest.jvm;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class JvmNamesTest {
    @ParameterizedTest
    @CsvSource({
        "Copy, copy, young, true, true",
        "MarkSweepCompact, mark-sweep-compact, old, true, true",
        "PS Scavenge, ps-scavenge, young, true, true",
        "PS MarkSweep, ps-mark-sweep, old, true, true",
        "G1 Young Generation, g1-young, young, true, true",
        "G1 Old Generation, g1-old, old, true, true",
        "G1 Concurrent GC, g1-concurrent-gc, old, true, true",
        "ZGC Pauses, zgc-pauses, single, true, false",
        "ZGC Cycles, zgc-cycles, single, false, true",
        "ZGC Minor Pauses, zgc-minor-pauses, young, true, false",
        "ZGC Minor Cycles, zgc-minor-cycles, young, false, true",
        "ZGC Major Pauses, zgc-major-pauses, old, true, false",
        "ZGC Major Cycles, zgc-major-cycles, old, false, true",
        "Shenandoah Pauses, shenandoah-pauses, single, true, false",
        "Shenandoah Cycles, shenandoah-cycles, single, false, true",
        "Epsilon Heap, epsilon-heap, unknown, true, true",
        "GPGC New Pauses, gpgc-new-pauses, unknown, true, false",
        "GPGC New Cycles, gpgc-new-cycles, unknown, false, true"})
    void callsCollectorsAsKamonDoes(String bean, String alias, String generation, boolean pauses,
            boolean tellsMemory) {
        JvmNames.Collector collector = JvmNames.collector(bean);
        assertEquals(alias, collector.alias);
        assertEquals(generation, collector.generation);
        assertEquals(pauses, collector.pauses);
        assertEquals(tellsMemory, collector.tellsMemory);
    }

    @ParameterizedTest
    @CsvSource({
        "Eden Space, eden, OTHER",
        "PS Eden Space, eden, OTHER",
        "G1 Eden Space, g1-eden-space, OTHER",
        "Survivor Space, survivor-space, OTHER",
        "PS Survivor Space, survivor, OTHER",
        "PS Old Gen, old, OLD",
        "G1 Old Gen, g1-old-gen, OLD",
        "Tenured Gen, tenured-gen, OLD",
        "ZHeap, zheap, SINGLE",
        "ZGC Young Generation, zgc-young-generation, OTHER",
        "ZGC Old Generation, zgc-old-generation, OLD",
        "Shenandoah, shenandoah, SINGLE",
        "Metaspace, metaspace, OTHER",
        "Compressed Class Space, compressed-class-space, OTHER",
        "\"CodeHeap 'profiled nmethods'\", code-heap-profiled-nmethods, OTHER",
        "\"CodeHeap 'non-nmethods'\", code-heap-non-nmethods, OTHER"})
    void callsPoolsAsKamonDoes(String bean, String label, JvmNames.Role role) {
        String name = bean.replace("\"", "");
        assertEquals(label, JvmNames.pool(name));
        assertEquals(role, JvmNames.role(name));
    }

    @Test
    void makesLabelsOfAnything() {
        assertEquals("system-gc", JvmNames.label("System.gc()"));
        assertEquals("mapped-non-volatile-memory",
                JvmNames.label("mapped - 'non-volatile memory'"));
        assertEquals("unknown", JvmNames.label(""));
        assertEquals("unknown", JvmNames.label(" -\u00fc- "));
    }
}
