// SPDX-License-Identifier: Apache-2.0
package io.crest.kamon;

import com.typesafe.config.Config;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import kamon.Kamon;
import kamon.metric.Distribution;
import kamon.metric.MeasurementUnit;
import kamon.metric.MetricSnapshot;
import kamon.metric.PeriodSnapshot;
import kamon.module.MetricReporter;
import kamon.tag.TagSet;
import scala.collection.Iterator;
import scala.concurrent.Await;
import scala.concurrent.duration.Duration;

/**
 * An ordinary Kamon application, which knows nothing of Crest. It writes what it has recorded to a
 * given file, one line a series: kind, metric, labels as JSON, and the total or {@code value:times}
 * of each value. The samples of range samplers, which only Kamon knows, come from its own
 * reporter.
 */
final class KamonApplication {
    private static final int THREADS = 4;
    private static final int INCREMENTS = 250_000;

    private static final Map<String, String> TOTALS = new TreeMap<>();
    private static final Map<String, TreeMap<Long, Long>> VALUES = new TreeMap<>();

    private KamonApplication() {}

    /** Gets what every Kamon reporter gets. */
    private static final class Witness implements MetricReporter {
        volatile int ticks;

        @Override
        public synchronized void reportPeriodSnapshot(PeriodSnapshot snapshot) {
            ticks++;
            Iterator<? extends MetricSnapshot<?, Distribution>> all =
                    snapshot.rangeSamplers().iterator();
            while (all.hasNext()) {
                MetricSnapshot<?, Distribution> metric = all.next();
                Iterator<kamon.metric.Instrument.Snapshot<Distribution>> each =
                        metric.instruments().iterator();
                while (each.hasNext()) {
                    kamon.metric.Instrument.Snapshot<Distribution> one = each.next();
                    Iterator<Distribution.Bucket> buckets = one.value().bucketsIterator();
                    while (buckets.hasNext()) {
                        Distribution.Bucket bucket = buckets.next();
                        value("samples " + metric.name() + " {}", bucket.value(),
                                bucket.frequency());
                    }
                }
            }
        }

        @Override
        public void stop() {}

        @Override
        public void reconfigure(Config config) {}
    }

    private static synchronized void value(String series, long value, long times) {
        VALUES.computeIfAbsent(series, name -> new TreeMap<>()).merge(value, times, Long::sum);
    }

    private static void record(String name, String json, TagSet tags, long value, long times) {
        Kamon.histogram(name).withTags(tags).record(value, times);
        value("histogram " + name + " " + json, value, times);
    }

    private static void counters() throws InterruptedException {
        Thread[] threads = new Thread[THREADS];
        for (int i = 0; i < THREADS; i++) {
            threads[i] =
                    new Thread(
                            () -> {
                                for (int n = 0; n < INCREMENTS; n++)
                                    Kamon.counter("app.events").withoutTags().increment();
                            });
            threads[i].start();
        }
        Kamon.counter("app.requests").withoutTags().increment(1);
        Kamon.counter("app.requests").withTag("http.method", "GET").increment(2);
        Kamon.counter("app.sent", MeasurementUnit.information().kilobytes())
                .withTag("to", "say \"x\"\\\nżółć ☃")
                .increment(3);
        Kamon.counter("9 app/lives").withoutTags().increment(9);
        Kamon.counter("app.same").withoutTags().increment(5);
        Kamon.counter("app-same").withoutTags().increment(7);
        for (Thread thread : threads) thread.join();
        TOTALS.put("counter app.events {}", String.valueOf(THREADS * INCREMENTS));
        TOTALS.put("counter app.sent {\"to\": \"say \\\"x\\\"\\\\\\nżółć ☃\"}", "3072");
        TOTALS.put("counter 9 app/lives {}", "9");
        TOTALS.put("counter app.same {}", "5");
        TOTALS.put("counter app-same {}", "7");
    }

