// SPDX-License-Identifier: Apache-2.0
package io.crest;

import java.util.concurrent.ConcurrentHashMap;

/**
 * The library's keys of attributes and names of events, by their texts. The library keeps a key for
 * the life of the process, and has 255 of them at most; further names are refused there, so here
 * are some more at most, and no memory goes into what a program makes up as it runs.
 */
final class SpanKeys {
    private static final int NAMES_MAX = 512;
    private static final ConcurrentHashMap<String, Long> KEYS = new ConcurrentHashMap<>();

    /** Of every name beyond: the library refuses it, and counts it. */
    private static volatile long beyond;

    private SpanKeys() {}

    /** The key's address; 0 without memory. Needs the library. */
    static long of(String name) {
        String text = name == null ? "" : name;
        Long known = KEYS.get(text);
        if (known != null) return known;
        return KEYS.size() < NAMES_MAX ? made(text) : beyond();
    }

    private static synchronized long made(String name) {
        return KEYS.computeIfAbsent(name, text -> SpanTimingNatives.key(Utf8.terminated(text)));
    }

    private static synchronized long beyond() {
        if (beyond == 0)
            beyond = SpanTimingNatives.key(Utf8.terminated("a-key-beyond-the-limit-of-keys"));
        return beyond;
    }
}
