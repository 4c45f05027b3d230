// SPDX-License-Identifier: Apache-2.0
package io.crest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

class KeyedTest {
    static { assertTrue(Library.AVAILABLE, Library.problem()); }

    @Test
    void beginsHereAndEndsElsewhere() throws Exception {
        Timer timer = Timer.of("keyed.fetch");
        assertEquals(Status.OK, timer.begin(7));
        assertEquals(Status.ALREADY, timer.begin(7));
        assertEquals(Status.OK, timer.begin("7"));
        assertEquals(Status.OK, timer.begin(new byte[] {7}));
        assertEquals(Status.OK, timer.begin(Op.of(7, 7)));
        assertEquals(4, timer.inFlight().count());
        Thread other = new Thread(() -> assertEquals(Status.OK, timer.end(7, Outcome.ERROR)));
        other.start();
        other.join();
        assertEquals(Status.NOT_FOUND, timer.end(7, Outcome.OK));
        assertEquals(Status.OK, timer.end("7"));
        assertEquals(Status.OK, timer.end(new byte[] {7}, Outcome.CANCELLED));
        assertEquals(Status.OK, timer.end(Op.of(7, 7)));
        assertEquals(0, timer.inFlight().count());
        assertEquals(0, timer.inFlight().oldestNanos());
        assertEquals(2, TimerTest.count("keyed_fetch", Outcome.OK));
        assertEquals(1, TimerTest.count("keyed_fetch", Outcome.ERROR));
        assertEquals(1, TimerTest.count("keyed_fetch", Outcome.CANCELLED));
    }

    @Test
    void noIdAndNoOutcomeAreCounted() {
        Timer timer = Timer.of("keyed.wrong");
        double operation = Page.misuse("no-operation");
        double outcome = Page.misuse("invalid-outcome");
        assertEquals(Status.INVALID_ARGUMENT, timer.begin((String) null));
        assertEquals(Status.INVALID_ARGUMENT, timer.begin(new byte[0]));
        assertEquals(Status.INVALID_ARGUMENT, timer.begin((Op) null));
        assertEquals(Status.INVALID_ARGUMENT, timer.end((byte[]) null));
        assertEquals(Status.INVALID_ARGUMENT, timer.end("", Outcome.OK));
        assertEquals(Status.OK, timer.begin(1));
        assertEquals(Status.INVALID_ARGUMENT, timer.end(1, null));
        assertEquals(Status.OK, timer.end(1));
        assertEquals(operation + 5, Page.misuse("no-operation"));
        assertEquals(outcome + 1, Page.misuse("invalid-outcome"));
    }

    @Test
    void whatTakesTooLongTimesOut() throws Exception {
        Timer timer = Metric.named("keyed.late").deadline(Duration.ofMillis(20)).timer();
        timer.begin(1);
        Thread.sleep(40);
        assertEquals(Status.TIMED_OUT, timer.end(1, Outcome.OK));
        assertEquals(1, TimerTest.count("keyed_late", Outcome.TIMEOUT));
        assertEquals(0, TimerTest.count("keyed_late", Outcome.OK));
    }

    @Test
    void theOldestAreListedAndTheStuckExported() throws Exception {
        Timer timer = Metric.named("keyed.stuck").deadline(Duration.ofSeconds(12)).timer();
        byte[] hash = new byte[32];
        Arrays.fill(hash, (byte) 0xab);
        timer.begin(7L);
        Thread.sleep(2);
        timer.begin(hash);
        Thread.sleep(2);
        timer.begin("a text with more than thirty-two bytes");
        Thread.sleep(2);
        timer.begin("young");
        List<InFlight.Operation> oldest = timer.oldest(3);
        assertEquals(3, oldest.size());
        assertEquals(Op.of(7), oldest.get(0).op());
        assertEquals(Op.of(hash), oldest.get(1).op());
        assertEquals(Op.of("a text with more than thirty-two bytes"), oldest.get(2).op());
        assertTrue(oldest.get(0).ageNanos() >= 6_000_000, oldest.toString());
        assertEquals(-1, oldest.get(0).stage());
        assertEquals(4, timer.oldest(1000).size());
        assertEquals(0, timer.oldest(0).size());
        assertEquals(0, timer.oldest(-1).size());
        assertTrue(timer.inFlight().oldest().toNanos() >= oldest.get(0).ageNanos());
        // stuck from half the deadline on, and no longer there when it has passed
        Page page = Page.now();
        for (int i = 0; i < 1100 && !page.has(stuck(oldest.get(2))); i++) {
            Thread.sleep(10);
            page = Page.now();
        }
        for (InFlight.Operation one : oldest)
            assertTrue(page.has(stuck(one)),
                    stuck(one) + " is not among " + page.lines("keyed_stuck"));
        assertEquals(4, page.value("keyed_stuck_in_flight"));
    }

