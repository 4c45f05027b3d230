// SPDX-License-Identifier: Apache-2.0
package io.crest;

/** The library's functions that take samples of Java code into its profiles (jvm_profile.c). */
final class ProfileNatives {
    private ProfileNatives() {}

    /** Whether the library's profiler runs. */
    static native boolean runs();

    /** The frame of a name, which ends with a NUL. */
    static native long frame(byte[] name);

    /** Adds a stack, innermost first, of a thread that was in the timer, or 0; the status. */
    static native int add(long[] frames, int depth, long timer, long nanos);

    /** Whether code of no library is left to {@link #add}. */
    static native void cover(boolean covered);
}
