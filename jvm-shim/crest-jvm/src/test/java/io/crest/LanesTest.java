// SPDX-License-Identifier: Apache-2.0
package io.crest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** Exact totals by threads that are many, short-lived, virtual, or of colliding numbers. */
class LanesTest {
    static { assertTrue(Library.AVAILABLE, Library.problem()); }

    /** Records a row of values into one metric of each kind, and knows their totals. */
    private static final class Work {
        final Counter counter;
        final Histogram histogram;
        final Timer timer;
        final String page;
        final AtomicLong count = new AtomicLong();
        final AtomicLong sum = new AtomicLong();

        Work(String name) {
            counter = Counter.of(name + ".things");
            histogram = Histogram.of(name + ".size");
            timer = Timer.of(name + ".time");
            page = name.replace('.', '_').replace('-', '_');
        }

        void record(long seed, int times) {
            long added = 0;
            for (int i = 0; i < times; i++) {
                long value = (seed * 31 + i * 7919L) % 100_000;
                counter.increment();
                histogram.record(value);
                timer.record(value);
                added += value;
                if (i % 64 == 63) Thread.yield();
            }
            count.addAndGet(times);
            sum.addAndGet(added);
        }

        void check() {
            Page now = Page.now();
            assertEquals(count.get(), counter.value());
            assertEquals(count.get(), now.value(page + "_size_count"));
            assertEquals(sum.get(), now.value(page + "_size_sum"));
            String ok = "{outcome=\"ok\"}";
            assertEquals(count.get(), now.value(page + "_time_seconds_count" + ok));
            assertEquals(sum.get() / 1e9, now.value(page + "_time_seconds_sum" + ok), 1e-9);
        }
    }

    private static void join(List<Thread> threads) throws InterruptedException {
        for (Thread thread : threads) thread.join();
    }

    /** Reads pages until it is closed, and checks that no count goes back. */
    private static final class Reader implements AutoCloseable {
        private final AtomicBoolean ended = new AtomicBoolean();
        private final AtomicLong wrong = new AtomicLong();
        private final Thread thread;

        Reader(Work work) {
            thread = new Thread(() -> {
                double counted = 0;
                while (!ended.get()) {
                    double now = Page.now().value(work.page + "_size_count");
                    if (now < counted || now > Long.MAX_VALUE) wrong.incrementAndGet();
                    counted = now;
                }
            });
            work.record(1, 1); // so that it is on the page
            thread.start();
        }

        @Override
        public void close() throws InterruptedException {
            ended.set(true);
            thread.join();
            assertEquals(0, wrong.get(), "counts that went back");
        }
    }

    @Test
    void manyPlatformThreads() throws Exception {
        Work work = new Work("lanes.platform");
        try (Reader reader = new Reader(work)) {
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < 64; i++) {
                int seed = i;
                threads.add(new Thread(() -> work.record(seed, 5_000)));
            }
            threads.forEach(Thread::start);
            join(threads);
        }
        work.check();
    }

    @Test
    void shortLivedThreadsBesideALongLivedOne() throws Exception {
        Work work = new Work("lanes.short");
        AtomicBoolean ended = new AtomicBoolean();
        Thread lasting = new Thread(() -> {
            for (int i = 0; !ended.get(); i++) work.record(i, 100);
        });
        lasting.start();
        // more threads than places, so that the lasting thread loses its place
        for (int i = 0; i < 1500; i++) {
            int seed = i;
            Thread thread = new Thread(() -> work.record(seed, 3));
            thread.start();
            thread.join();
        }
        ended.set(true);
        lasting.join();
        work.check();
    }

    @Test
    void virtualThreadsBesidePlatformThreads() throws Exception {
        ExecutorService virtual = virtualThreads();
        assumeTrue(virtual != null, "this JDK has no virtual threads");
        Work work = new Work("lanes.virtual");
        try (Reader reader = new Reader(work)) {
            Thread platform = new Thread(() -> work.record(77, 100_000));
            platform.start();
            for (int i = 0; i < 10_000; i++) {
                int seed = i;
                virtual.execute(() -> work.record(seed, 70));
            }
            virtual.shutdown();
            assertTrue(virtual.awaitTermination(60, TimeUnit.SECONDS));
            platform.join();
        }
        work.check();
    }

    @Test
    void whatVirtualThreadsDoNotApply() throws Exception {
        ExecutorService virtual = virtualThreads();
        assumeTrue(virtual != null, "this JDK has no virtual threads");
        Counter counter = Counter.of("lanes.virtual-misuse");
        Histogram histogram = Histogram.of("lanes.virtual-misuse-size");
        double negative = Page.misuse("negative-amount");
        double clamped = Page.misuse("clamped");
        virtual.submit(() -> {
            counter.increment(2);
            counter.increment(-1);
            histogram.record(5, 3);
            histogram.record(-5);
            histogram.record(5, -1);
            histogram.record(Long.MAX_VALUE);
        }).get();
        virtual.submit(() -> {
            counter.increment(Long.MAX_VALUE);
            counter.increment(Long.MAX_VALUE);
        }).get();
        virtual.shutdown();
        assertEquals(-1, counter.value(), "2^64 - 1 is a value");
        assertEquals(negative + 3, Page.misuse("negative-amount"));
        assertEquals(clamped + 1, Page.misuse("clamped"));
        assertEquals(4, Page.now().value("lanes_virtual_misuse_size_count"));
    }

    private static ExecutorService virtualThreads() throws Exception {
        try {
            Method method =
                    Class.forName("java.util.concurrent.Executors")
                            .getMethod("newVirtualThreadPerTaskExecutor");
            return (ExecutorService) method.invoke(null);
        } catch (NoSuchMethodException e) {
            return null;
        }
    }

    /** Two live threads, one place: neither loses what it records, nor does the other's. */
    @Test
    void threadsOfCollidingNumbers() throws Exception {
        Work work = new Work("lanes.colliding");
        CountDownLatch bothThere = new CountDownLatch(2);
        List<Thread> all = new ArrayList<>();
        for (int i = 0; i <= 1024; i++) {
            int seed = i;
            all.add(new Thread(() -> {
                work.record(seed, 1);
                bothThere.countDown();
                try {
                    bothThere.await();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
                work.record(seed, 100_000);
            }));
        }
        List<Thread> two = List.of(all.get(0), all.get(1024));
        two.forEach(Thread::start);
        join(two);
        work.check();
    }

    /** A thread whose overridden getId tells another number. */
    private static final class Impostor extends Thread {
        private final long id;

        Impostor(long id, Runnable body) {
            super(body);
            this.id = id;
        }

        @Override
        @SuppressWarnings("deprecation")
        public long getId() {
            return id;
        }
    }

    @Test
    void threadsThatLieAboutTheirNumber() throws Exception {
        Work work = new Work("lanes.impostor");
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            int seed = i;
            threads.add(new Impostor(12345, () -> work.record(seed, 50_000)));
        }
        threads.forEach(Thread::start);
        join(threads);
        work.check();
    }
}