    private static String stuck(InFlight.Operation operation) {
        return "keyed_stuck_stuck_seconds{op=\"" + operation.op() + "\"}";
    }

    @Test
    void seriesOfAFamilyHaveOperationsOfTheirOwn() {
        Family<Timer> family = Metric.named("keyed.peers").labelled("peer").timer();
        assertEquals(Status.OK, family.with("a").begin(1));
        assertEquals(Status.NOT_FOUND, family.with("b").end(1));
        assertEquals(Status.OK, family.with("b").begin(1));
        assertEquals(Status.OK, family.with("a").end(1));
        assertEquals(1, family.with("b").inFlight().count());
        assertEquals(0, family.with("a").inFlight().count());
    }

    @Test
    void stagesAreMarkedAtMostOnceAndInAnyOrder() throws Exception {
        Stages stages = Stages.of("keyed.consensus", "From proposal on.", "0", "1/3", "1");
        double again = Page.misuse("stage-again");
        double none = Page.misuse("invalid-stage");
        assertEquals(Status.OK, stages.begin("block"));
        assertEquals(Status.OK, stages.mark("block", 2));
        assertEquals(2, stages.oldest(1).get(0).stage());
        assertEquals(Status.OK, stages.mark("block", "0"));
        assertEquals(Status.ALREADY, stages.mark("block", "1"));
        assertEquals(Status.INVALID_ARGUMENT, stages.mark("block", 3));
        assertEquals(Status.INVALID_ARGUMENT, stages.mark("block", "2/3"));
        assertEquals(Status.INVALID_ARGUMENT, stages.mark("block", (String) null));
        assertEquals(Status.NOT_FOUND, stages.mark("other", 1));
        assertEquals(Status.OK, stages.end("block", Outcome.OK));
        assertEquals(Status.NOT_FOUND, stages.mark("block", 1));
        assertEquals(Status.NOT_FOUND, stages.end("block", Outcome.OK));
        for (int i = 0; i < 3; i++) {
            byte[] hash = {(byte) i, 1};
            assertEquals(Status.OK, stages.begin(hash));
            assertEquals(Status.OK, stages.mark(hash, i));
            assertEquals(Status.OK, stages.mark(Op.of(hash), (i + 1) % 3));
            assertEquals(Status.OK, stages.begin(i));
            assertEquals(Status.OK, stages.mark(i, "1/3"));
            assertEquals(Status.OK, stages.end(i));
            assertEquals(Status.OK, stages.end(Op.of(hash), Outcome.ERROR));
        }
        Page page = Page.now();
        String since = "keyed_consensus_since_start_seconds_count{stage=";
        assertEquals(3, page.value(since + "\"0\"}"));
        assertEquals(5, page.value(since + "\"1/3\"}"));
        assertEquals(3, page.value(since + "\"1\"}"));
        assertEquals(3, page.value("keyed_consensus_stage_seconds_count{stage=\"0\"}"));
        assertEquals(4, TimerTest.count("keyed_consensus", Outcome.OK));
        assertEquals(3, TimerTest.count("keyed_consensus", Outcome.ERROR));
        assertEquals(again + 1, Page.misuse("stage-again"));
        assertEquals(none + 3, Page.misuse("invalid-stage"));
    }

    @Test
    void aMarkAfterTheDeadlineIsLate() throws Exception {
        Stages stages = Metric.named("keyed.slow").deadline(Duration.ofMillis(20)).stages("a", "b");
        int id = 0;
        Status first;
        boolean held; // this thread, for longer than the deadline: too late to check
        do {
            if (id > 0) stages.end(id);
            long from = System.nanoTime();
            stages.begin(++id);
            first = stages.mark(id, "a");
            held = System.nanoTime() - from >= 20_000_000;
        } while (first != Status.OK && held);
        assertEquals(Status.OK, first);
        Thread.sleep(40);
        assertEquals(Status.TIMED_OUT, stages.mark(id, "b"));
        assertEquals(Status.TIMED_OUT, stages.end(id));
        assertEquals(id, TimerTest.count("keyed_slow", Outcome.TIMEOUT));
    }

    @Test
    void stagesHaveLabelsToo() {
        Family<Stages> family = Metric.named("keyed.labelled").labelled("shard").stages("a", "b");
        Stages root = family.with("root");
        root.begin(1);
        root.mark(1, "b");
        root.end(1, Outcome.CANCELLED);
        String sample = "keyed_labelled_seconds_count{shard=\"root\",outcome=\"cancelled\"}";
        assertEquals(1, Page.now().value(sample));
        assertEquals(1, Page.now().value(
                "keyed_labelled_since_start_seconds_count{shard=\"root\",stage=\"b\"}"));
    }
}
