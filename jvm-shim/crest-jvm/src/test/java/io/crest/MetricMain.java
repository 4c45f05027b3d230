// SPDX-License-Identifier: Apache-2.0
package io.crest;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/** Metrics in a JVM of their own: without the library, or past the limit. */
final class MetricMain {
    private MetricMain() {}

    public static void main(String[] arguments) throws Exception {
        if (arguments[0].equals("without")) without();
        else if (arguments[0].equals("strict")) strict();
        else tooMany();
    }

    private static void says(Object what) {
        System.out.println(what);
    }

    /** Makes every call; none records. */
    private static void without() throws Exception {
        Counter counter = Counter.of("no such name");
        counter.increment();
        counter.close();
        says(counter.value());
        Family<Timer> family = Metric.named("x").labelled("peer").timer();
        Timer timer = family.with((String) null);
        Timing timing = timer.start(7);
        says(timing.stop(8) + " " + timing.stop(7) + " " + timing.stop(7));
        byte[] hash = new byte[40];
        timing = timer.start(hash);
        hash[39] = 1;
        says(timing.stop(hash) + " " + timing.stop(new byte[40]));
        says(timer.time(() -> "lambda"));
        says(timer.timeStage(() -> CompletableFuture.completedFuture("stage"))
                .toCompletableFuture().get());
        timer.record(Duration.ofSeconds(1), Outcome.ERROR);
        timer.stopNanos(timer.startNanos());
        says(timer.begin("x") + " " + timer.end("x") + " " + timer.inFlight().count() + " "
                + timer.oldest(3).size());
        Stages stages = Stages.of("y", "z", "a", "b");
        says(stages.begin(1) + " " + stages.mark(1, "a") + " " + stages.end(1));
        Metric.named("h").in(Unit.BYTES).histogram().record(5);
        Gauge.of("g").set(1);
        RangeSampler.of("r").increment();
        try {
            Counter.of(null);
        } catch (IllegalArgumentException e) {
            says("null is told");
        }
    }

    private static void strict() {
        Crest.start("strict=on");
        Counter.of("strict.block-seen");
        try {
            Counter.of("strict.blockSeen");
        } catch (CrestException e) {
            says(e.status());
            says(e.getMessage());
        }
    }

    /** A registry holds 100,000 metrics. */
    private static void tooMany() {
        Counter last = null;
        for (int i = 0; i < 100_010; i++) last = Counter.of("many.m" + i);
        last.increment();
        says(last.value());
        Timer timer = Timer.of("many.timer");
        Timing timing = timer.start(1);
        says(timing.stop(1) + " " + timing.stop(1) + " " + timer.begin(1));
        Family<Histogram> family = Metric.named("many.family").labelled("k").histogram();
        family.with("v").record(5);
        Gauge.of("many.gauge").set(1);
        RangeSampler.of("many.sampler").increment();
        Stages.of("many.stages", "z", "a").begin(1);
        says(Counter.of("many.m0") != null);
        boolean none = Page.misuse("limit") == 0;
        says(none ? "not counted" : "counted");
    }
}
