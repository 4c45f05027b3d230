// SPDX-License-Identifier: Apache-2.0
package io.crest;

import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;

/**
 * The collectors of the JVM's metrics, as the options {@code jvm} and {@code jvm.*} ask for them.
 * At the end of the process a shutdown hook has them read once more; not with {@code atexit=off}.
 */
final class Collectors {
    private final AutoCloseable metrics;
    private final Thread hook;

    private Collectors(AutoCloseable metrics, boolean atExit) {
        this.metrics = metrics;
        this.hook = atExit ? new Thread(null, this::close, "crest-exit", 0, false) : null;
    }

    /**
     * Begins to collect, if that is asked for; else null.
     *
     * @param answer what {@link RunNatives#options} said
     * @throws CrestException for an option that is not there or a value that is none
     */
    static Collectors of(byte[] answer) {
        if (answer[0] != Status.OK.ordinal()) Running.check(answer);
        Map<String, String> values = new TreeMap<>();
        Map<String, String> origins = new HashMap<>();
        String[] texts = new String(answer, 1, answer.length - 1, StandardCharsets.UTF_8)
                .split("\0", -1);
        for (int i = 0; i + 2 < texts.length; i += 3) {
            values.put(texts[i], texts[i + 1]);
            origins.put(texts[i], texts[i + 2]);
        }
        return null;
    }

    /** Ends collecting before the process does. */
    void end() {
        close();
        if (hook == null) return;
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException e) {
            return; // the process is ending: the hook runs, and finds nothing left to do
        }
    }

    private void close() {
        try {
            metrics.close();
        } catch (Exception e) {
            throw new IllegalStateException("the collectors of the JVM's metrics do not end", e);
        }
    }
}
