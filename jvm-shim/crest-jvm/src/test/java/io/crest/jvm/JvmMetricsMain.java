// SPDX-License-Identifier: Apache-2.0
package io.crest.jvm;

import io.crest.Crest;
import io.crest.PageFormat;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.ref.WeakReference;
import java.net.URL;
import java.net.URLClassLoader;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/** Programs for tests/jvm/test_jvm_metrics.py, which reads what they print. */
final class JvmMetricsMain {
    private static final int CHUNK_BYTES = 1 << 16;
    private static final JvmOptions OFTEN = JvmOptions.DEFAULT.interval(Duration.ofMillis(100));
    private static volatile Object kept;

    private JvmMetricsMain() {}

    public static void main(String[] arguments) throws Exception {
        switch (arguments[0]) {
            case "churn":
                churn(Integer.parseInt(arguments[1]));
                break;
            case "small":
                small();
                break;
            case "stall":
                stall(Integer.parseInt(arguments[1]));
                break;
            case "loaders":
                loaders();
                break;
            case "cost":
                cost(Integer.parseInt(arguments[1]), Integer.parseInt(arguments[2]));
                break;
            default:
                throw new IllegalArgumentException(arguments[0]);
        }
    }

    private static void say(String what, Object value) {
        System.out.println("@" + what + " " + value);
    }

    private static void page() {
        System.out.println(Crest.page(PageFormat.TEXT));
    }

    private static void beans(String what) {
        for (GarbageCollectorMXBean bean : ManagementFactory.getGarbageCollectorMXBeans())
            say(what, JvmNames.collector(bean.getName()).alias + " " + bean.getCollectionCount()
                    + " " + bean.getCollectionTime());
    }

    /** Waits for two more readings, so that one of them began after this call. */
    private static void readTwice() {
        String[] of = {"collector=\"jvm\""};
        double from = new PageFigures().sum("crest_collect_time_seconds_count", of);
        while (new PageFigures().sum("crest_collect_time_seconds_count", of) < from + 2)
            LockSupport.parkNanos(20_000_000);
    }

    /** Waits, but not for ever, for so many notifications of collections. */
    private static void hear(long collections) {
        long end = System.nanoTime() + 60_000_000_000L;
        while (System.nanoTime() < end) {
            PageFigures page = new PageFigures();
            if (page.sum("jvm_gc_seconds_count", "outcome=\"ok\"")
                    + page.sum("jvm_gc_cycle_time_seconds_count", "outcome=\"ok\"")
                    >= collections) return;
            LockSupport.parkNanos(20_000_000);
        }
    }

    /** Waits, but not for ever, until the hiccup thread has woken up more often than now. */
    private static void lookForHiccups() {
        String[] counted = {"jvm_hiccups_seconds_count", "outcome=\"ok\""};
        long end = System.nanoTime() + 60_000_000_000L;
        double looks = new PageFigures().sum(counted[0], counted[1]);
        do LockSupport.parkNanos(20_000_000);
        while (new PageFigures().sum(counted[0], counted[1]) <= looks && System.nanoTime() < end);
    }

    private static long collections() {
        long count = 0;
        for (GarbageCollectorMXBean bean : ManagementFactory.getGarbageCollectorMXBeans())
            count += bean.getCollectionCount();
        return count;
    }

    /** Allocates so many MiB, keeps some of it for a while, and asks for three collections. */
    private static void churn(int mebibytes) {
        beans("before");
        long from = System.nanoTime();
        JvmMetrics metrics = JvmMetrics.start(OFTEN);
        beans("started");
        long collected = collections();
        double allocated = new PageFigures().of("jvm_memory_allocation_bytes_total");
        byte[][] some = new byte[256][];
        for (int i = 0; i < mebibytes * 16; i++) some[i % some.length] = new byte[CHUNK_BYTES];
        kept = some;
        for (int i = 0; i < 3; i++) System.gc();
        beans("ended");
        readTwice();
        double now = new PageFigures().of("jvm_memory_allocation_bytes_total");
        hear(collections() - collected);
        say("allocated", (long) (now - allocated));
        say("wall", System.nanoTime() - from);
        say("failure", metrics.lastFailure());
        beans("last");
        page();
        metrics.close();
    }

