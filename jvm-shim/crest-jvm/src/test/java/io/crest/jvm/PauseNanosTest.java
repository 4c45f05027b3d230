// SPDX-License-Identifier: Apache-2.0
package io.crest.jvm;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.ByteOrder;
import org.junit.jupiter.api.Test;

class PauseNanosTest {
    private static final String COUNT = "sun.gc.collector.1.invocations";
    private static final String TIME = "sun.gc.collector.1.time";

    private final PerfBytes bytes = new PerfBytes(ByteOrder.LITTLE_ENDIAN)
            .with("sun.gc.collector.0.name", "others")
            .with("sun.gc.collector.1.name", "ours").with(COUNT, 5).with(TIME, 1_000_000);
    private final PauseNanos pauses = new PauseNanos(bytes.data(), "ours");

    private void were(long count, long nanos) {
        bytes.set(COUNT, count);
        bytes.set(TIME, nanos);
    }

    @Test
    void isWhatTheSumHasGrownBy() {
        were(6, 1_020_000);
        assertEquals(20_000, pauses.of(0));
        were(7, 4_520_000);
        assertEquals(3_500_000, pauses.of(3));
    }

    @Test
    void sharesWhatWasToldLate() {
        were(8, 1_000_000 + 60_000);
        assertEquals(20_000, pauses.of(0));
        assertEquals(20_000, pauses.of(0));
        were(9, 1_060_000 + 100_000);
        assertEquals(60_000, pauses.of(0));
        assertEquals(60_000, pauses.of(0));
    }

    @Test
    void staysWithinAMillisecondOfWhatWasTold() {
        were(8, 1_000_000 + 61_700_000);
        assertEquals(1_000_000, pauses.of(1));
        assertEquals(50_000_000, pauses.of(50));
        assertEquals(10_700_000, pauses.of(10));
        were(9, 62_700_000 + 8_100_000);
        assertEquals(3_000_000, pauses.of(2));
        were(10, 70_800_000 + 1_100_000);
        assertEquals(2_100_000, pauses.of(2)); // a millisecond of what is left goes to the next
        were(11, 71_900_000 + 2_400_000);
        assertEquals(2_400_000, pauses.of(2)); // and no more of it
    }

    @Test
    void keepsTheSum() {
        were(8, 1_000_000 + 7_500_000);
        assertEquals(6_000_000, pauses.of(6));
        assertEquals(750_000, pauses.of(1));
        assertEquals(750_000, pauses.of(0));
    }

    /** A pause without a notification does not spoil later pauses. */
    @Test
    void bearsAPauseThatIsNeverTold() {
        were(6, 9_000_000);
        long nanos = 9_000_000;
        for (int i = 0; i < 200; i++) {
            long millis = 20 + i % 3 * 5;
            nanos += millis * 1_000_000 + 300_000;
            were(7 + i, nanos);
            assertEquals(millis * 1_000_000, pauses.of(millis), 1_000_000);
        }
    }

    @Test
    void givesUpWhatManyNeverTellOf() {
        were(5 + 2_000, 1_000_000 + 500_000_000);
        pauses.of(5);
        were(5 + 2_001, 501_000_000 + 2_100_000);
        assertEquals(2_100_000, pauses.of(2));
    }

    @Test
    void takesTheCoarseFigureWhereThereIsNoFineOne() {
        assertEquals(2_000_000, new PauseNanos(null, "ours").of(2));
        assertEquals(2_000_000, new PauseNanos(bytes.data(), null).of(2));
        assertEquals(2_000_000, new PauseNanos(bytes.data(), "nobody's").of(2));
        assertEquals(0, pauses.of(0));
    }
}
