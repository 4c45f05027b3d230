// SPDX-License-Identifier: Apache-2.0
package io.crest.bench;

import io.crest.Counter;
import io.crest.Source;
import java.util.Arrays;
import java.util.stream.IntStream;
import kamon.Kamon;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.infra.BenchmarkParams;

/** 1,000 names in turn, kept as objects, beside the same through 1,000 handles. */
@State(Scope.Benchmark)
public class ByNameThousand {
    private static final int NAMES = 1000;

    private final int[] order = Values.indices(NAMES);
    private final String[] names =
            IntStream.range(0, NAMES).mapToObj(i -> "messages-of-" + i).toArray(String[]::new);
    private final Source source = Source.of("bench.comm");
    private int at;
    private boolean kamon;
    private Counter[] counters;

    @Setup
    public void make(BenchmarkParams params) {
        kamon = Peers.library(params).equals("kamon");
        if (!kamon)
            counters = Arrays.stream(names)
                    .map(name -> Counter.of("bench.comm." + name)).toArray(Counter[]::new);
    }

    @TearDown
    public void check() {
        Totals.found(kamon
                ? Arrays.stream(names)
                        .mapToLong(name -> Peers.count(Kamon.counter(name).withoutTags())).sum()
                : Arrays.stream(counters).mapToLong(Counter::value).sum());
    }

    private int next() {
        return order[at++ & Values.MASK];
    }

    @Benchmark
    public void crest() {
        source.incrementCounter(names[next()]);
    }

    @Benchmark
    public void handle() {
        counters[next()].increment();
    }

    @Benchmark
    public void kamon() {
        Kamon.counter(names[next()]).withoutTags().increment();
    }
}
