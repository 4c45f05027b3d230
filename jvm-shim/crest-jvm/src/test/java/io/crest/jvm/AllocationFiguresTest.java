// SPDX-License-Identifier: Apache-2.0
package io.crest.jvm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crest.Crest;
import io.crest.Metric;
import io.crest.Unit;
import java.util.concurrent.Semaphore;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The sum over threads, for older virtual machines; JvmMetricsTest tests the exact sum. */
@Timeout(30)
class AllocationFiguresTest {
    private static final int MIB = 1 << 20;

    private AllocationFigures figures;
    private long from;
    private volatile Object kept;

    @BeforeEach
    void read() {
        assertTrue(Crest.available(), Crest.unavailableReason());
        figures = AllocationFigures.find(false);
        assertFalse(figures.isExact());
        figures.read();
        from = value();
    }

    private static long value() {
        return Metric.named("jvm.memory.allocation").in(Unit.BYTES).counter().value();
    }

    private void allocate(int mebibytes) {
        for (int i = 0; i < mebibytes; i++) kept = new byte[MIB];
    }

    @Test
    void addsUpWhatEachThreadAllocates() {
        for (int i = 1; i <= 5; i++) {
            allocate(10);
            figures.read();
            assertEquals(10.0 * MIB * i, value() - from, 1.0 * MIB * i);
        }
    }

    @Test
    void keepsWhatAThreadHadWhenItWasLastRead() throws Exception {
        Semaphore allocated = new Semaphore(0);
        Semaphore goOn = new Semaphore(0);
        Thread thread = new Thread(() -> {
            allocate(20);
            allocated.release();
            goOn.acquireUninterruptibly();
            allocate(5);
        });
        thread.start();
        allocated.acquire();
        figures.read();
        assertEquals(20.0 * MIB, value() - from, 1.0 * MIB);
        goOn.release();
        thread.join();
        figures.read();
        assertEquals(20.0 * MIB, value() - from, 1.0 * MIB);
        allocate(10);
        figures.read();
        assertEquals(30.0 * MIB, value() - from, 2.0 * MIB);
    }
}
