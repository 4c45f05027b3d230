// SPDX-License-Identifier: Apache-2.0
package io.crest.bench;

import io.crest.Counter;
import io.crest.Histogram;
import io.crest.Metric;
import java.util.Arrays;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.infra.BenchmarkParams;

/**
 * First touch: a new thread touches 1,000 counters, or 100 histograms, and ends. The time includes
 * the thread's start and end; {@code thread} measures only these.
 */
@State(Scope.Benchmark)
public class FirstTouch {
    private static final int COUNTERS = 1000;
    private static final int HISTOGRAMS = 100;

    private String library;
    private final Counter[] counters = new Counter[COUNTERS];
    private final Histogram[] histograms = new Histogram[HISTOGRAMS];
    private long touched;

    @Setup
    public void make(BenchmarkParams params) {
        library = Peers.library(params);
        if (library.equals("thread")) return;
        var counterFamily = Metric.named("bench.first-counts").labelled("n").counter();
        var histogramFamily = Metric.named("bench.first-sizes").labelled("n").histogram();
        Arrays.setAll(counters, i -> counterFamily.with("" + i));
        Arrays.setAll(histograms, i -> histogramFamily.with("" + i));
    }

    @TearDown
    public void check() {
        switch (library) {
            case "thread": Totals.found(touched); break;
            case "histograms": Totals.found(CrestPage.whole("bench.first-sizes_count")); break;
            default: Totals.found(CrestPage.whole("bench.first-counts_total")); break;
        }
    }

    private static void inThread(Runnable work) throws InterruptedException {
        Thread thread = new Thread(work);
        thread.start();
        thread.join();
    }

    @Benchmark
    @OperationsPerInvocation(COUNTERS)
    public void crest() throws InterruptedException {
        inThread(() -> {
            for (Counter counter : counters) counter.increment();
        });
    }

    @Benchmark
    @OperationsPerInvocation(HISTOGRAMS)
    public void histograms() throws InterruptedException {
        inThread(() -> {
            for (Histogram histogram : histograms) histogram.record(1000);
        });
    }

    @Benchmark
    @OperationsPerInvocation(COUNTERS)
    public void thread() throws InterruptedException {
        inThread(() -> touched += COUNTERS);
    }
}
