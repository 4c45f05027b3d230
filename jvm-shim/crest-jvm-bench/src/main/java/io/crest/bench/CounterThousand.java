// SPDX-License-Identifier: Apache-2.0
package io.crest.bench;

import io.crest.Counter;
import io.crest.Metric;
import java.util.Arrays;
import java.util.concurrent.atomic.LongAdder;
import kamon.Kamon;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.infra.BenchmarkParams;

/** Increments of 1,000 counters of a family in turn, through their handles. */
@State(Scope.Benchmark)
public class CounterThousand {
    private static final int COUNTERS = Values.metrics();

    private final int[] order = Values.indices(COUNTERS);
    private int at;
    private String library;
    private Counter[] crest;
    private kamon.metric.Counter[] kamon;
    private io.micrometer.core.instrument.Counter[] micrometer;
    private com.codahale.metrics.Counter[] dropwizard;
    private LongAdder[] longAdder;
    private long[] field;

    @Setup
    public void make(BenchmarkParams params) {
        library = Peers.library(params);
        String name = "bench.peer-messages";
        switch (library) {
            case "crest":
                var family = Metric.named(name).labelled("peer").counter();
                crest = filled(new Counter[COUNTERS], i -> family.with("peer-" + i));
                break;
            case "kamon":
                kamon = filled(new kamon.metric.Counter[COUNTERS],
                        i -> Kamon.counter(name).withTag("peer", "peer-" + i));
                break;
            case "micrometer":
                var meters = Peers.micrometer();
                micrometer = filled(new io.micrometer.core.instrument.Counter[COUNTERS],
                        i -> meters.counter(name, "peer", "peer-" + i));
                break;
            case "dropwizard":
                var metrics = Peers.dropwizard();
                dropwizard = filled(new com.codahale.metrics.Counter[COUNTERS],
                        i -> metrics.counter(name + ".peer-" + i));
                break;
            case "longAdder":
                longAdder = filled(new LongAdder[COUNTERS], i -> new LongAdder());
                break;
            default: field = new long[COUNTERS]; break;
        }
    }

    private static <T> T[] filled(T[] array, java.util.function.IntFunction<T> make) {
        Arrays.setAll(array, make);
        return array;
    }

    @TearDown
    public void check() {
        long sum = 0;
        for (int i = 0; i < COUNTERS; i++) sum += value(i);
        Totals.found(sum);
    }

    private long value(int i) {
        switch (library) {
            case "crest": return crest[i].value();
            case "kamon": return Peers.count(kamon[i]);
            case "micrometer": return (long) micrometer[i].count();
            case "dropwizard": return dropwizard[i].getCount();
            case "longAdder": return longAdder[i].sum();
            default: return field[i];
        }
    }

    private int next() {
        return order[at++ & Values.MASK];
    }

    @Benchmark
    public void crest() {
        crest[next()].increment();
    }

    @Benchmark
    public void kamon() {
        kamon[next()].increment();
    }

    @Benchmark
    public void micrometer() {
        micrometer[next()].increment();
    }

    @Benchmark
    public void dropwizard() {
        dropwizard[next()].inc();
    }

    @Benchmark
    public void longAdder() {
        longAdder[next()].increment();
    }

    @Benchmark
    public void field() {
        field[next()]++;
    }
}