    /** New keys of metrics that have been reported already, and no tick afterwards. */
    private static void countersLater() {
        Kamon.counter("app.requests")
                .withTags(TagSet.builder().add("http.method", "GET").add("error", true).build())
                .increment(4);
        Kamon.counter("app.requests").withTag("status", 404L).increment(8);
        Kamon.counter("app.requests").withTag("http.method", "GET").increment(16);
        TOTALS.put("counter app.requests {}", "1");
        TOTALS.put("counter app.requests {\"http_method\": \"GET\"}", "18");
        TOTALS.put("counter app.requests {\"http_method\": \"GET\", \"error\": \"true\"}", "4");
        TOTALS.put("counter app.requests {\"status\": \"404\"}", "8");
    }

    private static void gauges() {
        Kamon.gauge("app.level").withoutTags().update(-2.5);
        Kamon.gauge("app.heat").withTag("room", "1").update(0.1);
        Kamon.gauge("app.memory", MeasurementUnit.information().megabytes())
                .withoutTags()
                .update(1.5);
        TOTALS.put("gauge app.heat {\"room\": \"1\"}", "0.1");
        TOTALS.put("gauge app.memory {}", "1572864.0");
    }

    /** Records two halves in different periods. */
    private static void distributions(long seed) {
        TagSet in = TagSet.of("way", "in");
        long random = seed;
        for (int i = 0; i < 3000; i++) {
            random = random * 6364136223846793005L + 1442695040888963407L;
            long value = (random >>> 33) >>> ((random >>> 27) & 31);
            record("app.size", "{}", TagSet.Empty(), value, 1 + (i & 3));
            record("app.size", "{\"way\": \"in\"}", in, value % 1000, 1);
            Kamon.timer("app.time").withoutTags().record(value * 100, TimeUnit.NANOSECONDS);
            value("timer app.time {}", value * 100, 1);
        }
        record("app.size", "{}", TagSet.Empty(), 0, 1_000_000);
        record("app.size", "{}", TagSet.Empty(), 9_000_000_000_000L, 2);
        for (int i = 0; i < 50; i++) Kamon.rangeSampler("app.queue").withoutTags().increment(i);
        for (int i = 0; i < 40; i++) Kamon.rangeSampler("app.queue").withoutTags().decrement(i);
    }

    private static void write(Path file) throws Exception {
        try (PrintWriter out =
                new PrintWriter(Files.newBufferedWriter(file, StandardCharsets.UTF_8))) {
            TOTALS.forEach((series, total) -> out.println(series + " = " + total));
            VALUES.forEach(
                    (series, values) -> {
                        out.print(series + " =");
                        values.forEach((value, times) -> out.print(" " + value + ":" + times));
                        out.println();
                    });
        }
    }

    public static void main(String[] arguments) throws Exception {
        Kamon.init();
        Witness witness = new Witness();
        Kamon.addReporter("witness", witness);
        counters();
        gauges();
        distributions(1);
        awaitTick(witness);
        countersLater();
        distributions(2);
        // to a last sample of the range sampler, which is taken every 200 ms
        Thread.sleep(500);
        // At the end Kamon makes a snapshot of its own for each reporter: no sample between them.
        Kamon.rangeSampler("app.queue").withoutTags().remove();
        // Kamon drops the snapshot of a tick that still runs when Kamon is stopped.
        awaitTick(witness);
        countersAtTheEnd();
        Await.result(Kamon.stopModules(), Duration.create(120, TimeUnit.SECONDS));
        write(Paths.get(arguments[0]));
        System.exit(0);
    }

    /** Waits until a tick has just been, so that the next is far off. */
    private static void awaitTick(Witness witness) throws InterruptedException {
        for (int before = witness.ticks; witness.ticks == before; ) Thread.sleep(10);
        Thread.sleep(200);
    }

    private static void countersAtTheEnd() {
        Kamon.counter("app.last").withoutTags().increment(11);
        TOTALS.put("counter app.last {}", "11");
    }
}
