// SPDX-License-Identifier: Apache-2.0
package io.crest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.ref.WeakReference;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Crest in class loaders that come and go, as an application server has them. */
@Tag("jar")
class LoadersTest {
    private static final int ROUNDS = 50;
    private static final int COUNTS = 7;
    private static final int COLLECTED_WITHIN_MS = 120_000;
    private static final int THREADS = 8;

    @TempDir Path folder;

    /** What an application does with Crest between being loaded and being discarded. */
    static final class Application implements Callable<Long> {
        @Override
        public Long call() throws Exception {
            Crest.start("interval=1h,windows=off,atexit=off");
            Counter counter = Counter.of("loaders.applications");
            for (int i = 0; i < COUNTS; i++) counter.increment();
            Thread thread = new Thread(counter::increment);
            thread.start();
            thread.join();
            Crest.stop(Duration.ofSeconds(60));
            return counter.value();
        }
    }

    /** A line of the page as that loader gets it. */
    static final class Page implements Callable<String> {
        @Override
        public String call() {
            return Crest.page(PageFormat.TEXT);
        }
    }

    /** Counts at the test's command, and once more. */
    static final class Counting implements Callable<Long> {
        private final Counter counter = Counter.of("loaders.together");

        @Override
        public Long call() {
            for (int i = 0; i < 100_000; i++) counter.increment();
            return counter.value();
        }
    }

    /** How many pieces of our libraries are mapped. */
    private static long mapped() throws IOException {
        try (Stream<String> lines = Files.lines(Paths.get("/proc/self/maps"))) {
            return lines.filter(line -> line.contains("/libcrest")).count();
        }
    }

    /** The library's threads, Java's and native ones: the JDK begins and ends others at will. */
    private static List<String> threads() throws IOException {
        List<String> names = new ArrayList<>();
        for (Thread thread : Thread.getAllStackTraces().keySet()) {
            String name = thread.getName();
            if (name.startsWith("crest")) names.add(name);
        }
        try (Stream<Path> tasks = Files.list(Paths.get("/proc/self/task"))) {
            for (Path task : tasks.collect(Collectors.toList())) {
                String name = Files.readString(task.resolve("comm")).trim();
                if (name.startsWith("crest")) names.add(name);
            }
        }
        return names.stream().sorted().collect(Collectors.toList());
    }

    private static void collect(List<WeakReference<ClassLoader>> loaders) throws Exception {
        for (int ms = 0; ms < COLLECTED_WITHIN_MS; ms += 50) {
            System.gc();
            if (loaders.stream().allMatch(loader -> loader.get() == null)) return;
            Thread.sleep(50);
        }
        long left = loaders.stream().filter(loader -> loader.get() != null).count();
        assertEquals(0, left, "class loaders that something still refers to");
    }

    private static long round(List<WeakReference<ClassLoader>> loaders, Class<?> application)
            throws Exception {
        try (OtherLoader other = new OtherLoader()) {
            loaders.add(new WeakReference<>(other.loader()));
            return (Long) other.call(application);
        }
    }

    @Test
    void aDiscardedLoaderIsCollectedAndItsCountsStay() throws Exception {
        List<WeakReference<ClassLoader>> loaders = new ArrayList<>();
        try (WithProperty jars = new WithProperty("crest.library", null);
                WithProperty there = new WithProperty("crest.tmpdir", folder.toString())) {
            long counted = round(loaders, Application.class); // makes what stays
            collect(loaders);
            long mapped = mapped();
            List<String> threads = threads();
            for (int i = 1; i <= ROUNDS; i++) {
                assertEquals(counted + i * (COUNTS + 1L), round(loaders, Application.class));
            }
            collect(loaders);
            assertEquals(threads, threads());
            for (int ms = 0; ms < COLLECTED_WITHIN_MS && mapped() > mapped; ms += 50) {
                System.gc(); // some JDKs unload a library a collection later than its loader
                Thread.sleep(50);
            }
            assertTrue(mapped() <= mapped, () -> "pieces mapped, before: " + mapped);
            try (OtherLoader next = new OtherLoader()) {
                String page = (String) next.call(Page.class);
                String line = "loaders_applications_total " + (counted + ROUNDS * (COUNTS + 1L));
                assertTrue(page.contains("\n" + line + "\n"), page);
                assertEquals(page.indexOf(line), page.lastIndexOf(line), "once on the page");
            }
        }
        try (Stream<Path> left = Files.list(folder)) {
            assertEquals(List.of(), left.collect(Collectors.toList()));
        }
    }

