// SPDX-License-Identifier: Apache-2.0
package io.crest.bench;

import org.HdrHistogram.Histogram;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.infra.BenchmarkParams;

/** One thread and one histogram. */
@State(Scope.Benchmark)
public class HistogramOne extends HistogramOps {
    private final Histogram plain = new Histogram(Values.HIGHEST, Values.DIGITS);

    /** HdrHistogram's variant for one thread, which no other thread may read meanwhile. */
    @Benchmark
    public void plain(Next next) {
        plain.recordValue(next.value());
    }

    @TearDown
    public void checkPlain(BenchmarkParams params) {
        if (Peers.library(params).equals("plain")) Totals.found(plain.getTotalCount());
    }
}
