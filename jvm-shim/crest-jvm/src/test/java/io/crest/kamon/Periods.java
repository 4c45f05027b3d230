// SPDX-License-Identifier: Apache-2.0
package io.crest.kamon;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import kamon.Kamon;
import kamon.metric.Distribution;
import kamon.metric.DynamicRange;
import kamon.metric.Instrument;
import kamon.metric.MeasurementUnit;
import kamon.metric.MetricSnapshot;
import kamon.metric.PeriodSnapshot;
import kamon.tag.TagSet;
import scala.collection.Iterator;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/** Snapshots of periods as Kamon makes them, put together by hand. */
final class Periods {
    private final List<Object> counters = new ArrayList<>();
    private final List<Object> gauges = new ArrayList<>();
    private final List<Object> histograms = new ArrayList<>();
    private final List<Object> timers = new ArrayList<>();
    private final List<Object> rangeSamplers = new ArrayList<>();

    /** Instruments of one metric: tags and value in turn. */
    private static <V> Seq<Instrument.Snapshot<V>> instruments(Map<TagSet, V> values) {
        List<Instrument.Snapshot<V>> all = new ArrayList<>();
        values.forEach((tags, value) -> all.add(new Instrument.Snapshot<>(tags, value)));
        return CollectionConverters.asScala(all).toList();
    }

    Periods counter(String name, MeasurementUnit unit, Map<TagSet, Object> values) {
        var settings = Kamon.counter("periods.counter." + unit, unit).settings();
        counters.add(MetricSnapshot.ofValues(name, "A counter.", settings, instruments(values)));
        return this;
    }

    Periods gauge(String name, MeasurementUnit unit, Map<TagSet, Object> values) {
        var settings = Kamon.gauge("periods.gauge." + unit, unit).settings();
        gauges.add(MetricSnapshot.ofValues(name, "A gauge.", settings, instruments(values)));
        return this;
    }

    Periods histogram(String name, MeasurementUnit unit, Map<TagSet, Distribution> values) {
        histograms.add(distribution(name, unit, values));
        return this;
    }

    Periods rangeSampler(String name, MeasurementUnit unit, Map<TagSet, Distribution> values) {
        rangeSamplers.add(distribution(name, unit, values));
        return this;
    }

    private static Object distribution(
            String name, MeasurementUnit unit, Map<TagSet, Distribution> values) {
        var settings = Kamon.histogram("periods.histogram." + unit, unit).settings();
        return MetricSnapshot.ofDistributions(name, "Values.", settings, instruments(values));
    }

    @SuppressWarnings({"unchecked", "rawtypes"}) // settings have types that Java cannot name
    PeriodSnapshot snapshot() {
        Seq[] all = new Seq[5];
        int at = 0;
        for (List<Object> metrics :
                List.of(counters, gauges, histograms, timers, rangeSamplers))
            all[at++] = CollectionConverters.asScala(metrics).toList();
        return new PeriodSnapshot(
                Instant.EPOCH, Instant.EPOCH, all[0], all[1], all[2], all[3], all[4]);
    }

    /** Buckets as a snapshot has them: value and frequency in turn. */
    static Distribution values(DynamicRange range, long... valuesAndTimes) {
        List<Distribution.Bucket> buckets = new ArrayList<>();
        for (int i = 0; i < valuesAndTimes.length; i += 2) {
            long value = valuesAndTimes[i];
            long times = valuesAndTimes[i + 1];
            buckets.add(
                    new Distribution.Bucket() {
                        @Override
                        public long value() {
                            return value;
                        }

                        @Override
                        public long frequency() {
                            return times;
                        }
                    });
        }
        return new Values(range, buckets);
    }

    private static final class Values implements Distribution {
        private final DynamicRange range;
        private final List<Distribution.Bucket> buckets;

        Values(DynamicRange range, List<Distribution.Bucket> buckets) {
            this.range = range;
            this.buckets = buckets;
        }

        @Override
        public DynamicRange dynamicRange() {
            return range;
        }

        @Override
        public long min() {
            return buckets.get(0).value();
        }

        @Override
        public long max() {
            return buckets.get(buckets.size() - 1).value();
        }

        @Override
        public long sum() {
            return buckets.stream().mapToLong(b -> b.value() * b.frequency()).sum();
        }

        @Override
        public long count() {
            return buckets.stream().mapToLong(Distribution.Bucket::frequency).sum();
        }

        @Override
        public Seq<Distribution.Bucket> buckets() {
            return CollectionConverters.asScala(buckets).toList();
        }

        @Override
        public Iterator<Distribution.Bucket> bucketsIterator() {
            return CollectionConverters.asScala(buckets.iterator());
        }

        @Override
        public Distribution.Percentile percentile(double rank) {
            throw new UnsupportedOperationException();
        }

        @Override
        public Seq<Distribution.Percentile> percentiles() {
            throw new UnsupportedOperationException();
        }

        @Override
        public Iterator<Distribution.Percentile> percentilesIterator() {
            throw new UnsupportedOperationException();
        }
    }
}
