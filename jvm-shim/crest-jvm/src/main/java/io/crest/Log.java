// SPDX-License-Identifier: Apache-2.0
package io.crest;

import java.nio.charset.StandardCharsets;

/**
 * Brings the library's messages to the listener. The library's own threads only put them into a
 * native queue; a daemon thread of Java takes them from there. It runs from the first listener
 * until the last stop, and again from the next start on. So nothing keeps a class loader alive
 * whose Crest was stopped.
 */
final class Log {
    /** Guards what follows. */
    private static final Object LOCK = new Object();

    private static LogListener listener;
    private static Thread thread;
    private static long taker;

    private Log() {}

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
        long mine = ++taker;
        LogNatives.serve(mine);
        // inherits neither thread-locals nor the class loader of the calling thread
        thread = new Thread(null, () -> deliver(told, mine), "crest-log", 0, false);
        thread.setContextClassLoader(null);
        thread.setDaemon(true);
        thread.start();
    }

    /** The delivering thread, which ends once it has delivered the queue; null if none runs. */
    private static Thread detach() {
        Thread before = thread;
        thread = null;
        if (before != null) LogNatives.serve(0);
        return before;
    }

    private static void deliver(LogListener told, long mine) {
        for (byte[] next = LogNatives.take(mine); next != null; next = LogNatives.take(mine)) {
            String message = new String(next, 1, next.length - 1, StandardCharsets.UTF_8);
            try {
                told.log(LogLevel.of(next[0]), message);
            } catch (Throwable passedOver) { // the listener's, and there is no log to tell it
                continue;
            }
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
