// SPDX-License-Identifier: Apache-2.0
package io.crest;

import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.function.Function;

/**
 * What a metric is: a name, a description, settings. Ends with an instrument, or with a {@link
 * Family} of them when it has label keys:
 *
 * <pre>{@code
 * Histogram size = Metric.named("casper.block-size").describedAs("Serialised block.")
 *         .in(Unit.BYTES).buckets(Buckets.FAST).histogram();
 * Family<Timer> pings = Metric.named("comm.ping-time").describedAs("Round trip.")
 *         .buckets(Buckets.FAST).labelled("peer").timer();
 * }</pre>
 *
 * The ends find a metric, made here or by native code in the process, or make it; a metric that
 * exists keeps its first settings.
 *
 * <p>Errors are told at once: an invalid setting by the method that takes it, a refusal of the
 * library by the end. {@link IllegalArgumentException}: a name, a label key or a setting is not
 * valid, or not for this kind. {@link CrestException}: another metric stands in the way ({@link
 * Status#TYPE_CLASH}, {@link Status#NAME_CLASH}, {@link Status#SPLIT_NAME}), or the library is of
 * another version. If a limit or memory is exhausted, the end returns an instrument that records
 * nowhere. That, and each refusal, is counted in {@code crest_misuse_total} and told to the log.
 * Without the native library ({@link Crest#available}) every instrument records nowhere, and only
 * what needs no library is checked.
 *
 * <p>For one thread at a time, until the end; may be used for several ends. Cost of an end: a call
 * into the library, which locks when it makes the metric.
 */
public final class Metric {
    private static final int LABELS_MAX = 8;
    private static final int OPEN_LABELS_MAX = 16;
    private static final int STAGES_MAX = 16;
    private static final int QUANTILES_MAX = 4;
    private static final long UINT32_MAX = 0xffff_ffffL;

    private final String name;
    private String description = "";
    private Unit unit = Unit.NONE;
    private Buckets buckets;
    private Range range;
    private long deadlineMillis;
    private long idleSeconds;
    private boolean withoutWindows;
    private double[] quantiles = {};

    private Metric(String name) {
        this.name = name;
    }

    /**
     * Begins a metric.
     *
     * @param name canonical: letters, digits and _ in words joined by . and -, at most 200 bytes;
     *     the library checks it, at the end
     * @return to be given settings and then an end
     * @throws IllegalArgumentException for null
     */
    public static Metric named(String name) {
        if (name == null)
            throw new IllegalArgumentException("cannot make a metric without a name: it is null");
        return new Metric(name);
    }

    /**
     * The help text.
     *
     * @param text at most 1,000 bytes of UTF-8; null is none
     * @return this
     */
    public Metric describedAs(String text) {
        description = text == null ? "" : text;
        return this;
    }

    /**
     * The unit that values are recorded in; {@link Unit#NONE} unless given. A timer's is {@link
     * Unit#NANOSECONDS} always.
     *
     * @param unit not null
     * @return this
     * @throws IllegalArgumentException for null
     */
    public Metric in(Unit unit) {
        this.unit = given(unit, "unit");
        return this;
    }

    /**
     * The buckets of histograms, timers and stages; unless given, those that fit the unit.
     *
     * @param buckets not null
     * @return this
     * @throws IllegalArgumentException for null
     */
    public Metric buckets(Buckets buckets) {
        this.buckets = given(buckets, "set of buckets");
        return this;
    }

    /**
     * The same, by their bounds.
     *
     * @param bounds as of {@link Buckets#of}
     * @return this
     * @throws IllegalArgumentException as by {@link Buckets#of}
     */
    public Metric buckets(double... bounds) {
        this.buckets = Buckets.of(bounds);
        return this;
    }

    /**
     * The range of histograms, timers and stages; {@link Range#DEFAULT} unless given.
     *
     * @param range not null
     * @return this
     * @throws IllegalArgumentException for null
     */
    public Metric range(Range range) {
        this.range = given(range, "range");
        return this;
    }

    /**
     * Of keyed timers and of stages: an operation still in flight after so long ends as {@link
     * Outcome#TIMEOUT}. Unless given, never.
     *
     * @param deadline more than zero, at most 2^32 - 1 ms (49 days); rounded up to a millisecond
     * @return this
     * @throws IllegalArgumentException for another duration
     */
    public Metric deadline(Duration deadline) {
        deadlineMillis = whole(deadline, "a deadline", 1_000_000, "ms");
        return this;
    }

    /**
     * Of counters, histograms and timers: a series without a record for so long is not exported
     * until its next record, which goes on from its value. Unless given, always exported.
     *
     * @param idle more than zero, at most 2^32 - 1 s; rounded up to a second
     * @return this
     * @throws IllegalArgumentException for another duration
     */
    public Metric idle(Duration idle) {
        idleSeconds = whole(idle, "an idle time", 1_000_000_000, "s");
        return this;
    }

