// SPDX-License-Identifier: Apache-2.0
package io.crest;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Objects;

/**
 * Starting and stopping reports, and pages of all metrics. Recording needs none of this: an
 * instrument counts from its making on, and a start decides where reports go.
 *
 * <pre>{@code
 * Crest.start("service=rnode,interval=10s,pushgateway=http://127.0.0.1:9091");
 * ...
 * Crest.stop(Duration.ofSeconds(5));
 * }</pre>
 *
 * <p>The options are those of the library, {@code <crest/run.h>}; the environment variable {@code
 * CREST_OPTS} overrides them. All methods are safe to call from any thread.
 */
public final class Crest {
    private Crest() {}

    /**
     * Whether the native library is loaded. If it is not, all methods may still be called, and
     * record nothing. Loads it at the first call.
     */
    public static boolean available() {
        return Library.AVAILABLE;
    }

    /** Why {@link #available} says no, fit to show an operator; null if it says yes. */
    public static String unavailableReason() {
        return Library.problem();
    }

    /** The release of this jar, such as {@code 0.2.0}; {@code unknown} if it does not say. */
    public static String version() {
        return Library.version();
    }

    /** Starts with the options of the environment variable {@code CREST_OPTS}, if there are any. */
    public static void start() {
        Running.start(null);
    }

    /**
     * Starts the reporters that the options and {@code CREST_OPTS} ask for; it may be none. Starts
     * are counted, so that a program and a library in it may both start: each needs its {@link
     * #stop}, and a second start takes no options. The last report has what was recorded until the
     * end of the process, also without a stop, unless {@code atexit=off} or an uncatchable signal
     * ends the process. Takes locks, starts native threads.
     *
     * @param options {@code key=value}, separated by commas
     * @throws CrestException for an invalid option, which the message names together with its
     *     origin; if Crest was started before ({@code ALREADY}); if the native library is missing
     *     and the options ask for a report. Then nothing was started
     */
    public static void start(String options) {
        if (options == null) {
            throw new IllegalArgumentException(
                    "Crest.start: the options are null; write Crest.start() for those of"
                            + " CREST_OPTS alone");
        }
        Running.start(options);
    }

    /**
     * Whether a start with these options would be refused for them; starts nothing. For what stops
     * Crest to start it with others.
     *
     * @param options as of {@link #start(String)}; {@code CREST_OPTS} is looked at too
     * @throws CrestException for an invalid option, as by {@link #start(String)}
     * @throws IllegalArgumentException for null
     */
    public static void check(String options) {
        if (options == null)
            throw new IllegalArgumentException("Crest.check: the options are null");
        Running.check(options);
    }

    /**
     * Undoes one start. The last stop hands what was recorded to every reporter, in parallel, and
     * stops them. Blocks, but not longer than the deadline; an interrupt stays set and ends
     * nothing. A virtual thread stays pinned to its carrier meanwhile.
     *
     * @param deadline at least a millisecond; more than a day is a day
     * @throws CrestException that names the reporters that failed and says why, all being stopped
     *     nevertheless; {@code TIMED_OUT} for a reporter that hangs; {@code NOT_RUNNING} if nothing
     *     was started
     * @throws IllegalArgumentException for null and what is shorter than a millisecond
     */
    public static void stop(Duration deadline) {
        if (deadline == null || deadline.compareTo(Duration.ofMillis(1)) < 0) {
            throw new IllegalArgumentException(
                    "Crest.stop: the deadline is " + deadline + "; it is at least a millisecond");
        }
        Duration day = Duration.ofDays(1);
        Running.stop((deadline.compareTo(day) < 0 ? deadline : day).toMillis());
    }

