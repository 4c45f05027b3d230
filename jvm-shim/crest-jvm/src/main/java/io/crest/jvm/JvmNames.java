// SPDX-License-Identifier: Apache-2.0
package io.crest.jvm;

import java.util.Locale;
import java.util.Map;

/**
 * The virtual machine's names of its collectors and memory pools, as label values: Kamon's aliases
 * where it has one, else lower case, with a dash for every other character than letters and digits.
 */
final class JvmNames {
    /** The role of a pool in collections. */
    enum Role {
        /** Where survivors end up. */
        OLD,
        /** The whole heap of a collector without generations. */
        SINGLE,
        OTHER
    }

    /** A garbage collector, as a label has it. */
    static final class Collector {
        final String alias;
        /** young, old, single (it has no generations) or unknown */
        final String generation;
        /** Whether it reports pauses; else cycles, which run beside the program. */
        final boolean pauses;
        /**
         * Whether its reports say what a collection did to memory. Reports of pauses that are parts
         * of a cycle do not: the cycle's report does, once.
         */
        final boolean tellsMemory;
        /** The name of its pauses in {@link PerfData}; null where that is not known. */
        final String pausesInPerfData;

        Collector(String alias, String generation, boolean pauses, boolean tellsMemory,
                String pausesInPerfData) {
            this.alias = alias;
            this.generation = generation;
            this.pauses = pauses;
            this.tellsMemory = tellsMemory;
            this.pausesInPerfData = pausesInPerfData;
        }
    }

    private static final Map<String, Collector> COLLECTORS = Map.ofEntries(
            whole("Copy", "copy", "young", "Serial young collection pauses"),
            whole("MarkSweepCompact", "mark-sweep-compact", "old", "Serial full collection pauses"),
            whole("PS Scavenge", "ps-scavenge", "young", "Parallel young collection pauses"),
            whole("PS MarkSweep", "ps-mark-sweep", "old", "Parallel full collection pauses"),
            whole("ParNew", "par-new", "young", null),
            whole("G1 Young Generation", "g1-young", "young", "G1 young collection pauses"),
            whole("G1 Old Generation", "g1-old", "old", "G1 full collection pauses"),
            // remark and cleanup, which are pauses in spite of the name (since JDK 20)
            whole("G1 Concurrent GC", "g1-concurrent-gc", "old", "G1 concurrent cycle pauses"),
            parts("ZGC Pauses", "zgc-pauses", "single", "Z concurrent cycle pauses"),
            parts("ZGC Minor Pauses", "zgc-minor-pauses", "young", "ZGC minor collection pauses"),
            parts("ZGC Major Pauses", "zgc-major-pauses", "old", "ZGC major collection pauses"),
            parts("Shenandoah Pauses", "shenandoah-pauses", "single", null),
            cycles("ZGC", "zgc", "single"),
            cycles("ZGC Cycles", "zgc-cycles", "single"),
            cycles("ZGC Minor Cycles", "zgc-minor-cycles", "young"),
            cycles("ZGC Major Cycles", "zgc-major-cycles", "old"),
            cycles("Shenandoah Cycles", "shenandoah-cycles", "single"),
            cycles("ConcurrentMarkSweep", "concurrent-mark-sweep", "old"));

    private static final Map<String, String> POOLS = Map.of(
            "CodeHeap 'profiled nmethods'", "code-heap-profiled-nmethods",
            "CodeHeap 'non-profiled nmethods'", "code-heap-non-profiled-nmethods",
            "CodeHeap 'non-nmethods'", "code-heap-non-nmethods",
            "Eden Space", "eden",
            "PS Eden Space", "eden",
            "PS Survivor Space", "survivor",
            "PS Old Gen", "old");

    private JvmNames() {}

    private static Map.Entry<String, Collector> whole(String name, String alias, String generation,
            String pauses) {
        return Map.entry(name, new Collector(alias, generation, true, true, pauses));
    }

    private static Map.Entry<String, Collector> parts(String name, String alias, String generation,
            String pauses) {
        return Map.entry(name, new Collector(alias, generation, true, false, pauses));
    }

    private static Map.Entry<String, Collector> cycles(String name, String alias,
            String generation) {
        return Map.entry(name, new Collector(alias, generation, false, true, null));
    }

    /** The collector of this bean name; an unknown one is guessed by the name. */
    static Collector collector(String bean) {
        Collector known = COLLECTORS.get(bean);
        if (known != null) return known;
        boolean pauses = !bean.endsWith("Cycles");
        return new Collector(label(bean), "unknown", pauses, !bean.endsWith("Pauses"), null);
    }

    /** The label of the memory pool of this bean name. */
    static String pool(String bean) {
        String known = POOLS.get(bean);
        return known != null ? known : label(bean);
    }

    /** The role in collections of the memory pool of this bean name. */
    static Role role(String bean) {
        String name = bean.toLowerCase(Locale.ROOT);
        if (name.endsWith("old gen") || name.endsWith("tenured gen")
                || name.endsWith("old generation"))
            return Role.OLD;
        return name.equals("zheap") || name.equals("shenandoah") ? Role.SINGLE : Role.OTHER;
    }

    /** A text as a label's value; "unknown" for a text without a letter or digit. */
    static String label(String text) {
        StringBuilder label = new StringBuilder();
        for (char c : text.toLowerCase(Locale.ROOT).toCharArray()) {
            if (c >= 'a' && c <= 'z' || c >= '0' && c <= '9') label.append(c);
            else if (label.length() > 0 && label.charAt(label.length() - 1) != '-')
                label.append('-');
        }
        int end = label.length();
        while (end > 0 && label.charAt(end - 1) == '-') end--;
        return end == 0 ? "unknown" : label.substring(0, end);
    }
}
