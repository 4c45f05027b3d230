// SPDX-License-Identifier: Apache-2.0
package io.crest;

import java.util.function.Function;

/**
 * A metric with label keys: each combination of label values is a series of its own.
 *
 * <pre>{@code
 * Family<Counter> messages =
 *         Metric.named("comm.messages").labelled("kind", "peer").counter();
 * Counter pings = messages.with("ping", "10.0.0.7"); // once
 * pings.increment();                                 // often
 * }</pre>
 *
 * Label values must be few: a family has room for 2,000 series. Further ones share one series,
 * whose values are all {@code overflow}; that is counted as misuse. Immutable; any thread.
 *
 * @param <T> its instruments
 */
public final class Family<T extends Instrument> {
    private final long metric;
    private final Kind kind;
    private final String name;
    private final String[] keys;
    private final String[] stages;
    private final Function<Series, T> make;
    private final SeenSeries<T> seen = new SeenSeries<>();

    Family(long metric, Metric.Labelled of, Kind kind, String[] stages, Function<Series, T> make) {
        this.metric = metric;
        this.kind = kind;
        this.name = of.name();
        this.keys = of.keys();
        this.stages = stages;
        this.make = make;
    }

    /**
     * {@link #with(String...)} of a family with one key. One that was asked for before is found
     * without a call into the library and without memory.
     *
     * @param value as of {@link #with(String...)}
     * @return never null
     * @throws IllegalArgumentException when there are more keys
     */
    public T with(String value) {
        T known = keys.length == 1 && value != null ? seen.find(value, null, null) : null;
        return known != null ? known : resolved(value);
    }

    /**
     * The same, of a family with two keys.
     *
     * @param first as of {@link #with(String...)}
     * @param second the same
     * @return never null
     * @throws IllegalArgumentException when there are more or fewer keys
     */
    public T with(String first, String second) {
        boolean may = keys.length == 2 && first != null && second != null;
        T known = may ? seen.find(first, second, null) : null;
        return known != null ? known : resolved(first, second);
    }

    /**
     * The same, of a family with three keys.
     *
     * @param first as of {@link #with(String...)}
     * @param second the same
     * @param third the same
     * @return never null
     * @throws IllegalArgumentException when there are more or fewer keys
     */
    public T with(String first, String second, String third) {
        boolean may = keys.length == 3 && first != null && second != null && third != null;
        T known = may ? seen.find(first, second, third) : null;
        return known != null ? known : resolved(first, second, third);
    }

    /**
     * The instrument with these label values, found or made. With more than three of them, or with
     * new ones, this encodes the values and calls into the library, which looks them up (some 200
     * ns) and locks when it makes the series. An instrument that is kept costs less still.
     *
     * @param values as many as there are keys, in their order; null counts as empty. A NUL or half
     *     a surrogate pair becomes U+FFFD; a value beyond 1,000 bytes of UTF-8 is cut; both are
     *     counted as misuse.
     * @return never null
     * @throws IllegalArgumentException when there are more or fewer values than keys
     */
    public T with(String... values) {
        return resolved(values);
    }

    private T resolved(String... values) {
        if (values == null || values.length != keys.length)
            throw new IllegalArgumentException(
                    "cannot make a series of " + kind.text + " \"" + name + "\" with "
                            + (values == null ? "no" : values.length)
                            + " label values; its keys are " + String.join(", ", keys));
        String[] own = values.clone();
        for (int i = 0; i < own.length; i++) if (own[i] == null) own[i] = "";
        T made = make.apply(new Series(resolve(own), kind, name, own, stages));
        seen.keep(made);
        return made;
    }

    private long resolve(String[] values) {
        if (!Library.AVAILABLE) return 0;
        return MetricNatives.resolve(kind.number, metric, Utf8.joined(values), values.length);
    }

    /**
     * The metric's canonical name, as it was given.
     *
     * @return never null
     */
    public String name() {
        return name;
    }

    /**
     * What it is, for people: {@code counter comm.messages by kind, peer}.
     *
     * @return never null
     */
    @Override
    public String toString() {
        return kind.text + " " + name + " by " + String.join(", ", keys);
    }
}
