// SPDX-License-Identifier: Apache-2.0
package io.crest;

import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadFactory;
import java.util.function.Supplier;

/**
 * What a piece of code belongs to: an operation, and the span that is the parent of what it times
 * ({@link Timer#span}). Each thread has one, virtual ones too; a task that is handed to another
 * thread takes it along if its executor is {@link #carrying(ExecutorService) wrapped}, or the task
 * is.
 *
 * <pre>{@code
 * static final ExecutorService POOL = Context.carrying(Executors.newFixedThreadPool(8));
 *
 * BLOCK.span(Op.of(hash), () -> {
 *     POOL.submit(() -> DEPLOY.span(() -> run(deploy)));   // a child of BLOCK's span
 * });
 * }</pre>
 *
 * <p>Immutable. Where nothing is traced it still says which operation the code is in.
 */
public final class Context {
    /** Neither operation nor span. */
    private static final Context NONE = new Context(Op.NONE, 0, 0, 0, 0, null);

    private static final ThreadLocal<Context> CURRENT = new ThreadLocal<>();

    final Op op;
    final long traceHigh;
    final long traceLow;
    final long span;
    final int flags;

    /** The innermost timer; null: in none. */
    final Timer timer;

    Context(Op op, long traceHigh, long traceLow, long span, int flags, Timer timer) {
        this.op = op;
        this.traceHigh = traceHigh;
        this.traceLow = traceLow;
        this.span = span;
        this.flags = flags;
        this.timer = timer;
    }

    /** The first longs of a running span are its context. */
    static Context of(Op op, long[] longs, Timer timer) {
        return new Context(
                op,
                longs[SpanTimingNatives.TRACE_HIGH],
                longs[SpanTimingNatives.TRACE_LOW],
                longs[SpanTimingNatives.SPAN],
                (int) longs[SpanTimingNatives.FLAGS],
                timer);
    }

    /**
     * Of nothing: what is timed in it begins a trace of its own.
     *
     * @return never null
     */
    public static Context none() {
        return NONE;
    }

    /**
     * What this thread is in. Where native code that is in a span has called Java, that span.
     *
     * @return never null
     */
    public static Context current() {
        Context own = CURRENT.get();
        if (own != null) return own;
        if (!Library.AVAILABLE || Threads.isVirtual(Thread.currentThread())) return NONE;
        long[] longs = SpanTimingNatives.current();
        return longs == null ? NONE : of(Op.NONE, longs, null);
    }

    /**
     * Of an operation, without a span: what is timed in it is below the operation's root.
     *
     * @param op the operation; null is none
     * @return never null
     */
    public static Context of(Op op) {
        return op == null || op.isNone() ? NONE : new Context(op, 0, 0, 0, 0, null);
    }

    /**
     * Of a W3C {@code traceparent}, for what another process has asked for.
     *
     * @param op the operation here; null is none
     * @param traceparent read strictly; one that is wrong is counted as misuse
     * @return with that span; of the operation alone for a text that is null or wrong
     */
    public static Context of(Op op, String traceparent) {
        long[] longs = traceparent == null || !Library.AVAILABLE
                ? null
                : SpanTimingNatives.parse(traceparent.getBytes(StandardCharsets.UTF_8));
        return longs == null ? of(op) : of(op == null ? Op.NONE : op, longs, null);
    }

    /**
     * The operation.
     *
     * @return null: none
     */
    public Op operation() {
        return op.isNone() ? null : op;
    }

    /**
     * Whether there is a span: not where the timer is not traced.
     *
     * @return whether
     */
    public boolean hasSpan() {
        return span != 0;
    }

    /**
     * The span's id, as it is written everywhere.
     *
     * @return 16 digits; empty without a span
     */
    public String spanId() {
        return hasSpan() ? hexadecimal(span) : "";
    }

    /**
     * The trace's id.
     *
     * @return 32 digits; empty without a span
     */
    public String traceId() {
        return hasSpan() ? hexadecimal(traceHigh) + hexadecimal(traceLow) : "";
    }

    /**
     * The header that tells another process of the span.
     *
     * @return W3C's {@code traceparent}; empty without a span
     */
    public String traceparent() {
        return hasSpan()
                ? "00-" + traceId() + '-' + spanId() + '-' + hexadecimal(flags & 3).substring(14)
                : "";
    }

    private static String hexadecimal(long word) {
        String digits = Long.toHexString(word);
        return "0".repeat(16 - digits.length()) + digits;
    }

