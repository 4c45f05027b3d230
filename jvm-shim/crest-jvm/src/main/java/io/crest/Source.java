// SPDX-License-Identifier: Apache-2.0
package io.crest;

import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/**
 * Recording by name, in RNode's words: a prefix of every name, followed by a dot, and the calls
 * that record. A metric is made at the first use of its name.
 *
 * <pre>{@code
 * static final Source COMM = Source.of("rchain.comm");
 * static final Source CONNECT = COMM.in("rp.connect");
 *
 * CONNECT.incrementCounter("connect");                          // rchain.comm.rp.connect.connect
 * Peer peer = CONNECT.timer("connect-time", () -> dial(address));
 * CONNECT.setGauge("peers", table.size());
 * }</pre>
 *
 * <p>A call by name costs a few nanoseconds more than the same call of a handle, and allocates
 * nothing after the first. A handle is the better choice where there is one place to declare it: it
 * is exported as zero before its first event, its name is written once, and it can have a unit and
 * labels. Recording by name, through a handle of the same name, and from C goes to the same series.
 *
 * <p>Recording never throws. A name that is null, not valid, in use for another kind of metric, or
 * past the 10,000 that may be made by name records nothing. It is counted in {@code
 * crest_misuse_total}, and each such call is a call into the library. The methods that return a
 * handle throw instead, as {@link Counter#of} does.
 *
 * <p>Thread-safe, for virtual threads too. Without the native library nothing is recorded.
 */
public final class Source {
    /** Texts of sources that are kept; the library has as many ({@code CREST_SOURCES_MAX}). */
    private static final int SOURCES_MAX = 1000;

    private static final ConcurrentHashMap<String, Source> SOURCES = new ConcurrentHashMap<>();
    private static final Source ROOT = new Source("", 0);

    private final String name;
    private final long handle;
    private final ByName<Counter> counters = new ByName<>(Kind.COUNTER, Counter::new);
    private final ByName<Gauge> gauges = new ByName<>(Kind.GAUGE, Gauge::new);
    private final ByName<Histogram> histograms = new ByName<>(Kind.HISTOGRAM, Histogram::new);
    private final ByName<RangeSampler> samplers =
            new ByName<>(Kind.RANGE_SAMPLER, RangeSampler::new);
    private final ByName<Timer> timers = new ByName<>(Kind.TIMER, Timer::new);

    private Source(String name, long handle) {
        this.name = name;
        this.handle = handle;
    }

    /**
     * The source with this text, the same object each time. Makes it at its first use, which takes
     * a lock. There may be 1,000; records under further ones are counted as misuse.
     *
     * @param name words of letters, digits and _ joined by single dots and dashes, beginning with a
     *     letter; empty for {@link #root()}
     * @return never null
     * @throws IllegalArgumentException if it is null or cannot stand before a name
     */
    public static Source of(String name) {
        if (name == null) throw new IllegalArgumentException("a source is not valid: it is null");
        if (name.isEmpty()) return ROOT;
        Source source = SOURCES.get(name);
        return source != null ? source : make(name);
    }

    private static synchronized Source make(String name) {
        Source source = SOURCES.get(name);
        if (source != null) return source;
        source = new Source(name, Library.AVAILABLE ? Names.source(name) : 0);
        if (SOURCES.size() < SOURCES_MAX) SOURCES.put(name, source);
        return source;
    }

    /**
     * The root source, which puts nothing before a name.
     *
     * @return never null
     */
    public static Source root() {
        return ROOT;
    }

    /**
     * The source below this one: {@code Source.of("rchain.comm").in("rp")} is {@code
     * Source.of("rchain.comm.rp")}. Keep it: joining the two texts allocates.
     *
     * @param name as of {@link #of}; empty for this source itself
     * @return never null
     * @throws IllegalArgumentException as {@link #of}
     */
    public Source in(String name) {
        if (name == null) throw new IllegalArgumentException("a source is not valid: it is null");
        return of(name.isEmpty() ? this.name : whole(name));
    }

    /**
     * The prefix of every name, without its dot.
     *
     * @return empty for {@link #root()}
     */
    public String name() {
        return name;
    }

    /** {@link #name()}. */
    @Override
    public String toString() {
        return name;
    }

    // ---- counters ----

    /**
     * Adds one to a counter.
     *
     * @param name of the counter, under this source
     */
    public void incrementCounter(String name) {
        incrementCounter(name, 1);
    }

    /**
     * Adds to a counter.
     *
     * @param name of the counter, under this source
     * @param delta how much; 0 only makes the counter exist; a negative one is not applied
     *     and is counted as misuse
     */
    public void incrementCounter(String name, long delta) {
        Counter counter = counters.find(name);
        if (counter == null) counter = first(counters, name);
        if (counter != null) counter.increment(delta);
    }

    // ---- range samplers ----

    /**
     * Adds one to a range sampler.
     *
     * @param name of the range sampler, under this source
     */
    public void incrementSampler(String name) {
        incrementSampler(name, 1);
    }

