// SPDX-License-Identifier: Apache-2.0
package io.crest;

/** The native functions for loading. */
final class LibraryNatives {
    private LibraryNatives() {}

    /** The release of the libcrest that this process runs with; never null. */
    static native String version();

    /**
     * Loads the library of reporters, which register themselves, unless the process has loaded it.
     * Null on success, else the linker's message.
     */
    static native String openReporters();
}
