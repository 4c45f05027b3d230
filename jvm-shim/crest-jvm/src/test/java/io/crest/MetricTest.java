// SPDX-License-Identifier: Apache-2.0
package io.crest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

class MetricTest {
    static { assertTrue(Library.AVAILABLE, Library.problem()); }

    private static String refused(Executable call) {
        return assertThrows(IllegalArgumentException.class, call).getMessage();
    }

    @Test
    void theTableOfStatusesIsTheLibrarys() {
        assertNull(Status.difference(MetricNatives.statuses()));
    }

    @Test
    void twoObjectsOfANameAreOneCounter() {
        Counter one = Counter.of("metric.twice", "Counted twice.");
        Counter other = Counter.of("metric.twice");
        one.increment();
        other.increment(2);
        assertEquals(3, one.value());
        assertEquals(3, other.value());
    }

    @Test
    void aFamilyFindsTheSameSeriesAgain() {
        Family<Counter> family = Metric.named("metric.sent").labelled("kind", "peer").counter();
        family.with("ping", "a").increment(2);
        family.with("ping", "b").increment(3);
        family.with("ping", "a").increment();
        assertEquals(3, family.with("ping", "a").value());
        assertEquals(3, family.with("ping", "b").value());
        assertEquals(0, family.with("pong", "a").value());
        assertEquals("counter metric.sent (ping, a)", family.with("ping", "a").toString());
        assertEquals("counter metric.sent by kind, peer", family.toString());
    }

    @Test
    void whatIsNotValidIsToldWithItsName() {
        assertEquals(
                "cannot make counter \"a b\": the metric name is not valid; names are letters,"
                        + " digits and _ in words joined by . and -, begin with a letter, have at"
                        + " most 200 bytes, and are none that Prometheus or Crest itself export",
                refused(() -> Counter.of("a b")));
        refused(() -> Counter.of(null));
        refused(() -> Counter.of(""));
        refused(() -> Counter.of("a\0b"));
        refused(() -> Counter.of("a\ud800"));
        refused(() -> Metric.named("metric.keys").labelled());
        refused(() -> Metric.named("metric.keys").labelled("a", null));
        refused(() -> Metric.named("metric.keys").labelled("a", "a").counter());
        refused(() -> Metric.named("metric.keys").labelled("le").counter());
        refused(() -> Metric.named("metric.keys")
                .labelled("a", "b", "c", "d", "e", "f", "g", "h", "i"));
        refused(() -> Metric.named("metric.deadline").deadline(Duration.ZERO));
        refused(() -> Metric.named("metric.deadline").deadline(Duration.ofDays(50)));
        Family<Counter> family = Metric.named("metric.values").labelled("kind").counter();
        assertTrue(refused(() -> family.with("a", "b")).contains("its keys are kind"));
        refused(() -> family.with());
    }

    @Test
    void aNameOfAnotherKindIsRefusedAsSuch() {
        Counter.of("metric.counted");
        CrestException refusal =
                assertThrows(CrestException.class, () -> Gauge.of("metric.counted"));
        assertEquals(Status.TYPE_CLASH, refusal.status());
        assertTrue(refusal.getMessage().startsWith("cannot make gauge \"metric.counted\": "));
    }

    private static CrestException clash(Executable call) {
        return assertThrows(CrestException.class, call);
    }

    @Test
    void whatStandsInTheWayIsTold() {
        Metric.named("metric.shape").labelled("a").counter();
        assertEquals(Status.TYPE_CLASH,
                clash(() -> Metric.named("metric.shape").labelled("b").counter()).status());
        assertEquals(Status.TYPE_CLASH, clash(() -> Counter.of("metric.shape")).status());
        Stages.of("metric.stages", "", "a", "b");
        assertEquals(Status.TYPE_CLASH,
                clash(() -> Stages.of("metric.stages", "", "a")).status());
        Metric.named("metric.size").in(Unit.BYTES).gauge();
        CrestException refusal = clash(() -> Gauge.of("metric.size-bytes"));
        assertEquals(Status.NAME_CLASH, refusal.status());
        assertEquals(
                "cannot make gauge \"metric.size-bytes\": the exported name is in use by another"
                        + " metric; take a name that differs from it in more than unit and ending;"
                        + " the log names both",
                refusal.getMessage());
    }