    /** Prints which figures there are in a runtime that may lack modules. */
    private static void small() {
        try (JvmMetrics metrics = JvmMetrics.start(OFTEN)) {
            for (int i = 0; i < 3; i++) System.gc();
            readTwice();
            say("failure", metrics.lastFailure());
            page();
        } catch (IllegalStateException e) {
            say("refused", e.getMessage());
        }
    }

    /** So many million small objects, each of which refers to the next. */
    private static final class Link {
        final Link next;

        Link(Link next) {
            this.next = next;
        }
    }

    /** A long pause: a full collection of a heap of small objects. */
    private static void stall(int millions) {
        Link list = null;
        for (int i = 0; i < millions * 1_000_000; i++) list = new Link(list);
        try (JvmMetrics metrics = JvmMetrics.start(OFTEN)) {
            for (int i = 0; i < 5; i++) lookForHiccups(); // it has seen what is ordinary
            long collected = collections();
            for (int i = 0; i < 3; i++) System.gc();
            hear(collections() - collected);
            for (int i = 0; i < 5; i++) lookForHiccups();
            kept = list;
            say("failure", metrics.lastFailure());
            page();
        }
    }

    /** Collects by a class loader's own copy of the jar, and drops the loader. */
    private static void loaders() throws Exception {
        URL jar = JvmMetrics.class.getProtectionDomain().getCodeSource().getLocation();
        WeakReference<ClassLoader> loader = new WeakReference<>(collectIn(jar));
        for (int i = 0; i < 100 && loader.get() != null; i++) {
            System.gc();
            LockSupport.parkNanos(20_000_000);
        }
        say("loader", loader.get());
        say("running", System.getProperty("io.crest.jvm.running"));
    }

    private static ClassLoader collectIn(URL jar) throws Exception {
        URLClassLoader loader =
                new URLClassLoader(new URL[] {jar}, ClassLoader.getPlatformClassLoader());
        Class<?> options = loader.loadClass(JvmOptions.class.getName());
        Class<?> type = loader.loadClass(JvmMetrics.class.getName());
        Object defaults = options.getField("DEFAULT").get(null);
        AutoCloseable metrics =
                (AutoCloseable) type.getMethod("start", options).invoke(null, defaults);
        System.gc();
        LockSupport.parkNanos(100_000_000);
        say("available", loader.loadClass(Crest.class.getName()).getMethod("available")
                .invoke(null));
        metrics.close();
        loader.close();
        return loader;
    }

    /**
     * What one collection costs: processor time and bytes allocated of each of so many, with so
     * many threads waiting.
     */
    private static void cost(int threads, int times) throws Exception {
        for (int i = 0; i < threads; i++) {
            Thread thread = new Thread(() -> LockSupport.parkNanos(3_600_000_000_000L));
            thread.setDaemon(true);
            thread.start();
        }
        JvmMetrics metrics = JvmMetrics.start(JvmOptions.DEFAULT.interval(Duration.ofHours(1))
                .slowInterval(Duration.ofHours(1)).hiccups(false));
        com.sun.management.ThreadMXBean bean =
                (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        long id = Thread.currentThread().getId();
        for (int i = 0; i < times; i++) {
            long bytes = bean.getThreadAllocatedBytes(id);
            long cpu = bean.getCurrentThreadCpuTime();
            metrics.readNow();
            say("cost", bean.getCurrentThreadCpuTime() - cpu + " "
                    + (bean.getThreadAllocatedBytes(id) - bytes));
            LockSupport.parkNanos(5_000_000);
        }
        metrics.close();
    }
}