    /**
     * Makes it this thread's, until the scope is closed by the same thread, last entered first.
     *
     * @return for {@code try (Context.Scope scope = context.enter())}
     */
    public Scope enter() {
        return new Scope(this);
    }

    /**
     * Runs code in it.
     *
     * @param <T> what it returns
     * @param <E> the checked exceptions that it throws
     * @param body run once, on this thread
     * @return what it returns
     * @throws E what it throws
     */
    public <T, E extends Exception> T run(Timed<T, E> body) throws E {
        Objects.requireNonNull(body, "the code to be run");
        try (Scope scope = enter()) {
            return body.run();
        }
    }

    /**
     * A task that runs in it, on whatever thread.
     *
     * @param task runs as often as what is returned
     * @return never null
     */
    public Runnable wrap(Runnable task) {
        Objects.requireNonNull(task, "the task to be wrapped");
        return () -> {
            try (Scope scope = enter()) {
                task.run();
            }
        };
    }

    /**
     * The same of a task with a result.
     *
     * @param <T> what it returns
     * @param task runs as often as what is returned
     * @return never null
     */
    public <T> Callable<T> wrap(Callable<T> task) {
        Objects.requireNonNull(task, "the task to be wrapped");
        return () -> {
            try (Scope scope = enter()) {
                return task.call();
            }
        };
    }

    /**
     * The same of what {@code CompletableFuture.supplyAsync} takes.
     *
     * @param <T> what it returns
     * @param task runs as often as what is returned
     * @return never null
     */
    public <T> Supplier<T> wrapSupplier(Supplier<T> task) {
        Objects.requireNonNull(task, "the task to be wrapped");
        return () -> {
            try (Scope scope = enter()) {
                return task.get();
            }
        };
    }

    /**
     * An executor whose tasks run in the context of the thread that handed them over. What {@code
     * CompletableFuture} chains with it takes along the context of the thread that completes the
     * stage before, and that is the same wherever all stages run on such executors.
     *
     * @param executor runs the tasks
     * @return never null
     */
    public static Executor carrying(Executor executor) {
        Objects.requireNonNull(executor, "the executor that runs the tasks");
        return task -> executor.execute(current().wrap(task));
    }

    /**
     * The same with results: of pools, of a {@code ForkJoinPool}, of virtual threads. Shutting it
     * down shuts down the one that runs the tasks.
     *
     * @param executor runs the tasks
     * @return never null
     */
    public static ExecutorService carrying(ExecutorService executor) {
        return new ContextExecutor<>(
                Objects.requireNonNull(executor, "the executor that runs the tasks"));
    }

    /**
     * The same with delays.
     *
     * @param executor runs the tasks
     * @return never null
     */
    public static ScheduledExecutorService carrying(ScheduledExecutorService executor) {
        return new ContextScheduler(
                Objects.requireNonNull(executor, "the executor that runs the tasks"));
    }

    /**
     * Threads, virtual ones too, that run in the context of the thread that made them.
     *
     * @param factory makes the threads
     * @return never null
     */
    public static ThreadFactory carrying(ThreadFactory factory) {
        Objects.requireNonNull(factory, "what makes the threads");
        return task -> factory.newThread(current().wrap(task));
    }

    /** A context that is this thread's until it is closed. */
    public static final class Scope implements AutoCloseable {
        private final Thread thread = Thread.currentThread();
        private final boolean mirrored = Library.AVAILABLE && !Threads.isVirtual(thread);
        private final Context before;
        private Context outside;
        private boolean closed;

        private Scope(Context context) {
            Context seen = current();
            before = CURRENT.get();
            CURRENT.set(context);
            // native code in this thread then has the same parent; not in a virtual thread, whose
            // carrier may have another one at any moment
            if (mirrored && (context.hasSpan() || seen.hasSpan())) {
                outside = seen;
                mirror(context);
            }
            if (OperationLog.on) OperationLog.enter(thread, context);
        }

        /** The thread is in what it was in before. Another thread than its own does nothing. */
        @Override
        public void close() {
            if (closed || Thread.currentThread() != thread) return;
            closed = true;
            if (before == null) CURRENT.remove();
            else CURRENT.set(before);
            if (outside != null) mirror(outside);
            if (OperationLog.on) OperationLog.enter(thread, before);
        }

        private static void mirror(Context context) {
            SpanTimingNatives.setCurrent(
                    context.traceHigh, context.traceLow, context.span, context.flags);
        }
    }
}
