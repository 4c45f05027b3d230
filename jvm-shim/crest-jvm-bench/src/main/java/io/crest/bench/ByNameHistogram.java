// SPDX-License-Identifier: Apache-2.0
package io.crest.bench;

import io.crest.Histogram;
import io.crest.Source;
import kamon.Kamon;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.infra.BenchmarkParams;

/** A histogram by name at each record, beside the same through its handle. */
@State(Scope.Benchmark)
public class ByNameHistogram {
    private static final String NAME = "packet-size";

    private boolean kamon;
    private Source source;
    private Histogram histogram;

    @Setup
    public void make(BenchmarkParams params) {
        kamon = Peers.library(params).equals("kamon");
        if (kamon) return;
        source = Source.of("bench.comm");
        histogram = Histogram.of("bench.comm." + NAME);
    }

    @TearDown
    public void check() {
        if (kamon) {
            Totals.found(Peers.distribution(Kamon.histogram(NAME).withoutTags()).count());
        } else {
            String name = "bench.comm." + NAME;
            Totals.found(CrestPage.whole(name + "_count"), CrestPage.whole(name + "_sum"));
        }
    }

    @Benchmark
    public void crest(Next next) {
        source.record(NAME, next.value());
    }

    @Benchmark
    public void handle(Next next) {
        histogram.record(next.value());
    }

    @Benchmark
    public void kamon(Next next) {
        Kamon.histogram(NAME).withoutTags().record(next.value());
    }
}
