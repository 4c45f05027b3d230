// SPDX-License-Identifier: Apache-2.0
package io.crest;

/** The library's functions for tests of instrumented programs (jvm_testing.c). */
final class TestingNatives {
    private TestingNatives() {}

    /** Fills the numbers and the gauge's value of a series; what is wrong, or null. */
    static native byte[] read(byte[] texts, long[] numbers, double[] gauge);
}
