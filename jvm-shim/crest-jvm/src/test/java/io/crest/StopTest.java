// SPDX-License-Identifier: Apache-2.0
package io.crest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Starts and stops that go wrong, come twice, or at once. */
class StopTest {
    static {
        assertTrue(Library.AVAILABLE, Library.problem());
    }

    private static final Duration SOON = Duration.ofSeconds(30);

    private static CrestException refused(Runnable call) {
        return assertThrows(CrestException.class, call::run);
    }

    private static long millisOf(Runnable call) {
        long from = System.nanoTime();
        call.run();
        return (System.nanoTime() - from) / 1_000_000;
    }

    /** A server that takes connections and says nothing. */
    private static ServerSocket silent() throws Exception {
        return new ServerSocket(0, 50, InetAddress.getByName("127.0.0.1"));
    }

    /** A push that no stop ends takes longer than any test here waits. */
    private static String pushTo(ServerSocket server) {
        return "windows=off,interval=1h,jitter=0,pushgateway.timeout=5m,"
                + "pushgateway=http://127.0.0.1:" + server.getLocalPort();
    }

    @Test
    void aStopWithoutAStartIsRefused() {
        CrestException e = refused(() -> Crest.stop(SOON));
        assertEquals(Status.NOT_RUNNING, e.status());
        assertTrue(e.getMessage().contains("not started"), e.getMessage());
    }

    @Test
    void aSecondStartHasNoOptionsOfItsOwn() {
        Crest.start("windows=off");
        CrestException e = refused(() -> Crest.start("windows=off"));
        assertEquals(Status.ALREADY, e.status());
        Crest.stop(SOON); // the refused one did not count
        assertEquals(Status.NOT_RUNNING, refused(() -> Crest.stop(SOON)).status());
    }

    /** Starts on a port that was free; on another if another process took it meanwhile. */
    private static int startToServe() throws Exception {
        for (int tries = 1; ; tries++) {
            int port;
            try (ServerSocket server = new ServerSocket(0)) {
                port = server.getLocalPort();
            }
            try {
                Crest.start("windows=off,prometheus=" + port);
                return port;
            } catch (CrestException e) {
                if (tries == 20) throw e;
            }
        }
    }

    @Test
    void onlyTheLastStopEndsTheReports() throws Exception {
        int port = startToServe();
        Crest.start();
        Crest.stop(SOON);
        try (Socket served = new Socket("127.0.0.1", port)) {
            assertTrue(served.isConnected());
        }
        Crest.stop(SOON);
        assertThrows(ConnectException.class, () -> new Socket("127.0.0.1", port).close());
    }

    @Test
    void aServerThatHangsHoldsAStopNoLongerThanItsDeadline() throws Exception {
        try (ServerSocket server = silent()) {
            Crest.start(pushTo(server));
            long millis =
                    millisOf(
                            () -> {
                                CrestException e =
                                        refused(() -> Crest.stop(Duration.ofMillis(400)));
                                assertEquals(Status.TIMED_OUT, e.status(), e.getMessage());
                                assertTrue(e.getMessage().contains("pushgateway"), e.getMessage());
                            });
            assertTrue(millis >= 300 && millis < 15_000, () -> "the stop took " + millis + " ms");
        }
        assertEquals(Status.NOT_RUNNING, refused(() -> Crest.stop(SOON)).status());
    }

    @Test
    void anInterruptEndsNoStopAndStands() throws Exception {
        try (ServerSocket server = silent()) {
            Crest.start(pushTo(server));
            Thread.currentThread().interrupt();
            long millis =
                    millisOf(() -> refused(() -> Crest.stop(Duration.ofMillis(400))));
            assertTrue(Thread.interrupted(), "the interrupt is still there");
            assertTrue(millis >= 300 && millis < 15_000, () -> "the stop took " + millis + " ms");
        }
    }

    @Test
    void aStopGivesUpWaitingForAnothersStop() throws Exception {
        try (ServerSocket server = silent()) {
            Crest.start(pushTo(server));
            Crest.start();
            Crest.stop(SOON);
            Thread other = new Thread(() -> refused(() -> Crest.stop(SOON)));
            other.start();
            try (Socket push = server.accept()) {
                push.getInputStream().read(); // the push is under way
                CrestException e = refused(() -> Crest.stop(Duration.ofMillis(100)));
                assertEquals(Status.TIMED_OUT, e.status());
                assertTrue(e.getMessage().contains("another thread"), e.getMessage());
            }
            other.join(); // its push has failed by now
        }
        assertEquals(Status.NOT_RUNNING, refused(() -> Crest.stop(SOON)).status());
    }

    @Test
    void aServerThatRefusesIsNamed() throws Exception {
        try (Socket taken = new Socket()) { // has the port, and does not listen
            taken.bind(new InetSocketAddress("127.0.0.1", 0));
            int port = taken.getLocalPort();
            Crest.start("windows=off,interval=1h,pushgateway=http://127.0.0.1:" + port);
            CrestException e = refused(() -> Crest.stop(SOON));
            assertEquals(Status.UNREACHABLE, e.status());
            assertTrue(e.getMessage().contains("127.0.0.1:" + port), e.getMessage());
        }
    }

    @Test
    void cyclesLeaveNoThread() throws Exception {
        String options =
                "interval=100ms,prometheus=127.0.0.1:0,json=/dev/null,hiccups=on,system=on";
        Crest.onLog((level, message) -> {});
        Crest.start(options);
        Crest.stop(SOON);
        int before = threads();
        for (int i = 0; i < 20; i++) {
            Crest.start(options);
            Crest.stop(SOON);
        }
        Crest.onLog(null);
        for (int i = 0; i < 1000 && threads() > before; i++) Thread.sleep(20);
        assertTrue(threads() <= before, () -> threads() + " threads, there were " + before);
    }

    /** The process's threads without the JVM's compilers and collectors, which come and go. */
    private static int threads() {
        int count = 0;
        for (File task : new File("/proc/self/task").listFiles()) {
            try {
                String name = Files.readString(task.toPath().resolve("comm"));
                if (!name.matches("(?s)(C1 |C2 |GC Thread|G1 ).*")) count++;
            } catch (IOException e) {
                continue; // it has ended meanwhile
            }
        }
        return count;
    }

    @Test
    void startsAndStopsOfManyThreadsAddUp() throws Exception {
        Thread[] all = new Thread[4];
        Throwable[] failure = new Throwable[1];
        for (int i = 0; i < all.length; i++) {
            all[i] =
                    new Thread(
                            () -> {
                                for (int n = 0; n < 10; n++) {
                                    Crest.start();
                                    Crest.stop(SOON);
                                }
                            });
            all[i].setUncaughtExceptionHandler((thread, e) -> failure[0] = e);
            all[i].start();
        }
        for (Thread thread : all) thread.join();
        assertEquals(null, failure[0]);
        assertEquals(Status.NOT_RUNNING, refused(() -> Crest.stop(SOON)).status());
    }
}
