// SPDX-License-Identifier: Apache-2.0
package io.crest;

/** The messages of the library's log, where a native queue keeps them. See {@link Log}. */
final class LogNatives {
    private LogNatives() {}

    /**
     * Whether the library's messages go to the queue from now on (true), or nowhere. Returns false
     * where the queue cannot be kept in memory for good.
     */
    static native boolean listen(boolean on);

    /** The next message, its level in the first byte; null when there is none. Never waits. */
    static native byte[] take();

    /** {@code crest_log_write}: to the log callback, Java or native. Longer texts are cut. */
    static native void write(int level, byte[] text);
}
