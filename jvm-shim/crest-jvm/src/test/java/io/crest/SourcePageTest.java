// SPDX-License-Identifier: Apache-2.0
package io.crest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** A metric that is recorded by name is on the page under its whole name. */
class SourcePageTest {
    static { assertTrue(Library.AVAILABLE, Library.problem()); }

    private static final Source RP = Source.of("source.page").in("rp");

    @Test
    void everyWordReachesItsSeries() {
        RP.incrementCounter("connect");
        RP.incrementCounter("connect", 41);
        RP.incrementSampler("queue", 9);
        RP.decrementSampler("queue", 2);
        RP.sample("idle-queue");
        RP.setGauge("peers", 12);
        RP.incrementGauge("peers", 0.5);
        RP.decrementGauge("peers");
        RP.record("size", 700);
        RP.record("size", 300, 4);
        RP.timer("connect-time", () -> "x");
        Page page = Page.now();
        assertEquals(42, page.value("source_page_rp_connect_total"));
        assertEquals(7, page.value("source_page_rp_queue"));
        page.mustHave("source_page_rp_idle_queue 0");
        assertEquals(11.5, page.value("source_page_rp_peers"));
        assertEquals(5, page.value("source_page_rp_size_count"));
        assertEquals(1900, page.value("source_page_rp_size_sum"));
        assertEquals(1, page.value("source_page_rp_connect_time_seconds_count{outcome=\"ok\"}"));
        page.mustHave("source_page_rp_connect_time_seconds_count{outcome=\"error\"} 0");
    }

    /** RNode dropped the count. */
    @Test
    void aCountIsACountAlsoWhenItIsLarge() {
        RP.record("many", 3, 1_000_000_000_000L);
        RP.record("many", 1);
        Page page = Page.now();
        assertEquals(1_000_000_000_001.0, page.value("source_page_rp_many_count"));
        assertEquals(3_000_000_000_001.0, page.value("source_page_rp_many_sum"));
    }

    @Test
    void aMetricThatIsThereKeepsItsUnit() {
        Metric.named("source.page.rp.sent").in(Unit.BYTES).counter();
        RP.incrementCounter("sent", 512);
        assertEquals(512, Page.now().value("source_page_rp_sent_bytes_total"));
    }
}
