// SPDX-License-Identifier: Apache-2.0
package io.crest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PrivateFilesTest {
    private static final byte[] CONTENT = "text".getBytes(StandardCharsets.US_ASCII);
    private static final String SUM =
            "982d9e3eb996f559e633f4d194def3761d909f5a3b647d1a851fead67c32c9d1";

    @TempDir Path parent;
    @TempDir Path elsewhere;

    private static String mode(Path path) throws IOException {
        return PosixFilePermissions.toString(Files.getPosixFilePermissions(path));
    }

    private void isEmpty() throws IOException {
        try (Stream<Path> left = Files.list(parent)) {
            assertEquals(0, left.count());
        }
    }

    /** A change of the file between writing and loading is seen. */
    private void refuses(Change change) throws Exception {
        try (PrivateFiles files = PrivateFiles.below(parent)) {
            files.add("a.so", CONTENT, SUM);
            files.check();
            change.make(files.path("a.so"));
            String message = assertThrows(LibraryException.class, files::check).getMessage();
            assertTrue(message.contains(files.path("a.so").toString()), message);
        }
        isEmpty();
    }

    private interface Change {
        void make(Path file) throws IOException;
    }

    @Test
    void onlyTheUserMayEnterAndNothingIsLeft() throws Exception {
        Path folder;
        try (PrivateFiles files = PrivateFiles.below(parent)) {
            files.add("a.so", CONTENT, SUM);
            folder = files.path("a.so").getParent();
            assertEquals("rwx------", mode(folder));
            assertEquals("r-x------", mode(files.path("a.so")));
            assertEquals(parent, folder.getParent());
            files.check();
            try (PrivateFiles others = PrivateFiles.below(parent)) {
                assertNotEquals(folder, others.path("a.so").getParent());
            }
        }
        assertFalse(Files.exists(folder));
        isEmpty();
    }

    @Test
    void aFileThatIsThereAlreadyIsNotWrittenTo() throws Exception {
        try (PrivateFiles files = PrivateFiles.below(parent)) {
            files.add("a.so", CONTENT, SUM);
            assertThrows(LibraryException.class, () -> files.add("a.so", CONTENT, SUM));
        }
        isEmpty();
    }

    @Test
    void whatDoesNotHaveItsSumIsNotWritten() throws Exception {
        try (PrivateFiles files = PrivateFiles.below(parent)) {
            byte[] other = {'n', 'e', 'x', 't'};
            String message =
                    assertThrows(LibraryException.class, () -> files.add("a.so", other, SUM))
                            .getMessage();
            assertTrue(message.contains("a.so is damaged"), message);
            assertTrue(message.contains(SUM), message);
            assertFalse(Files.exists(files.path("a.so")));
        }
        isEmpty();
    }

    @Test
    void whatWasChangedIsSeen() throws Exception {
        refuses(
                file -> {
                    Files.delete(file);
                    Files.writeString(file, "next");
                });
        refuses(
                file -> {
                    Files.delete(file);
                    Files.createSymbolicLink(
                            file, Files.writeString(elsewhere.resolve("a.so"), "text"));
                });
        refuses(Files::delete);
    }

    @Test
    void whereOthersMayRenameNothingIsUnpacked() throws Exception {
        Files.setPosixFilePermissions(parent, PosixFilePermissions.fromString("rwxrwxrwx"));
        String message =
                assertThrows(LibraryException.class, () -> PrivateFiles.below(parent)).getMessage();
        assertTrue(message.contains("not sticky"), message);
        Files.setAttribute(parent, "unix:mode", 01777);
        PrivateFiles.below(parent).close();
        isEmpty();
    }
}
