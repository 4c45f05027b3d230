// SPDX-License-Identifier: Apache-2.0
package io.crest.jvm;

import io.crest.Family;
import io.crest.Gauge;
import io.crest.Histogram;
import io.crest.Metric;
import io.crest.RangeSampler;
import io.crest.Unit;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryMXBean;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.lang.management.MemoryUsage;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Memory of the two regions and of their pools: at each reading, and before and after each
 * collection. Between two collections the heap only fills, so memory in use before a collection is
 * its peak, which a reading now and then would miss.
 */
final class MemoryFigures implements Figures {
    /** 1 MiB to 256 GiB: heaps, not messages. */
    private static final double[] BOUNDS = {0x1p20, 0x1p22, 0x1p24, 0x1p26, 0x1p28, 0x1p30, 0x1p32,
        0x1p34, 0x1p36, 0x1p38};

    private final MemoryMXBean memory = ManagementFactory.getMemoryMXBean();
    private final Area heap;
    private final Area nonHeap;
    private final List<Pool> pools = new ArrayList<>();
    private final Map<String, Pool> heapPools = new HashMap<>();

    MemoryFigures() {
        AreaFamilies regions = new AreaFamilies("jvm.memory", "region", "");
        heap = new Area(regions, "heap");
        nonHeap = new Area(regions, "non-heap");
        AreaFamilies families = new AreaFamilies("jvm.memory.pool", "pool", " of a pool");
        Family<Gauge> peaks = Metric.named("jvm.memory.pool.peak")
                .describedAs("The most of a pool that was in use at a time, as the JVM keeps it.")
                .in(Unit.BYTES).labelled("pool").gauge();
        Family<RangeSampler> collected = Metric.named("jvm.memory.pool.after-collection")
                .describedAs("Memory of a pool in use after its last collection.")
                .in(Unit.BYTES).labelled("pool").rangeSampler();
        for (MemoryPoolMXBean bean : ManagementFactory.getMemoryPoolMXBeans()) {
            String label = JvmNames.pool(bean.getName());
            Pool pool = new Pool(bean, new Area(families, label), peaks.with(label),
                    bean.getCollectionUsage() == null ? null : collected.with(label));
            pools.add(pool);
            if (bean.getType() == MemoryType.HEAP) heapPools.put(bean.getName(), pool);
        }
    }

    @Override
    public void read() {
        heap.is(memory.getHeapMemoryUsage());
        nonHeap.is(memory.getNonHeapMemoryUsage());
        for (Pool pool : pools) pool.read();
    }

    @Override
    public void readSlowly() {
        heap.limits(memory.getHeapMemoryUsage());
        nonHeap.limits(memory.getNonHeapMemoryUsage());
        for (Pool pool : pools) pool.readSlowly();
    }

    /** A collection has ended; usage of the pools before and after it, by their beans' names. */
    void collected(Map<String, MemoryUsage> before, Map<String, MemoryUsage> after) {
        was(before);
        was(after);
    }

    private void was(Map<String, MemoryUsage> usage) {
        long used = 0;
        long committed = 0;
        int found = 0;
        for (Map.Entry<String, Pool> entry : heapPools.entrySet()) {
            MemoryUsage of = usage.get(entry.getKey());
            if (of == null) continue;
            entry.getValue().area.is(of);
            used += of.getUsed();
            committed += of.getCommitted();
            found++;
        }
        if (found == heapPools.size()) heap.is(used, committed, heap.limit);
    }

    /** A pool, with the figures that only pools have. */
    private static final class Pool {
        final MemoryPoolMXBean bean;
        final Area area;
        final Gauge peak;
        final RangeSampler collected;

        Pool(MemoryPoolMXBean bean, Area area, Gauge peak, RangeSampler collected) {
            this.bean = bean;
            this.area = area;
            this.peak = peak;
            this.collected = collected;
        }

    /** The bean of a pool that is no longer valid gives null. */
        void read() {
            MemoryUsage usage = bean.getUsage();
            if (usage != null) area.is(usage);
            MemoryUsage afterCollection = collected == null ? null : bean.getCollectionUsage();
            if (afterCollection != null) collected.set(afterCollection.getUsed());
        }

    /** The peak belongs to all readers of the process, so it is not reset here. */
        void readSlowly() {
            MemoryUsage usage = bean.getUsage();
            if (usage != null) area.limits(usage);
            MemoryUsage most = bean.getPeakUsage();
            if (most != null) peak.set(most.getUsed());
        }
    }

