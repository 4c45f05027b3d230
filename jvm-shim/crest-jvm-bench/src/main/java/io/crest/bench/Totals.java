// SPDX-License-Identifier: Apache-2.0
package io.crest.bench;

import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.infra.IterationParams;
import org.openjdk.jmh.profile.InternalProfiler;
import org.openjdk.jmh.results.AggregationPolicy;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.ScalarResult;

/**
 * Compares what a benchmark recorded with how often JMH called it, warm-up included, and with the
 * values that it took. Work that the compiler removed, or lost updates of two threads, show as a
 * difference, and the driver fails. It is a profiler because JMH gives its count to profilers only.
 */
public final class Totals implements InternalProfiler {
    private static boolean told;
    private static long found;
    private static long foundSum;
    private static boolean sumTold;
    private static long takenSum;
    private static String problem = "";
    private static long called;

    /** A benchmark calls this at its tear-down: so many operations were recorded. */
    static synchronized void found(long operations) {
        found += operations;
        told = true;
    }

    /** The same, where the sum of the values is known too. */
    static synchronized void found(long operations, long sum) {
        found(operations);
        foundSum += sum;
        sumTold = true;
    }

    /** The same, where another result is expected. */
    static synchronized void found(long operations, boolean right, String what) {
        found(operations);
        if (!right) problem = what;
    }

    /** {@link Next} calls this, for each thread. */
    static synchronized void taken(long values, long sum) {
        takenSum += sum;
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
        synchronized (Totals.class) {
            called += result.getMetadata().getAllOps();
            if (!told) return Collections.emptyList(); // it is torn down after the last one
            if (sumTold && foundSum != takenSum)
                problem = "the sum is " + foundSum + " and not " + takenSum;
            if (!problem.isEmpty()) System.out.println("WRONG: " + problem);
            double wrong = problem.isEmpty() ? found - called : Double.MAX_VALUE;
            return Arrays.asList(
                    of("totals.wrong", wrong), of("totals.found", found),
                    of("totals.called", called));
        }
    }

    private static ScalarResult of(String name, double operations) {
        return new ScalarResult(name, operations, "ops", AggregationPolicy.MAX);
    }
}
