// SPDX-License-Identifier: Apache-2.0
package io.crest;

import java.time.Duration;

/**
 * A JVM that is profiled: it validates blocks, nine parts of its time within the operation and one
 * outside it, until standard input ends. tests/jvm/test_jvm_profile.py asks for its profiles at the
 * address that the first line says, and reads its page at the end.
 */
final class ProfileMain {
    private static final int STOP_S = 60;
    private static final long BLOCK_NANOS = 9_000_000;
    private static final long REST_NANOS = 1_000_000;
    private static final Timer BLOCK = Timer.of("jfr.block-time", "Validation of a block.");

    private static volatile long sink;

    private ProfileMain() {}

    private static long replayHistory(long nanos) {
        long state = sink;
        for (long end = System.nanoTime() + nanos; System.nanoTime() < end; )
            for (int i = 0; i < 20_000; i++) state = state * 6364136223846793005L + (state >>> 7);
        sink = state;
        return state;
    }

    private static long gossip(long nanos) {
        long state = sink;
        for (long end = System.nanoTime() + nanos; System.nanoTime() < end; )
            for (int i = 0; i < 20_000; i++) state = state * 2862933555777941757L ^ (state >>> 9);
        sink = state;
        return state;
    }

    private static long validateBlock() {
        return replayHistory(BLOCK_NANOS);
    }

    public static void main(String[] arguments) throws Exception {
        Crest.onLog((level, message) -> System.out.println(message));
        if (!Crest.available()) throw new IllegalStateException(Crest.unavailableReason());
        Crest.start(arguments[0]);
        for (long height = 0; System.in.available() == 0; height++) {
            BLOCK.span(Op.of(height), ProfileMain::validateBlock);
            gossip(REST_NANOS);
        }
        System.out.println("page:\n" + Crest.page(PageFormat.TEXT));
        Crest.stop(Duration.ofSeconds(STOP_S));
    }
}
