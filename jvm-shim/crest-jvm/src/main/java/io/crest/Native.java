// SPDX-License-Identifier: Apache-2.0
package io.crest;

/** The library's functions. Called for what is rare; recording does without ({@link Lane}). */
final class Native {
    private Native() {}

    static native long[] layout();

    /** The table of this thread's cells if it leads to the slot's cell, else 0. */
    static native long table(int slot);

    static native void counterAdd(long counter, long amount);

    static native long counterValue(long counter);
}
