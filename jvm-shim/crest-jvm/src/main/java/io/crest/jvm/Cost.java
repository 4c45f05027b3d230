// SPDX-License-Identifier: Apache-2.0
package io.crest.jvm;

import io.crest.Counter;
import io.crest.Metric;
import io.crest.Outcome;
import io.crest.Range;
import io.crest.Timer;
import io.crest.Unit;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/**
 * What collecting costs, and how often it failed, under the names of the library's own collectors,
 * so that one query shows all.
 */
final class Cost {
    private final Timer time;
    private final Counter cpu;
    private final Counter failures;
    private final ThreadMXBean threads;
    private volatile long lastCpuNanos;
    private volatile Throwable lastFailure;

    Cost(String collector) {
        time = Metric.named("crest.collect-time")
                .describedAs("Collections by the clock, as errors where something could not be "
                        + "read.")
                .range(Range.NONE).labelled("collector").timer().with(collector);
        cpu = Metric.named("crest.collect-cpu").describedAs("Processor time of collections.")
                .in(Unit.NANOSECONDS).labelled("collector").counter().with(collector);
        failures = Metric.named("crest.collect-failures")
                .describedAs("Sources of collectors that could not be read, or read without doubt.")
                .labelled("collector", "cause").counter().with(collector, "unreadable");
        ThreadMXBean bean = ManagementFactory.getThreadMXBean();
        threads = bean.isCurrentThreadCpuTimeSupported() ? bean : null;
    }

    /** Runs the collection, here, and records its cost. An exception is counted, not thrown. */
    void of(Runnable collection) {
        long cpuFrom = cpuNanos();
        long from = System.nanoTime();
        Outcome outcome = Outcome.OK;
        try {
            collection.run();
        } catch (Throwable e) {
            outcome = Outcome.ERROR;
            failed(e);
        }
        time.record(System.nanoTime() - from, outcome);
        lastCpuNanos = Math.max(0, cpuNanos() - cpuFrom);
        cpu.increment(lastCpuNanos);
    }

    /** Something could not be read; also errors, such as of a heap that is full for a moment. */
    void failed(Throwable why) {
        failures.increment();
        lastFailure = why;
    }

    /** Processor time of the last collection; 0 where the virtual machine does not tell. */
    long lastCpuNanos() {
        return lastCpuNanos;
    }

    /** Null when nothing has failed. */
    Throwable lastFailure() {
        return lastFailure;
    }

    private long cpuNanos() {
        return threads == null ? 0 : threads.getCurrentThreadCpuTime();
    }
}
