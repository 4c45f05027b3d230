// SPDX-License-Identifier: Apache-2.0
package io.crest;

import java.io.OutputStream;

/**
 * The library's functions for starting, stopping and pages. Texts are UTF-8 with no NUL in them. A
 * byte array that comes back says what failed: the status, then the message; null is success.
 */
final class RunNatives {
    private RunNatives() {}

    /**
     * The options that are Java's to carry out, {@code jvm}, {@code jvm.*} and {@code atexit}, of
     * those that a start with this text has: {@link Status#OK}, then of each its key, its value and
     * where it came from, each with a NUL behind. Otherwise what failed.
     */
    static native byte[] options(byte[] text);

    /** {@code crest_start}; null for no options of one's own. Refused, it does not count. */
    static native byte[] start(byte[] options);

    /** {@code crest_stop}. */
    static native byte[] stop(long deadlineMillis);

    /** {@code crest_retire} in the default registry: how many series were. */
    static native long retire(byte[] key, byte[] value);

    /** {@code crest_page_write}, in pieces of 64 KiB; throws what the stream throws. */
    static native byte[] writePage(int format, OutputStream stream);

    /** A status that means nothing, and the Content-Type of a format. */
    static native byte[] contentType(int format);

    /** {@code crest_format_negotiate}; null for no Accept header. */
    static native int negotiate(byte[] accept);
}
