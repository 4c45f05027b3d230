// SPDX-License-Identifier: Apache-2.0
package io.crest;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import jdk.jfr.consumer.RecordedClass;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordedMethod;
import jdk.jfr.consumer.RecordedStackTrace;
import jdk.jfr.consumer.RecordedThread;

/**
 * Takes Flight Recorder's samples of Java code into the library's CPU profiles, while its profiler
 * runs ({@code profile=on}): by an event stream, which is there from JDK 14 on, and read by
 * reflection, because this jar is for JDK 11. Samples come about a second after they were taken.
 *
 * <p>Flight Recorder looks at some running threads every 10 ms, so a sample stands for that much of
 * a thread's CPU time; where more than five threads run Java code at once, it sees fewer of them.
 */
final class JavaSamples {
    private static final Duration PERIOD = Duration.ofMillis(10);
    private static final int FRAMES_MAX = 128;
    private static final int NAMES_MAX = 32_768;
    private static final int TIDY_EVENTS = 1_000;
    private static final String EVENT = "jdk.ExecutionSample";

    private final AutoCloseable stream;
    private final Map<String, Long> names = new HashMap<>();
    private final long[] frames = new long[FRAMES_MAX];

    /** What {@link System#nanoTime} was when the wall clock was 0, as of the start. */
    private final long zeroNanos;

    private int events;

    private JavaSamples() throws ReflectiveOperationException {
        Instant now = Instant.now();
        zeroNanos = System.nanoTime() - nanos(now);
        Class<?> type = Class.forName("jdk.jfr.consumer.RecordingStream");
        stream = (AutoCloseable) type.getConstructor().newInstance();
        Object settings = type.getMethod("enable", String.class).invoke(stream, EVENT);
        settings.getClass().getMethod("withPeriod", Duration.class).invoke(settings, PERIOD);
        Consumer<RecordedEvent> take = this::take;
        type.getMethod("onEvent", String.class, Consumer.class).invoke(stream, EVENT, take);
        type.getMethod("setReuse", boolean.class).invoke(stream, true);
        type.getMethod("startAsync").invoke(stream);
    }

    /** Starts, if the library profiles this process; null if not, or where there is no stream. */
    static JavaSamples start() {
        if (!Library.AVAILABLE || !ProfileNatives.runs()) return null;
        try {
            JavaSamples samples = new JavaSamples();
            OperationLog.on = true;
            ProfileNatives.cover(true);
            return samples;
        } catch (ReflectiveOperationException | RuntimeException | LinkageError e) {
            Throwable cause = e.getCause() == null ? e : e.getCause();
            LogNatives.write(
                    LogLevel.WARNING.ordinal(),
                    ("crest: profiles have no Java code in them: Flight Recorder cannot be read, "
                                    + "which takes JDK 14 and the module jdk.jfr (" + cause + ")")
                            .getBytes(StandardCharsets.UTF_8));
            return null;
        }
    }

    /** Ends, with what has been told so far. */
    void stop() {
        OperationLog.on = false;
        ProfileNatives.cover(false);
        try {
            stream.close();
        } catch (Exception e) {
            return; // it has ended in another way
        } finally {
            OperationLog.tidy();
        }
    }

    private void take(RecordedEvent event) {
        RecordedStackTrace stack = event.getStackTrace();
        RecordedThread thread = event.getValue("sampledThread");
        if (stack == null || thread == null) return;
        int depth = 0;
        List<RecordedFrame> all = stack.getFrames();
        for (int i = 0; i < all.size() && depth < FRAMES_MAX; i++)
            frames[depth++] = frame(all.get(i).getMethod());
        if (depth == 0) return;
        Timer timer =
                OperationLog.at(thread.getJavaThreadId(), zeroNanos + nanos(event.getStartTime()));
        ProfileNatives.add(frames, depth, timer == null ? 0 : timer.handle, PERIOD.toNanos());
        if (++events % TIDY_EVENTS == 0) OperationLog.tidy();
    }

    private long frame(RecordedMethod method) {
        RecordedClass type = method == null ? null : method.getType();
        String name =
                method == null
                        ? "[java]"
                        : (type == null ? "" : type.getName() + ".") + method.getName();
        Long known = names.get(name);
        if (known != null) return known;
        long frame = ProfileNatives.frame(Utf8.terminated(name));
        if (frame != 0 && names.size() < NAMES_MAX) names.put(name, frame);
        return frame;
    }

    private static long nanos(Instant instant) {
        return instant.getEpochSecond() * 1_000_000_000 + instant.getNano();
    }
}
