// SPDX-License-Identifier: Apache-2.0
package io.crest;

import java.nio.file.Path;
import java.nio.file.Paths;

/**
 * The native library: loaded once for each class loader, at the first touch of this class. If that
 * fails nothing is thrown; {@link #AVAILABLE} is false for good, {@link #problem} says why, and
 * every public call of this package does nothing.
 *
 * <p>Every recording method asks {@link #AVAILABLE} first. It is a constant once this class is
 * initialised, so compiled code has no trace of the test. A class with native methods has no other
 * static state: it is initialised while the library is being loaded, before the answer is known.
 *
 * <p>Settings, as system properties: {@code crest.native=off} loads nothing, {@code crest.library}
 * names a {@code libcrest-jvm.so} to load instead of the jar's, {@code crest.tmpdir} the folder to
 * unpack in instead of {@code java.io.tmpdir}.
 */
final class Library {
    /** Whether the native library is there; never changes. */
    static final boolean AVAILABLE;

    private static final String PROBLEM;
    private static final String REPORTERS_PROBLEM;

    static {
        String problem = null;
        String reporters = null;
        try {
            reporters = load();
        } catch (LibraryException e) {
            problem = e.getMessage();
        } catch (Throwable e) { // an Error too must not get out of here: recording never throws
            problem = "Loading the native library: " + e + ".";
        }
        AVAILABLE = problem == null;
        PROBLEM = AVAILABLE ? null : "Crest records nothing. " + problem;
        REPORTERS_PROBLEM = reporters;
    }

    private Library() {}

    /** Why there is no native library, fit to show an operator; null if there is one. */
    static String problem() {
        return PROBLEM;
    }

    /**
     * Why the reporters (Pushgateway, StatsD, a scrape endpoint and so on) are missing although the
     * library itself is there, fit to show an operator; null if they are there, or nothing is.
     */
    static String reportersProblem() {
        return REPORTERS_PROBLEM;
    }

    /** The release of this jar, for example {@code 0.2.0}; {@code unknown} if it does not say. */
    static String version() {
        return Natives.version();
    }

    /** Returns why there are no reporters, or null. */
    private static String load() throws LibraryException {
        if ("off".equals(System.getProperty("crest.native"))) {
            throw new LibraryException("It is switched off by -Dcrest.native=off.");
        }
        String given = System.getProperty("crest.library", "");
        if (!given.isEmpty()) return open(Paths.get(given).toAbsolutePath());
        if (Natives.installed()) return openInstalled();
        Natives natives = Natives.ofThisMachine();
        String chosen = System.getProperty("crest.tmpdir", "");
        Path folder = Paths.get(chosen.isEmpty() ? System.getProperty("java.io.tmpdir") : chosen);
        try (PrivateFiles files = PrivateFiles.below(folder.toAbsolutePath())) {
            for (String name : natives.names()) {
                files.add(name, natives.read(name), natives.sum(name));
            }
            files.check();
            return open(files.path(Natives.JNI));
        }
    }

    /** The same, of the library at this path and what lies beside it. */
    private static String open(Path file) throws LibraryException {
        try {
            System.load(file.toString());
        } catch (UnsatisfiedLinkError | RuntimeException e) {
            throw LibraryException.ofLinker("Loading " + file, e.getMessage());
        }
        return loaded(file.toString());
    }

    /** The same, of a distribution's jar: by name, from where the JVM looks for libraries. */
    private static String openInstalled() throws LibraryException {
        try {
            System.loadLibrary("crest-jvm");
        } catch (UnsatisfiedLinkError | RuntimeException e) {
            throw new LibraryException(
                    "Loading " + Natives.JNI + ": " + e.getMessage() + ". This jar goes with the"
                            + " libraries of its system: install them (Debian: apt install"
                            + " libcrest-jni), or name one with -Dcrest.library.");
        }
        return loaded(Natives.JNI);
    }

    /** Whether what was loaded goes with this jar; returns why there are no reporters, or null. */
    private static String loaded(String file) throws LibraryException {
        String running = LibraryNatives.version();
        if (Natives.known() && !running.equals(Natives.version())) {
            throw new LibraryException(
                    "This jar is release " + Natives.version() + " of Crest, but the process runs"
                            + " release " + running + " of libcrest.so.0, which native code has"
                            + " loaded or -Dcrest.library brings along. Use one release of both.");
        }
        String difference = Layout.difference(CellNatives.layout());
        if (difference == null) difference = Status.difference(MetricNatives.statuses());
        if (difference != null) {
            throw new LibraryException(
                    "The library that was loaded from " + file + " is none that this jar knows: "
                            + difference + ". Use the library of the jar's own release.");
        }
        if (Memory.problem() != null) throw new LibraryException(Memory.problem());
        String reporters = LibraryNatives.openReporters();
        if (reporters == null) return null;
        return LibraryException.ofLinker("Loading the reporters of Crest", reporters).getMessage();
    }
}