    @Test
    void settingsThatAreNoneAreTold() {
        Metric metric = Metric.named("metric.settings");
        String start = "cannot make metric \"metric.settings\" with ";
        assertEquals(start + "a unit that is null", refused(() -> metric.in(null)));
        assertEquals(start + "a range that is null", refused(() -> metric.range(null)));
        assertEquals(start + "a set of buckets that is null",
                refused(() -> metric.buckets((Buckets) null)));
        assertEquals(start + "the quantile 1.0; it lies above 0 and below 1",
                refused(() -> metric.quantiles(0.5, 1)));
        assertEquals(start + "5 quantiles; 4 is the limit",
                refused(() -> metric.quantiles(0.1, 0.2, 0.3, 0.4, 0.5)));
        refused(() -> metric.quantiles((double[]) null));
        refused(() -> metric.quantiles(Double.NaN));
        refused(() -> metric.deadline(null));
        refused(() -> metric.deadline(Duration.ofSeconds(-1)));
        refused(() -> metric.deadline(Duration.ofSeconds(Long.MAX_VALUE)));
        assertEquals(start + "an idle time of PT0S; it is more than zero",
                refused(() -> metric.idle(Duration.ZERO)));
        assertEquals(start + "0 stages; they are 1 to 16", refused(() -> metric.stages()));
        refused(() -> metric.stages((String[]) null));
        refused(() -> metric.stages(new String[17]));
        assertEquals(start + "stage 1 without a name", refused(() -> metric.stages("a", "")));
        assertEquals(start + "stage a twice", refused(() -> metric.stages("a", "b", "a")));
        refused(() -> Metric.named("metric.settings").quantiles(0.5, 0.5).histogram());
        refused(() -> Metric.named("metric.settings").describedAs("x".repeat(1001)).counter());
    }

    @Test
    void settingsThatAKindHasNoUseForAreTold() {
        refused(() -> Metric.named("metric.kind").buckets(1).counter());
        refused(() -> Metric.named("metric.kind").range(Range.FINE).gauge());
        refused(() -> Metric.named("metric.kind").quantiles(0.5).rangeSampler());
        refused(() -> Metric.named("metric.kind").deadline(Duration.ofSeconds(1)).histogram());
        refused(() -> Metric.named("metric.kind").idle(Duration.ofSeconds(1)).gauge());
        refused(() -> Metric.named("metric.kind").in(Unit.BYTES).timer());
        refused(() -> Metric.named("metric.kind").range(Range.NONE).buckets(1).histogram());
        refused(() -> Metric.named("metric.kind").range(Range.NONE).quantiles(0.5).histogram());
        refused(() -> Metric.named("metric.kind").withoutWindows().quantiles(0.5).timer());
        Metric.named("metric.kind").in(Unit.NANOSECONDS).timer();
    }

    @Test
    void bucketsAndRangesThatAreNoneAreTold() {
        assertEquals("there are no bucket bounds; give one, or none of your own",
                refused(() -> Buckets.of()));
        assertEquals("bucket bound 2 of 3, 1.0, is not above the one before it",
                refused(() -> Buckets.of(1, 1, 2)));
        assertEquals("bucket bound 1 of 1, -1.0, is negative", refused(() -> Buckets.of(-1)));
        refused(() -> Buckets.of(Double.NaN));
        refused(() -> Buckets.of(1, Double.POSITIVE_INFINITY));
        refused(() -> Buckets.of((double[]) null));
        refused(() -> Buckets.of(new double[65]));
        refused(() -> Metric.named("metric.bounds").buckets(2, 1));
        refused(() -> Range.of(0, 10, 2));
        refused(() -> Range.of(6, 10, 2));
        refused(() -> Range.of(1, Long.MAX_VALUE, 2));
        refused(() -> Range.of(1, Long.MIN_VALUE, 2));
        refused(() -> Range.of(Long.MAX_VALUE, Long.MAX_VALUE, 2));
        refused(() -> Range.of(1, 10, 6));
        refused(() -> Range.of(1, 10, -1));
        Range.of(1, 1L << 62, 5);
    }

    @Test
    void withoutTheLibraryNothingIsRecordedAndEverythingGoesOn() throws Exception {
        String said = new ChildJvm().with("-Dcrest.native=off").run(MetricMain.class, "without");
        assertEquals(
                String.join(System.lineSeparator(),
                        "0", "MISMATCH OK NOT_RUNNING", "MISMATCH OK", "lambda", "stage",
                        "OK OK 0 0", "OK OK OK", "null is told"),
                said);
    }

    @Test
    void whereNamesMayNotBeSplitTheOtherIsToBeUsed() throws Exception {
        String said = new ChildJvm().run(MetricMain.class, "strict");
        assertEquals(
                String.join(System.lineSeparator(),
                        "SPLIT_NAME",
                        "cannot make counter \"strict.blockSeen\": the name differs from another"
                                + " metric's only in case or separators; use the name that is"
                                + " there, which the log names, or switch strict off"),
                said);
    }

    @Test
    void whereALimitIsReachedInstrumentsRecordNowhere() throws Exception {
        String said = new ChildJvm().run(MetricMain.class, "too many");
        assertEquals(
                String.join(System.lineSeparator(),
                        "0", "LIMIT NOT_RUNNING LIMIT", "true", "counted"),
                said);
    }
}
