// SPDX-License-Identifier: Apache-2.0
package io.crest.jvm;

import io.crest.Counter;
import io.crest.Metric;
import io.crest.Unit;

/**
 * Safepoints, at which all Java threads stand still: for pauses of collectors, and for much else
 * (deoptimising, dumping threads, redefining classes). The virtual machine keeps only their number
 * and times, in {@link PerfData}. How long each was is in a log (-Xlog:safepoint), in a flight
 * recording, and in the figures of {@link Hiccups}.
 */
final class SafepointFigures implements Figures {
    private final PerfData perf;
    private final double tickNanos;
    private final int countAt;
    private final int stoppedAt;
    private final int reachingAt;
    private final int gcCpuAt;
    private final Total count;
    private final Total stopped;
    private final Total reaching;
    private Total gcCpu;

    private SafepointFigures(PerfData perf) {
        this.perf = perf;
        tickNanos = perf.tickNanos();
        countAt = perf.find("sun.rt.safepoints");
        stoppedAt = perf.find("sun.rt.safepointTime");
        reachingAt = perf.find("sun.rt.safepointSyncTime");
        gcCpuAt = perf.find("sun.threads.total_gc_cpu_time");
        count = new Total(Metric.named("jvm.safepoints")
                .describedAs("Safepoints: times that all Java threads were stopped.").counter());
        stopped = new Total(nanos("jvm.safepoints.stopped",
                "Time that Java threads stood at safepoints."));
        reaching = new Total(nanos("jvm.safepoints.reaching",
                "Time that it took until all had stopped."));
    }

    /** Null where the counters are missing. */
    static SafepointFigures find(PerfData perf) {
        boolean known = perf != null && perf.find("sun.rt.safepoints") >= 0
                && perf.find("sun.rt.safepointTime") >= 0
                && perf.find("sun.rt.safepointSyncTime") >= 0;
        return known ? new SafepointFigures(perf) : null;
    }

    private static Counter nanos(String name, String description) {
        return Metric.named(name).describedAs(description).in(Unit.NANOSECONDS).counter();
    }

    @Override
    public void read() {
        count.is(perf.value(countAt));
        stopped.is((long) (perf.value(stoppedAt) * tickNanos));
        reaching.is((long) (perf.value(reachingAt) * tickNanos));
        readCollectors();
    }

    /** Kept from JDK 22 on, and not for all collectors; for others it is 0, and not exported. */
    private void readCollectors() {
        long nanos = gcCpuAt < 0 ? 0 : perf.value(gcCpuAt);
        if (nanos == 0) return;
        if (gcCpu == null)
            gcCpu = new Total(nanos("jvm.gc.cpu", "Processor time of collectors' threads."));
        gcCpu.is(nanos);
    }
}
