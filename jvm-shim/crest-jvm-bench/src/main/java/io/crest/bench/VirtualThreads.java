// SPDX-License-Identifier: Apache-2.0
package io.crest.bench;

import io.crest.Counter;
import java.lang.reflect.Method;
import java.util.concurrent.atomic.LongAdder;
import kamon.Kamon;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.infra.BenchmarkParams;

/**
 * A virtual thread increments one counter 20,000 times, and yields its carrier in between.
 * Needs Java 21.
 */
@State(Scope.Benchmark)
public class VirtualThreads {
    private static final int TIMES = 20_000;
    private static final int BETWEEN = 100;

    private String library;
    private Method start;
    private Counter crest;
    private kamon.metric.Counter kamon;
    private LongAdder longAdder;

    @Setup
    public void make(BenchmarkParams params) throws ReflectiveOperationException {
        start = Thread.class.getMethod("startVirtualThread", Runnable.class);
        library = Peers.library(params);
        switch (library) {
            case "crest": crest = Counter.of("bench.virtual"); break;
            case "kamon": kamon = Kamon.counter("bench.virtual").withoutTags(); break;
            default: longAdder = new LongAdder(); break;
        }
    }

    @TearDown
    public void check() {
        switch (library) {
            case "crest": Totals.found(crest.value()); break;
            case "kamon": Totals.found(Peers.count(kamon)); break;
            default: Totals.found(longAdder.sum()); break;
        }
    }

    private void inVirtualThread(Runnable often) throws Exception {
        Runnable work = () -> {
            for (int n = 0; n < TIMES / BETWEEN; n++) {
                often.run();
                Thread.yield();
            }
        };
        ((Thread) start.invoke(null, work)).join();
    }

    @Benchmark
    @OperationsPerInvocation(TIMES)
    public void crest() throws Exception {
        inVirtualThread(() -> {
            for (int i = 0; i < BETWEEN; i++) crest.increment();
        });
    }

    @Benchmark
    @OperationsPerInvocation(TIMES)
    public void kamon() throws Exception {
        inVirtualThread(() -> {
            for (int i = 0; i < BETWEEN; i++) kamon.increment();
        });
    }

    @Benchmark
    @OperationsPerInvocation(TIMES)
    public void longAdder() throws Exception {
        inVirtualThread(() -> {
            for (int i = 0; i < BETWEEN; i++) longAdder.increment();
        });
    }
}
