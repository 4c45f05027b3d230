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

    /** Gives the messages to this taker from now on; 0: to none. */
    static native void serve(long taker);

    /**
     * The next message, its level in the first byte; waits for one. Null when the messages are
     * another taker's, or no taker's and none is left.
     */
    static native byte[] take(long taker);

    /** {@code crest_log_write}: to the log callback, Java or native. Longer texts are cut. */
    static native void write(int level, byte[] text);
}
