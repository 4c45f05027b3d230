// SPDX-License-Identifier: Apache-2.0
package io.crest.kamon;

import static io.crest.kamon.Periods.values;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import io.crest.Counter;
import io.crest.Crest;
import io.crest.PageFormat;
import io.crest.RangeSampler;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import kamon.metric.DynamicRange;
import kamon.metric.MeasurementUnit;
import kamon.tag.TagSet;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** Kamon's metrics in Crest, by hand-made snapshots. */
class ForwarderTest {
    private static final TagSet NONE = TagSet.Empty();
    private static final MeasurementUnit BARE = MeasurementUnit.none();
    private static final DynamicRange DEFAULT = DynamicRange.Default();

    private final Forwarder forwarder = forwarder("");

    private static Forwarder forwarder(String buckets) {
        Config given = ConfigFactory.parseString(buckets);
        Config all = given.withFallback(ConfigFactory.defaultReference()).resolve();
        return new Forwarder(new CrestSettings(all), LoggerFactory.getLogger(ForwarderTest.class));
    }

    private static String page() {
        return "\n" + Crest.page(PageFormat.TEXT);
    }

    private static void assertLine(String line) {
        assertTrue(page().contains("\n" + line + "\n"), line + " in " + near(line));
    }

    private static String near(String line) {
        StringBuilder found = new StringBuilder();
        Matcher lines =
                Pattern.compile("\n" + line.substring(0, 9) + "[^\n]*").matcher(page());
        while (lines.find()) found.append(lines.group());
        return found.toString();
    }

    private static long misuse() {
        long all = 0;
        Matcher lines =
                Pattern.compile("\ncrest_misuse_total\\{cause=\"(?!name-|type-)[^}]*} (\\d+)")
                        .matcher(page());
        while (lines.find()) all += Long.parseLong(lines.group(1));
        return all;
    }

    @Test
    void incrementsOfCountersAddUp() {
        TagSet get = TagSet.of("http.method", "GET");
        MeasurementUnit kilobytes = MeasurementUnit.information().kilobytes();
        for (long n = 1; n <= 3; n++) {
            Periods period = new Periods();
            period.counter("kt1.requests", BARE, Map.of(NONE, n, get, 10 * n));
            period.counter("kt1.sent", kilobytes, Map.of(NONE, n));
            period.counter("kt1.waited", MeasurementUnit.time().milliseconds(), Map.of(NONE, n));
            forwarder.forward(period.snapshot());
        }
        assertLine("kt1_requests_total{http_method=\"\"} 6");
        assertLine("kt1_requests_total{http_method=\"GET\"} 60");
        assertLine("kt1_sent_bytes_total 6144");
        assertLine("kt1_waited_seconds_total 0.006");
        assertTrue(page().contains("\n# HELP kt1_requests_total A counter. [kt1.requests]\n"));
    }

    @Test
    void aKeyThatComesLaterLosesNothing() {
        TagSet error = TagSet.builder().add("error", true).add("status", 500L).build();
        forwarder.forward(new Periods().counter("kt2.c", BARE, Map.of(NONE, 1L)).snapshot());
        forwarder.forward(
                new Periods().counter("kt2.c", BARE, Map.of(NONE, 2L, error, 4L)).snapshot());
        forwarder.forward(new Periods().counter("kt2.c", BARE, Map.of(NONE, 0L)).snapshot());
        forwarder.forward(
                new Periods().counter("kt2.c", BARE, Map.of(NONE, 0L, error, 8L)).snapshot());
        assertLine("kt2_c_total{error=\"\",status=\"\"} 3");
        assertLine("kt2_c_total{error=\"true\",status=\"500\"} 12");
    }

    @Test
    void anInstrumentThatComesBackGoesOn() {
        TagSet peer = TagSet.of("peer", "a");
        forwarder.forward(
                new Periods().counter("kt11.c", BARE, Map.of(NONE, 1L, peer, 2L)).snapshot());
        forwarder.forward(new Periods().counter("kt11.c", BARE, Map.of(NONE, 1L)).snapshot());
        forwarder.forward(new Periods().snapshot());
        assertLine("kt11_c_total{peer=\"a\"} 2"); // once more
        forwarder.forward(new Periods().counter("kt11.c", BARE, Map.of(peer, 4L)).snapshot());
        assertLine("kt11_c_total{peer=\"a\"} 6");
        assertLine("kt11_c_total{peer=\"\"} 2");
    }

