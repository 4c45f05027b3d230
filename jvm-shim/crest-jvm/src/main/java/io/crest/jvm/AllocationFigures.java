// SPDX-License-Identifier: Apache-2.0
package io.crest.jvm;

import com.sun.management.ThreadMXBean;
import io.crest.Metric;
import io.crest.Unit;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.management.ManagementFactory;
import java.util.Arrays;

/**
 * Bytes that threads have allocated on the heap.
 *
 * <p>From JDK 21 on, and in late updates of 17, the virtual machine gives their sum over all
 * threads that ever were; that is exact. Before, it keeps them per thread and forgets them with the
 * thread. Then the growth of each thread since its last reading is added up. What a thread
 * allocates after its last reading is lost, and so is a thread that begins and ends between two
 * readings. (Growth of eden between collections would lack what goes straight to the old
 * generation, and would move only with a collection.)
 *
 * <p>Only to be loaded where the module jdk.management is present.
 */
final class AllocationFigures implements Figures {
    private final ThreadMXBean bean;
    private final MethodHandle sum;
    private final Total allocation = new Total(Metric.named("jvm.memory.allocation")
            .describedAs("Memory allocated on the heap.").in(Unit.BYTES).counter());
    private long[] ids = {};
    private long[] bytes = {};

    private AllocationFigures(ThreadMXBean bean, MethodHandle sum) {
        this.bean = bean;
        this.sum = sum;
    }

    /** Null where the virtual machine does not keep them. */
    static AllocationFigures find() {
        return find(true);
    }

    /** Likewise; exact: by the sum over all threads that ever were, if the JVM has it. */
    static AllocationFigures find(boolean exact) {
        if (!(ManagementFactory.getThreadMXBean() instanceof ThreadMXBean)) return null;
        ThreadMXBean bean = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        boolean kept = bean.isThreadAllocatedMemorySupported()
                && bean.isThreadAllocatedMemoryEnabled();
        return kept ? new AllocationFigures(bean, exact ? sumOf(bean) : null) : null;
    }

    /** The method that gives the sum; null if it is missing, or says that it is unsupported. */
    private static MethodHandle sumOf(ThreadMXBean bean) {
        try {
            MethodHandle found = MethodHandles.publicLookup().findVirtual(ThreadMXBean.class,
                    "getTotalThreadAllocatedBytes", MethodType.methodType(long.class));
            return (long) found.invokeExact(bean) < 0 ? null : found;
        } catch (Throwable e) {
            return null;
        }
    }

    /** Whether the figure is the sum over all threads that ever were. */
    boolean isExact() {
        return sum != null;
    }

    @Override
    public void read() {
        if (sum != null) allocation.is(sumOfAll());
        else readThreads();
    }

    private long sumOfAll() {
        try {
            return (long) sum.invokeExact(bean);
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
    }

    /** Ids are sorted, so one walk finds the last reading's. A dead thread has -1 bytes. */
    private void readThreads() {
        long[] idsNow = bean.getAllThreadIds();
        Arrays.sort(idsNow);
        long[] bytesNow = bean.getThreadAllocatedBytes(idsNow);
        long grown = 0;
        long alive = 0;
        for (int i = 0, last = 0; i < idsNow.length; i++) {
            while (last < ids.length && ids[last] < idsNow[i]) last++;
            boolean known = last < ids.length && ids[last] == idsNow[i];
            grown += Math.max(0, bytesNow[i] - (known ? Math.max(0, bytes[last]) : 0));
            alive += Math.max(0, bytesNow[i]);
        }
        if (ids.length == 0) allocation.is(alive);
        else allocation.grows(grown);
        ids = idsNow;
        bytes = bytesNow;
    }
}
