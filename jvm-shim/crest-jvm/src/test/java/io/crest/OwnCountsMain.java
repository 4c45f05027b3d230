// SPDX-License-Identifier: Apache-2.0
package io.crest;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Records with 100 threads in 10 histograms, all alive at once, and prints how many pairs have
 * counts of their own; whether a pair has them after one record and after 50,000, and whether a
 * pair without them calls; and the totals.
 */
final class OwnCountsMain {
    private static final int THREADS = 100;
    private static final int BITS = 20;
    private static final Histogram[] SIZES = new Histogram[10];
    private static final AtomicInteger OWN = new AtomicInteger();

    private OwnCountsMain() {}

    public static void main(String[] arguments) throws InterruptedException {
        for (int i = 0; i < SIZES.length; i++) SIZES[i] = Histogram.of("own.size" + i);
        CountDownLatch recorded = new CountDownLatch(THREADS);
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) threads.add(new Thread(() -> few(recorded)));
        threads.forEach(Thread::start);
        for (Thread thread : threads) thread.join();
        System.out.println("few: " + OWN.get());
        Histogram busy = Histogram.of("own.busy");
        Thread much = new Thread(() -> {
            busy.record(1);
            System.out.println("first: " + (Cells.lane(busy.handle) < 0 ? "own" : "shared"));
            for (int i = 7; i > 0; i--) busy.record(i);
            int before = Cells.calls;
            for (int i = 0; i < 800; i++) busy.record(i & 7);
            System.out.println("calls: " + (Cells.calls - before <= 2 ? "at most 2" : "more"));
            for (int i = 808; i < 50_000; i++) busy.record(i & 7);
            System.out.println("busy: " + (Cells.lane(busy.handle) < 0 ? "own" : "shared"));
            busy.record(-1);
        });
        much.start();
        much.join();
        Page page = Page.now();
        double count = 0;
        for (int i = 0; i < SIZES.length; i++) count += page.value("own_size" + i + "_count");
        System.out.println("counts: " + (long) count + " " + (long) page.value("own_busy_count"));
        System.out.println("sum: " + (long) page.value("own_size3_sum"));
        System.out.println("misuse: " + (long) Page.misuse("negative-amount"));
    }

    /** Few values, of many magnitudes. */
    private static void few(CountDownLatch recorded) {
        for (Histogram size : SIZES) for (int bit = 0; bit < BITS; bit++) size.record(1L << bit);
        recorded.countDown();
        try {
            recorded.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        for (Histogram size : SIZES) if (Cells.hasOwn(size.handle)) OWN.incrementAndGet();
    }
}
