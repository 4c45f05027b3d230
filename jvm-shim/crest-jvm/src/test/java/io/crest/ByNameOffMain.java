// SPDX-License-Identifier: Apache-2.0
package io.crest;

import java.io.IOException;
import java.util.concurrent.CompletableFuture;

/** Every word of {@link Source} in a JVM without the native library. */
final class ByNameOffMain {
    private ByNameOffMain() {}

    public static void main(String[] arguments) throws Exception {
        if (Crest.available()) throw new AssertionError("the library is there");
        Source source = Source.of("rchain.comm").in("rp");
        for (int i = 0; i < 500_000; i++) {
            source.incrementCounter("c" + i);
            source.counter("made-" + i).increment();
        }
        source.incrementCounter(null);
        source.incrementSampler("queue", -1);
        source.decrementSampler("queue");
        source.sample("queue");
        source.setGauge("peers", 1);
        source.setGauge("peers", 1.5);
        source.incrementGauge("peers");
        source.decrementGauge("peers", 2);
        source.record("size", 7, 3);
        source.recordTimer("time", 7, Outcome.ERROR);
        source.timer("time").stopNanos(source.timer("time").startNanos());
        source.gauge("level").set(3);
        source.histogram("sizes").record(3);
        source.rangeSampler("queues").increment();
        CompletableFuture<String> stage = CompletableFuture.completedFuture("x");
        if (source.timerStage("stage", () -> stage) == null) throw new AssertionError("no stage");
        try {
            source.timer("time", () -> fail());
        } catch (IOException e) {
            System.out.println(source.timer("time", () -> "ran"));
        }
    }

    private static String fail() throws IOException {
        throw new IOException("as it should");
    }
}
