// SPDX-License-Identifier: Apache-2.0
package io.crest;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Properties;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import java.util.zip.ZipOutputStream;

/** A copy of the jar with something changed in it, to be refused. */
final class OtherJar {
    private static final String FOLDER = "io/crest/native/";
    private static final String TABLE = FOLDER + "native.properties";

    private final Map<String, byte[]> entries = new LinkedHashMap<>();

    OtherJar() throws IOException {
        Path here = ChildJvm.of(Library.class);
        if (Files.isDirectory(here)) {
            try (Stream<Path> files = Files.walk(here)) {
                for (Path file : files.filter(Files::isRegularFile).collect(Collectors.toList())) {
                    entries.put(here.relativize(file).toString(), Files.readAllBytes(file));
                }
            }
            return;
        }
        try (ZipInputStream jar = new ZipInputStream(Files.newInputStream(here))) {
            for (ZipEntry entry; (entry = jar.getNextEntry()) != null; ) {
                if (!entry.isDirectory()) entries.put(entry.getName(), jar.readAllBytes());
            }
        }
    }

    /** The full name of this platform's library. */
    String library(String name) {
        return entries.keySet().stream()
                .filter(entry -> entry.startsWith(FOLDER) && entry.endsWith("/" + name))
                .findFirst()
                .orElseThrow();
    }

    OtherJar without(String entry) {
        if (entries.remove(entry) == null) throw new IllegalArgumentException(entry);
        return this;
    }

    OtherJar withoutTable() {
        return without(TABLE);
    }

    /** Flips one bit of the entry. */
    OtherJar damaged(String entry) {
        byte[] content = entries.get(entry);
        content[content.length / 2] ^= 1;
        return this;
    }

    /** Sets a row of the table; null removes it. */
    OtherJar with(String key, String value) throws IOException {
        Properties table = new Properties();
        try (InputStream in = new ByteArrayInputStream(entries.get(TABLE))) {
            table.load(in);
        }
        if (value == null) table.remove(key);
        else table.setProperty(key, value);
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        table.store(out, null);
        entries.put(TABLE, out.toByteArray());
        return this;
    }

    /** Replaces a text of the library by one of the same length, and its sum in the table. */
    OtherJar patched(String entry, String text, String other) throws IOException {
        String content = new String(entries.get(entry), StandardCharsets.ISO_8859_1);
        if (!content.contains(text) || text.length() != other.length()) {
            throw new IllegalArgumentException(text);
        }
        byte[] patched = content.replace(text, other).getBytes(StandardCharsets.ISO_8859_1);
        entries.put(entry, patched);
        try {
            StringBuilder sum = new StringBuilder();
            for (byte b : MessageDigest.getInstance("SHA-256").digest(patched)) {
                sum.append(String.format("%02x", b));
            }
            return with(entry.substring(FOLDER.length()), sum.toString());
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Writes it there. */
    Path into(Path folder) throws IOException {
        Path jar = Files.createTempFile(folder, "other", ".jar");
        try (ZipOutputStream out = new ZipOutputStream(Files.newOutputStream(jar))) {
            out.setLevel(0);
            for (Map.Entry<String, byte[]> entry : entries.entrySet()) {
                out.putNextEntry(new ZipEntry(entry.getKey()));
                out.write(entry.getValue());
                out.closeEntry();
            }
        }
        return jar;
    }
}
