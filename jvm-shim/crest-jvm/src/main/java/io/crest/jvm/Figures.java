// SPDX-License-Identifier: Apache-2.0
package io.crest.jvm;

/** Some figures of the JVM that are read together. One thread at a time calls it. */
interface Figures {
    /** Reads what moves, and records it. */
    void read();

    /** Reads what hardly ever changes, or is slow to read. */
    default void readSlowly() {}
}