    /**
     * Sets the listener for events that no call returns: a server that cannot be reached, a report
     * that goes through again, a misuse, once each. In a program that never sets one, a start from
     * Java sends them to standard error, a line each, unless its options say {@code log=off}. The
     * process has one log callback, and a native {@code crest_log_to} sets it too: the last call
     * wins. The listener is called until the last {@link #stop}, and again after the next start,
     * within a tenth of a second; it does not hold up the end of the process.
     *
     * @param listener null for none
     * @throws CrestException {@code SYSTEM}: if the native library cannot be pinned in memory
     */
    public static void onLog(LogListener listener) {
        if (Library.AVAILABLE) Log.listen(listener);
        else if (listener != null) listener.log(LogLevel.ERROR, Library.problem());
    }

    /**
     * {@link #onLog} where the program has set no listener through this class loader's Crest; for
     * what is between it and Crest, as a bridge.
     *
     * @param listener not null
     * @return whether it is the listener now
     * @throws CrestException as by {@link #onLog}
     */
    public static boolean onLogIfNone(LogListener listener) {
        if (Library.AVAILABLE && Log.isHeard()) return false;
        onLog(listener);
        return true;
    }

    /**
     * {@link #onLog} to a logger of the platform, such as {@code System.getLogger("crest")}, at the
     * levels of the same names.
     *
     * @param logger null for none
     */
    public static void logTo(System.Logger logger) {
        onLog(logger == null ? null : (level, message) -> logger.log(level.severity(), message));
    }

    /**
     * All metrics of the process as a page, native ones included. Allocates the page; for a long
     * page {@link #writePage} is better. Without the native library the page is empty.
     *
     * @throws CrestException {@code NO_MEMORY}
     * @throws IllegalArgumentException for {@link PageFormat#PROTOBUF}, which is no text
     */
    public static String page(PageFormat format) {
        if (format == PageFormat.PROTOBUF) {
            throw new IllegalArgumentException(
                    "Crest.page: a page of PROTOBUF is no text; use Crest.writePage");
        }
        ByteArrayOutputStream page = new ByteArrayOutputStream(8192);
        try {
            writePage(format, page);
        } catch (IOException e) {
            throw new UncheckedIOException(e); // it is memory: never
        }
        return page.toString(StandardCharsets.UTF_8);
    }

    /**
     * Writes all metrics of the process, in UTF-8, as they are read: no more than 64 KiB of the
     * page is in memory; for {@link PageFormat#PROTOBUF} also a snapshot. Does not close or flush
     * the stream.
     *
     * @throws IOException what the stream throws, after which a part has been written
     * @throws CrestException {@code NO_MEMORY}, perhaps after a part has been written
     */
    public static void writePage(PageFormat format, OutputStream stream) throws IOException {
        Objects.requireNonNull(format, "Crest.writePage: the format is null");
        Objects.requireNonNull(stream, "Crest.writePage: the stream is null");
        if (Library.AVAILABLE) {
            Running.check(RunNatives.writePage(format.ordinal(), stream));
        } else if (format == PageFormat.OPENMETRICS) {
            stream.write("# EOF\n".getBytes(StandardCharsets.US_ASCII));
        }
    }

    /**
     * Retires every series whose label {@code key} has this value, in all families: it is exported
     * once more, then goes, and later records through its handles are counted as late. Looks at
     * every series; takes locks.
     *
     * @return how many combinations of label values were retired
     * @throws IllegalArgumentException for null, and for a NUL character
     */
    public static long retire(String key, String value) {
        if (key == null || value == null) {
            throw new IllegalArgumentException(
                    "Crest.retire: key and value may not be null: " + key + "=" + value);
        }
        byte[] keyText = utf8(key, "Crest.retire: the key");
        byte[] valueText = utf8(value, "Crest.retire: the value");
        return Library.AVAILABLE ? RunNatives.retire(keyText, valueText) : 0;
    }

    /** A text for the library, where a NUL would end it; null for null. */
    static byte[] utf8(String text, String what) {
        if (text == null) return null;
        int nul = text.indexOf('\0');
        if (nul >= 0) {
            throw new IllegalArgumentException(
                    what + " has a NUL in it, at character " + nul + ", which no text may have");
        }
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
