// SPDX-License-Identifier: Apache-2.0
package io.crest.bench;

import com.codahale.metrics.MetricRegistry;
import io.crest.Crest;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.lang.reflect.Field;
import java.util.concurrent.atomic.AtomicLong;
import kamon.metric.Distribution;
import kamon.metric.Instrument;
import org.openjdk.jmh.infra.BenchmarkParams;

/**
 * What the benchmarks of the peers share. A peer's class is loaded only in its own benchmarks.
 *
 * <p>Each peer is used in the fastest of the ways that its documentation shows: instruments are
 * made once, with their tags, and held.
 *
 * <ul>
 *   <li>Kamon: https://kamon.io/docs/latest/core/metrics/, "Fully defined and refined (tagged)".
 *   <li>Micrometer: https://docs.micrometer.io/micrometer/reference/concepts/counters.html, by a
 *       builder; gauges, by a number that the application holds (concepts/gauges.html).
 *   <li>Dropwizard: https://metrics.dropwizard.io/4.2.0/manual/core.html.
 *   <li>HdrHistogram: https://hdrhistogram.github.io/HdrHistogram/JavaDoc/, where several threads
 *       may record: AtomicHistogram, as that does not resize itself.
 * </ul>
 */
final class Peers {
    private Peers() {}

    /**
     * The benchmark's method: the library that this process measures.
     *
     * @throws IllegalStateException where Crest would record nothing, and be fast at that
     */
    static String library(BenchmarkParams params) {
        if (!Crest.available()) throw new IllegalStateException(Crest.unavailableReason());
        String name = params.getBenchmark();
        return name.substring(name.lastIndexOf('.') + 1);
    }

    static PrometheusMeterRegistry micrometer() {
        return new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    }

    static MetricRegistry dropwizard() {
        return new MetricRegistry();
    }

    static long count(kamon.metric.Counter counter) {
        return (Long) ((Instrument.Snapshotting<?>) counter).snapshot(false);
    }

    static double value(kamon.metric.Gauge gauge) {
        return (Double) ((Instrument.Snapshotting<?>) gauge).snapshot(false);
    }

    /** Kamon gives extremes, in buckets; it does not expose the value itself. */
    static long value(kamon.metric.RangeSampler sampler) {
        try {
            Field current = sampler.getClass().getDeclaredField("_current");
            current.setAccessible(true);
            return ((AtomicLong) current.get(sampler)).get();
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("Kamon's range sampler is not what it was", e);
        }
    }

    static Distribution distribution(Object instrument) {
        return (Distribution) ((Instrument.Snapshotting<?>) instrument).snapshot(false);
    }
}