    @Test
    void gauges() {
        MeasurementUnit megabytes = MeasurementUnit.information().megabytes();
        forwarder.forward(
                new Periods()
                        .gauge("kt3.level", BARE, Map.of(NONE, -2.5))
                        .gauge("kt3.memory", megabytes, Map.of(NONE, 0.5))
                        .gauge("kt3.cpu", MeasurementUnit.percentage(), Map.of(NONE, 12.5))
                        .gauge("kt3.age", MeasurementUnit.time().microseconds(), Map.of(NONE, 7.0))
                        .snapshot());
        assertLine("kt3_level -2.5");
        assertLine("kt3_memory_bytes 524288");
        assertLine("kt3_cpu 12.5");
        assertLine("kt3_age_seconds 7e-06");
    }

    @Test
    void distributionsBucketByBucket() {
        long before = misuse();
        long last = (1L << 42) - (1L << 34); // where Kamon's last bucket by default begins
        long[] recorded = {0, 2_000_000, 1, 1, 255, 3, 256, 5, 1_000_000, 7, last, 1};
        for (int n = 0; n < 2; n++)
            forwarder.forward(
                    new Periods()
                            .histogram("kt4.size", BARE, Map.of(NONE, values(DEFAULT, recorded)))
                            .snapshot());
        assertLine("kt4_size_bucket{le=\"10.0\"} 4000002");
        assertLine("kt4_size_bucket{le=\"100.0\"} 4000002");
        assertLine("kt4_size_bucket{le=\"300.0\"} 4000018");
        assertLine("kt4_size_bucket{le=\"100000.0\"} 4000018");
        assertLine("kt4_size_bucket{le=\"+Inf\"} 4000034");
        assertLine("kt4_size_sum " + 2 * (1 + 3 * 255 + 5 * 256 + 7_000_000 + last));
        assertLine("kt4_size_count 4000034");
        assertEquals(before, misuse());
    }

    @Test
    void rangeSamplersAreOfOneTypeWithNativeOnes() {
        Map<TagSet, kamon.metric.Distribution> samples =
                Map.of(NONE, values(DEFAULT, 4, 2, 10, 1, 12, 1));
        Periods period = new Periods().rangeSampler("kt12.queue", BARE, samples);
        forwarder.forward(period.snapshot());
        RangeSampler.of("kt12.native").set(8);
        assertTrue(page().contains("\n# TYPE kt12_native gauge\n"), near("kt12_native"));
        assertLine("kt12_queue 8");
        assertTrue(page().contains("\n# TYPE kt12_queue gauge\n"), near("kt12_queue"));
        forwarder("kamon.crest.range-samplers = histogram")
                .forward(new Periods().rangeSampler("kt13.queue", BARE, samples).snapshot());
        assertLine("kt13_queue_bucket{le=\"10.0\"} 3");
        assertLine("kt13_queue_sum 30");
    }

    @Test
    void keysOfOneMetricLeaveThoseOfOthersAlone() {
        TagSet both = TagSet.of("http_method", "A").withTag("http.method", "B");
        Periods period =
                new Periods()
                        .counter("kt14.a", BARE, Map.of(TagSet.of("http.method", "GET"), 1L))
                        .counter("kt14.b", BARE, Map.of(TagSet.of("http_method", "GET"), 2L))
                        .counter("kt14.c", BARE, Map.of(both, 3L));
        forwarder.forward(period.snapshot());
        assertLine("kt14_a_total{http_method=\"GET\"} 1");
        assertLine("kt14_b_total{http_method=\"GET\"} 2");
        assertTrue(page().contains("http_method_2="), near("kt14_c_to"));
    }

    @Test
    void rangesAreNoNarrowerThanKamons() {
        long before = misuse();
        MeasurementUnit kilobytes = MeasurementUnit.information().kilobytes();
        DynamicRange coarse = new DynamicRange(1_000_000, 4_000_000_000L, 1);
        DynamicRange whole = new DynamicRange(1, Long.MAX_VALUE, 0);
        forwarder.forward(
                new Periods()
                        .histogram("kt5.a", MeasurementUnit.percentage(), Map.of(
                                NONE, values(DynamicRange.Percentage(), 95, 1, 96, 1, 255, 1)))
                        .histogram("kt5.b", kilobytes, Map.of(
                                NONE, values(DEFAULT, (1L << 42) - (1L << 34), 1)))
                        .histogram("kt5.c", BARE, Map.of(NONE, values(coarse, 1L << 31, 1)))
                        .histogram("kt5.d", BARE, Map.of(NONE, values(whole, 1L << 61, 1)))
                        .snapshot());
        assertLine("kt5_a_bucket{le=\"95.0\"} 1");
        assertLine("kt5_a_sum 446");
        assertLine("kt5_b_bytes_sum " + ((1L << 52) - (1L << 44)));
        assertLine("kt5_c_sum " + (1L << 31));
        assertLine("kt5_d_sum " + (1L << 61));
        assertEquals(before, misuse());
    }

