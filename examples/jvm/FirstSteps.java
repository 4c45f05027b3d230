// SPDX-License-Identifier: Apache-2.0

import io.crest.Buckets;
import io.crest.Counter;
import io.crest.Crest;
import io.crest.Family;
import io.crest.Gauge;
import io.crest.Histogram;
import io.crest.Metric;
import io.crest.PageFormat;
import io.crest.RangeSampler;
import io.crest.Unit;

/**
 * First steps: instruments are made once and recorded through often; the page of the process has
 * them all. Run it as
 *
 *     java -cp crest-jvm-0.2.0.jar FirstSteps.java
 */
public final class FirstSteps {
    private static final Counter CREATED =
            Counter.of("casper.blocks-created", "Blocks this node proposed.");
    private static final Gauge PEERS = Gauge.of("comm.peers", "Peers connected now.");
    private static final RangeSampler QUEUE =
            RangeSampler.of("comm.inbound-queue", "Messages waiting.");
    private static final Histogram SIZE =
            Metric.named("casper.block-size")
                    .describedAs("Serialised block.")
                    .in(Unit.BYTES)
                    .buckets(Buckets.of(1024, 65536))
                    .histogram();
    private static final Family<Counter> MESSAGES =
            Metric.named("comm.messages")
                    .describedAs("Messages sent.")
                    .labelled("kind", "peer")
                    .counter();

    public static void main(String[] arguments) {
        for (int i = 0; i < 3; i++) {
            CREATED.increment();
            SIZE.record(1000 + 100 * i);
        }
        PEERS.set(12);
        PEERS.decrement();
        QUEUE.increment(5);
        QUEUE.decrement(2);

        Counter pings = MESSAGES.with("ping", "10.0.0.7"); // resolved once
        for (int i = 0; i < 100; i++) pings.increment();

        System.out.println("blocks created: " + CREATED.value());
        System.out.println("waiting: " + QUEUE.value());
        try {
            // crest-lint: ignore undeclared-name it shows the result
            Counter.of("blocks created"); // what is wrong is told where it is made
        } catch (IllegalArgumentException e) {
            System.out.println(e.getMessage().split(";")[0]);
        }

        String page = Crest.page(PageFormat.TEXT);
        for (String line : page.split("\n"))
            if (line.startsWith("comm_") || line.startsWith("casper_")) System.out.println(line);
    }
}
