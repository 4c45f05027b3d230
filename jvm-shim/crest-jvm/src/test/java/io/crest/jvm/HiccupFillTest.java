// SPDX-License-Identifier: Apache-2.0
package io.crest.jvm;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class HiccupFillTest {
    private static List<Long> fill(long excess, long resolution) {
        List<Long> values = new ArrayList<>();
        HiccupFill.fill(excess, resolution, values::add);
        return values;
    }

    @Test
    void tellsWhatEachLookWouldHaveFound() {
        assertEquals(List.of(50L, 40L, 30L, 20L, 10L), fill(50, 10));
        assertEquals(List.of(59L, 49L, 39L, 29L, 19L), fill(59, 10));
        assertEquals(List.of(20L, 10L), fill(20, 10));
    }

    @Test
    void isOneRecordWhenShort() {
        assertEquals(List.of(0L), fill(0, 10));
        assertEquals(List.of(9L), fill(9, 10));
        assertEquals(List.of(19L), fill(19, 10));
    }

    @Test
    void isAtMostAnHour() {
        List<Long> values = fill(Long.MAX_VALUE, HiccupFill.LONGEST_NANOS / 3);
        assertEquals(HiccupFill.LONGEST_NANOS, values.get(0));
        assertEquals(3, values.size());
    }
}
