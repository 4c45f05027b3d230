// SPDX-License-Identifier: Apache-2.0
package io.crest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** Series of open families: keys that come one by one. */
class OpenFamilyTest {
    private static boolean hasLine(String line) {
        return Crest.page(PageFormat.TEXT).contains("\n" + line + "\n");
    }

    @Test
    void seriesOfOneMetricMayHaveDifferentKeys() {
        Metric requests = Metric.named("open.requests").describedAs("Requests.");
        requests.counter(Map.of()).increment(1);
        requests.counter(Map.of("method", "GET")).increment(2);
        requests.counter(new TreeMap<>(Map.of("error", "a\"é\n", "method", "GET"))).increment(4);
        requests.counter(Map.of("method", "GET")).increment(8);
        assertTrue(hasLine("open_requests_total{method=\"\",error=\"\"} 1"));
        assertTrue(hasLine("open_requests_total{method=\"GET\",error=\"\"} 10"));
        assertTrue(hasLine("open_requests_total{method=\"GET\",error=\"a\\\"é\\n\"} 4"));
    }

    @Test
    void everyKindThatHasThem() {
        Metric.named("open.depth").gauge(Map.of("queue", "in")).set(-2.5);
        Metric size = Metric.named("open.size").in(Unit.BYTES).buckets(100, 200);
        size.histogram(Map.of("kind", "block")).record(150, 3);
        Metric.named("open.waiting").rangeSampler(Map.of("queue", "in")).increment(5);
        assertTrue(hasLine("open_depth{queue=\"in\"} -2.5"));
        assertTrue(hasLine("open_size_bytes_bucket{kind=\"block\",le=\"200.0\"} 3"));
        assertTrue(hasLine("open_waiting{queue=\"in\"} 5"));
    }

    @Test
    void whatIsWrongIsTold() {
        Metric metric = Metric.named("open.refused");
        assertThrows(
                IllegalArgumentException.class, () -> metric.counter((Map<String, String>) null));
        assertThrows(
                IllegalArgumentException.class,
                () -> metric.counter(Collections.singletonMap(null, "x")));
        assertThrows(IllegalArgumentException.class, () -> metric.counter(Map.of("le", "x")));
        assertThrows(IllegalArgumentException.class, () -> metric.counter(Map.of("a b", "x")));
        Map<String, String> labels = new HashMap<>();
        for (int i = 0; i < 17; i++) labels.put("k" + i, "v");
        assertThrows(IllegalArgumentException.class, () -> metric.counter(labels));
        metric.counter(Collections.singletonMap("a", null)).increment();
        assertEquals(
                Status.TYPE_CLASH,
                assertThrows(CrestException.class, () -> metric.counter()).status());
        assertEquals(
                Status.TYPE_CLASH,
                assertThrows(CrestException.class, () -> metric.gauge(Map.of())).status());
    }

    @Test
    void theSeventeenthKeyRecordsNowhere() {
        Metric metric = Metric.named("open.many");
        for (int i = 0; i < 16; i++) metric.counter(Map.of("k" + i, "v")).increment();
        Counter beyond = metric.counter(Map.of("k16", "v"));
        beyond.increment();
        assertEquals(0, beyond.value());
        assertEquals(1, metric.counter(Map.of("k15", "v")).value());
    }

    @Test
    void aSeriesCanBeGivenUp() {
        Metric metric = Metric.named("open.closed");
        Counter counter = metric.counter(Map.of("peer", "a"));
        counter.increment();
        counter.close();
        counter.close();
        metric.counter(Map.of("peer", "a")).increment();
        assertEquals(2, counter.value());
        assertEquals("counter open.closed (peer=a)", counter.toString());
    }
}
