// SPDX-License-Identifier: Apache-2.0
package io.crest.jvm;

import io.crest.Metric;
import io.crest.Buckets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;

/**
 * The virtual machine's own figures: collections and their pauses, memory, threads, classes,
 * buffers, safepoints, hiccups. docs/jvm-metrics.md says what each is read from, and METRICS.md
 * lists them.
 *
 * <pre>{@code
 * try (JvmMetrics jvm = JvmMetrics.start(JvmOptions.DEFAULT)) { … }     // or
 * Crest.start("jvm=on,…") }</pre>
 *
 * Names are Kamon's where Kamon has one. A daemon thread, "crest-jvm", reads once an interval. A
 * second one, "crest-jvm-hiccups", measures hiccups unless they are off. Collections come by
 * notifications, so that none is missed.
 */
public final class JvmMetrics implements AutoCloseable {
    /** How long a close waits for each of its threads, and for notifications of collections. */
    static final long JOIN_MILLIS = 2_000;
    /**
     * The system property that says that this process collects already. Not a static field: each
     * class loader that has this class would have its own, and all count into the same counters.
     */
    private static final String RUNNING = "io.crest.jvm.running";
    /** Rests for so many times its processor time, if that is longer than the interval. */
    private static final long REST = 100;

    private final long intervalNanos;
    private final long slowIntervalNanos;
    private final Cost cost = new Cost("jvm");
    private final List<Figures> figures = new ArrayList<>();
    private final AtomicBoolean closed = new AtomicBoolean();
    /** Inherits no thread-locals of the calling thread. */
    private final Thread thread = new Thread(null, this::run, "crest-jvm", 0, false);
    private GcEvents events;
    private Hiccups hiccups;
    private long slowDue;

    private JvmMetrics(JvmOptions options) {
        intervalNanos = options.interval.toNanos();
        slowIntervalNanos = options.slowInterval.toNanos();
        MemoryFigures memory = new MemoryFigures();
        PerfData perf = PerfData.own();
        GcFigures gc = new GcFigures(memory, perf);
        add(memory);
        add(new MemoryFigures.Buffers());
        add(gc);
        add(new ThreadFigures());
        add(new RuntimeFigures());
        add(SafepointFigures.find(perf));
        if (has("jdk.management")) {
            add(AllocationFigures.find());
            add(ProcessorFigures.find());
            events = new GcEvents(gc, new Cost("jvm-gc"));
        }
        if (options.hiccups)
            hiccups = new Hiccups(Metric.named("jvm.hiccups")
                    .describedAs("How much later than asked a Java thread woke up.")
                    .buckets(Buckets.FAST).timer(), options.hiccupResolution.toNanos());
        thread.setDaemon(true);
        thread.setContextClassLoader(null);
    }

    private void add(Figures found) {
        if (found != null) figures.add(found);
    }

    private static boolean has(String module) {
        return ModuleLayer.boot().findModule(module).isPresent();
    }

    /**
     * Begins to collect, and has read everything once when it returns. A process has one
     * collector, whatever class loaders it has.
     *
     * @param options what and how often
     * @return to be closed, to end collecting
     * @throws IllegalStateException when it collects already, or the runtime has no module
     *     java.management
     * @throws IllegalArgumentException for null
     */
    public static JvmMetrics start(JvmOptions options) {
        if (options == null)
            throw new IllegalArgumentException("cannot collect the JVM's metrics with options that "
                    + "are null; JvmOptions.DEFAULT has the defaults");
        if (!has("java.management"))
            throw new IllegalStateException("cannot collect the JVM's metrics: this runtime has no "
                    + "module java.management; add java.management and jdk.management to it "
                    + "(jlink --add-modules), or leave jvm=on away");
        if (System.getProperties().putIfAbsent(RUNNING, "true") != null)
            throw new IllegalStateException("the JVM's metrics are being collected already, by "
                    + "this or another class loader; once in a process is enough");
        JvmMetrics metrics = null;
        try {
            metrics = new JvmMetrics(options);
            metrics.begin();
            return metrics;
        } catch (RuntimeException | Error e) {
            if (metrics != null) metrics.close();
            else System.clearProperty(RUNNING);
            throw e;
        }
    }

    private void begin() {
        if (events != null) events.start();
        slowDue = System.nanoTime();
        cost.of(this::read);
        thread.start();
        if (hiccups != null) hiccups.start();
    }

    /**
     * Reads once more, for the last report, and ends: each collection that ended before this call
     * is recorded. When this returns none of its threads runs, none of its listeners is registered,
     * and nothing more is recorded. What was recorded stays; counters go on after another start.
     * Does nothing the second time. Thread-safe.
     */
    @Override
    public void close() {
        if (!closed.compareAndSet(false, true)) return;
        boolean interrupted = events != null && events.close();
        LockSupport.unpark(thread);
        interrupted |= awaitEnd(thread);
        if (hiccups != null) interrupted |= hiccups.close();
        if (!thread.isAlive()) cost.of(this::read);
        System.clearProperty(RUNNING);
        if (interrupted) Thread.currentThread().interrupt();
    }

    /** Waits for a thread's end; returns whether there was an interrupt, which does not end it. */
    static boolean awaitEnd(Thread thread) {
        boolean interrupted = false;
        long until = System.nanoTime() + JOIN_MILLIS * 1_000_000;
        for (long left = JOIN_MILLIS; left > 0 && thread.isAlive(); ) {
            try {
                thread.join(left);
            } catch (InterruptedException e) {
                interrupted = true;
            }
            left = (until - System.nanoTime()) / 1_000_000;
        }
        return interrupted;
    }

    /**
     * The last failed reading, which {@code crest.collect-failures} counts.
     *
     * @return what was thrown; null if nothing failed
     */
    public Throwable lastFailure() {
        Throwable heard = events == null ? null : events.lastFailure();
        return cost.lastFailure() != null ? cost.lastFailure() : heard;
    }

    /** Reads once, on this thread; for tests that have no other reading at the same time. */
    void readNow() {
        cost.of(this::read);
    }

    /** At points of time one interval apart; a point that was missed is left out. */
    private void run() {
        long due = System.nanoTime() + intervalNanos;
        while (!closed.get()) {
            long left = due - System.nanoTime();
            if (left > 0) {
                LockSupport.parkNanos(this, left);
                continue;
            }
            cost.of(this::read);
            long now = System.nanoTime();
            long step = Math.max(intervalNanos, REST * cost.lastCpuNanos());
            due += step * (1 + Math.max(0, now - due) / step);
        }
    }

    /** One source that cannot be read does not keep the others from being read. */
    private void read() {
        long now = System.nanoTime();
        boolean slow = now - slowDue >= 0;
        if (slow) slowDue = now + slowIntervalNanos;
        Throwable failure = null;
        for (Figures some : figures) {
            try {
                some.read();
                if (slow) some.readSlowly();
            } catch (RuntimeException | Error e) {
                if (failure == null) failure = e;
                else cost.failed(e);
            }
        }
        if (failure instanceof Error) throw (Error) failure;
        if (failure != null) throw (RuntimeException) failure;
    }
}