    @Test
    void moreThanOneRecordCanHold() {
        long times = 5_000_000_000L;
        forwarder.forward(
                new Periods()
                        .histogram("kt6.h", BARE, Map.of(NONE, values(DEFAULT, 1L << 41, times)))
                        .snapshot());
        assertLine("kt6_h_count " + times);
    }

    @Test
    void namesThatAreTakenAndNamesThatAreNone() {
        Counter.of("kt7.taken").increment(3);
        Periods period =
                new Periods()
                        .gauge("kt7.taken", BARE, Map.of(NONE, 1.0))
                        .counter("kt7 odd/name", BARE, Map.of(NONE, 2L))
                        .counter("kt7.odd-name", BARE, Map.of(NONE, 4L))
                        .counter("up", BARE, Map.of(NONE, 5L));
        forwarder.forward(period.snapshot());
        forwarder.forward(period.snapshot());
        assertLine("kt7_taken_total 3");
        assertLine("kt7_taken_kamon 1");
        assertLine("kt7_odd_name_total 4");
        assertLine("kt7_odd_name_kamon_total 8");
        assertLine("up_kamon_total 10");
    }

    @Test
    void moreTagsThanAMetricHasRoomFor() {
        for (int n = 0; n < 2; n++) {
            Periods period = new Periods();
            TagSet all = TagSet.Empty();
            for (int i = 10; i < 28; i++) all = all.withTag("k" + i, i == 26 ? "a,b=c" : "v");
            period.counter("kt8.c", BARE, Map.of(all, 1L, all.withTag("k27", "w"), 2L));
            forwarder.forward(period.snapshot());
        }
        Matcher lines =
                Pattern.compile("\nkt8_c_total\\{k10=\"v\".*k24=\"v\",(.*)").matcher(page());
        assertTrue(lines.find());
        assertEquals("more_tags=\"k25=v,k26=a\\\\,b\\\\=c,k27=v\"} 2", lines.group(1));
        assertTrue(lines.find());
        assertEquals("more_tags=\"k25=v,k26=a\\\\,b\\\\=c,k27=w\"} 4", lines.group(1));
    }

    @Test
    void bucketsOfTheConfiguration() {
        Forwarder configured =
                forwarder(
                        "kamon.crest.buckets { \"kt9.a b\" = [1, 7], \"kt9.bad\" = [7, 1],"
                                + " \"kt9.odd\" = 5s },"
                                + " kamon.prometheus.buckets { custom { \"kt9.c\" = [3, 7] },"
                                + " time-buckets = [7e-9, 1] }");
        Periods period = new Periods();
        for (String name : new String[] {"kt9.a b", "kt9.bad", "kt9.odd", "kt9.c"})
            period.histogram(name, BARE, Map.of(NONE, values(DEFAULT, 7, 1)));
        MeasurementUnit nanoseconds = MeasurementUnit.time().nanoseconds();
        period.histogram("kt9.time", nanoseconds, Map.of(NONE, values(DEFAULT, 7, 1)));
        configured.forward(period.snapshot());
        assertLine("kt9_a_b_bucket{le=\"7.0\"} 1");
        assertFalse(page().contains("kt9_a_b_bucket{le=\"2.0\"}"));
        assertLine("kt9_c_bucket{le=\"3.0\"} 0");
        assertLine("kt9_time_seconds_bucket{le=\"7e-09\"} 1");
        assertLine("kt9_bad_bucket{le=\"10.0\"} 1");
        assertLine("kt9_bad_count 1");
        assertLine("kt9_odd_count 1");
    }

    @Test
    void aMetricWithoutInstrumentsIsNone() {
        forwarder.forward(new Periods().histogram("kt10.h", BARE, Map.of()).snapshot());
        assertFalse(page().contains("kt10"));
    }
}
