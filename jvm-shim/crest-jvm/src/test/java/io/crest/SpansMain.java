// SPDX-License-Identifier: Apache-2.0
package io.crest;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Spans over pools, futures and virtual threads. Every span carries the attribute {@code wants}:
 * the {@code self} of the span that is to be its parent. tests/jvm/test_jvm_spans.py reads what
 * Crest wrote to its file and compares.
 */
final class SpansMain {
    private static final int BLOCKS = 30;
    private static final int DEPLOYS = 8;
    private static final int WAIT_S = 60;

    private static final Timer BLOCK = Timer.of("tree.block-time");
    private static final Timer DEPLOY = Timer.of("tree.deploy-time");
    private static final Timer STORE = Timer.of("tree.store-time");
    private static final Timer FETCH = Timer.of("tree.fetch-time");
    private static final Timer LATER = Timer.of("tree.later-time");
    private static final Timer OTHER = Timer.of("other.plain-time");

    private static final ExecutorService POOL =
            Context.carrying(Executors.newFixedThreadPool(4));
    private static final ExecutorService JOINED = Context.carrying(new ForkJoinPool(4));
    private static final ScheduledExecutorService TIMED =
            Context.carrying(Executors.newScheduledThreadPool(1));
    private static final ExecutorService VIRTUAL = virtual();

    private SpansMain() {}

    /** Virtual threads where there are some, platform threads elsewhere. */
    private static ExecutorService virtual() {
        try {
            return Context.carrying(
                    (ExecutorService)
                            Executors.class
                                    .getMethod("newVirtualThreadPerTaskExecutor")
                                    .invoke(null));
        } catch (ReflectiveOperationException e) {
            return Context.carrying(Executors.newCachedThreadPool());
        }
    }

    private static byte[] hash(int block) {
        byte[] hash = new byte[32];
        for (int i = 0; i < hash.length; i++) hash[i] = (byte) (block * 31 + i * 7 + 1);
        return hash;
    }

    private static SpanTiming named(SpanTiming timing, String self, String parent) {
        return timing.set("self", self).set("wants", parent);
    }

    private static String store(String self, String parent) {
        try (SpanTiming store = STORE.startSpan().enter()) {
            named(store, self, parent).set("bytes", 4096L).set("ratio", 0.5).set("dirty", true);
            store.event("synced");
            if (self.endsWith("3/store")) throw new IllegalStateException("no space left");
            return store.done(self);
        } catch (IllegalStateException expected) {
            return self;
        }
    }

    private static String deploy(String self, String parent) {
        try (SpanTiming deploy = DEPLOY.startSpan().enter()) {
            named(deploy, self, parent);
            // on another pool again, from within a task
            return deploy.done(JOINED.submit(() -> store(self + "/store", self)).get());
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private static CompletableFuture<Long> fetched(String self, String parent, boolean fails) {
        SpanTiming fetch = FETCH.startSpan().kind(FinishedSpans.CLIENT);
        named(fetch, self, parent);
        try (Context.Scope scope = fetch.context().enter()) {
            return CompletableFuture.supplyAsync(() -> store(self + "/store", self), POOL)
                    .thenApplyAsync(
                            done -> {
                                if (fails) throw new CompletionException(new TimeoutException());
                                return 1L;
                            },
                            JOINED)
                    .whenComplete(
                            (result, thrown) ->
                                    fetch.fail(thrown).end(Outcome.of(thrown)));
        }
    }

    private static void block(int number) {
        String self = "block-" + number;
        try (SpanTiming block = BLOCK.startSpan(Op.of(hash(number))).enter()) {
            named(block, self, "");
            List<Future<?>> parts = new ArrayList<>();
            for (int i = 0; i < DEPLOYS; i++) {
                String part = self + "/" + i;
                ExecutorService on = i % 3 == 0 ? POOL : i % 3 == 1 ? VIRTUAL : JOINED;
                parts.add(on.submit(() -> deploy(part, self)));
            }
            parts.add(
                    TIMED.schedule(
                            () -> LATER.span(() -> store(self + "/later", "")),
                            1,
                            TimeUnit.MILLISECONDS));
            CompletableFuture<Long> fetch = fetched(self + "/fetch", self, number % 2 == 1);
            for (Future<?> part : parts) part.get(WAIT_S, TimeUnit.SECONDS);
            fetch.exceptionally(thrown -> 0L).get(WAIT_S, TimeUnit.SECONDS);
            OTHER.span(() -> "not traced"); // not in the trace, and no hole in it
            block.link(Context.of(null, "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"));
            block.done(self);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    /** Blocks of several at once, each in a thread that takes no context along. */
    public static void main(String[] arguments) throws Exception {
        Crest.start(arguments[0]);
        ExecutorService blocks = Executors.newFixedThreadPool(6);
        List<Future<?>> all = new ArrayList<>();
        for (int i = 0; i < BLOCKS; i++) {
            int number = i;
            all.add(blocks.submit(() -> block(number)));
        }
        for (Future<?> one : all) one.get(WAIT_S, TimeUnit.SECONDS);
        STORE.spanStage(Op.of(7L), () -> CompletableFuture.completedFuture(1));
        DEPLOY.span(() -> named(STORE.startSpan(), "lonely", "").end(Outcome.OK));
        remote();
        if (Context.current() != Context.none()) throw new AssertionError("a context is left");
        for (ExecutorService each : List.of(POOL, JOINED, TIMED, VIRTUAL, blocks)) each.shutdown();
        Crest.stop(Duration.ofSeconds(WAIT_S));
        System.out.println(Crest.page(PageFormat.TEXT));
    }

    /** A request of another process, and what goes on to the next one. */
    private static void remote() {
        String header = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        Context asked = Context.of(Op.of(99L), header);
        String next = asked.run(() -> FETCH.span(() -> Context.current().traceparent()));
        System.out.println("next " + next);
        System.out.println("wrong " + Context.of(null, "00-zz").hasSpan());
    }
}
