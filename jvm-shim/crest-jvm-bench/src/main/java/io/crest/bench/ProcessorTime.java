// SPDX-License-Identifier: Apache-2.0
package io.crest.bench;

import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.Collection;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.infra.IterationParams;
import org.openjdk.jmh.profile.InternalProfiler;
import org.openjdk.jmh.results.AggregationPolicy;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.ScalarResult;

/**
 * Processor time that an operation takes, of the calling threads and of the whole process
 * (including its compiler and garbage collector). JMH's own figure is wall-clock time, which on a
 * shared machine is mostly waiting.
 */
public final class ProcessorTime implements InternalProfiler {
    private static final com.sun.management.ThreadMXBean THREADS =
            (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final com.sun.management.OperatingSystemMXBean SYSTEM =
            (com.sun.management.OperatingSystemMXBean)
                    ManagementFactory.getOperatingSystemMXBean();

    private long workers;
    private long process;

    @Override
    public String getDescription() {
        return "Processor time by operation";
    }

    @Override
    public void beforeIteration(BenchmarkParams benchmark, IterationParams iteration) {
        workers = workersNanos();
        process = SYSTEM.getProcessCpuTime();
    }

    @Override
    public Collection<? extends Result<?>> afterIteration(
            BenchmarkParams benchmark, IterationParams iteration, IterationResult result) {
        double operations = result.getMetadata().getAllOps();
        return Arrays.asList(
                average("cpu.workers", (workersNanos() - workers) / operations),
                average("cpu.process", (SYSTEM.getProcessCpuTime() - process) / operations));
    }

    private static ScalarResult average(String name, double nanos) {
        return new ScalarResult(name, nanos, "ns/op", AggregationPolicy.AVG);
    }

    /** JMH keeps its workers from the first iteration to the last. */
    private static long workersNanos() {
        long[] ids = THREADS.getAllThreadIds();
        long[] nanos = THREADS.getThreadCpuTime(ids);
        java.lang.management.ThreadInfo[] infos = THREADS.getThreadInfo(ids);
        long sum = 0;
        for (int i = 0; i < ids.length; i++)
            if (infos[i] != null && infos[i].getThreadName().contains("jmh-worker"))
                sum += Math.max(nanos[i], 0);
        return sum;
    }
}
