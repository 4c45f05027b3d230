// SPDX-License-Identifier: Apache-2.0
package io.crest;

/** What loading asks of the native library. */
final class LibraryNatives {
    private LibraryNatives() {}

    /** The release of the libcrest that this process runs with; never null. */
    static native String version();

    /**
     * Loads the library of reporters, which register themselves, unless the process has it; null if
     * it is there, and otherwise what the linker said.
     */
    static native String openReporters();
}
