// SPDX-License-Identifier: Apache-2.0
package io.crest.bench;

import java.util.Collection;
import java.util.Collections;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.infra.IterationParams;
import org.openjdk.jmh.profile.InternalProfiler;
import org.openjdk.jmh.results.AggregationPolicy;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.ScalarResult;

/**
 * Compares what a benchmark recorded with how often JMH called it, warm-up included. Work that the
 * compiler removed, or that two threads lost between them, shows as a difference, and the driver
 * fails. JMH hands its count to profilers only, which is why this is one.
 */
public final class Totals implements InternalProfiler {
    private static final AtomicLong FOUND = new AtomicLong();
    private static final AtomicInteger TOLD = new AtomicInteger();
    private static long called;

    /** By a benchmark, when it is torn down: so many operations left their trace. */
    static void found(long operations) {
        FOUND.addAndGet(operations);
        TOLD.incrementAndGet();
    }

    /** The same, with what the benchmark knows itself: a sum, a last value. */
    static void found(long operations, boolean right) {
        if (!right) throw new IllegalStateException("recorded something else than was asked for");
        found(operations);
    }

    @Override
    public String getDescription() {
        return "Operations recorded, beside operations called";
    }

    @Override
    public void beforeIteration(BenchmarkParams benchmark, IterationParams iteration) {}

    @Override
    public Collection<? extends Result<?>> afterIteration(
            BenchmarkParams benchmark, IterationParams iteration, IterationResult result) {
        called += result.getMetadata().getAllOps();
        if (TOLD.get() == 0) return Collections.emptyList(); // it is torn down after the last one
        double wrong = FOUND.get() - called;
        return Collections.singletonList(
                new ScalarResult("totals.wrong", wrong, "ops", AggregationPolicy.MAX));
    }
}
