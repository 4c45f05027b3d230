// SPDX-License-Identifier: Apache-2.0
package io.crest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** Misuse is counted, call by call; it throws nothing and records nothing. */
class SourceMisuseTest {
    static { assertTrue(Library.AVAILABLE, Library.problem()); }

    private static final Source COMM = Source.of("source.misused");

    /** Every call that records by name. */
    private static final List<Consumer<String>> CALLS =
            List.of(
                    COMM::incrementCounter,
                    name -> COMM.incrementCounter(name, 2),
                    COMM::incrementSampler,
                    name -> COMM.incrementSampler(name, -2),
                    COMM::decrementSampler,
                    name -> COMM.decrementSampler(name, 2),
                    COMM::sample,
                    name -> COMM.setGauge(name, 2),
                    name -> COMM.setGauge(name, 2.5),
                    COMM::incrementGauge,
                    name -> COMM.incrementGauge(name, 2),
                    name -> COMM.incrementGauge(name, 2.5),
                    COMM::decrementGauge,
                    name -> COMM.decrementGauge(name, 2),
                    name -> COMM.decrementGauge(name, 2.5),
                    name -> COMM.record(name, 2),
                    name -> COMM.record(name, 2, 3),
                    name -> COMM.timer(name, () -> "x"),
                    name -> COMM.timerStage(name, () -> null),
                    name -> COMM.recordTimer(name, 5, Outcome.OK));

    private static double misuse() {
        double all = 0;
        for (String line : Page.now().lines("crest_misuse_total{").split("\n"))
            all += Double.parseDouble(line.substring(line.indexOf('}') + 2));
        return all;
    }

    private static void assertEachIsCounted(String cause, String name) {
        double before = Page.misuse(cause);
        double others = misuse() - before;
        for (Consumer<String> call : CALLS) call.accept(name);
        assertEquals(before + CALLS.size(), Page.misuse(cause), cause + ": " + name);
        assertEquals(others, misuse() - Page.misuse(cause), "something else, too: " + name);
    }

    @Test
    void namesThatAreNone() {
        String long201 = "x".repeat(201 - "source.misused.".length());
        List<String> wrong =
                List.of("", " ", ".", "a.", ".a", "a..b", "a b", "events\0", "\0", "ä", "a\uD800b",
                        "a\uDC00", "\uD83D\uDE00", "a\n", "a{b=\"c\"}", long201,
                        "y".repeat(1 << 20));
        for (String name : wrong) assertEachIsCounted("invalid-name", name);
        assertEachIsCounted("invalid-name", null);
        assertFalse(Page.now().has("source_misused_x"));
        COMM.incrementCounter(long201.substring(1));
        assertEquals(1, COMM.counter(long201.substring(1)).value());
    }

    @Test
    void aNameOfAnotherKind() {
        Metric.named("source.misused.stages").stages("0", "1");
        assertEachIsCounted("type-clash", "stages");
        Metric.named("source.misused.family").labelled("kind").counter();
        assertEachIsCounted("type-clash", "family");
        COMM.setGauge("level", 7);
        double before = Page.misuse("type-clash");
        COMM.incrementCounter("level");
        COMM.record("level", 1);
        COMM.incrementSampler("level");
        COMM.setGauge("level", 8);
        assertEquals(before + 3, Page.misuse("type-clash"));
        assertEquals(8, COMM.gauge("level").value());
    }

    @Test
    void amountsThatCannotBe() {
        double negative = Page.misuse("negative-amount");
        COMM.incrementCounter("counted", -1);
        COMM.incrementCounter("counted", Long.MIN_VALUE);
        COMM.incrementCounter("counted", 0);
        assertEquals(negative + 2, Page.misuse("negative-amount"));
        assertEquals(0, COMM.counter("counted").value());
        COMM.record("size", -1);
        COMM.record("size", 1, -1);
        COMM.record("size", 5, 0);
        assertEquals(negative + 4, Page.misuse("negative-amount"));
        assertEquals(0, Page.now().value("source_misused_size_count"));
        double nan = Page.misuse("not-a-number");
        COMM.setGauge("nan", Double.NaN);
        COMM.incrementGauge("nan", Double.NaN);
        assertEquals(nan + 2, Page.misuse("not-a-number"));
    }
}
