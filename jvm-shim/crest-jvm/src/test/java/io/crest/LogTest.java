// SPDX-License-Identifier: Apache-2.0
package io.crest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.ResourceBundle;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class LogTest {
    static {
        assertTrue(Library.AVAILABLE, Library.problem());
    }

    private final BlockingQueue<String> told = new LinkedBlockingQueue<>();

    private static void log(LogLevel level, String text) {
        LogNatives.write(level.ordinal(), text.getBytes(StandardCharsets.UTF_8));
    }

    private void tell(LogLevel level, String message) {
        told.add(level + " " + message);
    }

    private String next() throws InterruptedException {
        return told.poll(120, TimeUnit.SECONDS);
    }

    private static boolean threadIsThere() {
        return Thread.getAllStackTraces().keySet().stream()
                .anyMatch(thread -> thread.getName().equals("crest-log"));
    }

    private static void threadEnds() throws InterruptedException {
        for (int i = 0; i < 12000 && threadIsThere(); i++) Thread.sleep(10);
        assertFalse(threadIsThere(), "the thread of the log has ended");
    }

    /** Misuse by other tests is told once, before these tests listen. */
    @BeforeEach
    void oldMisuseIsTold() {
        Crest.onLog((level, message) -> {});
        Crest.start("windows=off");
        Crest.stop(Duration.ofSeconds(60));
        Crest.onLog(null);
    }

    @AfterEach
    void nobodyListens() throws InterruptedException {
        Crest.onLog(null);
        threadEnds();
    }

    @Test
    void everyLevelAndCharacterArrivesInOrder() throws Exception {
        log(LogLevel.INFO, "nobody is told of this");
        Crest.onLog(this::tell);
        log(LogLevel.INFO, "plain");
        log(LogLevel.WARNING, "caf\u00e9 \ud83d\ude00 100 % %s");
        log(LogLevel.ERROR, "");
        assertEquals("INFO plain", next());
        assertEquals("WARNING caf\u00e9 \ud83d\ude00 100 % %s", next());
        assertEquals("ERROR ", next());
        Crest.onLog(null);
        log(LogLevel.INFO, "nor of this");
        Crest.onLog(this::tell);
        log(LogLevel.INFO, "last");
        assertEquals("INFO last", next());
    }

    /** A daemon thread that waits in native code holds up the end of the JVM. */
    @Test
    void theThreadWaitsInJava() throws Exception {
        Crest.onLog(this::tell);
        Thread thread =
                Thread.getAllStackTraces().keySet().stream()
                        .filter(one -> one.getName().equals("crest-log"))
                        .findAny()
                        .orElseThrow();
        for (int i = 0; i < 12000 && thread.getState() != Thread.State.TIMED_WAITING; i++)
            Thread.sleep(1);
        assertEquals(Thread.State.TIMED_WAITING, thread.getState());
    }

    @Test
    void aListenerIsNotReplacedByABridges() throws Exception {
        assertTrue(Crest.onLogIfNone(this::tell));
        assertFalse(Crest.onLogIfNone((level, message) -> {}));
        log(LogLevel.INFO, "to the first");
        assertEquals("INFO to the first", next());
    }

    @Test
    void aReporterThatFailsIsHeard() throws Exception {
        Crest.onLog(this::tell);
        Crest.start("windows=off,jitter=0,interval=100ms,pushgateway=http://127.0.0.1:1");
        String message = next();
        assertNotNull(message);
        assertTrue(message.startsWith("WARNING crest: "), message);
        assertTrue(message.contains("127.0.0.1:1"), message);
        assertThrows(CrestException.class, () -> Crest.stop(Duration.ofSeconds(2)));
    }

    @Test
    void aListenerThatThrowsGoesOn() throws Exception {
        Crest.onLog(
                (level, message) -> {
                    tell(level, message);
                    if (message.equals("1")) throw new IllegalStateException("on purpose");
                    if (message.equals("2")) throw new AssertionError("on purpose");
                });
        for (int i = 1; i <= 3; i++) log(LogLevel.INFO, "" + i);
        for (int i = 1; i <= 3; i++) assertEquals("INFO " + i, next());
    }

    @Test
    void aSlowListenerDelaysNobodyAndIsToldHowManyItMissed() throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        CountDownLatch begun = new CountDownLatch(1);
        Crest.onLog(
                (level, message) -> {
                    tell(level, message);
                    begun.countDown();
                    try {
                        go.await();
                    } catch (InterruptedException e) {
                        throw new IllegalStateException(e);
                    }
                });
        log(LogLevel.INFO, "first");
        assertTrue(begun.await(120, TimeUnit.SECONDS));
        for (int i = 0; i < 64 + 1000; i++) log(LogLevel.INFO, "" + i);
        go.countDown();
        assertEquals("INFO first", next());
        for (int i = 0; i < 64; i++) assertEquals("INFO " + i, next());
        assertEquals(
                "WARNING crest: 1000 further messages came faster than the listener took them, and"
                        + " were dropped",
                next());
    }

    @Test
    void theThreadLivesFromStartToStop() throws Exception {
        assertFalse(threadIsThere(), "nobody listens");
        Crest.onLog(this::tell);
        assertTrue(threadIsThere(), "from the listener on");
        Crest.start("windows=off");
        Crest.start();
        Crest.stop(Duration.ofSeconds(60));
        assertTrue(threadIsThere(), "one start is left");
        log(LogLevel.INFO, "just before the end");
        Crest.stop(Duration.ofSeconds(60));
        assertFalse(threadIsThere(), "and it ends with the last stop,");
        assertEquals("INFO just before the end", told.poll(), "which waits for what is left");
        Crest.start("windows=off");
        assertTrue(threadIsThere(), "the listener is still told");
        log(LogLevel.INFO, "again");
        assertEquals("INFO again", next());
        Crest.stop(Duration.ofSeconds(60));
    }

    @Test
    void aListenerMayStopCrestAndTakeItselfAway() throws Exception {
        Crest.start("windows=off");
        Crest.onLog(
                (level, message) -> {
                    Crest.stop(Duration.ofSeconds(60));
                    Crest.onLog(null);
                    tell(level, message);
                });
        log(LogLevel.INFO, "the end");
        assertEquals("INFO the end", next());
    }

    @Test
    void aListenerThatHangsHoldsNoStopBeyondASecond() throws Exception {
        CountDownLatch never = new CountDownLatch(1);
        CountDownLatch begun = new CountDownLatch(1);
        Crest.start("windows=off");
        Crest.onLog(
                (level, message) -> {
                    begun.countDown();
                    try {
                        never.await();
                    } catch (InterruptedException e) {
                        throw new IllegalStateException(e);
                    }
                });
        log(LogLevel.INFO, "hang");
        assertTrue(begun.await(120, TimeUnit.SECONDS));
        long from = System.nanoTime();
        Crest.stop(Duration.ofMillis(500));
        long millis = (System.nanoTime() - from) / 1_000_000;
        // the callback never ends
        assertTrue(millis < 60_000, () -> "the stop took " + millis + " ms");
        never.countDown();
    }

    @Test
    void loggersOfThePlatformHaveTheSameLevels() throws Exception {
        List<String> logged = new ArrayList<>();
        CountDownLatch all = new CountDownLatch(3);
        Crest.logTo(
                new System.Logger() {
                    @Override
                    public String getName() {
                        return "crest";
                    }

                    @Override
                    public boolean isLoggable(Level level) {
                        return true;
                    }

                    @Override
                    public void log(
                            Level level, ResourceBundle bundle, String message, Throwable e) {
                        throw new UnsupportedOperationException();
                    }

                    @Override
                    public void log(
                            Level level, ResourceBundle bundle, String format, Object... values) {
                        synchronized (logged) {
                            logged.add(level + " " + format + " " + (values == null));
                        }
                        all.countDown();
                    }
                });
        for (LogLevel level : LogLevel.values()) log(level, "{0}");
        assertTrue(all.await(120, TimeUnit.SECONDS));
        synchronized (logged) {
            assertEquals(List.of("INFO {0} true", "WARNING {0} true", "ERROR {0} true"), logged);
        }
        Crest.logTo(null);
        assertNull(told.poll());
    }
}
