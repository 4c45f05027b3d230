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
}
