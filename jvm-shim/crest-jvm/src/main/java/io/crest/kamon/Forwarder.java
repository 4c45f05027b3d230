// SPDX-License-Identifier: Apache-2.0
package io.crest.kamon;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigException;
import com.typesafe.config.ConfigUtil;
import io.crest.Buckets;
import io.crest.Counter;
import io.crest.CrestException;
import io.crest.Gauge;
import io.crest.Histogram;
import io.crest.Instrument;
import io.crest.Metric;
import io.crest.RangeSampler;
import io.crest.Status;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.Function;
import kamon.metric.Distribution;
import kamon.metric.DynamicRange;
import kamon.metric.Instrument.Snapshot;
import kamon.metric.MetricSnapshot;
import kamon.metric.PeriodSnapshot;
import org.slf4j.Logger;
import scala.collection.Iterator;

/**
 * Puts snapshots of Kamon into Crest: counters' increments are added, gauges set, distributions
 * recorded bucket by bucket. Crest's values are cumulative, so a reporter's failed report loses
 * nothing.
 *
 * <p>For one thread.
 */
final class Forwarder {
    private static final int NAMES_TRIED = 10;
    private static final int DESCRIPTION_BYTES_MAX = 1000;

    private final Logger log;
    private final CrestSettings settings;
    private final Map<String, Forwarded<?, ?>> metrics = new HashMap<>();
    private final Map<String, String> names = new HashMap<>();
    private final Set<String> refused = new HashSet<>();
    private long tick;

    Forwarder(CrestSettings settings, Logger log) {
        this.settings = settings;
        this.log = log;
    }

    /** Forwards all of it. A metric that cannot be is logged once; nothing is thrown. */
    void forward(PeriodSnapshot snapshot) {
        tick++;
        each(snapshot.counters().iterator(), this::counter);
        each(snapshot.gauges().iterator(), this::gauge);
        each(snapshot.histograms().iterator(), this::histogram);
        each(snapshot.timers().iterator(), this::histogram);
        if (settings.rangesAsHistograms)
            each(snapshot.rangeSamplers().iterator(), this::histogram);
        else each(snapshot.rangeSamplers().iterator(), this::range);
        for (Forwarded<?, ?> metric : metrics.values()) metric.release(tick);
    }

    private <S extends kamon.metric.Metric.Settings, V> void each(
            Iterator<MetricSnapshot<S, V>> all,
            Function<MetricSnapshot<S, V>, Forwarded<?, ?>> make) {
        while (all.hasNext()) {
            MetricSnapshot<S, V> metric = all.next();
            if (metric.instruments().isEmpty()) continue;
            try {
                @SuppressWarnings("unchecked") // a metric of Kamon's has one kind for good
                Forwarded<?, V> forwarded =
                        (Forwarded<?, V>)
                                metrics.computeIfAbsent(metric.name(), name -> make.apply(metric));
                for (Iterator<Snapshot<V>> it = metric.instruments().iterator(); it.hasNext(); ) {
                    Snapshot<V> one = it.next();
                    forwarded.take(one.tags(), one.value(), tick);
                }
            } catch (RuntimeException e) {
                if (refused.add(metric.name()))
                    log.error("Kamon's metric {} is not forwarded to Crest", metric.name(), e);
            }
        }
    }

    private <S extends kamon.metric.Metric.Settings> Forwarded<?, ?> counter(
            MetricSnapshot<S, Object> metric) {
        Scale scale = Scale.of(metric.settings().unit());
        return forwarded(
                metric,
                named -> named.in(scale.unit),
                Metric::counter,
                (Counter counter, Number value) -> {
                    if (value.longValue() != 0) counter.increment(scale.scaled(value.longValue()));
                });
    }

    private <S extends kamon.metric.Metric.Settings> Forwarded<?, ?> gauge(
            MetricSnapshot<S, Object> metric) {
        Scale scale = Scale.of(metric.settings().unit());
        return forwarded(
                metric,
                named -> named.in(scale.unit),
                Metric::gauge,
                (Gauge gauge, Number value) -> gauge.set(scale.scaled(value.doubleValue())));
    }

    private <S extends kamon.metric.Metric.Settings> Forwarded<?, ?> histogram(
            MetricSnapshot<S, Distribution> metric) {
        DynamicRange range = metric.instruments().head().value().dynamicRange();
        Scale scale = Scale.of(metric.settings().unit());
        Buckets bounds = bounds(metric);
        return forwarded(
                metric,
                named -> {
                    named.in(scale.unit).range(scale.range(range));
                    return bounds == null ? named : named.buckets(bounds);
                },
                Metric::histogram,
                (Histogram histogram, Distribution values) -> record(histogram, values, scale));
    }

