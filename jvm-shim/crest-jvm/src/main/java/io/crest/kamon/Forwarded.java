// SPDX-License-Identifier: Apache-2.0
package io.crest.kamon;

import io.crest.Instrument;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.BiConsumer;
import java.util.function.Function;
import kamon.tag.Tag;
import kamon.tag.TagSet;

/**
 * One Kamon metric, and the Crest series that its instruments are forwarded to. The instruments of
 * a Kamon metric may have any tags, so it is an open family in Crest.
 *
 * <p>For one thread.
 *
 * @param <I> its instrument in Crest
 * @param <V> the value that a snapshot has of an instrument
 */
final class Forwarded<I extends Instrument, V> {
    /**
     * A metric's own keys; an open family has room for one more, for all other tags together.
     */
    static final int KEYS_MAX = 15;

    private final Words words;
    private final Function<Map<String, String>, I> make;
    private final BiConsumer<I, V> give;
    private final Map<TagSet, Series<I>> series = new HashMap<>();
    private final TreeSet<String> keys = new TreeSet<>();

    private static final class Series<I> {
        final I instrument;
        long tick;

        Series(I instrument) {
            this.instrument = instrument;
        }
    }

    Forwarded(Words words, Function<Map<String, String>, I> make, BiConsumer<I, V> give) {
        this.words = words;
        this.make = make;
        this.give = give;
    }

    /** Makes the series if there is none yet, and forwards this tick's value. */
    void take(TagSet tags, V value, long tick) {
        Series<I> one = series.get(tags);
        if (one == null) {
            one = new Series<>(make.apply(labels(tags)));
            series.put(tags, one);
        }
        one.tick = tick;
        give.accept(one.instrument, value);
    }

    /**
     * Releases the series of instruments that Kamon has removed: they are exported once more, with
     * all that they ever counted, and then go. True if none is left.
     */
    boolean release(long tick) {
        for (Iterator<Series<I>> all = series.values().iterator(); all.hasNext(); ) {
            Series<I> one = all.next();
            if (one.tick == tick) continue;
            one.instrument.close();
            all.remove();
        }
        return series.isEmpty();
    }

    private Map<String, String> labels(TagSet tags) {
        TreeMap<String, String> labels = new TreeMap<>();
        for (scala.collection.Iterator<Tag> all = tags.iterator(); all.hasNext(); ) {
            Tag tag = all.next();
            String value = String.valueOf(Tag.unwrapValue(tag));
            if (!value.isEmpty()) labels.put(words.key(tag.key()), value);
        }
        StringBuilder more = new StringBuilder();
        for (Iterator<Map.Entry<String, String>> all = labels.entrySet().iterator();
                all.hasNext(); ) {
            Map.Entry<String, String> label = all.next();
            if (keys.contains(label.getKey()) || keys.size() < KEYS_MAX) {
                keys.add(label.getKey());
                continue;
            }
            more.append(more.length() == 0 ? "" : ",")
                    .append(label.getKey())
                    .append('=')
                    .append(label.getValue().replaceAll("([\\\\,=])", "\\\\$1"));
            all.remove();
        }
        if (more.length() != 0) labels.put(Words.MORE_TAGS, more.toString());
        return labels;
    }
}
