// SPDX-License-Identifier: Apache-2.0
package io.crest;

import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * The first record of a JVM, with hardly any stack left, and one frame more at each try. Prints
 * what was thrown besides StackOverflowErrors, and whether it records afterwards.
 */
final class FullStackMain {
    private static final Set<String> THROWN = new TreeSet<>();

    private FullStackMain() {}

    public static void main(String[] arguments) throws ClassNotFoundException {
        // loading takes more stack than initialising; a JVM may have loaded them, from an archive
        for (String type : List.of("Op", "Utf8", "Timing", "SharedLanes", "OwnCounts", "Outcome")) {
            Class.forName("io.crest." + type, false, FullStackMain.class.getClassLoader());
        }
        Runnable first = recording(arguments[0]);
        THROWN.add(String.valueOf(new IllegalStateException("loads what is needed to tell")));
        THROWN.clear();
        deeper(first);
        first.run();
        System.out.println("besides: " + THROWN);
    }

    private static Runnable recording(String what) {
        Timer timer = Timer.of("full.timer");
        Histogram histogram = Histogram.of("full.histogram");
        switch (what) {
            case "start": return () -> timer.start("text").stop("text");
            case "begin": return () -> timer.begin("text");
            case "timer": return () -> timer.record(5);
            default: return () -> histogram.record(5);
        }
    }

    private static void deeper(Runnable first) {
        try {
            deeper(first);
        } catch (StackOverflowError full) {
            // the way back begins
        }
        try {
            first.run();
        } catch (Throwable thrown) {
            if (!(thrown instanceof StackOverflowError)) keep(thrown);
        }
    }

    private static void keep(Throwable thrown) {
        try {
            THROWN.add(thrown.toString());
        } catch (StackOverflowError full) {
            // printed with more stack, on the way back
        }
    }
}
