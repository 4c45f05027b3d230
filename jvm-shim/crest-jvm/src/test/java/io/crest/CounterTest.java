// SPDX-License-Identifier: Apache-2.0
package io.crest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class CounterTest {
    static { assertTrue(Library.AVAILABLE, Library.problem()); }

    @Test
    void countsExactlyFromSeveralThreads() throws Exception {
        Counter counter = Counter.of("test.things");
        Thread[] threads = new Thread[8];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Thread(() -> {
                for (int n = 0; n < 1_000_000; n++) counter.increment();
            });
            threads[i].start();
        }
        for (Thread thread : threads) thread.join();
        assertEquals(8_000_000, counter.value());
    }

    @Test
    void doesNotApplyANegativeAmount() {
        Counter counter = Counter.of("test.negative");
        counter.increment(-1); // by the cold path
        counter.increment(5);
        counter.increment(-3);
        counter.increment(0);
        assertEquals(5, counter.value());
    }

    @Test
    void staysAtItsLargestValue() {
        Counter counter = Counter.of("test.full");
        counter.increment(Long.MAX_VALUE);
        counter.increment(Long.MAX_VALUE);
        counter.increment(1);
        assertEquals(-1, counter.value(), "2^64 - 1 is a value");
        counter.increment();
        assertEquals(-1, counter.value());
        counter.increment(Long.MAX_VALUE);
        assertEquals(-1, counter.value());
    }
}