    /**
     * Adds to a range sampler, which keeps the extremes: no peak falls between two samples.
     *
     * @param name of the range sampler, under this source
     * @param delta how much; may be negative
     */
    public void incrementSampler(String name, long delta) {
        RangeSampler sampler = samplerOf(name);
        if (sampler != null) sampler.increment(delta);
    }

    /**
     * Subtracts one from a range sampler.
     *
     * @param name of the range sampler, under this source
     */
    public void decrementSampler(String name) {
        decrementSampler(name, 1);
    }

    /**
     * Subtracts from a range sampler.
     *
     * @param name of the range sampler, under this source
     * @param delta how much; may be negative
     */
    public void decrementSampler(String name, long delta) {
        RangeSampler sampler = samplerOf(name);
        if (sampler != null) sampler.decrement(delta);
    }

    /**
     * Makes the range sampler exist, and no more: its extremes are exact without sampling.
     *
     * @param name of the range sampler, under this source
     */
    public void sample(String name) {
        samplerOf(name);
    }

    // ---- gauges ----

    /**
     * Sets a gauge.
     *
     * @param name of the gauge, under this source
     * @param value any; beyond 2^53 the nearest double
     */
    public void setGauge(String name, long value) {
        setGauge(name, (double) value);
    }

    /**
     * Sets a gauge.
     *
     * @param name of the gauge, under this source
     * @param value negative and infinite ones are values; NaN is not applied and is counted as
     *     misuse
     */
    public void setGauge(String name, double value) {
        Gauge gauge = gaugeOf(name);
        if (gauge != null) gauge.set(value);
    }

    /**
     * Adds one to a gauge.
     *
     * @param name of the gauge, under this source
     */
    public void incrementGauge(String name) {
        incrementGauge(name, 1.0);
    }

    /**
     * Adds to a gauge.
     *
     * @param name of the gauge, under this source
     * @param delta how much; may be negative
     */
    public void incrementGauge(String name, long delta) {
        incrementGauge(name, (double) delta);
    }

    /**
     * Adds to a gauge; no addition is lost.
     *
     * @param name of the gauge, under this source
     * @param delta how much; may be negative; NaN, or a sum that would be NaN, is not applied and
     *     is counted as misuse
     */
    public void incrementGauge(String name, double delta) {
        Gauge gauge = gaugeOf(name);
        if (gauge != null) gauge.increment(delta);
    }

    /**
     * Subtracts one from a gauge.
     *
     * @param name of the gauge, under this source
     */
    public void decrementGauge(String name) {
        incrementGauge(name, -1.0);
    }

    /**
     * Subtracts from a gauge.
     *
     * @param name of the gauge, under this source
     * @param delta how much; may be negative
     */
    public void decrementGauge(String name, long delta) {
        incrementGauge(name, -(double) delta);
    }

    /**
     * Subtracts from a gauge; otherwise as {@link #incrementGauge(String, double)}.
     *
     * @param name of the gauge, under this source
     * @param delta how much; may be negative
     */
    public void decrementGauge(String name, double delta) {
        incrementGauge(name, -delta);
    }

    // ---- histograms ----

    /**
     * Records a value in a histogram.
     *
     * @param name of the histogram, under this source
     * @param value a negative one is not applied and is counted as misuse; one above the range
     *     counts as its highest, and as misuse
     */
    public void record(String name, long value) {
        record(name, value, 1);
    }

    /**
     * Records a value several times over.
     *
     * @param name of the histogram, under this source
     * @param value as of {@link #record(String, long)}
     * @param count how often; 0 only makes the histogram exist; a negative one is not
     *     applied and is counted as misuse
     */
    public void record(String name, long value, long count) {
        Histogram histogram = histograms.find(name);
        if (histogram == null) histogram = first(histograms, name);
        if (histogram != null) histogram.record(value, count);
    }

    // ---- timers ----

    /**
     * Times code. A lambda comes here; a lambda that returns nothing goes to {@code
     * timer(name).run(…)}. The code runs also where nothing can be recorded.
     *
     * @param <T> what the code returns
     * @param <E> the checked exceptions that it throws
     * @param name of the timer, under this source
     * @param block run once, on this thread
     * @return what it returns
     * @throws E what it throws; recorded under {@link Outcome#of}, and rethrown as it is
     */
    public <T, E extends Exception> T timer(String name, Timed<T, E> block) throws E {
        Objects.requireNonNull(block, "the code to be timed");
        Timer timer = timerOf(name);
        return timer != null ? timer.time(block) : block.run();
    }

    /**
     * Times a {@link Callable}.
     *
     * @param <T> what it returns
     * @param name of the timer, under this source
     * @param block run once, on this thread
     * @return what it returns
     * @throws Exception what it throws; recorded under {@link Outcome#of}, and rethrown as it is
     */
    public <T> T timer(String name, Callable<T> block) throws Exception {
        Objects.requireNonNull(block, "the code to be timed");
        Timer timer = timerOf(name);
        return timer != null ? timer.time(block) : block.call();
    }

