// SPDX-License-Identifier: Apache-2.0
package io.crest.bench;

import io.crest.Counter;
import io.crest.Family;
import io.crest.Metric;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import kamon.Kamon;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Threads;
import org.openjdk.jmh.infra.BenchmarkParams;

/**
 * A counter by a label's value, found and incremented, of eight values in turn: what a call costs
 * that resolves nothing before. {@code handle} has resolved them.
 */
@State(Scope.Benchmark)
@Threads(1)
public class FamilyOne {
    private static final int PEERS = 8;

    private final String[] peers = new String[PEERS];
    private final Counter[] handles = new Counter[PEERS];
    private String library;
    private Family<Counter> crest;
    private kamon.metric.Metric.Counter kamon;
    private PrometheusMeterRegistry micrometer;

    @Setup
    public void make(BenchmarkParams params) {
        library = Peers.library(params);
        for (int i = 0; i < PEERS; i++) peers[i] = "peer-" + i;
        switch (library) {
            case "kamon": kamon = Kamon.counter("bench.by-label"); break;
            case "micrometer": micrometer = Peers.micrometer(); break;
            default:
                crest = Metric.named("bench.by-label").labelled("peer").counter();
                for (int i = 0; i < PEERS; i++) handles[i] = crest.with(peers[i]);
                break;
        }
    }

    @TearDown
    public void check() {
        long found = 0;
        for (String peer : peers) {
            switch (library) {
                case "kamon": found += Peers.count(kamon.withTag("peer", peer)); break;
                case "micrometer":
                    found += (long) micrometer.counter("bench.by-label", "peer", peer).count();
                    break;
                default: found += crest.with(peer).value(); break;
            }
        }
        Totals.found(found);
    }

    @Benchmark
    @OperationsPerInvocation(PEERS)
    public void crest() {
        for (String peer : peers) crest.with(peer).increment();
    }

    @Benchmark
    @OperationsPerInvocation(PEERS)
    public void kamon() {
        for (String peer : peers) kamon.withTag("peer", peer).increment();
    }

    @Benchmark
    @OperationsPerInvocation(PEERS)
    public void micrometer() {
        for (String peer : peers) micrometer.counter("bench.by-label", "peer", peer).increment();
    }

    @Benchmark
    @OperationsPerInvocation(PEERS)
    public void handle() {
        for (Counter handle : handles) handle.increment();
    }
}
