// SPDX-License-Identifier: Apache-2.0
package io.crest;

import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.regex.Pattern;

/**
 * The starts of this class loader. The first start and the last stop do more than the library's
 * own: they start and end the collectors of the JVM's metrics and the delivery of the log.
 *
 * <p>At the end of the process the library flushes, from {@code atexit}. That comes after every
 * shutdown hook, so that what hooks still record is in the last report, and also after {@link
 * Runtime#halt}. Only the collectors need a hook, for their last reading.
 */
final class Running {
    /** Options that ask for a report, roughly: a kind of reporter, or a file, which may. */
    private static final Pattern REPORTS =
            Pattern.compile("(^|[,\\s])(@|(prometheus|pushgateway|statsd|textfile|json|console)"
                    + "(@[\\w-]*)?\\s*=(?!\\s*off\\s*(,|$)))");
    private static final long LOG_MILLIS = 1_000;

    /** Guards what follows, also while the library starts and stops. */
    private static final ReentrantLock LOCK = new ReentrantLock();

    private static int starts;
    private static Collectors collectors;
    private static JavaSamples samples;

    private Running() {}

    static void start(String options) {
        byte[] text = Crest.utf8(options, "Crest.start: the text of options");
        if (!Library.AVAILABLE) {
            refuseIfWanted(options);
            return;
        }
        LOCK.lock();
        try {
            // before the reporters, so that their first report has something of the JVM
            Collectors begun = collectors == null ? Collectors.of(RunNatives.options(text)) : null;
            boolean done = false;
            try {
                check(RunNatives.start(text));
                done = true;
            } finally {
                if (!done && begun != null) begun.end();
            }
            if (begun != null) collectors = begun;
            if (samples == null) samples = JavaSamples.start();
            starts++;
            Log.resume();
        } finally {
            LOCK.unlock();
        }
    }

    static void check(String options) {
        byte[] text = Crest.utf8(options, "Crest.check: the text of options");
        if (!Library.AVAILABLE) return;
        Collectors.check(RunNatives.options(text));
        check(RunNatives.check(text));
    }

    static void stop(long millis) {
        if (!Library.AVAILABLE) return;
        long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
        if (!locked(millis)) {
            throw new CrestException(
                    Status.TIMED_OUT,
                    "Crest.stop: another thread is still starting or stopping Crest");
        }
        try {
            // a native program or another class loader may have started too: not this one's start
            if (starts == 0) {
                throw new CrestException(Status.NOT_RUNNING, "Crest.stop: Crest was not started");
            }
            starts--;
            byte[] failure;
            try {
                if (starts == 0) endCollectors();
            } finally { // the library's start is undone whatever becomes of the collectors
                failure = RunNatives.stop(left(until));
                if (starts == 0) Log.suspend(Math.min(LOG_MILLIS, left(until)));
            }
            check(failure);
        } finally {
            LOCK.unlock();
        }
    }

    private static void endCollectors() {
        Collectors ended = collectors;
        JavaSamples taken = samples;
        collectors = null;
        samples = null;
        if (taken != null) taken.stop();
        if (ended != null) ended.end();
    }

    /** Throws if the library's answer is a status and a message; null is success. */
    static void check(byte[] failure) {
        if (failure == null) return;
        Status status = Status.of(failure[0]);
        String message = new String(failure, 1, failure.length - 1, StandardCharsets.UTF_8);
        if (status == Status.INVALID_OPTIONS && Library.reportersProblem() != null) {
            message += ". " + Library.reportersProblem();
        }
        throw new CrestException(status, message);
    }

    /**
     * Without the library only a start that asks for no report succeeds. Where there is none to be
     * had, on macOS and Windows, every start does nothing.
     */
    private static void refuseIfWanted(String options) {
        String environment = System.getenv("CREST_OPTS");
        if (!Natives.SYSTEM.equals("Linux")) { // one machine of a mixed team: it runs, unheard
            System.getLogger("io.crest").log(System.Logger.Level.WARNING, Library.problem());
            return;
        }
        if ((options != null && REPORTS.matcher(options).find())
                || (environment != null && REPORTS.matcher(environment).find())) {
            throw new CrestException(Status.NOT_FOUND, "Crest.start: " + Library.problem());
        }
    }

    private static long left(long until) {
        return Math.max(1, TimeUnit.NANOSECONDS.toMillis(until - System.nanoTime()));
    }

    /** An interrupt stays set, and ends nothing. */
    private static boolean locked(long millis) {
        long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    return LOCK.tryLock(left(until), TimeUnit.MILLISECONDS);
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        } finally {
            if (interrupted) Thread.currentThread().interrupt();
        }
    }
}
