// SPDX-License-Identifier: Apache-2.0
package io.crest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.IntConsumer;
import org.junit.jupiter.api.Test;

/** Exact totals by name, and first uses at once. */
class SourceStressTest {
    static { assertTrue(Library.AVAILABLE, Library.problem()); }

    private static final Source STRESS = Source.of("source.stress");

    /** All threads begin at once; an exception of one of them is rethrown. */
    private static void inThreads(int count, IntConsumer body) throws Exception {
        CyclicBarrier ready = new CyclicBarrier(count);
        AtomicReference<Throwable> thrown = new AtomicReference<>();
        Thread[] threads = new Thread[count];
        for (int i = 0; i < count; i++) {
            int number = i;
            threads[i] = new Thread(() -> {
                try {
                    ready.await();
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
                body.accept(number);
            });
            threads[i].setUncaughtExceptionHandler((thread, what) -> thrown.set(what));
            threads[i].start();
        }
        for (Thread thread : threads) thread.join();
        if (thrown.get() != null) throw new AssertionError(thrown.get());
    }

    private static void recordEach() {
        STRESS.incrementCounter("events");
        STRESS.incrementCounter("amounts", 3);
        STRESS.incrementSampler("queue", 2);
        STRESS.decrementSampler("queue");
        STRESS.incrementGauge("level");
        STRESS.record("size", 100, 2);
    }

    @Test
    void sixteenThreadsWithExactTotals() throws Exception {
        int each = 20_000;
        inThreads(16, number -> {
            for (int i = 0; i < each; i++) recordEach();
        });
        long all = 16 * each;
        assertEquals(all, STRESS.counter("events").value());
        assertEquals(3 * all, STRESS.counter("amounts").value());
        assertEquals(all, STRESS.rangeSampler("queue").value());
        assertEquals(all, STRESS.gauge("level").value());
        assertEquals(2 * all, Page.now().value("source_stress_size_count"));
    }

    @Test
    void firstUsesAtOnceByManyMakeOneOfEachName() throws Exception {
        int names = 40;
        inThreads(64, number -> {
            Source source = Source.of("source.first-uses"); // its own first use, too
            for (int i = 0; i < names; i++) {
                source.incrementCounter("n" + i);
                source.record("h" + i, 1);
                source.counter("n" + i).increment();
            }
        });
        Page page = Page.now();
        for (int i = 0; i < names; i++) {
            assertEquals(128, Counter.of("source.first-uses.n" + i).value());
            assertEquals(64, page.value("source_first_uses_h" + i + "_count"));
        }
    }

    @Test
    void sourcesMadeAtOnceAreOne() throws Exception {
        for (int round = 0; round < 50; round++) {
            String text = "source.once-" + round;
            Source[] made = new Source[4];
            inThreads(made.length, number -> made[number] = Source.of(text));
            for (Source source : made) assertTrue(source == made[0]);
        }
    }

    @Test
    void virtualThreadsWithExactTotals() throws Exception {
        ExecutorService executor;
        try {
            executor =
                    (ExecutorService)
                            Executors.class
                                    .getMethod("newVirtualThreadPerTaskExecutor")
                                    .invoke(null);
        } catch (NoSuchMethodException e) {
            assumeTrue(false, "this JDK has no virtual threads; they are there from 21 on");
            return;
        }
        int threads = 2_000;
        for (int i = 0; i < threads; i++) {
            executor.execute(() -> {
                for (int n = 0; n < 50; n++) {
                    STRESS.incrementCounter("virtual");
                    if (n % 10 == 0) Thread.yield();
                    STRESS.incrementCounter("virtual-" + n % 5);
                }
            });
        }
        executor.shutdown();
        assertTrue(executor.awaitTermination(60, TimeUnit.SECONDS));
        assertEquals(threads * 50, STRESS.counter("virtual").value());
        for (int n = 0; n < 5; n++)
            assertEquals(threads * 10, STRESS.counter("virtual-" + n).value());
    }
}
