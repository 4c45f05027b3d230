// SPDX-License-Identifier: Apache-2.0
package io.crest.bench;

import com.codahale.metrics.LockFreeExponentiallyDecayingReservoir;
import io.crest.Metric;
import io.crest.Timer;
import io.crest.Timing;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.time.Duration;
import java.util.Arrays;
import kamon.Kamon;
import org.HdrHistogram.AtomicHistogram;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.infra.BenchmarkParams;

/** Timing of an empty operation, in each way that the libraries have. */
public abstract class TimerOps {
    private static final String NAME = "bench.replay-time";

    private String library;
    private Timer crest;
    private kamon.metric.Timer kamon;
    private PrometheusMeterRegistry meters;
    private io.micrometer.core.instrument.Timer micrometer;
    private com.codahale.metrics.Timer dropwizard;
    private AtomicHistogram hdr;

    @Setup
    public void make(BenchmarkParams params) {
        library = Peers.library(params);
        switch (library) {
            case "kamon": kamon = Kamon.timer(NAME).withoutTags(); break;
            case "micrometer":
                meters = Peers.micrometer();
                micrometer = io.micrometer.core.instrument.Timer.builder(NAME)
                        .serviceLevelObjectives(bounds()).register(meters);
                break;
            case "dropwizard":
                dropwizard = new com.codahale.metrics.Timer(
                        LockFreeExponentiallyDecayingReservoir.builder().build());
                break;
            case "hdrHistogram": hdr = new AtomicHistogram(Values.HIGHEST, Values.DIGITS); break;
            case "twoReads": break;
            default:
                crest = Metric.named(NAME).buckets(Values.SECONDS).timer();
                break;
        }
    }

    private static Duration[] bounds() {
        return Arrays.stream(Values.BOUNDS)
                .mapToObj(bound -> Duration.ofNanos((long) bound)).toArray(Duration[]::new);
    }

    @TearDown
    public void check() {
        switch (library) {
            case "kamon": Totals.found(Peers.distribution(kamon).count()); break;
            case "micrometer": Totals.found(micrometer.count()); break;
            case "dropwizard": Totals.found(dropwizard.getCount()); break;
            case "hdrHistogram": Totals.found(hdr.getTotalCount()); break;
            case "twoReads": break;
            default: Totals.found(CrestPage.whole(NAME + "_seconds_count")); break;
        }
    }

    /** A token that belongs to an operation, which the end names again. */
    @Benchmark
    public Object crest(Next next) {
        long id = next.id();
        Timing timing = crest.start(id);
        return timing.stop(id);
    }

    /** A start time, without an operation. */
    @Benchmark
    public void crestNanos() {
        crest.stopNanos(crest.startNanos());
    }

    @Benchmark
    public Object crestLambda(Next next) {
        return crest.time(() -> next);
    }

    @Benchmark
    public void crestTry(Next next) {
        try (Timing timing = crest.start(next.id())) {
            // takes no time
        }
    }

    @Benchmark
    public void kamon() {
        kamon.start().stop();
    }

    @Benchmark
    public void micrometer() {
        io.micrometer.core.instrument.Timer.start(meters).stop(micrometer);
    }

    @Benchmark
    public void dropwizard() {
        dropwizard.time().stop();
    }

    /** By hand. */
    @Benchmark
    public void hdrHistogram() {
        long start = System.nanoTime();
        hdr.recordValue(System.nanoTime() - start);
    }

    /** The clock alone. */
    @Benchmark
    public void twoReads(Next next) {
        long start = System.nanoTime();
        next.ticked(System.nanoTime() - start);
    }
}
