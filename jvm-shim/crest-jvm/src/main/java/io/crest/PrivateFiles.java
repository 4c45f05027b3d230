// SPDX-License-Identifier: Apache-2.0
package io.crest;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/**
 * A folder for libraries to be loaded from, which no other user can have prepared, read or written:
 * its name is random, and from its first moment only this user may enter it. Every file is checked
 * against its SHA-256 sum when it is written and again as it lies there. Closing removes all of it;
 * a loaded library stays loaded.
 */
final class PrivateFiles implements AutoCloseable {
    private static final int MODE_OTHERS_WRITE = 0002;
    private static final int MODE_STICKY = 01000;

    private static final FileAttribute<Set<PosixFilePermission>> FOLDER_MODE =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));
    private static final FileAttribute<Set<PosixFilePermission>> FILE_MODE =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("r-x------"));

    private final Path folder;
    private final Map<String, String> sums = new LinkedHashMap<>();

    private PrivateFiles(Path folder) {
        this.folder = folder;
    }

    /** A new folder below this one. */
    static PrivateFiles below(Path parent) throws LibraryException {
        try {
            int mode = (int) Files.getAttribute(parent, "unix:mode");
            if ((mode & MODE_OTHERS_WRITE) != 0 && (mode & MODE_STICKY) == 0) {
                throw new LibraryException(
                        "Unpacking to " + parent + ": everybody may write there and rename what"
                                + " others made, as it is not sticky. Set its mode (chmod +t), or"
                                + " name another folder with -Dcrest.tmpdir.");
            }
            return new PrivateFiles(Files.createTempDirectory(parent, "crest-", FOLDER_MODE));
        } catch (IOException | RuntimeException e) {
            throw failed(parent, e);
        }
    }

    /** Puts a file there. */
    void add(String name, byte[] content, String sum) throws LibraryException {
        String found = sumOf(content);
        if (!found.equals(sum)) {
            throw new LibraryException(
                    "The jar's " + name + " is damaged: its SHA-256 sum is " + found
                            + ", and native.properties says " + sum + ". Get the jar anew.");
        }
        sums.put(name, sum);
        try (SeekableByteChannel file =
                Files.newByteChannel(
                        path(name),
                        Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
                        FILE_MODE)) {
            ByteBuffer bytes = ByteBuffer.wrap(content);
            while (bytes.hasRemaining()) file.write(bytes);
        } catch (IOException | RuntimeException e) {
            throw failed(path(name), e);
        }
    }

    /** Checks that all files are still as they were written, and this user's own. */
    void check() throws LibraryException {
        Path now = folder;
        try {
            Object owner = user();
            if (!owner(folder).equals(owner)) throw new IOException("its owner is another one");
            for (Map.Entry<String, String> entry : sums.entrySet()) {
                now = path(entry.getKey());
                if (!owner(now).equals(owner)) throw new IOException("its owner is another one");
                if (!sumOf(read(now)).equals(entry.getValue())) {
                    throw new IOException("its SHA-256 sum is another one");
                }
            }
        } catch (IOException | RuntimeException e) {
            throw new LibraryException(
                    now + " is not what was just written there: " + e + ". Find out who writes to "
                            + folder.getParent() + ", or name another folder with -Dcrest.tmpdir.");
        }
    }

    Path path(String name) {
        return folder.resolve(name);
    }

    @Override
    public void close() {
        for (String name : sums.keySet()) remove(path(name));
        remove(folder);
    }

    /** What cannot be removed stays: it is private, and nothing depends on it. */
    private static void remove(Path path) {
        try {
            Files.deleteIfExists(path);
        } catch (IOException | RuntimeException e) {
            // there is nothing to be done about it
        }
    }

    /**
     * The user as whom the kernel creates files: the fourth number of the line Uid: is the user for
     * file systems. Where /proc is missing, the owner of the new folder.
     */
    private Object user() throws IOException {
        // the program's name, also in this file, is in any encoding and cut where it is long
        try (Stream<String> lines =
                Files.lines(Paths.get("/proc/self/status"), StandardCharsets.ISO_8859_1)) {
            return lines.filter(line -> line.startsWith("Uid:"))
                    .map(line -> Integer.valueOf(line.split("\\s+")[4]))
                    .findFirst()
                    .orElseThrow(() -> new IOException("/proc/self/status has no line Uid:"));
        } catch (NoSuchFileException e) {
            return owner(folder);
        }
    }

    private static Object owner(Path path) throws IOException {
        return Files.getAttribute(path, "unix:uid", LinkOption.NOFOLLOW_LINKS);
    }

    private static byte[] read(Path file) throws IOException {
        try (InputStream in = Files.newInputStream(file, LinkOption.NOFOLLOW_LINKS)) {
            return in.readAllBytes();
        }
    }

    private static String sumOf(byte[] content) {
        try {
            StringBuilder text = new StringBuilder();
            for (byte b : MessageDigest.getInstance("SHA-256").digest(content)) {
                text.append(String.format("%02x", b));
            }
            return text.toString();
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("a JDK has SHA-256", e);
        }
    }

    private static LibraryException failed(Path path, Exception e) {
        return new LibraryException(
                "Unpacking to " + path + ": " + e + ". Make room there, or let this user write"
                        + " there, or name another folder with -Dcrest.tmpdir.");
    }
}
