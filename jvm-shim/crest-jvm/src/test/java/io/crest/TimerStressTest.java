// SPDX-License-Identifier: Apache-2.0
package io.crest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.junit.jupiter.api.Test;

/** Exact totals, whatever thread ends an operation. */
class TimerStressTest {
    static { assertTrue(Library.AVAILABLE, Library.problem()); }

    private static final int THREADS = 8;
    private static final Outcome[] OUTCOMES = Outcome.values();

    private static void inThreads(int count, Runnable body) throws InterruptedException {
        Thread[] threads = new Thread[count];
        for (int i = 0; i < count; i++) {
            threads[i] = new Thread(body);
            threads[i].start();
        }
        for (Thread thread : threads) thread.join();
    }

    private static void assertEach(long expected, String exported) {
        for (Outcome outcome : OUTCOMES)
            assertEquals(expected, TimerTest.count(exported, outcome), outcome.name());
    }

    @Test
    void aMillionTokensOfEightThreads() throws Exception {
        Timer timer = Timer.of("stress.tokens");
        int each = 125_000;
        inThreads(THREADS, () -> {
            for (int i = 0; i < each; i++) timer.start(i).end(i, OUTCOMES[i & 3]);
        });
        assertEach(THREADS * each / 4, "stress_tokens");
    }

    @Test
    void tokensThatOthersEnd() throws Exception {
        Timer timer = Timer.of("stress.handed-over");
        ConcurrentLinkedQueue<Timing> queue = new ConcurrentLinkedQueue<>();
        int each = 25_000;
        inThreads(THREADS, () -> {
            for (int i = 0; i < each; i++) {
                queue.add(timer.start(1));
                Timing other = queue.poll();
                if (other != null) assertEquals(Status.OK, other.end(1, OUTCOMES[i & 3]));
            }
        });
        long all = queue.size();
        for (Outcome outcome : OUTCOMES) all += TimerTest.count("stress_handed_over", outcome);
        assertEquals(THREADS * each, all);
    }

    @Test
    void ofEndsThatRaceOneWins() throws Exception {
        Timer timer = Timer.of("stress.races");
        int count = 100_000;
        Timing[] timings = new Timing[count];
        for (int i = 0; i < count; i++) timings[i] = timer.start(i);
        AtomicIntegerArray won = new AtomicIntegerArray(count);
        double refused = Page.misuse("timing-not-running");
        CountDownLatch ready = new CountDownLatch(2);
        inThreads(2, () -> {
            ready.countDown();
            while (ready.getCount() != 0) Thread.onSpinWait();
            for (int i = 0; i < count; i++)
                if (timings[i].stop(i) == Status.OK) won.incrementAndGet(i);
        });
        for (int i = 0; i < count; i++) assertEquals(1, won.get(i));
        assertEquals(count, TimerTest.count("stress_races", Outcome.OK));
        assertEquals(refused + count, Page.misuse("timing-not-running"));
    }

    @Test
    void keyedOperationsThatAllBeginAndEnd() throws Exception {
        Timer timer = Timer.of("stress.keyed");
        AtomicIntegerArray answers = new AtomicIntegerArray(Status.values().length);
        int each = 20_000;
        inThreads(4, () -> {
            for (int i = 0; i < each; i++) {
                timer.begin(i & 63);
                answers.incrementAndGet(timer.end(i & 63, Outcome.ERROR).ordinal());
            }
        });
        for (int i = 0; i < 64; i++) assertEquals(Status.NOT_FOUND, timer.end(i));
        assertEquals(4 * each, answers.get(0) + answers.get(Status.NOT_FOUND.ordinal()));
        assertEquals(answers.get(0), TimerTest.count("stress_keyed", Outcome.ERROR));
    }

    @Test
    void virtualThreads() throws Exception {
        Method pool = null;
        try {
            pool = Executors.class.getMethod("newVirtualThreadPerTaskExecutor");
            pool.invoke(null);
        } catch (NoSuchMethodException | InvocationTargetException e) {
            assumeTrue(false, "this JDK has no virtual threads");
        }
        Timer timer = Timer.of("stress.virtual");
        ExecutorService threads = (ExecutorService) pool.invoke(null);
        int count = 10_000;
        for (int i = 0; i < count; i++) {
            int id = i;
            threads.submit(() -> {
                Timing timing = timer.start(id);
                Thread.yield(); // may go on with another carrier
                timing.end(id, OUTCOMES[id & 3]);
                timer.begin(id);
                Thread.yield();
                timer.end(id, OUTCOMES[id & 3]);
            });
        }
        threads.shutdown();
        assertTrue(threads.awaitTermination(20, TimeUnit.SECONDS));
        assertEach(count / 2, "stress_virtual");
    }
}
