// SPDX-License-Identifier: Apache-2.0
package io.crest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The table of names, and its bounds. */
class ByNameTest {
    static { assertTrue(Library.AVAILABLE, Library.problem()); }

    @Test
    void findsWhatWasKeptHoweverOftenItGrew() {
        ByName<Counter> table = new ByName<>(Kind.COUNTER, Counter::new);
        long handle = Counter.of("by-name.one").handle;
        List<Counter> kept = new ArrayList<>();
        for (int i = 0; i < 1000; i++) {
            assertNull(table.find("n" + i));
            kept.add(table.keep("n" + i, "by-name.n" + i, handle));
        }
        for (int i = 0; i < 1000; i++) {
            assertSame(kept.get(i), table.find("n" + i));
            assertSame(kept.get(i), table.keep("n" + i, "by-name.n" + i, handle));
        }
        assertNull(table.find("n1000"));
        assertNull(table.find(null));
        assertNull(table.find(""));
        assertEquals("by-name.n7", table.find("n7").name());
    }

    /** Texts with one hash code: a bounded number is kept, and none is mistaken for another. */
    @Test
    void namesChosenByTheirHashCodesDoNotSlowItDown() {
        ByName<Counter> table = new ByName<>(Kind.COUNTER, Counter::new);
        long handle = Counter.of("by-name.one").handle;
        List<String> names = new ArrayList<>(List.of(""));
        for (int round = 0; round < 8; round++) {
            List<String> longer = new ArrayList<>();
            for (String name : names) {
                longer.add(name + "Aa");
                longer.add(name + "BB");
            }
            names = longer;
        }
        int found = 0;
        for (String name : names) {
            assertEquals(names.get(0).hashCode(), name.hashCode());
            assertEquals("x." + name, table.keep(name, "x." + name, handle).name());
            Counter counter = table.find(name);
            if (counter == null) continue;
            found++;
            assertEquals("x." + name, counter.name());
        }
        assertEquals(ByName.STEPS_MAX, found);
    }

    @Test
    void namesMadeAtRunTimeDoNotFillTheHeap() throws Exception {
        assertEquals("bounded", new ChildJvm().with("-Xmx24m").run(ByNameLimitMain.class, "50000"));
    }

    /** Also without the library: blocks run, handles are returned, nothing is kept. */
    @Test
    void recordsNothingWithoutTheLibrary() throws Exception {
        assertEquals(
                "ran",
                new ChildJvm()
                        .with("-Dcrest.native=off", "-Xmx24m")
                        .run(ByNameOffMain.class));
    }
}
