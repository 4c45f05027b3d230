// SPDX-License-Identifier: Apache-2.0
package io.crest;

/**
 * A Java program with native code that counts with libcrest itself (tests/jvm/native_counter.c).
 * The native half's library is loaded before Crest is touched, or after; both are on one page.
 */
final class NativeHalfMain {
    private NativeHalfMain() {}

    private static native void count(int times);

    private static native long seen();

    public static void main(String[] arguments) {
        boolean nativeFirst = arguments[1].equals("first");
        if (nativeFirst) System.load(arguments[0]);
        Counter counter = Counter.of("mixed.java-blocks");
        Counter both = Counter.of("mixed.both");
        if (!nativeFirst) System.load(arguments[0]);
        System.out.println("problem " + Crest.unavailableReason());
        for (int i = 0; i < 1000; i++) {
            counter.increment();
            both.increment();
        }
        count(234);
        System.out.println("seen " + seen());
        System.out.println(Crest.page(PageFormat.TEXT));
    }
}
