// SPDX-License-Identifier: Apache-2.0
package io.crest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

class SourceTest {
    static { assertTrue(Library.AVAILABLE, Library.problem()); }

    private static final Source COMM = Source.of("source.comm");

    @Test
    void countsIntoTheSeriesOfTheWholeName() {
        COMM.incrementCounter("events");
        COMM.incrementCounter("events", 41);
        COMM.incrementCounter(new String("events"));
        Source.root().incrementCounter("source.comm.events");
        assertEquals(44, Counter.of("source.comm.events").value());
    }

    @Test
    void sourcesComposeByPrefixing() {
        Source kademlia = COMM.in("discovery.kademlia");
        assertEquals("source.comm.discovery.kademlia", kademlia.name());
        assertSame(kademlia, COMM.in("discovery").in("kademlia"));
        assertSame(kademlia, Source.root().in("source.comm.discovery.kademlia"));
        assertSame(COMM, COMM.in(""));
        assertSame(Source.root(), Source.of(""));
        kademlia.incrementCounter("handle.ping", 3);
        assertEquals(3, Counter.of("source.comm.discovery.kademlia.handle.ping").value());
    }

    @Test
    void aSourceThatCannotBeSaysWhy() {
        String tooLong = "x".repeat(201);
        for (String wrong : List.of("-", "a..b", "a.", ".a", "1a", "a b", "a\0b", "ä", tooLong)) {
            Exception told = assertThrows(IllegalArgumentException.class, () -> Source.of(wrong));
            String said = told.getMessage();
            assertTrue(said.startsWith("a source is not valid: "), said);
        }
        assertThrows(IllegalArgumentException.class, () -> Source.of(null));
        assertThrows(IllegalArgumentException.class, () -> COMM.in(null));
        assertThrows(IllegalArgumentException.class, () -> COMM.in("."));
    }

    @Test
    void recordsIntoEachKind() {
        COMM.incrementSampler("queue");
        COMM.incrementSampler("queue", 5);
        COMM.incrementSampler("queue", -2);
        COMM.decrementSampler("queue");
        COMM.decrementSampler("queue", 1);
        COMM.sample("queue");
        assertEquals(2, RangeSampler.of("source.comm.queue").value());
        COMM.setGauge("peers", 12);
        COMM.incrementGauge("peers");
        COMM.incrementGauge("peers", 2L);
        COMM.incrementGauge("peers", 0.5);
        COMM.decrementGauge("peers");
        COMM.decrementGauge("peers", 3L);
        COMM.decrementGauge("peers", -0.25);
        assertEquals(11.75, Gauge.of("source.comm.peers").value());
        COMM.setGauge("peers", -1.5);
        assertEquals(-1.5, Gauge.of("source.comm.peers").value());
    }

    @Test
    void handlesAreThoseOfTheWholeNameAndThrowWhereTheyAreMade() {
        Counter counter = COMM.counter("handles.events");
        assertSame(counter, COMM.counter("handles.events"));
        assertEquals("source.comm.handles.events", counter.name());
        counter.increment(2);
        COMM.incrementCounter("handles.events");
        assertEquals(3, counter.value());
        assertEquals("source.comm.handles.level", COMM.gauge("handles.level").name());
        assertEquals("source.comm.handles.size", COMM.histogram("handles.size").name());
        assertEquals("source.comm.handles.queue", COMM.rangeSampler("handles.queue").name());
        assertEquals("source.comm.handles.time", COMM.timer("handles.time").name());
        assertEquals("handles.rooted", Source.root().counter("handles.rooted").name());
        Family<Counter> sent = COMM.metric("handles.sent").labelled("kind").counter();
        assertEquals("source.comm.handles.sent", sent.with("ping").name());
        assertThrows(IllegalArgumentException.class, () -> COMM.counter(null));
        assertThrows(IllegalArgumentException.class, () -> COMM.metric(null));
        assertThrows(IllegalArgumentException.class, () -> COMM.gauge("not a name"));
        CrestException told =
                assertThrows(CrestException.class, () -> COMM.gauge("handles.events"));
        assertEquals(Status.TYPE_CLASH, told.status());
    }
}
