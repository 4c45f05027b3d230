// SPDX-License-Identifier: Apache-2.0
package io.crest;

import java.io.OutputStream;

/**
 * The library's functions for starting, stopping and pages. Texts are UTF-8 without NUL. A returned
 * byte array is a failure: the status, then the message; null is success.
 */
final class RunNatives {
    private RunNatives() {}

    /**
     * The options that Java carries out, {@code jvm}, {@code jvm.*} and {@code atexit}, of those
     * that a start with this text has: {@link Status#OK}, then of each its key, its value and its
     * origin, each followed by a NUL. Otherwise a failure.
     */
    static native byte[] options(byte[] text);

    /** {@code crest_options_check}. */
    static native byte[] check(byte[] options);

    /** {@code crest_start}; null for no options. A refused start does not count. */
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
