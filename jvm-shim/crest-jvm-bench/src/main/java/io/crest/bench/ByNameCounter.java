// SPDX-License-Identifier: Apache-2.0
package io.crest.bench;

import com.codahale.metrics.MetricRegistry;
import io.crest.Counter;
import io.crest.Source;
import io.micrometer.core.instrument.MeterRegistry;
import kamon.Kamon;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.infra.BenchmarkParams;

/**
 * A counter by name at each increment, as in RNode, beside the same through its handle.
 */
@State(Scope.Benchmark)
public class ByNameCounter {
    private static final String NAME = "messages-received";

    private String library;
    private Source source;
    private Counter counter;
    private MeterRegistry micrometer;
    private MetricRegistry dropwizard;

    @Setup
    public void make(BenchmarkParams params) {
        library = Peers.library(params);
        switch (library) {
            case "micrometer": micrometer = Peers.micrometer(); break;
            case "dropwizard": dropwizard = Peers.dropwizard(); break;
            case "kamon": break;
            default:
                source = Source.of("bench.comm");
                counter = Counter.of("bench.comm." + NAME);
                break;
        }
    }

    @TearDown
    public void check() {
        switch (library) {
            case "kamon": Totals.found(Peers.count(Kamon.counter(NAME).withoutTags())); break;
            case "micrometer": Totals.found((long) micrometer.counter(NAME).count()); break;
            case "dropwizard": Totals.found(dropwizard.counter(NAME).getCount()); break;
            default: Totals.found(counter.value()); break;
        }
    }

    @Benchmark
    public void crest() {
        source.incrementCounter(NAME);
    }

    @Benchmark
    public void handle() {
        counter.increment();
    }

    @Benchmark
    public void kamon() {
        Kamon.counter(NAME).withoutTags().increment();
    }

    @Benchmark
    public void micrometer() {
        micrometer.counter(NAME).increment();
    }

    @Benchmark
    public void dropwizard() {
        dropwizard.counter(NAME).inc();
    }
}
