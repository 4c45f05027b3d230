// SPDX-License-Identifier: Apache-2.0
package io.crest.bench;

import io.crest.RangeSampler;
import java.util.concurrent.atomic.AtomicLong;
import kamon.Kamon;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.infra.BenchmarkParams;

/**
 * Updates of a range sampler: up by three, down by two, so that the final value tells how often.
 * Two operations.
 */
public abstract class RangeSamplerOps {
    private String library;
    private RangeSampler crest;
    private kamon.metric.RangeSampler kamon;
    private AtomicLong value;

    @Setup
    public void make(BenchmarkParams params) {
        library = Peers.library(params);
        String name = "bench.queue";
        switch (library) {
            case "crest": crest = RangeSampler.of(name); break;
            case "kamon": kamon = Kamon.rangeSampler(name).withoutTags(); break;
            default: value = new AtomicLong(); break;
        }
    }

    @TearDown
    public void check() {
        switch (library) {
            case "crest": Totals.found(2 * crest.value()); break;
            case "kamon": Totals.found(2 * Peers.value(kamon)); break;
            default: Totals.found(2 * value.get()); break;
        }
    }

    @Benchmark
    @OperationsPerInvocation(2)
    public void crest() {
        crest.increment(3);
        crest.decrement(2);
    }

    @Benchmark
    @OperationsPerInvocation(2)
    public void kamon() {
        kamon.increment(3);
        kamon.decrement(2);
    }

    /** The value alone, without extremes. */
    @Benchmark
    @OperationsPerInvocation(2)
    public void atomicLong() {
        value.addAndGet(3);
        value.addAndGet(-2);
    }
}
