// SPDX-License-Identifier: Apache-2.0
package io.crest.jvm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crest.Crest;
import java.io.InputStream;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class JvmMetricsTest {
    /** Read at the start and at the end only, when the test says. */
    private static final JvmOptions TWICE = JvmOptions.DEFAULT.interval(Duration.ofHours(1))
            .slowInterval(Duration.ofHours(1)).hiccups(false);
    private static final long MIB = 1 << 20;

    private JvmMetrics metrics;
    private PageFigures before;
    private volatile Object kept;

    @BeforeEach
    void begin() {
        assertTrue(Crest.available(), Crest.unavailableReason());
        metrics = JvmMetrics.start(TWICE);
        before = new PageFigures();
    }

    @AfterEach
    void end() {
        metrics.close();
        assertNull(metrics.lastFailure());
    }

    /** Reads once more. */
    private PageFigures read() {
        metrics.close();
        return new PageFigures();
    }

    private static void await(BooleanSupplier condition) {
        long end = System.nanoTime() + 30_000_000_000L;
        while (!condition.getAsBoolean() && System.nanoTime() < end)
            LockSupport.parkNanos(1_000_000);
    }

    @Test
    void hasEachNameOfKamonsAfterTheStart() {
        for (String exported : new String[] {
            "jvm_gc_promotion_bytes_count", "jvm_memory_used_bytes_count",
            "jvm_memory_free_bytes_sum", "jvm_memory_committed_bytes", "jvm_memory_max_bytes",
            "jvm_memory_utilization_count", "jvm_memory_allocation_bytes_total",
            "jvm_memory_pool_used_bytes_count", "jvm_memory_pool_free_bytes_count",
            "jvm_memory_pool_committed_bytes", "jvm_memory_pool_max_bytes",
            "jvm_memory_buffer_pool_count", "jvm_memory_buffer_pool_used_bytes",
            "jvm_memory_buffer_pool_capacity_bytes", "jvm_threads_total", "jvm_threads_peak",
            "jvm_threads_daemon", "jvm_threads_states", "jvm_class_loading_loaded_total",
            "jvm_class_loading_unloaded_total", "jvm_class_loading_currently_loaded"})
            assertTrue(before.has(exported), exported);
        System.gc(); // jvm.gc has the labels of what there was
        await(() -> new PageFigures().has("jvm_gc_seconds_count"));
        assertTrue(new PageFigures().has("jvm_gc_seconds_bucket"));
        assertTrue(new PageFigures().has("jvm_gc_last_end_seconds"));
    }

    /** No more and no less than the beans count, whatever else was collected meanwhile. */
    @Test
    void recordsEachCollection() {
        String[] full = {"cause=\"system-gc\"", "outcome=\"ok\""};
        GcCounts begun = GcCounts.afterOne();
        for (int i = 0; i < 3; i++) System.gc();
        GcCounts ended = GcCounts.settled();
        assertEquals(ended.counted - begun.counted, ended.recorded - begun.recorded);
        assertTrue(ended.page.sum("jvm_gc_seconds_count", full)
                - begun.page.sum("jvm_gc_seconds_count", full) >= 3);
        assertTrue(ended.page.of("jvm_memory_utilization_count")
                - begun.page.of("jvm_memory_utilization_count") >= 3);
    }

    /** Collections that ended before a close, and are not notified yet, are recorded by it. */
    @Test
    void recordsEachCollectionUpToItsEnd() {
        for (int round = 0; round < 20; round++) {
            GcCounts begun = GcCounts.afterOne();
            for (int i = 0; i < 3; i++) System.gc();
            long least = GcCounts.collections() - begun.counted;
            metrics.close();
            double recorded = GcCounts.recorded(new PageFigures()) - begun.recorded;
            long most = GcCounts.collections() - begun.counted;
            assertTrue(least <= recorded && recorded <= most,
                    recorded + " recorded, " + least + " to " + most + " by the beans");
            metrics = JvmMetrics.start(TWICE);
        }
    }

    @Test
    void itsThreadsInheritNothing() {
        metrics.close();
        AtomicInteger inherited = new AtomicInteger();
        InheritableThreadLocal<String> local = new InheritableThreadLocal<>() {
            @Override
            protected String childValue(String value) {
                inherited.incrementAndGet();
                return value;
            }
        };
        local.set("of whoever starts");
        metrics = JvmMetrics.start(TWICE.hiccups(true));
        local.remove();
        assertEquals(0, inherited.get());
    }

    @Test
    void countsWhatIsAllocated() {
        for (int i = 0; i < 200; i++) kept = new byte[(int) MIB];
        double bytes = read().of("jvm_memory_allocation_bytes_total")
                - before.of("jvm_memory_allocation_bytes_total");
        assertEquals(200.0 * MIB, bytes, 10.0 * MIB);
    }

    @Test
    void tellsThreadsByTheirState() throws Exception {
        boolean told = false;
        for (int round = 0; round < 50 && !told; round++) told = tellsThoseOfThisTest();
        assertTrue(told, "the threads of others were never in the same states twice");
    }

    /** The states of all other threads than these. */
    private static Map<Thread, Thread.State> others(Thread... ours) {
        Map<Thread, Thread.State> states = new HashMap<>();
        for (Thread thread : Thread.getAllStackTraces().keySet())
            states.put(thread, thread.getState());
        states.keySet().removeAll(Arrays.asList(ours));
        return states;
    }

    /** False if this try proves nothing, because other threads came, went or woke up. */
    private boolean tellsThoseOfThisTest() throws Exception {
        metrics.close();
        Map<Thread, Thread.State> others = others();
        metrics = JvmMetrics.start(TWICE);
        before = new PageFigures();
        boolean quiet;
        int each = 3;
        Object monitor = new Object();
        CountDownLatch never = new CountDownLatch(1);
        Thread[] threads = new Thread[3 * each];
        synchronized (monitor) {
            for (int i = 0; i < threads.length; i++) {
                Runnable work = new Runnable[] {
                    () -> { synchronized (monitor) { kept = null; } },
                    () -> awaitOn(never),
                    () -> LockSupport.parkNanos(never, 60_000_000_000L)}[i % 3];
                threads[i] = new Thread(work);
                threads[i].setDaemon(true);
                threads[i].start();
                Thread.State wanted = new Thread.State[] {Thread.State.BLOCKED,
                    Thread.State.WAITING, Thread.State.TIMED_WAITING}[i % 3];
                Thread thread = threads[i];
                await(() -> thread.getState() == wanted);
            }
            PageFigures after = read();
            quiet = others.equals(others(threads));
            if (quiet) hasGrownByThreeTimes(each, after);
        }
        never.countDown();
        for (Thread thread : threads) LockSupport.unpark(thread);
        for (Thread thread : threads) thread.join();
        return quiet;
    }

    private void hasGrownByThreeTimes(int each, PageFigures after) {
        for (String state : new String[] {"blocked", "waiting", "timed-waiting"})
            assertEquals(each, grown(after, "jvm_threads_states{state=\"" + state + "\"}"));
        assertEquals(3 * each, grown(after, "jvm_threads_total"));
        assertEquals(3 * each, grown(after, "jvm_threads_daemon"));
        assertTrue(grown(after, "jvm_threads_started_total") >= 3 * each);
        assertTrue(after.of("jvm_threads_peak") >= after.of("jvm_threads_total"));
        assertEquals(after.of("jvm_threads_total"), after.sum("jvm_threads_states"), 3);
    }

    private double grown(PageFigures after, String series) {
        return after.of(series) - before.of(series);
    }

    private static void awaitOn(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Something to load again and again. */
    static final class Throwaway {}

    private static final class Loader extends ClassLoader {
        private Loader() {
            super(null);
        }

        Class<?> define(byte[] bytes) {
            return defineClass(Throwaway.class.getName(), bytes, 0, bytes.length);
        }
    }

    @Test
    void countsClassesThatComeAndGo() throws Exception {
        byte[] bytes;
        String file = Throwaway.class.getName().replace('.', '/') + ".class";
        try (InputStream in = Throwaway.class.getClassLoader().getResourceAsStream(file)) {
            bytes = in.readAllBytes();
        }
        int loaders = 20;
        for (int i = 0; i < loaders; i++) assertNotNull(new Loader().define(bytes));
        long unloaded = ManagementFactory.getClassLoadingMXBean().getUnloadedClassCount();
        await(() -> {
            System.gc();
            return ManagementFactory.getClassLoadingMXBean().getUnloadedClassCount()
                    >= unloaded + loaders - 1; // the last may still be on the stack
        });
        PageFigures after = read();
        assertTrue(grown(after, "jvm_class_loading_loaded_total") >= loaders);
        assertTrue(grown(after, "jvm_class_loading_unloaded_total") >= loaders - 1);
        assertEquals(after.of("jvm_class_loading_loaded_total")
                - after.of("jvm_class_loading_unloaded_total"),
                after.of("jvm_class_loading_currently_loaded"), 50);
    }

    @Test
    void seesDirectBuffers() {
        // other tests' buffers go when they are collected: none may go between the readings
        int round = 0;
        long others;
        ByteBuffer buffer;
        PageFigures after;
        do {
            metrics.close();
            System.gc();
            others = directBuffers();
            metrics = JvmMetrics.start(TWICE);
            before = new PageFigures();
            buffer = ByteBuffer.allocateDirect((int) (64 * MIB));
            after = read();
        } while (directBuffers() != others + 1 && ++round < 50);
        assertEquals(1, grown(after, "jvm_memory_buffer_pool_count{pool=\"direct\"}"));
        for (String what : new String[] {"used", "capacity"}) {
            String series = "jvm_memory_buffer_pool_" + what + "_bytes{pool=\"direct\"}";
            assertEquals(64.0 * MIB, grown(after, series), MIB);
        }
        assertEquals(0, buffer.position()); // alive up to here
    }

    private static long directBuffers() {
        return ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
                .filter(pool -> pool.getName().equals("direct")).findFirst().get().getCount();
    }

    @Test
    void collectsOnceInAProcess() {
        Throwable twice = assertThrows(IllegalStateException.class, () -> JvmMetrics.start(TWICE));
        assertTrue(twice.getMessage().contains("are being collected already"));
        metrics.close();
        metrics.close();
        try (JvmMetrics again = JvmMetrics.start(TWICE)) {
            assertNull(again.lastFailure());
        }
        assertThrows(IllegalArgumentException.class, () -> JvmMetrics.start(null));
    }

    /** Totals are those of the virtual machine, however often collecting ended and began. */
    @Test
    void goesOnAfterAStop() {
        metrics.close();
        for (int i = 0; i < 100; i++) kept = new byte[(int) MIB];
        metrics = JvmMetrics.start(TWICE);
        PageFigures after = read();
        assertEquals(ManagementFactory.getClassLoadingMXBean().getTotalLoadedClassCount(),
                after.of("jvm_class_loading_loaded_total"), 20);
        assertEquals(ManagementFactory.getThreadMXBean().getTotalStartedThreadCount(),
                after.of("jvm_threads_started_total"), 2);
        double allocated = grown(after, "jvm_memory_allocation_bytes_total");
        if (AllocationFigures.find().isExact()) assertEquals(100.0 * MIB, allocated, 10.0 * MIB);
        else assertTrue(allocated >= 0 && allocated <= 110.0 * MIB, "allocated " + allocated);
    }

    private static boolean runs(String name) {
        return Thread.getAllStackTraces().keySet().stream()
                .anyMatch(thread -> thread.getName().equals(name));
    }

    /** As by Crest.stop on a thread of a pool that is shut down. */
    @Test
    void endsItsThreadsAndReadsOnceMoreWhenInterrupted() {
        metrics.close();
        String[] readings = {"crest_collect_time_seconds_count", "collector=\"jvm\""};
        double begun = new PageFigures().sum(readings[0], readings[1]);
        for (int round = 1; round <= 5; round++) {
            metrics = JvmMetrics.start(TWICE.hiccups(true));
            Thread.currentThread().interrupt();
            metrics.close();
            assertTrue(Thread.interrupted());
            assertFalse(runs("crest-jvm"));
            assertFalse(runs("crest-jvm-hiccups"));
            assertEquals(begun + 2 * round, new PageFigures().sum(readings[0], readings[1]));
        }
    }

    @Test
    void endsItsThreads() {
        metrics.close();
        metrics = JvmMetrics.start(JvmOptions.DEFAULT);
        assertTrue(runs("crest-jvm"));
        assertTrue(runs("crest-jvm-hiccups"));
        metrics.close();
        assertFalse(runs("crest-jvm"));
        assertFalse(runs("crest-jvm-hiccups"));
        double readings = new PageFigures().sum("crest_collect_time_seconds_count");
        LockSupport.parkNanos(50_000_000);
        System.gc();
        LockSupport.parkNanos(50_000_000);
        assertEquals(readings, new PageFigures().sum("crest_collect_time_seconds_count"));
    }

    @Test
    void readsAtItsInterval() {
        metrics.close();
        metrics = JvmMetrics.start(JvmOptions.DEFAULT.interval(Duration.ofMillis(100)));
        long from = System.nanoTime();
        double readings = readings();
        await(() -> readings() >= readings + 5);
        double seconds = (System.nanoTime() - from) / 1e9;
        assertTrue(readings() >= readings + 5, "5 readings took more than " + seconds + " s");
        assertTrue(seconds > 0.3, "5 readings took " + seconds + " s");
        assertTrue(new PageFigures().of("jvm_cpu_usage_count") > 0);
        assertTrue(new PageFigures().of("crest_collect_cpu_seconds_total{collector=\"jvm\"}") > 0);
    }

    private static double readings() {
        return new PageFigures().sum("crest_collect_time_seconds_count", "collector=\"jvm\"");
    }

    @Test
    void saysWhatItRunsIn() {
        assertEquals(1, before.of("jvm_info{version=\"" + System.getProperty("java.runtime.version")
                + "\",vendor=\"" + System.getProperty("java.vendor") + "\",runtime=\""
                + System.getProperty("java.runtime.name") + "\"}"));
        assertEquals(Runtime.getRuntime().availableProcessors(), before.of("jvm_processors"));
    }
}
