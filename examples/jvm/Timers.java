// SPDX-License-Identifier: Apache-2.0

import io.crest.Crest;
import io.crest.Family;
import io.crest.InFlight;
import io.crest.Metric;
import io.crest.Outcome;
import io.crest.PageFormat;
import io.crest.Stages;
import io.crest.Timer;
import io.crest.Timing;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/**
 * How long things take: a block of code, a token that travels, two places that share only an id,
 * work that goes on in other threads, and one operation with several stages. Run it as
 *
 *     java -cp crest-jvm-0.2.0.jar Timers.java
 */
public final class Timers {
    private static final Timer CONNECT = Timer.of("comm.connect-time", "Dial to handshake.");
    private static final Timer FETCH =
            Metric.named("comm.fetch-time")
                    .describedAs("Asked for until stored.")
                    .deadline(Duration.ofSeconds(30))
                    .timer();
    private static final Stages CONSENSUS =
            Stages.of("casper.consensus", "From proposal on.", "0", "1/3", "1");
    private static final Family<Timer> REPLAY =
            Metric.named("rspace.replay-time").labelled("shard").timer();

    /** A block of code: its result or exception passes through unchanged. */
    private static void code() {
        System.out.println("dialled " + CONNECT.time(() -> "10.0.0.7"));
        try {
            CONNECT.run(() -> {
                throw new IOException("no route");
            });
        } catch (IOException e) {
            System.out.println("not dialled: " + e.getMessage());
        }
        try (Timing timing = REPLAY.with("root").start("block 17")) {
            timing.outcome(Outcome.CANCELLED);
        }
    }

    /** A token: its end, on whatever thread, names the operation again. */
    private static void token() {
        Timing timing = CONNECT.start(7);
        System.out.println("of another: " + timing.stop(8));
        System.out.println("of its own: " + timing.stop(7));
        System.out.println("once more: " + timing.stop(7));
    }

    /** Work in another thread ends when its CompletionStage does. */
    private static void stage() {
        String answer =
                CONNECT.timeStage(() -> CompletableFuture.supplyAsync(() -> "pong"))
                        .toCompletableFuture()
                        .join();
        System.out.println("answer: " + answer);
    }

    /** By the id alone: the two sides share nothing else. */
    private static void keyed() {
        byte[] hash = {(byte) 0xca, (byte) 0xfe};
        FETCH.begin(hash);
        FETCH.begin("a request");
        for (InFlight.Operation waiting : FETCH.oldest(10))
            System.out.println("in flight: " + waiting.op());
        FETCH.end(hash, Outcome.OK);
        System.out.println("still in flight: " + FETCH.inFlight().count());
        FETCH.end("a request", Outcome.TIMEOUT);
    }

    private static void stages() {
        CONSENSUS.begin(17);
        CONSENSUS.mark(17, "0");
        CONSENSUS.mark(17, "1");
        CONSENSUS.end(17, Outcome.OK);
    }

    public static void main(String[] arguments) {
        code();
        token();
        stage();
        keyed();
        stages();
        for (String line : Crest.page(PageFormat.TEXT).split("\n"))
            if (line.contains("_count{") && !line.startsWith("crest_")) System.out.println(line);
    }
}