    /**
     * The extremes of a period's samples, and their mean for the value that it has now, which a
     * snapshot of Kamon's does not tell.
     */
    private <S extends kamon.metric.Metric.Settings> Forwarded<?, ?> range(
            MetricSnapshot<S, Distribution> metric) {
        Scale scale = Scale.of(metric.settings().unit());
        return forwarded(
                metric,
                named -> named.in(scale.unit),
                Metric::rangeSampler,
                (RangeSampler sampler, Distribution values) -> {
                    if (values.count() == 0) return;
                    sampler.set(scale.scaled(values.min()));
                    sampler.set(scale.scaled(values.max()));
                    sampler.set(scale.scaled(Math.round((double) values.sum() / values.count())));
                });
    }

    /** The bounds of the configuration: the metric's own, or those of what it counts. */
    private <S extends kamon.metric.Metric.Settings> Buckets bounds(MetricSnapshot<S, ?> metric) {
        String dimension = metric.settings().unit().dimension().name();
        String kind = dimension.equals("none") ? "default-buckets" : dimension + "-buckets";
        Buckets own = bounds(settings.buckets, ConfigUtil.joinPath(metric.name()));
        if (own == null) own = bounds(settings.kinds, kind);
        return own != null ? own : bounds(settings.kinds, "default-buckets");
    }

    /** Null if there are none, or none that hold. */
    private Buckets bounds(Config from, String path) {
        try {
            if (!from.hasPath(path)) return null;
            return Buckets.of(from.getDoubleList(path).stream().mapToDouble(b -> b).toArray());
        } catch (ConfigException | IllegalArgumentException e) {
            log.error("The bounds of {} are not used: {}", path, e.getMessage());
            return null;
        }
    }

    /** Each bucket's values as Kamon has them: the bucket's lowest value. */
    private static void record(Histogram histogram, Distribution values, Scale scale) {
        Iterator<Distribution.Bucket> buckets = values.bucketsIterator();
        while (buckets.hasNext()) {
            Distribution.Bucket bucket = buckets.next();
            long value = scale.scaled(bucket.value());
            long times = bucket.frequency();
            long room = value == 0 ? Long.MAX_VALUE : Long.MAX_VALUE / value;
            for (; times > room; times -= room) histogram.record(value, room);
            histogram.record(value, times);
        }
    }

    /**
     * A metric whose first series settles its name in Crest. If another metric has the name, be it
     * Kamon's or the program's own, {@code -kamon} is appended.
     */
    private <I extends Instrument, V> Forwarded<I, V> forwarded(
            MetricSnapshot<?, ?> metric,
            Function<Metric, Metric> settings,
            BiFunction<Metric, Map<String, String>, I> end,
            BiConsumer<I, V> give) {
        String kamon = metric.name();
        String[] settled = new String[1];
        Function<String, Metric> wish =
                name ->
                        settings.apply(
                                Metric.named(name).describedAs(description(metric.description())));
        return new Forwarded<>(
                new Words(),
                labels -> {
                    if (settled[0] != null) return end.apply(wish.apply(settled[0]), labels);
                    String wanted = Words.name(kamon);
                    for (int n = 1; ; n++) {
                        String name = wanted + (n == 1 ? "" : n == 2 ? "-kamon" : "-kamon" + n);
                        if (names.putIfAbsent(name, kamon) != null) continue;
                        try {
                            I made = end.apply(wish.apply(name), labels);
                            settled[0] = name;
                            if (!name.equals(kamon))
                                log.info("Kamon's metric {} is {} in Crest", kamon, name);
                            return made;
                        } catch (IllegalArgumentException | CrestException e) {
                            names.remove(name);
                            if (n >= NAMES_TRIED || !anotherNameMayDo(e)) throw e;
                        }
                    }
                },
                give);
    }

    /** An exception without a status means a name that is reserved for exporters. */
    private static boolean anotherNameMayDo(RuntimeException e) {
        if (!(e instanceof CrestException)) return true;
        Status status = ((CrestException) e).status();
        return status == Status.TYPE_CLASH
                || status == Status.NAME_CLASH
                || status == Status.SPLIT_NAME;
    }

    private static String description(String text) {
        String cut = text == null ? "" : text.replace('\0', ' ');
        while (cut.getBytes(StandardCharsets.UTF_8).length > DESCRIPTION_BYTES_MAX)
            cut = cut.substring(0, cut.length() * 9 / 10);
        return cut;
    }
}
