// SPDX-License-Identifier: Apache-2.0
package io.crest;

/** Why the native library cannot be used: what was tried, what came back, and what to do. */
final class LibraryException extends Exception {
    private static final long serialVersionUID = 1;

    LibraryException(String message) {
        super(message);
    }

    /** For a library that the linker refused, with advice on the linker's message. */
    static LibraryException ofLinker(String tried, String said) {
        return new LibraryException(tried + ": " + said + ". " + advice(String.valueOf(said)));
    }

    private static String advice(String said) {
        if (said.contains("failed to map segment")) {
            return "Its folder is probably mounted noexec: name another one with -Dcrest.tmpdir.";
        }
        if (said.contains("ld-linux") || said.contains("ld-musl")) {
            return "The jar's libraries need the GNU C library, which this system does not have.";
        }
        if (said.contains("GLIBC_")) {
            return "The jar's libraries were built for a newer C library: build the jar here.";
        }
        if (said.contains("cannot open shared object file")) {
            return "Install what is missing (Debian: apt install libcurl4 libmicrohttpd12 zlib1g).";
        }
        if (said.contains("static TLS")) {
            return "Other libraries have used up the loader's thread-local space: load Crest"
                    + " earlier, or start the JVM with"
                    + " GLIBC_TUNABLES=glibc.rtld.optional_static_tls=1024.";
        }
        if (said.contains("native access")) {
            return "Start the JVM with --enable-native-access=ALL-UNNAMED (or =io.crest).";
        }
        return "Build the jar on this system (make jvm), or name a library with -Dcrest.library.";
    }
}
