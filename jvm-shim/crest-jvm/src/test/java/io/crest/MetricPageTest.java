// SPDX-License-Identifier: Apache-2.0
package io.crest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import org.junit.jupiter.api.Test;

/** A metric's settings show on the page. */
class MetricPageTest {
    static { assertTrue(Library.AVAILABLE, Library.problem()); }

    @Test
    void nameAndDescription() {
        Counter.of("asked.counted", "Counted — every \ud83d\ude00.").increment();
        Page page = Page.now();
        page.mustHave("# HELP asked_counted_total Counted — every \ud83d\ude00. [asked.counted]");
        page.mustHave("# TYPE asked_counted_total counter");
        assertEquals(1, page.value("asked_counted_total"));
    }

    @Test
    void units() {
        for (Unit unit : Unit.values())
            Metric.named("asked.in-" + unit.name().toLowerCase()).in(unit).gauge();
        Page page = Page.now();
        page.mustHave("asked_in_none 0");
        page.mustHave("asked_in_bytes 0");
        page.mustHave("asked_in_nanoseconds_seconds 0");
        page.mustHave("asked_in_microseconds_seconds 0");
        page.mustHave("asked_in_milliseconds_seconds 0");
        page.mustHave("asked_in_seconds 0");
        page.mustHave("asked_in_ratio 0");
        Metric.named("asked.waited").in(Unit.MILLISECONDS).histogram().record(1500);
        assertEquals(1.5, Page.now().value("asked_waited_seconds_sum"));
    }

    private static String bucket(String name, Buckets buckets) {
        Metric.named("asked." + name).buckets(buckets).histogram();
        return Page.now().lines("asked_" + name + "_bucket").split("\"")[1];
    }

    @Test
    void buckets() {
        assertEquals("0.005", bucket("b1", Buckets.DEFAULT));
        assertEquals("1e-05", bucket("b2", Buckets.FAST));
        assertEquals("0.1", bucket("b3", Buckets.SLOW));
        assertEquals("512.0", bucket("b4", Buckets.BYTES));
        assertEquals("0.05", bucket("b5", Buckets.RATIO));
        assertEquals("1.0", bucket("b6", Buckets.MAGNITUDES));
        assertEquals("3.0", bucket("b7", Buckets.of(3, 5.5)));
        assertEquals("0.0", bucket("b8", Buckets.of(-0.0, 1)));
        Histogram own = Metric.named("asked.own").buckets(2, 4).histogram();
        for (int i = 1; i <= 5; i++) own.record(i);
        Page page = Page.now();
        assertEquals(2, page.value("asked_own_bucket{le=\"2.0\"}"));
        assertEquals(4, page.value("asked_own_bucket{le=\"4.0\"}"));
        assertEquals(5, page.value("asked_own_bucket{le=\"+Inf\"}"));
    }

    @Test
    void ranges() {
        double clamped = Page.misuse("clamped");
        Histogram percentage = Metric.named("asked.r1").range(Range.PERCENTAGE).histogram();
        percentage.record(127);
        percentage.record(128);
        assertEquals(254, Page.now().value("asked_r1_sum"));
        Histogram own = Metric.named("asked.r2").range(Range.of(1, 1000, 3)).histogram();
        own.record(1023);
        own.record(1024);
        assertEquals(2046, Page.now().value("asked_r2_sum"));
        assertEquals(clamped + 2, Page.misuse("clamped"));
        Metric.named("asked.r3").range(Range.NONE).histogram().record(1L << 50);
        Page page = Page.now();
        assertEquals((double) (1L << 50), page.value("asked_r3_sum"));
        assertEquals(1, page.lines("asked_r3_bucket").split("\n").length);
        for (Range range : new Range[] {Range.FINE, Range.LOOSE}) {
            String name = range == Range.FINE ? "fine" : "loose";
            Histogram near = Metric.named("asked." + name).range(range).buckets(1000).histogram();
            near.record(995);
            near.record(1005);
        }
        page = Page.now();
        assertEquals(1, page.value("asked_fine_bucket{le=\"1000.0\"}"));
        assertNotEquals(1, page.value("asked_loose_bucket{le=\"1000.0\"}")); // not told apart
    }

    @Test
    void labels() {
        double text = Page.misuse("invalid-text");
        Family<Gauge> family = Metric.named("asked.labels").labelled("a", "b").gauge();
        family.with("q\"\\\n", "\ud83d\ude00ü").set(1);
        family.with(null, "").set(2);
        assertEquals(text, Page.misuse("invalid-text"));
        family.with("a\0b", "\ud83dx").set(3);
        family.with("x".repeat(2000), "").set(4);
        Page page = Page.now();
        assertEquals(1, page.value("asked_labels{a=\"q\\\"\\\\\\n\",b=\"\ud83d\ude00ü\"}"));
        assertEquals(2, page.value("asked_labels{a=\"\",b=\"\"}"));
        assertEquals(3, page.value("asked_labels{a=\"a\ufffdb\",b=\"\ufffdx\"}"));
        assertEquals(4, page.value("asked_labels{a=\"" + "x".repeat(1000) + "\",b=\"\"}"));
        assertEquals(text + 2, Page.misuse("invalid-text"));
    }

    @Test
    void everyKindHasFamilies() {
        Metric.named("asked.f1").labelled("k").counter().with("v").increment(2);
        Metric.named("asked.f2").labelled("k").gauge().with("v").set(2);
        Metric.named("asked.f3").labelled("k").histogram().with("v").record(2);
        Metric.named("asked.f4").labelled("k").rangeSampler().with("v").increment(2);
        Metric.named("asked.f5").labelled("k").timer().with("v").record(2_000_000_000);
        Page page = Page.now();
        assertEquals(2, page.value("asked_f1_total{k=\"v\"}"));
        assertEquals(2, page.value("asked_f2{k=\"v\"}"));
        assertEquals(2, page.value("asked_f3_sum{k=\"v\"}"));
        assertEquals(2, page.value("asked_f4{k=\"v\"}"));
        assertEquals(2, page.value("asked_f5_seconds_sum{k=\"v\",outcome=\"ok\"}"));
    }

    @Test
    void deadline() {
        Metric.named("asked.deadline").deadline(Duration.ofMinutes(1)).timer();
        Page page = Page.now();
        page.mustHave("asked_deadline_in_flight 0");
        page.mustHave("asked_deadline_oldest_seconds 0");
    }

    @Test
    void beyondAFamilysLimitSeriesAreOne() {
        Family<Counter> family = Metric.named("asked.many").labelled("peer").counter();
        for (int i = 0; i < 2010; i++) family.with("p" + i).increment();
        assertEquals(10, Page.now().value("asked_many_total{peer=\"overflow\"}"));
    }

    @Test
    void closingReleasesASeriesAndLeavesAMetricAlone() {
        Family<Counter> family = Metric.named("asked.closed").labelled("peer").counter();
        Counter counter = family.with("a");
        counter.increment();
        counter.close();
        counter.increment();
        assertEquals(2, counter.value());
        assertEquals(2, family.with("a").value());
        double before = Page.misuse("invalid-argument");
        Counter lone = Counter.of("asked.lone");
        lone.close();
        lone.increment();
        assertEquals(1, lone.value());
        assertEquals(before, Page.misuse("invalid-argument"));
        assertFalse(Page.now().has("asked_closed_total{peer=\"b\"}"));
    }
}
