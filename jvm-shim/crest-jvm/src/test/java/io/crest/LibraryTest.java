// SPDX-License-Identifier: Apache-2.0
package io.crest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What happens when the library cannot be loaded; and nothing is left on disk either way. */
@Tag("jar")
class LibraryTest {
    private static final int NATIVE_ACCESS_DENIED_SINCE = 24;

    @TempDir Path folder;

    private static void says(String message, String... parts) {
        assertNotNull(message, "there is a library");
        assertTrue(message.startsWith("Crest records nothing. "), message);
        for (String part : parts) assertTrue(message.contains(part), message);
    }

    /** The problem of a Crest that another class loader loads with this property. */
    private static String problemWith(String key, Object value) throws Exception {
        try (WithProperty jars = new WithProperty("crest.library", null);
                WithProperty property = new WithProperty(key, value.toString());
                OtherLoader other = new OtherLoader()) {
            return other.problem();
        }
    }

    /** The same, of another jar. */
    private String problemOf(OtherJar jar) throws Exception {
        Path unpacked = Files.createDirectory(folder.resolve("unpacked"));
        try (WithProperty jars = new WithProperty("crest.library", null);
                WithProperty property = new WithProperty("crest.tmpdir", unpacked.toString());
                OtherLoader other = new OtherLoader(jar.into(folder))) {
            return other.problem();
        } finally {
            isEmpty(unpacked);
            Files.delete(unpacked);
        }
    }

    private static void isEmpty(Path folder) throws IOException {
        try (Stream<Path> left = Files.list(folder)) {
            assertEquals(List.of(), left.collect(Collectors.toList()));
        }
    }

    @AfterEach
    void theLibraryOfTheTestsIsThereStill() {
        assertTrue(Library.AVAILABLE, Library.problem());
        assertNull(Library.problem());
        assertNull(Library.reportersProblem());
    }

    @Test
    void itLoadsAndLeavesNothingBehind() throws Exception {
        assertNull(problemWith("crest.tmpdir", folder));
        isEmpty(folder);
    }

    /** The kernel keeps 15 bytes of a program's name, and may cut a character in two. */
    @Test
    void aProgramsNameMayBeInAnyEncoding() throws Exception {
        String launch =
                "n=$0/$(printf '\\377') && ln -s \"$1\" \"$n\" && shift && exec \"$n\" \"$@\"";
        String said = new ChildJvm().under("sh", "-c", launch, folder.toString())
                .run(LibraryMain.class);
        assertTrue(said.startsWith("available true"), said);
    }

    @Test
    void theReleaseIsTheMakefiles() {
        assertTrue(Library.version().matches("\\d+\\.\\d+\\.\\d+"), Library.version());
        assertEquals(Library.version(), LibraryNatives.version());
    }

    @Test
    void itCanBeSwitchedOff() throws Exception {
        says(problemWith("crest.native", "off"), "switched off by -Dcrest.native=off");
    }

    @Test
    void aPlatformThatTheJarDoesNotCarryIsNamed() throws Exception {
        String vax = problemWith("os.arch", "vax");
        says(vax, "no libraries for linux-vax, only for linux-", "make jvm");
        says(problemWith("os.name", "Plan 9"), "Linux only, and this is Plan 9");
    }

    static final class Start implements Callable<String> {
        @Override
        public String call() {
            Crest.start("prometheus=0");
            Crest.stop(Duration.ofSeconds(5));
            return Crest.page(PageFormat.TEXT);
        }
    }

    @Test
    void whereThereIsNoLibraryToBeHadAStartDoesNothing() throws Exception {
        try (WithProperty jars = new WithProperty("crest.library", null);
                WithProperty mac = new WithProperty("os.name", "Mac OS X");
                OtherLoader other = new OtherLoader()) {
            assertEquals("", other.call(Start.class));
        }
    }

    @Test
    void aFolderThatCannotBeWrittenToIsNamed() throws Exception {
        Path missing = folder.resolve("missing");
        says(problemWith("crest.tmpdir", missing), "" + missing, "NoSuchFile", "-Dcrest.tmpdir");
        Path file = Files.writeString(folder.resolve("file"), "");
        says(problemWith("crest.tmpdir", file), "" + file, "-Dcrest.tmpdir");
        Path closed = Files.createDirectory(folder.resolve("closed"));
        assertTrue(closed.toFile().setWritable(false));
        if (Files.isWritable(closed)) return; // root may write anywhere
        says(problemWith("crest.tmpdir", closed), "" + closed, "AccessDenied", "-Dcrest.tmpdir");
    }

