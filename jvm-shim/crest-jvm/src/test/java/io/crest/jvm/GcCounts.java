// SPDX-License-Identifier: Apache-2.0
package io.crest.jvm;

import com.sun.management.GcInfo;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.concurrent.locks.LockSupport;

/**
 * How many collections there were by the beans, and how many are on the page, both at one moment.
 *
 * <p>A bean counts a collection when it ends; its notification, by which it is recorded, comes on
 * a thread of its own and may be late. Notifications come in order, so that all have come when the
 * newest collection's has. {@code jvm.gc.last-end} says which collector's was the last.
 */
final class GcCounts {
    private static final long WAIT_NANOS = 60_000_000_000L;

    final long counted;
    final double recorded;
    final PageFigures page;

    private GcCounts(long counted, PageFigures page) {
        this.counted = counted;
        this.page = page;
        recorded = recorded(page);
    }

    /** Asks for a collection, and counts when nothing is under way any more. */
    static GcCounts afterOne() {
        System.gc();
        return settled();
    }

    /** Counts when the newest collection is recorded, and none comes between the readings. */
    static GcCounts settled() {
        long end = System.nanoTime() + WAIT_NANOS;
        for (;;) {
            long counted = collections();
            boolean told = newestIsTold(new PageFigures());
            GcCounts counts = new GcCounts(counted, new PageFigures()); // read after it was told
            if (told && collections() == counted) return counts;
            if (System.nanoTime() - end > 0)
                throw new AssertionError("the newest collection is not on the page after 60 s, or "
                        + "there was always another: " + counted + " by the beans, "
                        + counts.recorded + " recorded");
            LockSupport.parkNanos(1_000_000);
        }
    }

    /** By the page. */
    static double recorded(PageFigures page) {
        return page.sum("jvm_gc_seconds_count", "outcome=\"ok\"")
                + page.sum("jvm_gc_cycle_time_seconds_count", "outcome=\"ok\"");
    }

    /** By the beans. */
    static long collections() {
        long count = 0;
        for (GarbageCollectorMXBean bean : ManagementFactory.getGarbageCollectorMXBeans())
            count += bean.getCollectionCount();
        return count;
    }

    private static boolean newestIsTold(PageFigures page) {
        long startMillis = ManagementFactory.getRuntimeMXBean().getStartTime();
        long newest = -1;
        boolean told = false;
        for (GarbageCollectorMXBean bean : ManagementFactory.getGarbageCollectorMXBeans()) {
            GcInfo last = ((com.sun.management.GarbageCollectorMXBean) bean).getLastGcInfo();
            if (last == null || last.getEndTime() < newest) continue;
            String alias = JvmNames.collector(bean.getName()).alias;
            boolean same = (startMillis + last.getEndTime()) / 1e3
                    == page.of("jvm_gc_last_end_seconds{collector=\"" + alias + "\"}");
            told = same && (told || last.getEndTime() > newest);
            newest = last.getEndTime();
        }
        return told;
    }
}
