// SPDX-License-Identifier: Apache-2.0
package io.crest.bench;

import com.codahale.metrics.MetricRegistry;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import kamon.metric.Distribution;
import kamon.metric.Instrument;
import org.openjdk.jmh.infra.BenchmarkParams;

/** What the benchmarks of the peers share. Each class is loaded only where a benchmark is its own. */
final class Peers {
    private Peers() {}

    /** The benchmark's method: the library that this process measures. */
    static String library(BenchmarkParams params) {
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

    static Distribution distribution(Object instrument) {
        return (Distribution) ((Instrument.Snapshotting<?>) instrument).snapshot(false);
    }
}