    /** The families of regions, and likewise of pools. */
    private static final class AreaFamilies {
        final Family<Histogram> used;
        final Family<Histogram> free;
        final Family<RangeSampler> inUse;
        final Family<RangeSampler> committed;
        final Family<Gauge> max;
        final Family<Gauge> initial;

        AreaFamilies(String name, String key, String of) {
            used = Metric.named(name + ".used")
                    .describedAs("Memory" + of + " in use, each reading, and around collections.")
                    .in(Unit.BYTES).buckets(BOUNDS).labelled(key).histogram();
            free = Metric.named(name + ".free")
                    .describedAs("Memory" + of + " that is left up to its limit, likewise.")
                    .in(Unit.BYTES).buckets(BOUNDS).labelled(key).histogram();
            inUse = Metric.named(name + ".in-use")
                    .describedAs("Memory" + of + " in use.")
                    .in(Unit.BYTES).labelled(key).rangeSampler();
            committed = Metric.named(name + ".committed")
                    .describedAs("Memory" + of + " that the JVM holds.")
                    .in(Unit.BYTES).labelled(key).rangeSampler();
            max = Metric.named(name + ".max")
                    .describedAs("The limit of memory" + of + ".")
                    .in(Unit.BYTES).labelled(key).gauge();
            initial = Metric.named(name + ".initial")
                    .describedAs("Memory" + of + " that the JVM began with.")
                    .in(Unit.BYTES).labelled(key).gauge();
        }
    }

    /** A region or a pool. Without a limit there is neither free nor max: 0 would be wrong. */
    private static final class Area {
        private final AreaFamilies families;
        private final String label;
        private final Histogram used;
        private final RangeSampler inUse;
        private final RangeSampler committed;
        private volatile Histogram free;
        volatile long limit = -1;

        Area(AreaFamilies families, String label) {
            this.families = families;
            this.label = label;
            used = families.used.with(label);
            inUse = families.inUse.with(label);
            committed = families.committed.with(label);
        }

        void is(MemoryUsage usage) {
            is(usage.getUsed(), usage.getCommitted(), usage.getMax());
        }

        void is(long usedNow, long committedNow, long limitNow) {
            used.record(usedNow);
            inUse.set(usedNow);
            committed.set(committedNow);
            limit = limitNow;
            if (limitNow < 0) return;
            Histogram left = free;
            if (left == null) free = left = families.free.with(label);
            left.record(Math.max(0, limitNow - usedNow));
        }

        void limits(MemoryUsage usage) {
            if (usage.getMax() >= 0) families.max.with(label).set(usage.getMax());
            if (usage.getInit() >= 0) families.initial.with(label).set(usage.getInit());
        }
    }

    /** Memory outside of the heap that programs ask for: direct and mapped buffers. */
    static final class Buffers implements Figures {
        private final List<BufferPoolMXBean> beans =
                ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class);
        private final List<RangeSampler> counts = new ArrayList<>();
        private final List<RangeSampler> used = new ArrayList<>();
        private final List<RangeSampler> capacities = new ArrayList<>();

        Buffers() {
            Family<RangeSampler> count = Metric.named("jvm.memory.buffer-pool.count")
                    .describedAs("Buffers of a pool.").labelled("pool").rangeSampler();
            Family<RangeSampler> inUse = Metric.named("jvm.memory.buffer-pool.used")
                    .describedAs("Memory that buffers of a pool take.")
                    .in(Unit.BYTES).labelled("pool").rangeSampler();
            Family<RangeSampler> capacity = Metric.named("jvm.memory.buffer-pool.capacity")
                    .describedAs("What fits into the buffers of a pool.")
                    .in(Unit.BYTES).labelled("pool").rangeSampler();
            for (BufferPoolMXBean bean : beans) {
                String label = JvmNames.pool(bean.getName());
                counts.add(count.with(label));
                used.add(inUse.with(label));
                capacities.add(capacity.with(label));
            }
        }

        /** A pool that does not know its use says -1. */
        @Override
        public void read() {
            for (int i = 0; i < beans.size(); i++) {
                BufferPoolMXBean bean = beans.get(i);
                counts.get(i).set(bean.getCount());
                capacities.get(i).set(bean.getTotalCapacity());
                long bytes = bean.getMemoryUsed();
                if (bytes >= 0) used.get(i).set(bytes);
            }
        }
    }
}
