// SPDX-License-Identifier: Apache-2.0
package io.crest.jvm;

import java.time.Duration;
import java.util.Map;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What of the JVM is measured, and how often. Immutable; each setter returns changed options.
 *
 * <pre>{@code
 * JvmMetrics.start(JvmOptions.DEFAULT.interval(Duration.ofSeconds(5)).hiccups(false));
 * }</pre>
 *
 * In the option string of {@code Crest.start} or CREST_OPTS the same settings are {@code jvm=on},
 * {@code jvm.interval}, {@code jvm.slow-interval}, {@code jvm.hiccups} and {@code
 * jvm.hiccups.resolution}.
 */
public final class JvmOptions {
    private static final Duration INTERVAL_MIN = Duration.ofMillis(100);
    private static final Duration INTERVAL_MAX = Duration.ofHours(1);
    private static final Duration RESOLUTION_MIN = Duration.ofNanos(100_000);
    private static final Duration RESOLUTION_MAX = Duration.ofSeconds(1);
    /** Six decimals of an hour are 3.6 ms: fine enough. */
    private static final Pattern DURATION =
            Pattern.compile("([0-9]{1,9})(?:\\.([0-9]{1,6}))?(us|ms|s|m|h|)");
    private static final Map<String, Long> NANOS = Map.of("us", 1_000L, "ms", 1_000_000L,
            "", 1_000_000_000L, "s", 1_000_000_000L, "m", 60_000_000_000L, "h", 3_600_000_000_000L);

    /** Figures every second, slow ones every ten; hiccups every ten milliseconds. */
    public static final JvmOptions DEFAULT = new JvmOptions(Duration.ofSeconds(1),
            Duration.ofSeconds(10), true, Duration.ofMillis(10));

    final Duration interval;
    final Duration slowInterval;
    final boolean hiccups;
    final Duration hiccupResolution;

    private JvmOptions(Duration interval, Duration slowInterval, boolean hiccups,
            Duration hiccupResolution) {
        this.interval = checked("jvm.interval", interval, INTERVAL_MIN, INTERVAL_MAX);
        this.slowInterval =
                checked("jvm.slow-interval", slowInterval, INTERVAL_MIN, INTERVAL_MAX);
        this.hiccups = hiccups;
        this.hiccupResolution = checked("jvm.hiccups.resolution", hiccupResolution, RESOLUTION_MIN,
                RESOLUTION_MAX);
    }

    /**
     * How often figures are read.
     *
     * @param interval from 100 ms to an hour
     * @return options with it
     * @throws IllegalArgumentException for another interval, or null
     */
    public JvmOptions interval(Duration interval) {
        return new JvmOptions(interval, slowInterval, hiccups, hiccupResolution);
    }

    /**
     * How often figures that hardly change, such as limits, are read.
     *
     * @param interval from 100 ms to an hour
     * @return options with it
     * @throws IllegalArgumentException for another interval, or null
     */
    public JvmOptions slowInterval(Duration interval) {
        return new JvmOptions(this.interval, interval, hiccups, hiccupResolution);
    }

    /**
     * Whether hiccups of Java threads are measured, by a thread of their own.
     *
     * @param measured whether they are
     * @return options with it
     */
    public JvmOptions hiccups(boolean measured) {
        return new JvmOptions(interval, slowInterval, measured, hiccupResolution);
    }

    /**
     * How often the hiccup thread wakes up. A shorter stop may be missed, in whole or in part; each
     * wake-up costs some 10 µs of a processor.
     *
     * @param resolution from 100 µs to a second
     * @return options with it
     * @throws IllegalArgumentException for another resolution, or null
     */
    public JvmOptions hiccupResolution(Duration resolution) {
        return new JvmOptions(interval, slowInterval, hiccups, resolution);
    }

    /**
     * The options that texts ask for, the keys as in an option string: {@code jvm.interval}, {@code
     * jvm.slow-interval}, {@code jvm.hiccups}, {@code jvm.hiccups.resolution}. A missing key is as
     * in {@link #DEFAULT}. Durations are as elsewhere in option strings ({@code 250ms}, {@code
     * 10s}, {@code 5m}), resolutions also {@code 500us}.
     *
     * @param texts by key; a key {@code jvm} is ignored, {@link #isOn} reads it
     * @return the options
     * @throws IllegalArgumentException for an unknown key or an invalid value
     */
    public static JvmOptions of(Map<String, String> texts) {
        JvmOptions options = DEFAULT;
        for (String key : new TreeSet<>(texts.keySet())) {
            String text = texts.get(key);
            switch (key) {
                case "jvm":
                    break;
                case "jvm.interval":
                    options = options.interval(duration(key, text));
                    break;
                case "jvm.slow-interval":
                    options = options.slowInterval(duration(key, text));
                    break;
                case "jvm.hiccups":
                    options = options.hiccups(onOrOff(key, text));
                    break;
                case "jvm.hiccups.resolution":
                    options = options.hiccupResolution(duration(key, text));
                    break;
                default:
                    throw new IllegalArgumentException(key + " is not an option; there are jvm, "
                            + "jvm.interval, jvm.slow-interval, jvm.hiccups and "
                            + "jvm.hiccups.resolution");
            }
        }
        return options;
    }

    /**
     * Whether texts ask for the JVM's metrics at all: {@code jvm=on}, or true, yes, 1.
     *
     * @param texts by key
     * @return whether they do; false when there is no key {@code jvm}
     * @throws IllegalArgumentException for a value that is no switch
     */
    public static boolean isOn(Map<String, String> texts) {
        String text = texts.get("jvm");
        return text != null && onOrOff("jvm", text);
    }

    private static boolean onOrOff(String key, String text) {
        switch (text) {
            case "on":
            case "true":
            case "yes":
            case "1":
                return true;
            case "off":
            case "false":
            case "no":
            case "0":
                return false;
            default:
                throw refused(key, text, "a switch: write on or off");
        }
    }

    private static Duration duration(String key, String text) {
        Matcher parts = DURATION.matcher(text);
        if (!parts.matches()) throw refused(key, text, "a duration: write 250ms, 10s, 5m or 1h");
        long unit = NANOS.get(parts.group(3));
        long nanos = 0;
        if (parts.group(2) != null) {
            long millionths = Long.parseLong((parts.group(2) + "000000").substring(0, 6));
            nanos = unit / 1_000_000 * millionths + unit % 1_000_000 * millionths / 1_000_000;
        }
        return Duration.ofNanos(unit).multipliedBy(Long.parseLong(parts.group(1))).plusNanos(nanos);
    }

    private static Duration checked(String key, Duration value, Duration least, Duration most) {
        if (value == null || value.compareTo(least) < 0 || value.compareTo(most) > 0)
            throw refused(key, value == null ? "null" : words(value),
                    "from " + words(least) + " to " + words(most));
        return value;
    }

    /** As an option's value: in the largest unit that the duration is a multiple of. */
    private static String words(Duration duration) {
        if (duration.getNano() % 1_000_000 != 0) return duration.getNano() / 1_000 + "us";
        if (duration.getNano() != 0) return duration.toMillis() + "ms";
        if (duration.getSeconds() % 60 != 0) return duration.getSeconds() + "s";
        return duration.getSeconds() % 3_600 != 0 ? duration.toMinutes() + "m"
                : duration.toHours() + "h";
    }

    private static IllegalArgumentException refused(String key, String text, String expected) {
        return new IllegalArgumentException(key + "=" + text + " is not " + expected);
    }
}
