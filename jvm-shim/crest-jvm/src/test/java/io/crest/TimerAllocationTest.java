// SPDX-License-Identifier: Apache-2.0
package io.crest;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.lang.management.ManagementFactory;
import java.util.function.LongConsumer;
import org.junit.jupiter.api.Test;

/** That timing allocates nothing, once the just-in-time compiler has got to it. */
class TimerAllocationTest {
    static { assertTrue(Library.AVAILABLE, Library.problem()); }

    private static final int BATCH = 20_000;
    private static final long PATIENCE_NS = 20_000_000_000L;

    private static long allocated() {
        return ((com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean())
                .getThreadAllocatedBytes(Thread.currentThread().getId());
    }

    /** Runs it until a batch of it allocates less than a byte each, or for long. */
    private static void assertAllocatesNothing(LongConsumer body) {
        assumeFalse(System.getProperty("java.vm.info").contains("interpreted"),
                "nothing is compiled in this JVM");
        long began = System.nanoTime();
        long bytes;
        do {
            long before = allocated();
            for (long i = 0; i < BATCH; i++) body.accept(i);
            bytes = allocated() - before;
        } while (bytes >= BATCH && System.nanoTime() - began < PATIENCE_NS);
        assertTrue(bytes < BATCH, bytes / BATCH + " bytes each");
    }

    @Test
    void ofTokensWithNumbers() {
        Timer timer = Timer.of("allocation.numbers");
        assertAllocatesNothing(id -> timer.start(id).stop(id));
    }

    @Test
    void ofTokensWithHashes() {
        Timer timer = Timer.of("allocation.hashes");
        byte[] hash = new byte[32];
        byte[] same = new byte[32];
        assertAllocatesNothing(
                i -> {
                    hash[0] = same[0] = (byte) i;
                    timer.start(hash).end(same, Outcome.ERROR);
                });
    }

    @Test
    void ofBlocks() {
        Timer timer = Timer.of("allocation.blocks");
        assertAllocatesNothing(
                id -> {
                    try (Timing timing = timer.start(id)) {
                        if ((id & 1) == 0) timing.fail();
                    }
                });
    }

    @Test
    void ofCode() {
        Timer timer = Timer.of("allocation.code");
        assertAllocatesNothing(id -> timer.time(() -> id > 0));
    }

    @Test
    void ofMoments() {
        Timer timer = Timer.of("allocation.moments");
        assertAllocatesNothing(id -> timer.stopNanos(timer.startNanos()));
    }

    @Test
    void ofKeyedOperationsWithNumbers() {
        Timer timer = Timer.of("allocation.keyed");
        assertAllocatesNothing(
                id -> {
                    timer.begin(id);
                    timer.end(id, Outcome.OK);
                });
    }
}
