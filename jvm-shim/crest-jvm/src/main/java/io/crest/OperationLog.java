// SPDX-License-Identifier: Apache-2.0
package io.crest;

import java.lang.ref.WeakReference;
import java.util.Iterator;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Which timers a thread was in, and since when, while the profiler runs: samples of the JVM's
 * threads are told a second after they were taken. Of each thread the last changes are kept; a
 * sample that is older than these is told without its timer.
 */
final class OperationLog {
    private static final int PLACES = 2048;
    private static final ConcurrentHashMap<Long, OperationLog> ALL = new ConcurrentHashMap<>();
    private static final ThreadLocal<OperationLog> OWN = new ThreadLocal<>();

    /** Whether changes are noted. */
    static volatile boolean on;

    private final WeakReference<Thread> thread;
    private final long[] since = new long[PLACES];
    private final Timer[] timers = new Timer[PLACES];
    private long changes;

    private OperationLog(Thread thread) {
        this.thread = new WeakReference<>(thread);
    }

    /** The calling thread is in this context from now on; null: in none. */
    static void enter(Thread thread, Context context) {
        OperationLog log = OWN.get();
        if (log == null) {
            log = new OperationLog(thread);
            OWN.set(log);
            ALL.put(Threads.number(thread), log);
        }
        log.note(System.nanoTime(), context == null ? null : context.timer);
    }

    private synchronized void note(long now, Timer timer) {
        int place = (int) (changes++ % PLACES);
        since[place] = now;
        timers[place] = timer;
    }

    /** The timer that the thread was in then, or null. */
    static Timer at(long thread, long nanos) {
        OperationLog log = ALL.get(thread);
        return log == null ? null : log.at(nanos);
    }

    private synchronized Timer at(long nanos) {
        long oldest = Math.max(0, changes - PLACES);
        for (long i = changes - 1; i >= oldest; i--)
            if (since[(int) (i % PLACES)] - nanos <= 0) return timers[(int) (i % PLACES)];
        return null;
    }

    /** Forgets threads that have ended, and all of them once nothing is noted. */
    static void tidy() {
        for (Iterator<OperationLog> each = ALL.values().iterator(); each.hasNext(); ) {
            Thread thread = each.next().thread.get();
            if (!on || thread == null || !thread.isAlive()) each.remove();
        }
    }
}
