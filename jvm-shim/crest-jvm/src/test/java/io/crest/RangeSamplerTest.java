// SPDX-License-Identifier: Apache-2.0
package io.crest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class RangeSamplerTest {
    static { assertTrue(Library.AVAILABLE, Library.problem()); }

    @Test
    void comesAndGoes() {
        RangeSampler sampler = RangeSampler.of("test.queue");
        sampler.increment();
        sampler.increment(5);
        sampler.decrement();
        sampler.decrement(2);
        sampler.sample();
        assertEquals(3, sampler.value());
        sampler.set(-7);
        assertEquals(-7, sampler.value());
    }

    @Test
    void doesNotApplyWhatLeaves64Bits() {
        RangeSampler sampler = RangeSampler.of("test.far");
        sampler.set(-1);
        sampler.decrement(Long.MIN_VALUE);
        assertEquals(Long.MAX_VALUE, sampler.value());
        sampler.increment();
        assertEquals(Long.MAX_VALUE, sampler.value());
    }

    @Test
    void losesNoUpdate() throws Exception {
        RangeSampler sampler = RangeSampler.of("test.shared");
        Thread[] threads = new Thread[4];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Thread(() -> {
                for (int n = 0; n < 100_000; n++) {
                    sampler.increment(3);
                    sampler.decrement(2);
                }
            });
            threads[i].start();
        }
        for (Thread thread : threads) thread.join();
        assertEquals(400_000, sampler.value());
    }
}
