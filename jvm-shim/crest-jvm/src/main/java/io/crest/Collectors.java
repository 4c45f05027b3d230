// SPDX-License-Identifier: Apache-2.0
package io.crest;

import io.crest.jvm.JvmMetrics;
import io.crest.jvm.JvmOptions;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * The collectors of the JVM's metrics, as the options {@code jvm} and {@code jvm.*} ask for them.
 * At the end of the process a shutdown hook makes them read once more, for the last report; not
 * with {@code atexit=off}.
 */
final class Collectors {
    private static final Set<String> OFF = Set.of("off", "false", "no", "0");

    private final JvmMetrics metrics;
    private final Thread hook;

    private Collectors(JvmMetrics metrics, boolean atExit) {
        this.metrics = metrics;
        this.hook = atExit ? new Thread(null, metrics::close, "crest-exit", 0, false) : null;
        if (hook == null) return;
        hook.setContextClassLoader(null);
        try {
            Runtime.getRuntime().addShutdownHook(hook);
        } catch (IllegalStateException e) {
            return; // the process is ending already
        }
    }

    /**
     * Begins to collect, if the options ask for it; else null. Null too if collectors run already.
     *
     * @param answer what {@link RunNatives#options} said
     * @throws CrestException for an unknown option or an invalid value, and where this runtime has
     *     no such metrics
     */
    static Collectors of(byte[] answer) {
        Map<String, String> values = new TreeMap<>();
        boolean on = read(answer, values);
        boolean atExit = !OFF.contains(values.getOrDefault("atexit", "on"));
        values.remove("atexit");
        JvmMetrics metrics = on ? start(JvmOptions.of(values)) : null;
        return metrics == null ? null : new Collectors(metrics, atExit);
    }

    /** Throws as {@link #of}, and begins nothing. */
    static void check(byte[] answer) {
        read(answer, new TreeMap<>());
    }

    /** Java's options of the answer; whether they ask for the collectors. */
    private static boolean read(byte[] answer, Map<String, String> values) {
        if (answer[0] != Status.OK.ordinal()) Running.check(answer);
        String[] texts =
                new String(answer, 1, answer.length - 1, StandardCharsets.UTF_8).split("\0", -1);
        Map<String, String> origins = new HashMap<>();
        for (int i = 0; i + 2 < texts.length; i += 3) {
            values.put(texts[i], texts[i + 1]);
            origins.put(texts[i], texts[i + 2]);
        }
        Map<String, String> own = new TreeMap<>(values);
        own.remove("atexit");
        return isOn(own, origins);
    }

    /** One by one, so that a message can say where the option is from; also when it is off. */
    private static boolean isOn(Map<String, String> values, Map<String, String> origins) {
        for (Map.Entry<String, String> one : values.entrySet()) {
            Map<String, String> alone = Map.of(one.getKey(), one.getValue());
            try {
                JvmOptions.of(alone);
                JvmOptions.isOn(alone);
            } catch (IllegalArgumentException e) {
                throw new CrestException(
                        Status.INVALID_OPTIONS,
                        e.getMessage() + " (it was given " + origins.get(one.getKey()) + ")",
                        e);
            }
        }
        return JvmOptions.isOn(values);
    }

    private static JvmMetrics start(JvmOptions options) {
        try {
            return JvmMetrics.start(options);
        } catch (IllegalStateException e) {
            // as with the library's system=on: collectors that the program started itself go on
            if (System.getProperty("io.crest.jvm.running") == null) {
                throw new CrestException(Status.SYSTEM, "jvm=on: " + e.getMessage(), e);
            }
            LogNatives.write(
                    LogLevel.WARNING.ordinal(),
                    ("crest: jvm=on is passed over: " + e.getMessage())
                            .getBytes(StandardCharsets.UTF_8));
            return null;
        }
    }

    /** Ends collecting before the process does. */
    void end() {
        metrics.close();
        if (hook == null) return;
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException e) {
            return; // the process is ending: the hook runs, and finds nothing left to do
        }
    }
}
