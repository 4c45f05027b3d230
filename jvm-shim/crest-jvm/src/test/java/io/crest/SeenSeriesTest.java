// SPDX-License-Identifier: Apache-2.0
package io.crest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Instruments that a family finds again. */
class SeenSeriesTest {
    static {
        assertTrue(Library.AVAILABLE, Library.problem());
    }

    private static Family<Counter> family(String name, String... keys) {
        return Metric.named("seen." + name).labelled(keys).counter();
    }

    @Test
    void theSameValuesAreTheSameInstrument() {
        Family<Counter> one = family("one", "a");
        Family<Counter> two = family("two", "a", "b");
        Family<Counter> three = family("three", "a", "b", "c");
        assertSame(one.with("x"), one.with(new String("x")));
        assertSame(two.with("x", "y"), two.with("x", "y"));
        assertSame(three.with("x", "y", "z"), three.with("x", "y", "z"));
        assertNotEquals(two.with("x", "y").handle, two.with("y", "x").handle);
        assertNotEquals(three.with("x", "y", "z").handle, three.with("x", "y", "y").handle);
        assertEquals(one.with("").handle, one.with((String) null).handle);
        assertEquals(one.with("x").handle, one.with(new String[] {"x"}).handle);
        // of equal hash codes
        assertNotEquals(one.with("AaAa").handle, one.with("BBBB").handle);
        assertNotEquals(one.with("AaBB").handle, one.with("BBAa").handle);
        for (Runnable wrong :
                new Runnable[] {
                    () -> one.with("x", "y"), () -> two.with("x"), () -> two.with("x", "y", "z")
                }) assertThrows(IllegalArgumentException.class, wrong::run);
    }

    @Test
    void manyValuesInTurn() {
        Family<Counter> family = family("many", "n");
        Set<Long> handles = new HashSet<>();
        for (int round = 0; round < 3; round++)
            for (int i = 0; i < 1500; i++) {
                Counter counter = family.with("" + i);
                counter.increment();
                handles.add(counter.handle);
            }
        assertEquals(1500, handles.size());
        for (int i = 0; i < 1500; i++) assertEquals(3, family.with("" + i).value());
    }

    @Test
    void theOverflowSeriesIsNotKept() {
        Family<Counter> family = family("overflow", "n");
        Counter[] all = new Counter[2010];
        for (int i = 0; i < all.length; i++) all[i] = family.with("" + i);
        assertEquals(all[2005].handle, all[2009].handle);
        assertNotSame(all[2009], family.with("2009"), "it is asked of the library each time");
        assertSame(all[1999], family.with("1999"));
    }

    @Test
    void threadsThatAskAtOnceLoseNothing() throws Exception {
        Family<Counter> family = family("threads", "n");
        ExecutorService pool = Executors.newFixedThreadPool(4);
        for (int thread = 0; thread < 4; thread++)
            pool.execute(
                    () -> {
                        for (int i = 0; i < 40_000; i++) {
                            family.with("" + i % 200).increment();
                            if (i % 1000 == 0) family.with("" + i % 200).close();
                        }
                    });
        pool.shutdown();
        assertTrue(pool.awaitTermination(120, TimeUnit.SECONDS));
        long sum = 0;
        for (int i = 0; i < 200; i++) sum += family.with("" + i).value();
        assertEquals(160_000, sum);
    }
}
