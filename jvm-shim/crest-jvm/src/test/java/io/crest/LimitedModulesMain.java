// SPDX-License-Identifier: Apache-2.0
package io.crest;

/** Records with one metric of each kind, and prints the totals. */
final class LimitedModulesMain {
    private LimitedModulesMain() {}

    public static void main(String[] arguments) {
        Counter counter = Counter.of("limited.things");
        counter.increment();
        counter.increment();
        Histogram.of("limited.size").record(3);
        Gauge.of("limited.level").increment();
        RangeSampler.of("limited.queue").increment();
        Timer.of("limited.time").record(5);
        System.out.println("counted " + counter.value() + ", " + Library.problem());
        System.out.println("ended");
    }
}