    /** In a JVM of its own, to which the folder is a file system mounted with these options. */
    private String outputWhenMounted(String options) throws Exception {
        String mount = "mount -t tmpfs -o " + options + " tmpfs " + folder;
        Process possible =
                new ProcessBuilder("unshare", "-rm", "sh", "-c", mount)
                        .redirectErrorStream(true)
                        .start();
        possible.getInputStream().readAllBytes();
        assumeTrue(possible.waitFor() == 0, "this user may not mount anything here");
        return new ChildJvm()
                .with("-XX:-UsePerfData", "-Dcrest.tmpdir=" + folder)
                .under("unshare", "-rm", "sh", "-c", mount + " && exec \"$@\"", "sh")
                .run(LibraryMain.class);
    }

    @Test
    void aFolderMountedNoexecIsNamed() throws Exception {
        String output = outputWhenMounted("noexec");
        assertTrue(output.contains("available false"), output);
        assertTrue(output.contains("Loading " + folder), output);
        assertTrue(output.contains("mounted noexec: name another one with -Dcrest.tmpdir"), output);
    }

    @Test
    void aFolderThatIsFullIsNamed() throws Exception {
        String output = outputWhenMounted("size=64k");
        assertTrue(output.contains("available false"), output);
        assertTrue(output.contains("Unpacking to " + folder), output);
        assertTrue(output.contains("No space left on device"), output);
    }

    @Test
    void aFileThatMayNotGrowIsRemoved() throws Exception {
        String output =
                new ChildJvm()
                        .with("-XX:-UsePerfData", "-Dcrest.tmpdir=" + folder)
                        .under("sh", "-c", "ulimit -f 128; exec \"$@\"", "sh")
                        .run(LibraryMain.class);
        assertTrue(output.contains("available false"), output);
        assertTrue(output.contains("File too large"), output);
        isEmpty(folder);
    }

    @Test
    void aJarThatLacksSomethingSaysWhat() throws Exception {
        OtherJar jar = new OtherJar();
        String crest = jar.library("libcrest.so.0");
        says(problemOf(jar.without(crest)), "lacks " + crest, "make jvm");
        says(problemOf(new OtherJar().withoutTable()), "native.properties", "make jvm");
        String row = crest.substring("io/crest/native/".length());
        says(problemOf(new OtherJar().with(row, null)), "lacks " + crest, "make jvm");
    }

    @Test
    void aDamagedLibraryIsNotLoaded() throws Exception {
        for (String name : List.of("libcrest.so.0", "libcrest-reporters.so.0", "libcrest-jvm.so")) {
            OtherJar jar = new OtherJar();
            says(problemOf(jar.damaged(jar.library(name))), name + " is damaged", "SHA-256");
        }
    }

    @Test
    void anotherReleaseIsNotUsed() throws Exception {
        says(
                problemOf(new OtherJar().with("version", "9.8.7")),
                "release 9.8.7", "release " + Library.version(), "libcrest.so.0");
    }

    @Test
    void anotherLibraryCanBeNamed() throws Exception {
        Path missing = folder.resolve("libcrest-jvm.so");
        says(problemWith("crest.library", missing), "" + missing, "-Dcrest.library");
        Files.writeString(missing, "no library");
        says(problemWith("crest.library", missing), "" + missing, "-Dcrest.library");
    }

    @Test
    void withoutTheReportersLibrariesItRecords() throws Exception {
        OtherJar jar = new OtherJar();
        Path lacking =
                jar.patched(jar.library("libcrest-reporters.so.0"), "libcurl.so.4", "libnone.so.4")
                        .into(folder);
        String output = new ChildJvm().withJar(lacking).run(LibraryMain.class);
        assertTrue(output.contains("available true\nproblem null\n"), output);
        assertTrue(output.contains("libnone.so.4: cannot open shared object file"), output);
        assertTrue(output.contains("apt install libcurl4 libmicrohttpd12"), output);
        assertTrue(output.contains("counted 1000"), output);
    }

    @Test
    void whereNativeAccessIsDeniedTheOptionIsNamed() throws Exception {
        assumeTrue(
                Runtime.version().feature() >= NATIVE_ACCESS_DENIED_SINCE,
                "before Java 24 native access cannot be denied");
        String output =
                ChildJvm.withoutNativeAccess()
                        .with("--illegal-native-access=deny")
                        .run(LibraryMain.class);
        assertTrue(output.contains("available false"), output);
        assertTrue(output.contains("--enable-native-access=ALL-UNNAMED"), output);
        assertFalse(output.contains("counted"), output);
    }
}
