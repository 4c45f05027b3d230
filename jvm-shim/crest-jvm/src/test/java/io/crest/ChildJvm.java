// SPDX-License-Identifier: Apache-2.0
package io.crest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Another JVM of the same JDK, for tests that a process can run only once, or that end it: a main
 * class of the tests, with the jar and the tests on its class path.
 */
final class ChildJvm {
    private static final int TIMEOUT_S = 60;
    private static final int NATIVE_ACCESS_SINCE = 17;

    private final List<String> options = new ArrayList<>();
    private final List<String> prefix = new ArrayList<>();
    private String classPath = of(Library.class) + File.pathSeparator + of(ChildJvm.class);
    private int status;

    ChildJvm() {
        this(true);
    }

    private ChildJvm(boolean nativeAccess) {
        options.add("-XX:TieredStopAtLevel=1"); // starts sooner
        if (nativeAccess && Runtime.version().feature() >= NATIVE_ACCESS_SINCE) {
            options.add("--enable-native-access=ALL-UNNAMED");
        }
    }

    /** Without the option that permits native access. */
    static ChildJvm withoutNativeAccess() {
        return new ChildJvm(false);
    }

    /** Options of the JVM. */
    ChildJvm with(String... more) {
        options.addAll(List.of(more));
        return this;
    }

    /** A program that starts the JVM, with its arguments. */
    ChildJvm under(String... program) {
        prefix.addAll(List.of(program));
        return this;
    }

    /** The jar to use instead of this test's. */
    ChildJvm withJar(Path jar) {
        classPath = jar + File.pathSeparator + of(ChildJvm.class);
        return this;
    }

    /** Runs it and returns its standard output, stripped. It must exit with 0. */
    String run(Class<?> main, String... arguments) throws IOException, InterruptedException {
        String output = tryToRun(main, arguments);
        assertEquals(0, status, output);
        return output;
    }

    /** The same, with any exit status. */
    String tryToRun(Class<?> main, String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(prefix);
        command.add(Paths.get(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(options);
        command.addAll(List.of("-cp", classPath, main.getName()));
        command.addAll(List.of(arguments));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        process.getOutputStream().close();
        String output;
        try (InputStream in = process.getInputStream()) {
            output = new String(in.readAllBytes(), StandardCharsets.UTF_8).trim();
        }
        assertTrue(process.waitFor(TIMEOUT_S, TimeUnit.SECONDS), "it does not end: " + command);
        status = process.exitValue();
        return output;
    }

    int status() {
        return status;
    }

    /** The jar or folder that a class comes from. */
    static Path of(Class<?> type) {
        try {
            return Paths.get(type.getProtectionDomain().getCodeSource().getLocation().toURI());
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }
}