    /**
     * No windows (rates, peaks, extremes of the last minutes) are kept of its series.
     *
     * @return this
     */
    public Metric withoutWindows() {
        withoutWindows = true;
        return this;
    }

    /**
     * The quantiles that the windows of histograms, timers and stages give, beside the maximum.
     *
     * @param quantiles at most 4, above 0 and below 1, which differ in their first eight decimals
     * @return this
     * @throws IllegalArgumentException for others
     */
    public Metric quantiles(double... quantiles) {
        if (quantiles == null || quantiles.length > QUANTILES_MAX)
            throw refused("%d quantiles; %d is the limit", quantiles == null ? 0 : quantiles.length,
                    QUANTILES_MAX);
        for (double quantile : quantiles)
            if (!(quantile > 0 && quantile < 1))
                throw refused("the quantile %s; it lies above 0 and below 1", quantile);
        this.quantiles = quantiles.clone();
        return this;
    }

    /**
     * Gives it label keys: the end makes a {@link Family}.
     *
     * @param keys 1 to 8, each letters, digits and _, no two the same, and none that exporters use
     *     themselves: le, quantile, outcome, job, instance
     * @return to be given an end
     * @throws IllegalArgumentException when there is none, there are too many or one is null; the
     *     end checks the rest
     */
    public Labelled labelled(String... keys) {
        if (keys == null || keys.length == 0)
            throw refused("no label keys; leave labelled() away for a metric without labels");
        if (keys.length > LABELS_MAX)
            throw refused("%d label keys; %d is the limit", keys.length, LABELS_MAX);
        for (String key : keys) if (key == null) throw refused("a label key that is null");
        return new Labelled(keys.clone());
    }

    /**
     * Ends as a counter.
     *
     * @return found or made, never null
     * @throws IllegalArgumentException see above
     * @throws CrestException see above
     */
    public Counter counter() {
        return made(Kind.COUNTER, Counter::new);
    }

    /**
     * Ends as a gauge.
     *
     * @return found or made, never null
     * @throws IllegalArgumentException see above
     * @throws CrestException see above
     */
    public Gauge gauge() {
        return made(Kind.GAUGE, Gauge::new);
    }

    /**
     * Ends as a histogram.
     *
     * @return found or made, never null
     * @throws IllegalArgumentException see above
     * @throws CrestException see above
     */
    public Histogram histogram() {
        return made(Kind.HISTOGRAM, Histogram::new);
    }

    /**
     * Ends as a range sampler.
     *
     * @return found or made, never null
     * @throws IllegalArgumentException see above
     * @throws CrestException see above
     */
    public RangeSampler rangeSampler() {
        return made(Kind.RANGE_SAMPLER, RangeSampler::new);
    }

    /**
     * Ends as a timer.
     *
     * @return found or made, never null
     * @throws IllegalArgumentException see above
     * @throws CrestException see above
     */
    public Timer timer() {
        return made(Kind.TIMER, Timer::new);
    }

    /**
     * Ends as stages.
     *
     * @param names 1 to 16, not empty, distinct, in the order of the index of {@link Stages#mark}
     * @return found or made, never null
     * @throws IllegalArgumentException see above
     * @throws CrestException see above
     */
    public Stages stages(String... names) {
        String[] stages = checked(names);
        long handle = make(Kind.STAGES, new String[0], stages);
        return new Stages(new Series(handle, Kind.STAGES, name, null, stages));
    }

    /**
     * Ends as one counter of an open family, whose label keys are not known beforehand. A new key
     * becomes a key of the metric, and the metric's other series are without it. For labels that
     * come from another library; for a metric of the program's own {@link #labelled} is better,
     * where a forgotten label is an error. A metric is either open or not. Keep the counter: each
     * call encodes the labels, looks up and locks.
     *
     * @param labels at most 16 keys, over all series of the metric; a key as of {@link #labelled},
     *     a value as of {@link Family#with}; a null or empty value is no label. Past 16 keys the
     *     counter records nowhere, which is counted as misuse.
     * @return found or made, never null
     * @throws IllegalArgumentException see above; and for null, and for more than 16 labels
     * @throws CrestException see above
     */
    public Counter counter(Map<String, String> labels) {
        return open(Kind.COUNTER, labels, Counter::new);
    }

    /**
     * Ends as one gauge of an open family; see {@link #counter(Map)}.
     *
     * @param labels as there
     * @return found or made, never null
     * @throws IllegalArgumentException as there
     * @throws CrestException see above
     */
    public Gauge gauge(Map<String, String> labels) {
        return open(Kind.GAUGE, labels, Gauge::new);
    }

