// SPDX-License-Identifier: Apache-2.0

import io.crest.Crest;
import io.crest.PageFormat;
import io.crest.Source;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * By name, in RNode's words: no declaration, a metric is made at its first use. A source is what
 * RNode calls a Metrics.Source: it is put before every name, and sources compose by prefixing. Run
 * it as
 *
 *     java -cp crest-jvm-0.2.0.jar RNodeWords.java
 *
 * scala/ has the same as RNode's own trait, Metrics[F].
 */
public final class RNodeWords {
    private static final Source RP = Source.of("rchain.comm").in("rp");
    private static final Source CONNECT = RP.in("connect");
    private static final Source TRANSPORT = RP.in("transport");

    /** A block is timed whether it comes to an end or fails, each under its outcome. */
    private static String connect(String peer) throws IOException {
        CONNECT.incrementCounter("connect");
        String answer = CONNECT.timer("connect-time", () -> dial(peer));
        CONNECT.incrementGauge("peers");
        return answer;
    }

    private static String dial(String peer) throws IOException {
        if (peer.startsWith("down")) throw new IOException(peer + " refuses");
        return "connected to " + peer;
    }

    public static void main(String[] arguments) {
        for (String peer : new String[] {"peer-1", "down-1", "peer-2"}) {
            try {
                System.out.println(connect(peer));
            } catch (IOException e) {
                System.out.println(e.getMessage());
            }
        }
        CONNECT.decrementGauge("peers");

        TRANSPORT.incrementSampler("inbound-queue", 5);
        TRANSPORT.decrementSampler("inbound-queue", 3);
        TRANSPORT.record("packet-size", 512, 3); // three packets of 512
        TRANSPORT.setGauge("queue-limit", 1024);

        // a stage is timed until it ends, on whatever thread that happens
        CompletionStage<String> stage =
                CONNECT.timerStage(
                        "connect-time", () -> CompletableFuture.supplyAsync(() -> "async"));
        System.out.println(stage.toCompletableFuture().join());

        // recording never throws: misuse is counted
        // crest-lint: ignore wrong-instrument it shows the result
        CONNECT.setGauge("connect", 1);
        // crest-lint: ignore run-time-name it shows the result
        CONNECT.incrementCounter(null);

        for (String line : Crest.page(PageFormat.TEXT).split("\n"))
            if (isFigure(line)) System.out.println(line);
    }

    /** The lines that do not depend on how fast the machine is. */
    private static boolean isFigure(String line) {
        return line.startsWith("rchain_") && !line.contains("_bucket{") && !line.contains("_sum")
                || line.startsWith("crest_misuse_total{") && !line.endsWith(" 0");
    }
}
