// SPDX-License-Identifier: Apache-2.0
package io.crest.bench;

import io.crest.Counter;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import kamon.Kamon;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.infra.BenchmarkParams;

/** Increments of a counter. A subclass sets how many threads, and whether each has its own. */
public abstract class CounterOps {
    private static final AtomicLong MADE = new AtomicLong();

    private String library;
    private Counter crest;
    private kamon.metric.Counter kamon;
    private io.micrometer.core.instrument.Counter micrometer;
    private com.codahale.metrics.Counter dropwizard;
    private LongAdder longAdder;
    private AtomicLong atomicLong;

    @Setup
    public void make(BenchmarkParams params) {
        library = Peers.library(params);
        String name = "bench.messages-" + MADE.incrementAndGet();
        switch (library) {
            case "crest": crest = Counter.of(name); break;
            case "kamon": kamon = Kamon.counter(name).withoutTags(); break;
            case "micrometer": micrometer = Peers.micrometer().counter(name); break;
            case "dropwizard": dropwizard = Peers.dropwizard().counter(name); break;
            case "longAdder": longAdder = new LongAdder(); break;
            case "atomicLong": atomicLong = new AtomicLong(); break;
            default: break;
        }
    }

    @TearDown
    public void check() {
        switch (library) {
            case "crest": Totals.found(crest.value()); break;
            case "kamon": Totals.found(Peers.count(kamon)); break;
            case "micrometer": Totals.found((long) micrometer.count()); break;
            case "dropwizard": Totals.found(dropwizard.getCount()); break;
            case "longAdder": Totals.found(longAdder.sum()); break;
            case "atomicLong": Totals.found(atomicLong.get()); break;
            default: break;
        }
    }

    @Benchmark
    public void crest() {
        crest.increment();
    }

    @Benchmark
    public void kamon() {
        kamon.increment();
    }

    @Benchmark
    public void micrometer() {
        micrometer.increment();
    }

    @Benchmark
    public void dropwizard() {
        dropwizard.inc();
    }

    @Benchmark
    public void longAdder() {
        longAdder.increment();
    }

    @Benchmark
    public void atomicLong() {
        atomicLong.incrementAndGet();
    }
}
