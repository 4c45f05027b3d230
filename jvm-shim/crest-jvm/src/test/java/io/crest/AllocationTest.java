// SPDX-License-Identifier: Apache-2.0
package io.crest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import java.lang.management.ManagementFactory;
import java.lang.reflect.Method;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntConsumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.opentest4j.TestAbortedException;

/**
 * Costs of recording that need no clock: no byte allocated, and no call into the library once the
 * thread has touched the series. {@code make bench-jvm} measures how long it takes.
 */
@Order(1) // before other tests change the compiler's profiles of shared code
class AllocationTest {
    static { assertTrue(Library.AVAILABLE, Library.problem()); }

    private static final com.sun.management.ThreadMXBean THREADS =
            (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final int WARM = 20_000;
    private static final String[] LABELS = {"one", "two", "three", "four"};
    private static final int TIMES = 1_000_000;

    /** A call into the library takes longer; it allocates nothing either. */
    private static final int TIMES_BY_CALL = 100_000;

    private static final long PATIENCE_NS = 60_000_000_000L;

    private static long allocated() {
        return THREADS.getThreadAllocatedBytes(Thread.currentThread().getId());
    }

    private static long allocatedBy(IntConsumer work, int times) {
        long before = allocated();
        for (int i = 0; i < times; i++) work.accept(i);
        return allocated() - before;
    }

    /**
     * For code that makes no object, compiled or not. The better of two: the JVM itself may
     * allocate in this thread when it first links something.
     */
    private static DynamicTest nothing(String what, int times, IntConsumer work) {
        return dynamicTest(what, () -> {
            allocatedBy(work, WARM);
            long bytes = Math.min(allocatedBy(work, times), allocatedBy(work, times));
            assertEquals(0, bytes, "bytes by " + times + " times " + what);
        });
    }

    private static DynamicTest nothing(String what, IntConsumer work) {
        return nothing(what, TIMES, work);
    }

    /**
     * For code whose only object is local: the compiler removes it once it has compiled the code,
     * and a deoptimisation brings it back for a moment.
     */
    private static DynamicTest nothingOnceCompiled(String what, IntConsumer work) {
        return dynamicTest(what, () -> {
            assumeFalse(System.getProperty("java.vm.info").contains("interpreted"),
                    "nothing is compiled in this JVM");
            long began = System.nanoTime();
            long bytes;
            do {
                bytes = allocatedBy(work, TIMES_BY_CALL);
            } while (bytes != 0 && System.nanoTime() - began < PATIENCE_NS);
            assertEquals(0, bytes, "bytes by " + TIMES_BY_CALL + " times " + what);
        });
    }

    @TestFactory
    Stream<DynamicTest> handlesAllocateNothing() {
        Counter counter = Counter.of("allocation.counter");
        Gauge gauge = Gauge.of("allocation.gauge");
        Histogram histogram = Histogram.of("allocation.histogram");
        RangeSampler sampler = RangeSampler.of("allocation.sampler");
        Timer timer = Timer.of("allocation.timer");
        return Stream.of(
                nothing("increments of a counter", i -> counter.increment()),
                nothing("additions to a counter", counter::increment),
                nothing("sets of a gauge", gauge::set),
                nothing("additions to a gauge", i -> gauge.increment(0.5)),
                nothing("records of a histogram", i -> histogram.record(i & 0xffff)),
                nothing("several records at once", i -> histogram.record(i & 0xffff, 3)),
                nothing("changes of a range sampler", TIMES_BY_CALL, i -> {
                    sampler.increment(2);
                    sampler.decrement();
                    sampler.set(i);
                }),
                nothing("durations", i -> timer.record(i & 0xffff)),
                nothing("failed durations", i -> timer.record(i & 0xffff, Outcome.ERROR)),
                nothing("moments", i -> timer.stopNanos(timer.startNanos())));
    }

    @TestFactory
    Stream<DynamicTest> labelsAllocateNothing() {
        Metric metric = Metric.named("allocation.by-label");
        Family<Counter> one = metric.labelled("a").counter();
        Family<Gauge> two = Metric.named("allocation.by-two").labelled("a", "b").gauge();
        Family<Timer> three =
                Metric.named("allocation.by-three").labelled("a", "b", "c").timer();
        Family<RangeSampler> ranges =
                Metric.named("allocation.ranges").labelled("a").rangeSampler();
        Family<Histogram> sizes = Metric.named("allocation.sizes").labelled("a").histogram();
        return Stream.of(
                nothing("a counter's label", i -> one.with(LABELS[i & 3]).increment()),
                nothing("a gauge's labels", i -> two.with("x", LABELS[i & 3]).set(i)),
                nothing("a timer's labels", i -> three.with("x", LABELS[i & 3], "z").record(i)),
                nothing("a histogram's label", i -> sizes.with(LABELS[i & 3]).record(i)),
                nothing("a range sampler's label", TIMES_BY_CALL, i -> ranges.with("x").set(i)));
    }

    @TestFactory
    Stream<DynamicTest> namesAllocateNothing() {
        Source source = Source.of("allocation.names");
        return Stream.of(
                nothing("increments by name", i -> source.incrementCounter("counter")),
                nothing("additions by name", i -> source.incrementCounter("counter", i)),
                nothing("gauges by name", i -> source.setGauge("gauge", i)),
                nothing("records by name", i -> source.record("histogram", i & 0xffff)),
                nothing("samplers by name", TIMES_BY_CALL, i -> {
                    source.incrementSampler("sampler");
                    source.decrementSampler("sampler");
                }));
    }

    @TestFactory
    Stream<DynamicTest> idsAllocateNothing() {
        Timer timer = Timer.of("allocation.keyed");
        Stages stages = Stages.of("allocation.stages", "", "0", "1/3", "1");
        return Stream.of(
                nothing("keyed operations", TIMES_BY_CALL, id -> {
                    timer.begin(id);
                    timer.end(id, Outcome.OK);
                }),
                nothing("stages", TIMES_BY_CALL, id -> {
                    stages.begin(id);
                    stages.mark(id, 0);
                    stages.mark(id, 2);
                    stages.end(id);
                }));
    }

    @TestFactory
    Stream<DynamicTest> tokensAllocateNothingOnceCompiled() {
        Timer timer = Timer.of("allocation.tokens");
        byte[] hash = new byte[32];
        byte[] same = new byte[32];
        return Stream.of(
                nothingOnceCompiled("tokens", id -> timer.start(id).stop(id)),
                nothingOnceCompiled("tokens with hashes", id -> {
                    hash[0] = same[0] = (byte) id;
                    timer.start(hash).end(same, Outcome.ERROR);
                }),
                nothingOnceCompiled("tokens for try", id -> {
                    try (Timing timing = timer.start(id)) {
                        if ((id & 1) != 0) timing.fail();
                    }
                }),
                nothingOnceCompiled("timed code", id -> timer.time(() -> Boolean.TRUE)));
    }

    /** Calls into the library while the calling thread runs it, the first run not counted. */
    private static int calls(IntConsumer work) {
        work.accept(TIMES);
        int before = Cells.calls;
        for (int i = 0; i < TIMES; i++) work.accept(i);
        return Cells.calls - before;
    }

    @Test
    void countersCallNothing() {
        Counter counter = Counter.of("calls.counter");
        Source source = Source.of("calls.names");
        assertEquals(0, calls(counter::increment));
        assertEquals(0, calls(i -> source.incrementCounter("counter")));
        assertEquals(1L + TIMES, source.counter("counter").value());
    }

    /** The largest value since the last tick takes a call; here it is the first value. */
    @Test
    void recordsCallNothing() {
        Histogram histogram = Histogram.of("calls.histogram");
        Timer timer = Timer.of("calls.timer");
        // a block for each power of two
        for (int value = 0; value <= TIMES; value = 2 * value + 1) {
            histogram.record(value);
            timer.record(value);
        }
        assertTrue(calls(histogram::record) <= 2, "a tick at most, which some other test started");
        assertTrue(calls(timer::record) <= 2, "a tick at most, which some other test started");
    }

    /** Virtual threads have no cells of their own, but use shared ones. */
    @Test
    void countersOfVirtualThreadsCallNothing() throws Exception {
        Method start;
        try {
            start = Thread.class.getMethod("startVirtualThread", Runnable.class);
        } catch (NoSuchMethodException e) {
            throw new TestAbortedException("this JDK has no virtual threads");
        }
        Counter counter = Counter.of("calls.virtual");
        AtomicInteger calls = new AtomicInteger(-1);
        Runnable work = () -> calls.set(calls(i -> counter.increment()));
        ((Thread) start.invoke(null, work)).join();
        assertEquals(0, calls.get());
        assertEquals(1L + TIMES, counter.value());
    }

    /** The tests above rely on this: a call is seen. */
    @Test
    void callsAreSeen() throws InterruptedException {
        Counter counter = Counter.of("calls.seen");
        int before = Cells.calls;
        Thread thread = new Thread(counter::increment);
        thread.start();
        thread.join();
        assertEquals(1, Cells.calls - before);
    }
}
