// SPDX-License-Identifier: Apache-2.0
package io.crest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class HistogramTest {
    static { assertTrue(Library.AVAILABLE, Library.problem()); }

    @Test
    void countsAndSumsExactly() {
        Histogram histogram = Histogram.of("histogram.exact");
        long count = 0;
        long sum = 0;
        for (int round = 0; round < 3; round++) { // the first by calls, the others in memory
            for (long value = 0; value < 1L << 42; value = 3 * value + 1) {
                histogram.record(value);
                histogram.record(value, 5);
                count += 6;
                sum += 6 * value;
            }
        }
        Page page = Page.now();
        assertEquals(count, page.value("histogram_exact_count"));
        assertEquals(sum, page.value("histogram_exact_sum"));
    }

    @Test
    void oneAtATimeOrManyAtOnce() {
        Histogram histogram = Histogram.of("histogram.many");
        histogram.record(7);
        histogram.record(7, 0);
        histogram.record(7, 1 << 20);
        histogram.record(7, (1 << 20) + 1);
        histogram.record(7, 1L << 40);
        long count = 1 + (1L << 20) + (1L << 20) + 1 + (1L << 40);
        assertEquals(count, Page.now().value("histogram_many_count"));
        assertEquals(7 * count, Page.now().value("histogram_many_sum"));
    }

    @Test
    void whatIsNotAppliedIsCounted() {
        Histogram histogram = Histogram.of("histogram.wrong");
        double negative = Page.misuse("negative-amount");
        double clamped = Page.misuse("clamped");
        double limit = Page.misuse("limit");
        for (int i = 0; i < 2; i++) {
            histogram.record(-1);
            histogram.record(Long.MIN_VALUE);
            histogram.record(Long.MAX_VALUE);
            histogram.record(5, -1);
            histogram.record(5, Long.MIN_VALUE);
            histogram.record(1L << 41, Long.MAX_VALUE);
            histogram.record(5);
        }
        assertEquals(negative + 8, Page.misuse("negative-amount"));
        assertEquals(clamped + 2, Page.misuse("clamped"));
        assertEquals(limit + 2, Page.misuse("limit"));
        Page page = Page.now();
        assertEquals(4, page.value("histogram_wrong_count"));
        assertEquals(2.0 * ((1L << 42) - 1) + 10, page.value("histogram_wrong_sum"));
    }

    /** A thread that has its table makes no further cold call. */
    @Test
    void closedAndRetired() {
        Family<Histogram> family =
                Metric.named("histogram.labelled").labelled("peer").histogram();
        Histogram closed = family.with("closed");
        Histogram retired = family.with("retired");
        for (int i = 0; i < 3; i++) {
            closed.record(10);
            retired.record(10);
        }
        closed.close();
        closed.record(10); // brings it back
        String peer = "histogram_labelled_count{peer=";
        assertEquals(4, Page.now().value(peer + "\"closed\"}"));
        double late = Page.now().value("crest_late_records_total");
        Crest.retire("peer", "retired");
        retired.record(10);
        retired.record(10);
        assertNotSame(retired, family.with("retired"));
        assertEquals(late + 2, Page.now().value("crest_late_records_total"));
        family.with("retired").record(10);
        family.with("retired").record(10);
        family.with("closed").close();
        family.with("closed").record(10);
        assertEquals(2, Page.now().value(peer + "\"retired\"}"));
    }
}
