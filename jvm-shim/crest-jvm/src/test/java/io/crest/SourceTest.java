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
}
