// SPDX-License-Identifier: Apache-2.0
package io.crest;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Without the native library everything works and records nothing. */
class NoLibraryTest {
    private static Object without(Class<?> callable) throws Exception {
        try (WithProperty off = new WithProperty("crest.native", "off");
                OtherLoader other = new OtherLoader()) {
            return other.call(callable);
        }
    }

    @Test
    void everyPublicCallMayBeMade() throws Exception {
        assertEquals(List.of(), without(EveryCall.class));
    }

    /** The return values without a library. */
    static final class Values implements Callable<String> {
        @Override
        public String call() throws Exception {
            Counter counter = Counter.of("none.counter");
            counter.increment(3);
            Gauge gauge = Gauge.of("none.gauge");
            gauge.set(3);
            RangeSampler sampler = RangeSampler.of("none.sampler");
            sampler.increment(3);
            Family<Counter> family = Metric.named("none.family").labelled("key").counter();
            family.with("value").increment();
            String timed = Timer.of("none.timer").time(() -> "timed");
            Crest.start("interval=1s");
            return Crest.available() + " " + counter.value() + " " + gauge.value() + " "
                    + sampler.value() + " " + family.with("value").value() + " " + timed + " "
                    + Crest.page(PageFormat.TEXT) + Crest.unavailableReason();
        }
    }

    @Test
    void nothingIsRecorded() throws Exception {
        assertEquals(
                "false 0 0.0 0 0 timed Crest records nothing. It is switched off by"
                        + " -Dcrest.native=off.",
                without(Values.class));
    }

    /** Exceptions of timed code come out unchanged. */
    static final class Throwing implements Callable<String> {
        @Override
        public String call() {
            try {
                Timer.of("none.timer").run(() -> { throw new InterruptedException("thrown"); });
            } catch (InterruptedException e) {
                return e.getMessage();
            }
            return "nothing";
        }
    }

    @Test
    void timedCodeStillThrows() throws Exception {
        assertEquals("thrown", without(Throwing.class));
    }

    /** A start that asks for reports is refused, with the reason. */
    static final class Reporting implements Callable<String> {
        @Override
        public String call() {
            try {
                Crest.start("pushgateway=http://127.0.0.1:9091");
            } catch (CrestException e) {
                return e.getMessage();
            }
            return "nothing";
        }
    }

    @Test
    void aReportIsRefusedWithTheReason() throws Exception {
        String message = (String) without(Reporting.class);
        assertEquals(true, message.contains("switched off by -Dcrest.native=off"), message);
    }

    /** The same calls where there is a library, so that the test knows what it calls. */
    @Test
    @Tag("jar")
    void everyPublicCallMayBeMadeWithTheLibraryToo() throws Exception {
        try (WithProperty jars = new WithProperty("crest.library", null);
                OtherLoader other = new OtherLoader()) {
            assertEquals(List.of(), other.call(EveryCall.class));
        }
    }
}
