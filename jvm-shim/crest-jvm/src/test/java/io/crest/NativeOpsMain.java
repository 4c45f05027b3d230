// SPDX-License-Identifier: Apache-2.0
package io.crest;

/**
 * Operations that one half of a program begins and the other ends (tests/jvm/native_ops.c): an id
 * is the same thing in Java and in C.
 */
final class NativeOpsMain {
    private NativeOpsMain() {}

    private static native int begin(int which);

    private static native int end(int which);

    private static byte[] bytes(int length) {
        byte[] bytes = new byte[length];
        for (int i = 0; i < length; i++) bytes[i] = (byte) (i + 200);
        return bytes;
    }

    private static Op[] ops() {
        return new Op[] {
            Op.of(7), Op.of(-1), Op.of(7, 8), Op.of(bytes(5)), Op.of(bytes(32)), Op.of(bytes(40)),
            Op.of("t\u00e4xt \ud83d\ude00"), Op.of("a text with more than thirty-two bytes"),
        };
    }

    public static void main(String[] arguments) {
        Timer timer = Timer.of("ops.shared");
        System.load(arguments[0]);
        Op[] ops = ops();
        for (int i = 0; i < ops.length; i++) {
            System.out.println(i + ": " + timer.begin(ops[i]) + ", " + Status.of(end(i)) + ", "
                    + Status.of(begin(i)) + ", " + timer.begin(ops[i]) + ", "
                    + ops[i].equals(timer.oldest(1).get(0).op()) + ", " + timer.end(ops[i]));
        }
        Page page = Page.now();
        for (String outcome : new String[] {"cancelled", "ok"}) {
            String sample = "ops_shared_seconds_count{outcome=\"" + outcome + "\"}";
            System.out.println(outcome + " " + (long) page.value(sample));
        }
    }
}
