// SPDX-License-Identifier: Apache-2.0
package io.crest.bench;

import io.crest.Metric;
import io.crest.Outcome;
import io.crest.Stages;
import io.crest.Timer;
import java.util.concurrent.ConcurrentHashMap;
import org.HdrHistogram.AtomicHistogram;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.infra.BenchmarkParams;

/**
 * Keyed operations, which begin here and end elsewhere. None of the peers has them. They are
 * compared with hand-written code, which has no deadline, no oldest and no count in flight.
 */
@State(Scope.Benchmark)
public class KeyedOne {
    private static final String TIMER = "bench.deploy-time";
    private static final String STAGES = "bench.consensus";

    private String library;
    private Timer timer;
    private Stages stages;
    private ConcurrentHashMap<Long, Long> starts;
    private AtomicHistogram durations;

    @Setup
    public void make(BenchmarkParams params) {
        library = Peers.library(params);
        switch (library) {
            case "crest": timer = Metric.named(TIMER).timer(); break;
            case "crestStages": stages = Metric.named(STAGES).stages("0", "1/3", "1"); break;
            default:
                starts = new ConcurrentHashMap<>();
                durations = new AtomicHistogram(Values.HIGHEST, Values.DIGITS);
                break;
        }
    }

    @TearDown
    public void check() {
        switch (library) {
            case "crest": Totals.found(CrestPage.whole(TIMER + "_seconds_count")); break;
            case "crestStages":
                Totals.found(CrestPage.whole(STAGES + "_stage_seconds_count") / 3);
                break;
            default: Totals.found(durations.getTotalCount()); break;
        }
    }

    @Benchmark
    public Object crest(Next next) {
        long id = next.id();
        timer.begin(id);
        return timer.end(id, Outcome.OK);
    }

    /** Begin, three marks and the end. */
    @Benchmark
    public Object crestStages(Next next) {
        long id = next.id();
        stages.begin(id);
        stages.mark(id, 0);
        stages.mark(id, 1);
        stages.mark(id, 2);
        return stages.end(id);
    }

    @Benchmark
    public void mapByHand(Next next) {
        long id = next.id();
        starts.put(id, System.nanoTime());
        durations.recordValue(System.nanoTime() - starts.remove(id));
    }
}
