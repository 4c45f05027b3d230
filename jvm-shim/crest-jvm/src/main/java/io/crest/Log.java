// SPDX-License-Identifier: Apache-2.0
package io.crest;

import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Brings the library's messages to the listener. The library's own threads only put them into a
 * native queue; a daemon thread of Java takes them from there. It runs from the first listener
 * until the last stop, and again from the next start on. So nothing keeps a class loader alive
 * whose Crest was stopped. It looks for messages ten times a second and waits in Java meanwhile: a
 * thread that waits in native code holds up the end of the JVM, which gives it a third of a second.
 */
final class Log {
    private static final long PERIOD_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    /** Guards what follows. */
    private static final Object LOCK = new Object();

    private static LogListener listener;

    /** The thread that delivers; null for none. One before it may still be in a listener's call. */
    private static Thread thread;

    private Log() {}

    /** Whether there is a listener. */
    static boolean isHeard() {
        synchronized (LOCK) {
            return listener != null;
        }
    }

    /** Null ends listening. */
    static void listen(LogListener wanted) {
        Thread before;
        synchronized (LOCK) {
            if (wanted != null && !LogNatives.listen(true)) {
                throw new CrestException(
                        Status.SYSTEM,
                        "Crest.onLog: the native library cannot be kept in memory, which it must be"
                                + " to receive messages");
            }
            if (wanted == null) LogNatives.listen(false);
            listener = wanted;
            before = detach();
            if (wanted != null) attach();
        }
        await(before, 0);
    }

    /** Crest was started: the listener is called again. */
    static void resume() {
        synchronized (LOCK) {
            if (listener != null && thread == null) attach();
        }
    }

    /** Crest was stopped: waits at most so long for the remaining messages to be delivered. */
    static void suspend(long millis) {
        Thread before;
        synchronized (LOCK) {
            before = detach();
        }
        await(before, millis);
    }

    private static void attach() {
        LogListener told = listener;
        // inherits neither thread-locals nor the class loader of the calling thread
        thread = new Thread(null, () -> deliver(told), "crest-log", 0, false);
        thread.setContextClassLoader(null);
        thread.setDaemon(true);
        thread.start();
    }

    /** The delivering thread, which ends once it has delivered the queue; null if none runs. */
    private static Thread detach() {
        Thread before = thread;
        thread = null;
        LockSupport.unpark(before);
        return before;
    }

    private static void deliver(LogListener told) {
        while (true) {
            byte[] next;
            synchronized (LOCK) {
                Thread mine = Thread.currentThread();
                // without a thread that follows, what is left is still this one's
                next = thread == null || thread == mine ? LogNatives.take() : null;
                if (next == null && thread != mine) return;
            }
            if (next == null) LockSupport.parkNanos(PERIOD_NANOS);
            else tell(told, next);
        }
    }

    private static void tell(LogListener told, byte[] next) {
        String message = new String(next, 1, next.length - 1, StandardCharsets.UTF_8);
        try {
            told.log(LogLevel.of(next[0]), message);
        } catch (Throwable passedOver) { // the listener's, and there is no log to tell it
            return;
        }
    }

    /** Does nothing on the listener's own thread, which may stop Crest or remove the listener. */
    private static void await(Thread before, long millis) {
        if (before == null || before == Thread.currentThread() || millis == 0) return;
        boolean interrupted = false;
        long until = System.nanoTime() + millis * 1_000_000;
        for (long left = millis; left > 0 && before.isAlive(); ) {
            try {
                before.join(left);
            } catch (InterruptedException e) {
                interrupted = true;
            }
            left = (until - System.nanoTime()) / 1_000_000;
        }
        if (interrupted) Thread.currentThread().interrupt();
    }
}
