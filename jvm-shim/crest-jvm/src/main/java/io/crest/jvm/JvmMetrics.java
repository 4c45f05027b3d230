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
 * Names are Kamon's where Kamon has one. A thread of its own, "crest-jvm", reads once an interval;
 * a second one, "crest-jvm-hiccups", measures hiccups unless they are off; both are daemons. Of
 * collections it hears by notifications, so that none is missed.
 */
public final class JvmMetrics implements AutoCloseable {
    /** How long a close waits for each of its threads, and for collections not yet heard of. */
    static final long JOIN_MILLIS = 2_000;
    /**
     * The process's system property that says that somebody collects. Not a static field: each
     * class loader that has this class would have its own, and all count into the same counters.
     */
    private static final String RUNNING = "io.crest.jvm.running";
    /** Rests for so many times the processor time it took, if that is longer than the interval. */
    private static final long REST = 100;

    private final long intervalNanos;
    private final long slowIntervalNanos;
    private final Cost cost = new Cost("jvm");
    private final List<Figures> figures = new ArrayList<>();
    private final AtomicBoolean closed = new AtomicBoolean();
    /** Inherits no thread-locals of whoever starts. */
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
     * Begins to collect, and has read everything once when it returns. There is one collector in a
     * process, whatever class loaders it has.
     *
     * @param options what and how often
     * @return to be closed, when collecting is to end
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
     * Reads once more, so that nothing is missing of what a last report says, and ends: each
     * collection that ended before this call is recorded. When this
     * returns no thread of it runs, no listener of it is registered, and nothing is recorded any
     * more. What was recorded stays; counters go on when somebody starts again. Does nothing the
     * second time. Thread-safe.
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

    /** Waits for a thread's end; whether there was an interrupt, which does not end the wait. */
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
     * What last could not be read, which {@code crest.collect-failures} counts.
     *
     * @return what was thrown; null if nothing was
     */
    public Throwable lastFailure() {
        Throwable heard = events == null ? null : events.lastFailure();
        return cost.lastFailure() != null ? cost.lastFailure() : heard;
    }

    /** Reads once, on this thread; for tests that have no other reading at the same time. */
    void readNow() {
        cost.of(this::read);
    }

    /** At the interval, not after it; of what was missed nothing is made up for. */
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

    /** What cannot be read keeps nobody else from being read. */
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