    /**
     * Ends as one histogram of an open family; see {@link #counter(Map)}.
     *
     * @param labels as there
     * @return found or made, never null
     * @throws IllegalArgumentException as there
     * @throws CrestException see above
     */
    public Histogram histogram(Map<String, String> labels) {
        return open(Kind.HISTOGRAM, labels, Histogram::new);
    }

    /**
     * Ends as one range sampler of an open family; see {@link #counter(Map)}.
     *
     * @param labels as there
     * @return found or made, never null
     * @throws IllegalArgumentException as there
     * @throws CrestException see above
     */
    public RangeSampler rangeSampler(Map<String, String> labels) {
        return open(Kind.RANGE_SAMPLER, labels, RangeSampler::new);
    }

    private <T extends Instrument> T made(Kind kind, Function<Series, T> instrument) {
        long handle = make(kind, new String[0], new String[0]);
        return instrument.apply(new Series(handle, kind, name, null, null));
    }

    private <T extends Instrument> T open(
            Kind kind, Map<String, String> labels, Function<Series, T> instrument) {
        int count = given(labels, "map of labels").size();
        if (count > OPEN_LABELS_MAX)
            throw refused("%d labels; %d is the limit of an open family", count, OPEN_LABELS_MAX);
        String[] pairs = new String[2 * count];
        String[] shown = new String[count];
        int at = 0;
        for (Map.Entry<String, String> label : labels.entrySet()) {
            pairs[2 * at] = given(label.getKey(), "label key");
            pairs[2 * at + 1] = label.getValue() == null ? "" : label.getValue();
            shown[at++] = label.getKey() + "=" + label.getValue();
        }
        long[] numbers = numbers(0, 0);
        numbers[MetricNatives.OPEN_LABELS] = 1 + count;
        long handle = make(kind, pairs, new String[0], numbers);
        return instrument.apply(new Series(handle, kind, name, shown, null));
    }

    /** The names of stages, checked and copied. */
    private String[] checked(String[] names) {
        if (names == null || names.length == 0 || names.length > STAGES_MAX)
            throw refused("%d stages; they are 1 to %d", names == null ? 0 : names.length,
                    STAGES_MAX);
        for (int i = 0; i < names.length; i++) {
            if (names[i] == null || names[i].isEmpty())
                throw refused("stage %d without a name", i);
            if (Arrays.asList(names).indexOf(names[i]) != i)
                throw refused("stage %s twice", names[i]);
        }
        return names.clone();
    }

    /** The handle; of a family its metric, or 0. */
    private long make(Kind kind, String[] keys, String[] stages) {
        return make(kind, keys, stages, numbers(stages.length, keys.length));
    }

    private long make(Kind kind, String[] keys, String[] stages, long[] numbers) {
        checkFits(kind);
        if (!Library.AVAILABLE) return 0;
        String[] texts = new String[2 + stages.length + keys.length];
        texts[0] = name;
        texts[1] = description;
        System.arraycopy(stages, 0, texts, 2, stages.length);
        System.arraycopy(keys, 0, texts, 2 + stages.length, keys.length);
        double[] bounds = buckets == null ? new double[0] : buckets.bounds;
        double[] doubles = Arrays.copyOf(bounds, bounds.length + quantiles.length);
        System.arraycopy(quantiles, 0, doubles, bounds.length, quantiles.length);
        long address = MetricNatives.make(kind.number, Utf8.joined(texts), numbers, doubles);
        Refusal.check(kind, name, Status.of((int) numbers[MetricNatives.STATUS]));
        return address;
    }

    private long[] numbers(int stages, int keys) {
        long[] numbers = new long[MetricNatives.NUMBERS];
        numbers[MetricNatives.UNIT] = unit.ordinal();
        if (buckets != null) {
            numbers[MetricNatives.BUCKETS] = buckets.preset;
            numbers[MetricNatives.BOUND_COUNT] = buckets.bounds.length;
        }
        if (range != null) {
            numbers[MetricNatives.RANGE] = range.preset;
            numbers[MetricNatives.LOWEST] = range.lowest;
            numbers[MetricNatives.HIGHEST] = range.highest;
            numbers[MetricNatives.DIGITS] = range.digits;
        }
        numbers[MetricNatives.DEADLINE_MS] = deadlineMillis;
        numbers[MetricNatives.IDLE_S] = idleSeconds;
        numbers[MetricNatives.NO_WINDOWS] = withoutWindows ? 1 : 0;
        numbers[MetricNatives.QUANTILE_COUNT] = quantiles.length;
        numbers[MetricNatives.STAGE_COUNT] = stages;
        numbers[MetricNatives.KEY_COUNT] = keys;
        return numbers;
    }

