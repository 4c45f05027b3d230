// SPDX-License-Identifier: Apache-2.0
package io.crest.jvm;

import com.sun.management.OperatingSystemMXBean;
import io.crest.Gauge;
import io.crest.Histogram;
import io.crest.Metric;
import io.crest.Range;
import io.crest.Unit;
import java.lang.management.ManagementFactory;

/**
 * Processor time of the process, as the virtual machine tells it. The system collectors' {@code
 * process.cpu} is the same; this figure is there without them. Its share is one of the processors
 * that the virtual machine counts on, which a container's limit bounds.
 *
 * <p>Only to be loaded where the module jdk.management is present.
 */
final class ProcessorFigures implements Figures {
    private static final double[] PERCENT = {1, 2, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95};

    private final OperatingSystemMXBean bean;
    private final Total cpu = new Total(Metric.named("jvm.cpu")
            .describedAs("Processor time of the process.").in(Unit.NANOSECONDS).counter());
    private final Histogram usage = Metric.named("jvm.cpu.usage")
            .describedAs("Processor time used in an interval, in percent of what the JVM's "
                    + "processors had.")
            .range(Range.PERCENTAGE).buckets(PERCENT).histogram();
    private final Gauge processors = Metric.named("jvm.processors")
            .describedAs("Processors that the JVM reckons with.").gauge();
    private int available = Runtime.getRuntime().availableProcessors();
    private long lastCpu = -1;
    private long lastNanos;

    private ProcessorFigures(OperatingSystemMXBean bean) {
        this.bean = bean;
    }

    /** Null where the virtual machine does not know. */
    static ProcessorFigures find() {
        if (!(ManagementFactory.getOperatingSystemMXBean() instanceof OperatingSystemMXBean))
            return null;
        OperatingSystemMXBean bean =
                (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        return bean.getProcessCpuTime() < 0 ? null : new ProcessorFigures(bean);
    }

    @Override
    public void read() {
        long nanos = System.nanoTime();
        long used = bean.getProcessCpuTime();
        if (used < 0) return;
        cpu.is(used);
        if (lastCpu >= 0 && nanos > lastNanos) {
            double share = (double) (used - lastCpu) / (nanos - lastNanos) / available;
            // the two clocks are read one after the other: a busy process would be above 100
            usage.record(Math.min(100, Math.max(0, Math.round(100 * share))));
        }
        lastCpu = used;
        lastNanos = nanos;
    }

    @Override
    public void readSlowly() {
        available = Runtime.getRuntime().availableProcessors();
        processors.set(available);
    }
}
