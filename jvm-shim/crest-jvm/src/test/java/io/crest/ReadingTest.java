// SPDX-License-Identifier: Apache-2.0
package io.crest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** Series of each kind, read as a program's tests read them. */
class ReadingTest {
    @Test
    void histogramsAndTimers() {
        Histogram sizes = Histogram.of("reading.size");
        sizes.record(7);
        sizes.record(9, 2);
        Reading size = Reading.of("reading.size");
        assertEquals(3, size.count());
        assertEquals(25, size.sum());
        assertEquals(7, size.minimum());
        assertEquals(9, size.maximum());
        assertEquals(0, size.value());
        Timer timer = Timer.of("reading.time");
        timer.record(40);
        timer.record(60, Outcome.ERROR);
        assertEquals(40, Reading.of("reading.time", "outcome", "ok").sum());
        assertEquals(60, Reading.of("reading.time", "outcome", "error").sum());
        sizes.record(1);
        assertEquals(3, size.count(), "a reading stays as it was");
        assertEquals(4, Reading.of("reading.size").count());
    }

    @Test
    void countersGaugesAndSamplersByTheirLabels() {
        Family<Counter> sent = Metric.named("reading.sent").labelled("kind", "peer").counter();
        sent.with("ping", "ä").increment(5);
        sent.with("pong", "b").increment(2);
        assertEquals(5, Reading.of("reading.sent", "peer", "ä", "kind", "ping").value());
        assertEquals(2, Reading.of("reading.sent", "kind", "pong").value());
        Gauge.of("reading.level").set(-0.5);
        assertEquals(-0.5, Reading.of("reading.level").value());
        RangeSampler.of("reading.queue").increment(3);
        assertEquals(3, Reading.of("reading.queue").value());
    }

    @Test
    void saysWhichSeriesAreClose() {
        Family<Counter> two = Metric.named("reading.two").labelled("side").counter();
        two.with("left").increment();
        two.with("right").increment();
        assertTrue(refused("reading.two").contains("left"), refused("reading.two"));
        assertTrue(refused("reading.tow").contains("reading.tow"), refused("reading.tow"));
        String smile = "\ud83d\ude00";
        assertTrue(refused("reading.two", "side", "l\u0000\ud800" + smile).contains(smile));
        assertTrue(refused("reading.two", "side").contains("1 texts"));
        assertTrue(refused("reading.two", new String[20]).contains("20 texts"));
        assertThrows(NullPointerException.class, () -> Reading.of("reading.two", "side", null));
    }

    private static String refused(String name, String... labels) {
        return assertThrows(IllegalArgumentException.class, () -> Reading.of(name, labels))
                .getMessage();
    }
}
