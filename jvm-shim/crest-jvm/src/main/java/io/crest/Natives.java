// SPDX-License-Identifier: Apache-2.0
package io.crest;

import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import java.util.Properties;
import java.util.TreeSet;

/**
 * What the jar carries: the native libraries of each platform it was built for, and a table of
 * their SHA-256 sums and release. Reads; writes nothing.
 */
final class Natives {
    static final String JNI = "libcrest-jvm.so";

    /** Without these there is nothing to load. */
    private static final List<String> NEEDED =
            List.of(JNI, "libcrest.so.0", "libcrest-reporters.so.0");

    private static final String FOLDER = "native/";
    private static final Properties TABLE = table();

    /** The system's name, as the JVM has it. */
    static final String SYSTEM = System.getProperty("os.name", "");

    private final String platform;

    private Natives(String platform) {
        this.platform = platform;
    }

    /** Whether the jar says which release it is. */
    static boolean known() {
        return TABLE.containsKey("version");
    }

    /** Whether the jar carries no libraries, as it goes with those of its system. */
    static boolean installed() {
        return TABLE.getProperty("library", "").equals("installed");
    }

    static String version() {
        return TABLE.getProperty("version", "unknown");
    }

    /** The libraries for this system and processor. */
    static Natives ofThisMachine() throws LibraryException {
        String processor = System.getProperty("os.arch", "");
        if (!SYSTEM.equals("Linux")) {
            throw new LibraryException("It runs on Linux only, and this is " + SYSTEM + ".");
        }
        // uname's name of the processor, as the jar's folders have it
        String platform = "linux-" + (processor.equals("amd64") ? "x86_64" : processor);
        Natives natives = new Natives(platform);
        if (TABLE.isEmpty()) {
            throw new LibraryException(
                    "The jar has no readable io/crest/native/native.properties. Build it with"
                            + " 'make jvm', and keep resources when repacking it.");
        }
        if (natives.names().isEmpty()) {
            throw new LibraryException(
                    "The jar carries no libraries for " + platform + ", only for " + platforms()
                            + ". Build it on such a machine (make jvm).");
        }
        for (String name : NEEDED) {
            if (natives.sum(name) == null) throw natives.lacks(name);
        }
        return natives;
    }

    /** The files of this platform, by name. */
    List<String> names() {
        TreeSet<String> names = new TreeSet<>();
        for (String key : TABLE.stringPropertyNames()) {
            if (key.startsWith(platform + "/")) names.add(key.substring(platform.length() + 1));
        }
        return List.copyOf(names);
    }

    /** The SHA-256 sum of the file when the jar was built, in hexadecimal; null if unknown. */
    String sum(String name) {
        return TABLE.getProperty(platform + "/" + name);
    }

    /** The bytes of a file, as they are in the jar. */
    byte[] read(String name) throws LibraryException {
        String entry = FOLDER + platform + "/" + name;
        try (InputStream in = Natives.class.getResourceAsStream(entry)) {
            if (in == null) throw lacks(name);
            return in.readAllBytes();
        } catch (IOException e) {
            throw new LibraryException("Reading io/crest/" + entry + " of the jar: " + e + ".");
        }
    }

    private LibraryException lacks(String name) {
        return new LibraryException(
                "The jar lacks io/crest/" + FOLDER + platform + "/" + name
                        + ". Build it anew (make jvm), and keep all of it when repacking it.");
    }

    private static String platforms() {
        TreeSet<String> platforms = new TreeSet<>();
        for (String key : TABLE.stringPropertyNames()) {
            int slash = key.indexOf('/');
            if (slash > 0) platforms.add(key.substring(0, slash));
        }
        return platforms.isEmpty() ? "no platform" : String.join(", ", platforms);
    }

    /** Empty if it is missing or cannot be read. */
    private static Properties table() {
        Properties table = new Properties();
        try (InputStream in = Natives.class.getResourceAsStream(FOLDER + "native.properties")) {
            if (in != null) table.load(in);
        } catch (IOException | IllegalArgumentException e) {
            table.clear();
        }
        return table;
    }
}