    @Test
    void severalLoadersCountIntoOneSeries() throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(3);
        Counter here = Counter.of("loaders.together");
        try (WithProperty jars = new WithProperty("crest.library", null);
                OtherLoader one = new OtherLoader();
                OtherLoader two = new OtherLoader()) {
            List<Future<?>> done = new ArrayList<>();
            // the same threads for all of them: a thread's cells do not belong to a loader
            for (int i = 0; i < 3; i++) {
                done.add(pool.submit((Callable<?>) new Counting()));
                done.add(pool.submit(one.make(Counting.class)));
                done.add(pool.submit(two.make(Counting.class)));
            }
            for (Future<?> each : done) each.get();
            assertEquals(900_000, here.value());
        } finally {
            pool.shutdown();
        }
    }

    /** An application with a log listener, which gets a message from the library. */
    static final class Listener implements Callable<Long> {
        @Override
        public Long call() throws Exception {
            Crest.start("interval=1h,windows=off,atexit=off");
            BlockingQueue<String> heard = new LinkedBlockingQueue<>();
            Crest.onLog((level, message) -> heard.add(message));
            LogNatives.write(LogLevel.INFO.ordinal(), new byte[] {'h', 'e', 'a', 'r'});
            String first = heard.poll(10, TimeUnit.SECONDS);
            Crest.stop(Duration.ofSeconds(60));
            return first == null ? 0L : 1L;
        }
    }

    @Test
    void aLoaderThatListenedIsCollectedToo() throws Exception {
        List<WeakReference<ClassLoader>> loaders = new ArrayList<>();
        try (WithProperty jars = new WithProperty("crest.library", null)) {
            for (int i = 0; i < 3; i++) assertEquals(1L, round(loaders, Listener.class));
        }
        collect(loaders);
        assertTrue(Library.AVAILABLE, Library.problem());
        LogNatives.write(0, new byte[] {'h'}); // a listener of a loader that is gone is not called
    }

    /** The first touch of the library: by recording here, by a query there. */
    static final class First implements Callable<Boolean> {
        @Override
        public Boolean call() throws Exception {
            CyclicBarrier together = new CyclicBarrier(THREADS);
            ExecutorService pool = Executors.newFixedThreadPool(THREADS);
            List<Future<Boolean>> answers = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                int number = i;
                answers.add(pool.submit(() -> {
                    together.await();
                    if (number % 2 == 0) Counter.of("loaders.first").increment();
                    return Crest.available();
                }));
            }
            boolean all = true;
            for (Future<Boolean> answer : answers) all &= answer.get();
            pool.shutdown();
            return all && Counter.of("loaders.first").value() >= THREADS / 2;
        }
    }

    @Test
    void theFirstTouchMayComeFromSeveralThreads() throws Exception {
        for (int i = 0; i < 5; i++) {
            try (OtherLoader other = new OtherLoader()) {
                assertEquals(true, other.call(First.class));
            }
        }
    }

    @Test
    void aLoaderWithoutTheLibraryDoesNotKeepAnotherFromIt() throws Exception {
        try (OtherLoader without = new OtherLoader()) {
            try (WithProperty off = new WithProperty("crest.native", "off")) {
                assertFalse(without.problem().isEmpty());
            }
            try (OtherLoader with = new OtherLoader()) {
                assertNull(with.problem());
            }
            assertFalse(without.problem().isEmpty());
        }
    }
}
