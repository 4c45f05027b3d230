// SPDX-License-Identifier: Apache-2.0
package io.crest.bench;

import com.codahale.metrics.LockFreeExponentiallyDecayingReservoir;
import io.crest.Histogram;
import io.crest.Metric;
import io.micrometer.core.instrument.DistributionSummary;
import java.util.concurrent.atomic.AtomicLong;
import kamon.Kamon;
import org.HdrHistogram.AtomicHistogram;
import org.HdrHistogram.Recorder;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.infra.BenchmarkParams;

/**
 * Records into one histogram: two digits up to an hour where a library has digits, and the same
 * bounds where it has bounds. Dropwizard keeps only a sample of the values, here in the reservoir
 * that its manual calls faster. Of HdrHistogram's variants for several writers, the atomic one is
 * the fastest.
 */
public abstract class HistogramOps {
    private static final AtomicLong MADE = new AtomicLong();

    private String library;
    private String name;
    private Histogram crest;
    private kamon.metric.Histogram kamon;
    private DistributionSummary micrometer;
    private com.codahale.metrics.Histogram dropwizard;
    private AtomicHistogram hdr;
    private Recorder recorder;

    @Setup
    public void make(BenchmarkParams params) {
        library = Peers.library(params);
        name = "bench.sizes-" + MADE.incrementAndGet();
        switch (library) {
            case "crest": crest = Metric.named(name).buckets(Values.BOUNDS).histogram(); break;
            case "kamon": kamon = Kamon.histogram(name).withoutTags(); break;
            case "micrometer":
                micrometer = DistributionSummary.builder(name)
                        .serviceLevelObjectives(Values.BOUNDS).register(Peers.micrometer());
                break;
            case "dropwizard":
                dropwizard = new com.codahale.metrics.Histogram(
                        LockFreeExponentiallyDecayingReservoir.builder().build());
                break;
            case "hdrHistogram": hdr = new AtomicHistogram(Values.HIGHEST, Values.DIGITS); break;
            case "hdrRecorder": recorder = new Recorder(Values.HIGHEST, Values.DIGITS); break;
            default: break;
        }
    }

    @TearDown
    public void check() {
        switch (library) {
            case "crest":
                Totals.found(CrestPage.whole(name + "_count"), CrestPage.whole(name + "_sum"));
                break;
            case "kamon": Totals.found(Peers.distribution(kamon).count()); break;
            case "micrometer":
                Totals.found(micrometer.count(), (long) micrometer.totalAmount());
                break;
            case "dropwizard": Totals.found(dropwizard.getCount()); break;
            case "hdrHistogram": Totals.found(hdr.getTotalCount()); break;
            case "hdrRecorder":
                Totals.found(recorder.getIntervalHistogram().getTotalCount());
                break;
            default: break;
        }
    }

    @Benchmark
    public void crest(Next next) {
        crest.record(next.value());
    }

    @Benchmark
    public void kamon(Next next) {
        kamon.record(next.value());
    }

    @Benchmark
    public void micrometer(Next next) {
        micrometer.record(next.value());
    }

    @Benchmark
    public void dropwizard(Next next) {
        dropwizard.update(next.value());
    }

    @Benchmark
    public void hdrHistogram(Next next) {
        hdr.recordValue(next.value());
    }

    @Benchmark
    public void hdrRecorder(Next next) {
        recorder.recordValue(next.value());
    }
}