    /**
     * Times a {@link Supplier}. What it throws is recorded under {@link Outcome#of}, and rethrown
     * as it is.
     *
     * @param <T> what it returns
     * @param name of the timer, under this source
     * @param block run once, on this thread
     * @return what it returns
     */
    public <T> T timer(String name, Supplier<T> block) {
        Objects.requireNonNull(block, "the code to be timed");
        Timer timer = timerOf(name);
        return timer != null ? timer.time(block) : block.get();
    }

    /**
     * Times work of other threads, until the stage ends, wherever it does. As {@link
     * Timer#timeStage}.
     *
     * @param <T> what the stage ends with
     * @param name of the timer, under this source
     * @param block makes the stage; run once, on this thread. What it throws is recorded and
     *     rethrown
     * @return to be used in place of the stage: it ends as the stage does, after the record
     */
    public <T> CompletionStage<T> timerStage(
            String name, Supplier<? extends CompletionStage<T>> block) {
        Objects.requireNonNull(block, "what makes the stage to be timed");
        Timer timer = timerOf(name);
        return timer != null ? timer.timeStage(block) : block.get();
    }

    /**
     * Records a duration that was measured elsewhere, for code that neither is a block nor makes a
     * stage, such as an effect of a library of effects.
     *
     * @param name of the timer, under this source
     * @param durationNanos a negative one counts as 0, and as misuse
     * @param outcome how it ended, for an exception by {@link Outcome#of}; null is counted as
     *     misuse
     */
    public void recordTimer(String name, long durationNanos, Outcome outcome) {
        Timer timer = timerOf(name);
        if (timer != null) timer.record(durationNanos, outcome);
    }

    // ---- handles ----

    /**
     * A metric of this source, to be given settings and an end; see {@link Metric}.
     *
     * @param name under this source
     * @return to be given settings and an end
     * @throws IllegalArgumentException for null
     */
    public Metric metric(String name) {
        return Metric.named(name == null ? null : whole(name));
    }

    /**
     * The handle of a counter, the same each time.
     *
     * @param name under this source
     * @return found or made, never null
     * @throws IllegalArgumentException for an invalid name
     * @throws CrestException when another metric stands in the way
     */
    public Counter counter(String name) {
        Counter counter = counters.find(name);
        return counter != null ? counter : kept(counters, name, metric(name).counter());
    }

    /**
     * The handle of a gauge. Otherwise as {@link #counter}.
     *
     * @param name under this source
     * @return found or made, never null
     */
    public Gauge gauge(String name) {
        Gauge gauge = gauges.find(name);
        return gauge != null ? gauge : kept(gauges, name, metric(name).gauge());
    }

    /**
     * The handle of a histogram. Otherwise as {@link #counter}.
     *
     * @param name under this source
     * @return found or made, never null
     */
    public Histogram histogram(String name) {
        Histogram histogram = histograms.find(name);
        return histogram != null ? histogram : kept(histograms, name, metric(name).histogram());
    }

    /**
     * The handle of a range sampler. Otherwise as {@link #counter}.
     *
     * @param name under this source
     * @return found or made, never null
     */
    public RangeSampler rangeSampler(String name) {
        RangeSampler sampler = samplers.find(name);
        return sampler != null ? sampler : kept(samplers, name, metric(name).rangeSampler());
    }

    /**
     * The handle of a timer: for tokens, operations by their id, and code that returns nothing.
     * Otherwise as {@link #counter}.
     *
     * @param name under this source
     * @return found or made, never null
     */
    public Timer timer(String name) {
        Timer timer = timers.find(name);
        return timer != null ? timer : kept(timers, name, metric(name).timer());
    }

    // ---- finding ----

    private RangeSampler samplerOf(String name) {
        RangeSampler sampler = samplers.find(name);
        return sampler != null ? sampler : first(samplers, name);
    }

    private Gauge gaugeOf(String name) {
        Gauge gauge = gauges.find(name);
        return gauge != null ? gauge : first(gauges, name);
    }

    private Timer timerOf(String name) {
        Timer timer = timers.find(name);
        return timer != null ? timer : first(timers, name);
    }

    /** The instrument of a name not kept yet; null if there is none, which has been counted. */
    private <T extends Instrument> T first(ByName<T> known, String name) {
        if (!Library.AVAILABLE) return null;
        long found = Names.handle(handle, name, known.kind.number);
        return found == 0 ? null : known.keep(name, whole(name), found);
    }

    /** The kept instrument of a name that now exists; else {@code made}, which records nowhere. */
    private <T extends Instrument> T kept(ByName<T> known, String name, T made) {
        T found = first(known, name);
        return found != null ? found : made;
    }

    private String whole(String name) {
        return this.name.isEmpty() ? name : this.name + '.' + name;
    }
}
