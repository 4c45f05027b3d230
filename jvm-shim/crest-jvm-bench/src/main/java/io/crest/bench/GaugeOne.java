// SPDX-License-Identifier: Apache-2.0
package io.crest.bench;

import com.codahale.metrics.DefaultSettableGauge;
import io.crest.Gauge;
import java.util.concurrent.atomic.AtomicLong;
import kamon.Kamon;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.infra.BenchmarkParams;

/** Sets of a gauge, each to another value. */
@State(Scope.Benchmark)
public class GaugeOne {
    private String library;
    private long value;
    private Gauge crest;
    private kamon.metric.Gauge kamon;
    private AtomicLong micrometer;
    private DefaultSettableGauge<Double> dropwizard;
    private AtomicLong store;

    @Setup
    public void make(BenchmarkParams params) {
        library = Peers.library(params);
        String name = "bench.peers";
        switch (library) {
            case "crest": crest = Gauge.of(name); break;
            case "kamon": kamon = Kamon.gauge(name).withoutTags(); break;
            case "micrometer": micrometer = Peers.micrometer().gauge(name, new AtomicLong()); break;
            case "dropwizard": dropwizard = new DefaultSettableGauge<>(0.0); break;
            default: store = new AtomicLong(); break;
        }
    }

    @TearDown
    public void check() {
        Totals.found(value, last() == value, "the last value is " + last() + ", not " + value);
    }

    private double last() {
        switch (library) {
            case "crest": return crest.value();
            case "kamon": return Peers.value(kamon);
            case "micrometer": return micrometer.get();
            case "dropwizard": return dropwizard.getValue();
            default: return Double.longBitsToDouble(store.get());
        }
    }

    @Benchmark
    public void crest() {
        crest.set(++value);
    }

    @Benchmark
    public void kamon() {
        kamon.update(++value);
    }

    /** Micrometer reads a number that the application holds. */
    @Benchmark
    public void micrometer() {
        micrometer.set(++value);
    }

    @Benchmark
    public void dropwizard() {
        dropwizard.setValue((double) ++value);
    }

    /** The lower bound: a store that other threads see at some time. */
    @Benchmark
    public void store() {
        store.lazySet(Double.doubleToRawLongBits(++value));
    }
}
