// SPDX-License-Identifier: Apache-2.0
package io.crest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class GaugeTest {
    static { assertTrue(Library.AVAILABLE, Library.problem()); }

    @Test
    void holdsWhatWasSetLast() {
        Gauge gauge = Gauge.of("test.gauge");
        assertEquals(0, gauge.value());
        gauge.set(-2.5);
        gauge.set(Double.NaN);
        assertEquals(-2.5, gauge.value());
        gauge.increment();
        gauge.increment(2);
        gauge.decrement();
        gauge.decrement(0.25);
        gauge.increment(Double.NaN);
        assertEquals(-0.75, gauge.value());
        gauge.set(Double.POSITIVE_INFINITY);
        gauge.increment(Double.NEGATIVE_INFINITY);
        assertEquals(Double.POSITIVE_INFINITY, gauge.value());
    }

    @Test
    void losesNoAddition() throws Exception {
        Gauge gauge = Gauge.of("test.added");
        Thread[] threads = new Thread[4];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Thread(() -> {
                for (int n = 0; n < 100_000; n++) {
                    gauge.increment(3);
                    gauge.decrement(2);
                }
            });
            threads[i].start();
        }
        for (Thread thread : threads) thread.join();
        assertEquals(400_000, gauge.value());
    }

    @Test
    void isSetToTheTime() {
        Gauge gauge = Gauge.of("test.last-time");
        double before = System.currentTimeMillis() / 1e3 - 0.002;
        gauge.setToNow();
        double after = System.currentTimeMillis() / 1e3 + 0.002;
        assertTrue(gauge.value() >= before && gauge.value() <= after, () -> "" + gauge.value());
    }
}
