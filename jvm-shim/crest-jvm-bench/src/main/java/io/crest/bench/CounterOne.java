// SPDX-License-Identifier: Apache-2.0
package io.crest.bench;

import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.infra.BenchmarkParams;

/** One thread and one counter. */
@State(Scope.Benchmark)
public class CounterOne extends CounterOps {
    private long field;

    /** The lower bound: a plain field, which is right with one thread only. */
    @Benchmark
    public void field() {
        field++;
    }

    @TearDown
    public void checkField(BenchmarkParams params) {
        if (Peers.library(params).equals("field")) Totals.found(field);
    }
}
