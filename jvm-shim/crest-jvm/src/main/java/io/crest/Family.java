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

    Family(long metric, Metric.Labelled of, Kind kind, String[] stages, Function<Series, T> make) {
        this.metric = metric;
        this.kind = kind;
        this.name = of.name();
        this.keys = of.keys();
        this.stages = stages;
        this.make = make;
    }

    /**
     * The instrument with these label values, found or made. Resolve once and keep it: this encodes
     * the values and calls into the library, which looks them up (some 300 ns) and locks when it
     * makes the series.
     *
     * @param values as many as there are keys, in their order; null counts as empty. A NUL or half
     *     a surrogate pair becomes U+FFFD; a value beyond 1,000 bytes of UTF-8 is cut; both are
     *     counted as misuse.
     * @return never null
     * @throws IllegalArgumentException when there are more or fewer values than keys
     */
    public T with(String... values) {
        if (values == null || values.length != keys.length)
            throw new IllegalArgumentException(
                    "cannot make a series of " + kind.text + " \"" + name + "\" with "
                            + (values == null ? "no" : values.length)
                            + " label values; its keys are " + String.join(", ", keys));
        String[] own = values.clone();
        for (int i = 0; i < own.length; i++) if (own[i] == null) own[i] = "";
        return make.apply(new Series(resolve(own), kind, name, own, stages));
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
