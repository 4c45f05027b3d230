// SPDX-License-Identifier: Apache-2.0
package io.crest.jvm;

import io.crest.Timer;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongConsumer;

/**
 * Hiccups of Java threads: how much later than asked a Java thread wakes up, above the least
 * lateness ever seen. Whatever stops all Java threads, a collection above all, stops this thread
 * too. The library's own meter (option {@code hiccups}) is a native thread, which no safepoint
 * stops; what it sees is in these figures as well.
 */
final class Hiccups implements Runnable {
    private final Timer timer;
    private final LongConsumer record;
    private final long resolutionNanos;
    private final Thread thread;
    private volatile boolean closed;

    Hiccups(Timer timer, long resolutionNanos) {
        this.timer = timer;
        this.record = this::record;
        this.resolutionNanos = resolutionNanos;
        // inherits no thread-locals of the calling thread
        thread = new Thread(null, this, "crest-jvm-hiccups", 0, false);
        thread.setDaemon(true);
        thread.setContextClassLoader(null);
    }

    void start() {
        thread.start();
    }

    /** Ends the thread and waits a moment for its end; returns whether there was an interrupt. */
    boolean close() {
        closed = true;
        LockSupport.unpark(thread);
        return JvmMetrics.awaitEnd(thread);
    }

    /** Each sleep begins at the last wake-up, so that a stop while recording is in the next. */
    @Override
    public void run() {
        long least = Long.MAX_VALUE;
        long last = System.nanoTime();
        for (;;) {
            long until = last + resolutionNanos;
            last = sleep(until);
            if (closed) return;
            least = Math.min(least, last - until);
            HiccupFill.fill(last - until - least, resolutionNanos, record);
        }
    }

    /** Sleeps until then, or until the close; returns the time. */
    private long sleep(long until) {
        for (;;) {
            long now = System.nanoTime();
            if (now - until >= 0 || closed) return now;
            LockSupport.parkNanos(this, until - now);
        }
    }

    private void record(long nanos) {
        timer.record(nanos);
    }
}
