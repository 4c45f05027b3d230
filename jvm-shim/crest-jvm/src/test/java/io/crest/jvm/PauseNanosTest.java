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
    void takesTheCoarseFigureWhereTheyDiffer() {
        were(7, 1_000_000 + 51_000_000);
        assertEquals(1_000_000, pauses.of(1));
        assertEquals(50_000_000, pauses.of(50));
        were(8, 52_000_000 + 2_100_000);
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