    /** Refuses settings that the kind has no use for: the caller expects something of them. */
    private void checkFits(Kind kind) {
        if (!kind.isDistribution() && (buckets != null || range != null || quantiles.length != 0))
            throw refused("a %s with buckets, a range or quantiles; it has none", kind.text);
        if (!kind.isTimed() && deadlineMillis != 0)
            throw refused("a %s with a deadline; only timers and stages have one", kind.text);
        if (kind.isTimed() && unit != Unit.NONE && unit != Unit.NANOSECONDS)
            throw refused("a %s in %s; it is in NANOSECONDS always", kind.text, unit);
        if ((kind == Kind.GAUGE || kind == Kind.RANGE_SAMPLER) && idleSeconds != 0)
            throw refused("a %s that is hidden when idle; its value stands", kind.text);
        if (range == Range.NONE && buckets != null)
            throw refused("a %s with buckets and no range to tell values apart in", kind.text);
        if ((range == Range.NONE || withoutWindows) && quantiles.length != 0)
            throw refused("a %s with quantiles of windows that it does not have", kind.text);
    }

    private <V> V given(V value, String what) {
        if (value == null) throw refused("a %s that is null", what);
        return value;
    }

    /** A duration in units of so many nanoseconds, rounded up. */
    private long whole(Duration duration, String what, long nanosPerUnit, String unit) {
        if (duration == null || duration.isZero() || duration.isNegative())
            throw refused("%s of %s; it is more than zero", what, duration);
        long nanos = duration.getNano() + nanosPerUnit - 1;
        long units = duration.getSeconds() > UINT32_MAX
                ? Long.MAX_VALUE
                : duration.getSeconds() * (1_000_000_000 / nanosPerUnit) + nanos / nanosPerUnit;
        if (units > UINT32_MAX)
            throw refused("%s of %s; at most 2^32 - 1 %s are possible", what, duration, unit);
        return units;
    }

    private IllegalArgumentException refused(String what, Object... arguments) {
        return new IllegalArgumentException(
                "cannot make metric \"" + name + "\" with " + String.format(what, arguments));
    }

    /** A metric with label keys: to be given an end, which makes a {@link Family}. */
    public final class Labelled {
        private final String[] keys;

        private Labelled(String[] keys) {
            this.keys = keys;
        }

        String name() {
            return name;
        }

        String[] keys() {
            return keys;
        }

        /**
         * Ends as a family of counters.
         *
         * @return found or made, never null
         * @throws IllegalArgumentException see {@link Metric}
         * @throws CrestException see {@link Metric}
         */
        public Family<Counter> counter() {
            return family(Kind.COUNTER, Counter::new);
        }

        /**
         * Ends as a family of gauges.
         *
         * @return found or made, never null
         * @throws IllegalArgumentException see {@link Metric}
         * @throws CrestException see {@link Metric}
         */
        public Family<Gauge> gauge() {
            return family(Kind.GAUGE, Gauge::new);
        }

        /**
         * Ends as a family of histograms.
         *
         * @return found or made, never null
         * @throws IllegalArgumentException see {@link Metric}
         * @throws CrestException see {@link Metric}
         */
        public Family<Histogram> histogram() {
            return family(Kind.HISTOGRAM, Histogram::new);
        }

        /**
         * Ends as a family of range samplers.
         *
         * @return found or made, never null
         * @throws IllegalArgumentException see {@link Metric}
         * @throws CrestException see {@link Metric}
         */
        public Family<RangeSampler> rangeSampler() {
            return family(Kind.RANGE_SAMPLER, RangeSampler::new);
        }

        /**
         * Ends as a family of timers.
         *
         * @return found or made, never null
         * @throws IllegalArgumentException see {@link Metric}
         * @throws CrestException see {@link Metric}
         */
        public Family<Timer> timer() {
            return family(Kind.TIMER, Timer::new);
        }

        /**
         * Ends as a family of stages; their own label {@code stage} counts as one of the keys.
         *
         * @param names as of {@link Metric#stages}
         * @return found or made, never null
         * @throws IllegalArgumentException see {@link Metric}
         * @throws CrestException see {@link Metric}
         */
        public Family<Stages> stages(String... names) {
            String[] stages = checked(names);
            return new Family<>(
                    make(Kind.STAGES, keys, stages), this, Kind.STAGES, stages, Stages::new);
        }

        private <T extends Instrument> Family<T> family(Kind kind, Function<Series, T> instrument) {
            return new Family<>(
                    make(kind, keys, new String[0]), this, kind, new String[0], instrument);
        }
    }
}
