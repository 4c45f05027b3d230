// SPDX-License-Identifier: Apache-2.0
package io.crest.jvm;

import io.crest.Buckets;
import io.crest.Family;
import io.crest.Gauge;
import io.crest.Histogram;
import io.crest.Metric;
import io.crest.Range;
import io.crest.Timer;
import io.crest.Unit;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryUsage;
import java.util.HashMap;
import java.util.Map;

/**
 * Collections: each pause by its collector, cause and action; apart from them the cycles of
 * concurrent collectors, which stop no thread; what was promoted; how full the old generation was
 * afterwards.
 *
 * <p>{@link GcEvents} notifies of each. Without notifications {@link #read} sees by the beans'
 * counts that there were some, and knows no cause.
 */
final class GcFigures implements Figures {
    private static final String[] LABELS = {"collector", "generation", "cause", "action"};
    private static final double[] PERCENT = {1, 2, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95};
    private static final double[] BOUNDS = {0x1p10, 0x1p12, 0x1p14, 0x1p16, 0x1p18, 0x1p20, 0x1p22,
        0x1p24, 0x1p26, 0x1p28, 0x1p30, 0x1p32};

    private final Family<Timer> pauses = Metric.named("jvm.gc")
            .describedAs("Pauses for garbage collection.")
            .buckets(Buckets.FAST).labelled(LABELS).timer();
    private final Family<Timer> cycles = Metric.named("jvm.gc.cycle-time")
            .describedAs("Collections that ran beside the program.")
            .labelled(LABELS).timer();
    private final Family<Gauge> lastEnds = Metric.named("jvm.gc.last-end")
            .describedAs("When a collector's last pause or cycle ended, since 1970.")
            .in(Unit.SECONDS).labelled("collector").gauge();
    private final Histogram promotion = Metric.named("jvm.gc.promotion")
            .describedAs("What a collection moved to the old generation.")
            .in(Unit.BYTES).buckets(BOUNDS).labelled("space").histogram().with("old");
    private final Histogram utilization = Metric.named("jvm.memory.utilization")
            .describedAs("How full the old or only generation was after a collection, in percent.")
            .range(Range.PERCENTAGE).buckets(PERCENT).histogram();

    private final Map<String, Collector> collectors = new HashMap<>();
    private final MemoryFigures memory;
    private final PerfData perf;
    private final long startMillis = ManagementFactory.getRuntimeMXBean().getStartTime();
    private boolean told;

    /** PerfData may be null. */
    GcFigures(MemoryFigures memory, PerfData perf) {
        this.memory = memory;
        this.perf = perf;
        for (GarbageCollectorMXBean bean : ManagementFactory.getGarbageCollectorMXBeans())
            collectors.put(bean.getName(), new Collector(bean.getName(), bean));
    }

    /** From now on {@link #collected} gets all collections, and counting by the beans ends. */
    synchronized void told() {
        told = true;
        for (Collector collector : collectors.values()) collector.pauseNanos.begin();
    }

    /**
     * A collection, or a part of one, has ended.
     *
     * @param bean the collector's name
     * @param endMillis after the start of the virtual machine
     * @param before memory in use of each pool by its bean's name, and after likewise
     */
    synchronized void collected(String bean, String cause, String action, long millis,
            long endMillis, Map<String, MemoryUsage> before, Map<String, MemoryUsage> after) {
        Collector collector = collectors.computeIfAbsent(bean, name -> new Collector(name, null));
        collector.record(cause, action, collector.pauseNanos.of(millis));
        collector.lastEnd.set((startMillis + endMillis) / 1e3);
        if (!collector.kind.tellsMemory) return;
        memory.collected(before, after);
        promoted(before, after);
        filled(after);
    }

    /** Growth of the old generation by a collection is promotion. */
    private void promoted(Map<String, MemoryUsage> before, Map<String, MemoryUsage> after) {
        for (Map.Entry<String, MemoryUsage> entry : after.entrySet()) {
            MemoryUsage was = before.get(entry.getKey());
            if (was == null || JvmNames.role(entry.getKey()) != JvmNames.Role.OLD) continue;
            long bytes = entry.getValue().getUsed() - was.getUsed();
            if (bytes > 0) promotion.record(bytes);
        }
    }

    private void filled(Map<String, MemoryUsage> after) {
        long used = 0;
        long limit = 0;
        for (Map.Entry<String, MemoryUsage> entry : after.entrySet()) {
            MemoryUsage usage = entry.getValue();
            if (usage.getMax() < 0 || JvmNames.role(entry.getKey()) == JvmNames.Role.OTHER)
                continue;
            used += usage.getUsed();
            limit += usage.getMax();
        }
        if (limit > 0) utilization.record(Math.min(100, Math.round(100.0 * used / limit)));
    }

    @Override
    public synchronized void read() {
        if (!told) for (Collector collector : collectors.values()) collector.count();
    }

    /** One collector, and its series. */
    private final class Collector {
        final JvmNames.Collector kind;
        final PauseNanos pauseNanos;
        final Gauge lastEnd;
        private final GarbageCollectorMXBean bean;
        private final Map<String, Timer> series = new HashMap<>();
        private long count;
        private long millis;

        Collector(String name, GarbageCollectorMXBean bean) {
            kind = JvmNames.collector(name);
            this.bean = bean;
            pauseNanos = new PauseNanos(perf, kind.pausesInPerfData);
            lastEnd = lastEnds.with(kind.alias);
            if (bean == null) return;
            count = bean.getCollectionCount();
            millis = bean.getCollectionTime();
        }

        void record(String cause, String action, long nanos) {
            Timer timer = series.get(cause + '\n' + action);
            if (timer == null) {
                boolean paused = kind.pauses && !action.endsWith("cycle");
                timer = (paused ? pauses : cycles).with(kind.alias, kind.generation,
                        JvmNames.label(cause), JvmNames.label(action));
                series.put(cause + '\n' + action, timer);
            }
            timer.record(nanos);
        }

        /** Records how many there were since the last reading, each as their mean. */
        void count() {
            long countNow = bean.getCollectionCount();
            long millisNow = bean.getCollectionTime();
            for (long left = countNow - count; left > 0; left--) {
                long each = Math.max(0, millisNow - millis) / left;
                record("unknown", "unknown", each * 1_000_000);
                millis += each;
            }
            count = countNow;
            millis = millisNow;
        }
    }
}
