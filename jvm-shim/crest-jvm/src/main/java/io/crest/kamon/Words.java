// SPDX-License-Identifier: Apache-2.0
package io.crest.kamon;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * Kamon's names of metrics, and the keys of one metric's labels, in a form that Crest accepts. A
 * word that is valid in both, as most are, stays as it is. Two keys of a metric that differ in
 * Kamon differ in Crest.
 *
 * <p>For one thread.
 */
final class Words {
    /** The label of all tags that a metric has no room for. */
    static final String MORE_TAGS = "more_tags";

    private static final int NAME_LENGTH_MAX = 180;
    private static final int KEY_LENGTH_MAX = 90;
    private static final Set<String> RESERVED_KEYS =
            Set.of("le", "quantile", "outcome", "job", "instance");

    private final Map<String, String> keys = new HashMap<>();
    private final Set<String> taken = new HashSet<>(Set.of(MORE_TAGS));

    /**
     * A metric's name: letters, digits and {@code _} in words joined by {@code .} and {@code -}.
     * Any other character becomes {@code _}, and so does a separator that joins no words. {@code
     * metric.} comes before a name that does not begin with a letter, and a long name is cut. If
     * this makes two names one, that shows when the metric is made.
     */
    static String name(String kamon) {
        StringBuilder name = new StringBuilder(kamon.length() + 8);
        if (kamon.isEmpty() || !isLetter(kamon.charAt(0))) name.append("metric.");
        for (int at = 0; at < kamon.length(); at += Character.charCount(kamon.codePointAt(at))) {
            char c = kamon.charAt(at);
            boolean joins =
                    (c == '.' || c == '-')
                            && name.length() > 0
                            && isWord(name.charAt(name.length() - 1))
                            && at + 1 < kamon.length();
            name.append(isWord(c) || joins ? c : '_');
        }
        if (kamon.isEmpty()) name.append('_');
        return cut(name.toString(), NAME_LENGTH_MAX);
    }

    /**
     * A label's key: letters, digits and {@code _}, so that {@code http.method} becomes {@code
     * http_method}. {@code tag_} comes before a key that does not begin with a letter. {@code
     * exported_}, as in Prometheus, comes before keys that exporters use themselves: le, quantile,
     * outcome, job and instance. A key that another tag has already gets {@code _2} appended.
     */
    String key(String kamon) {
        return keys.computeIfAbsent(kamon, this::newKey);
    }

    private String newKey(String kamon) {
        StringBuilder key = new StringBuilder(kamon.length() + 4);
        if (kamon.isEmpty() || !isLetter(kamon.charAt(0))) key.append("tag_");
        for (int at = 0; at < kamon.length(); at += Character.charCount(kamon.codePointAt(at)))
            key.append(isWord(kamon.charAt(at)) ? kamon.charAt(at) : '_');
        String first = cut(key.toString(), KEY_LENGTH_MAX);
        if (RESERVED_KEYS.contains(first)) first = "exported_" + first;
        String free = first;
        for (int n = 2; !taken.add(free); n++) free = first + "_" + n;
        return free;
    }

    /** Ends with a digest of the whole, so that two long words that begin alike stay two. */
    private static String cut(String word, int length) {
        if (word.length() <= length) return word;
        int end = length - 9;
        while (!isWord(word.charAt(end - 1))) end--;
        return word.substring(0, end) + "_" + String.format("%08x", word.hashCode());
    }

    private static boolean isLetter(char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    }

    private static boolean isWord(char c) {
        return isLetter(c) || (c >= '0' && c <= '9') || c == '_';
    }
}
