// SPDX-License-Identifier: Apache-2.0
package io.crest;

/**
 * Makes names at run time, more than there may be, and sources too, in a JVM of its own with a
 * small heap. Neither throws, nor fills the heap, and those past the limit are counted.
 */
final class ByNameLimitMain {
    private static final int NAMES_MAX = 10_000;
    private static final int SOURCES_MAX = 1000;

    private ByNameLimitMain() {}

    private static void must(boolean holds, String what) {
        if (!holds) throw new AssertionError(what);
    }

    public static void main(String[] arguments) {
        int beyond = Integer.parseInt(arguments[0]);
        names(beyond);
        sources(beyond);
        System.out.println("bounded");
    }

    private static void names(int beyond) {
        Source source = Source.of("limit");
        double before = Page.misuse("limit");
        for (int i = 0; i < NAMES_MAX + beyond; i++) source.incrementCounter("a.name-" + i, 2);
        must(Page.misuse("limit") == before + beyond, "limit: " + Page.misuse("limit"));
        must(source.counter("a.name-0").value() == 2, "the first one");
        source.incrementCounter("a.name-9999");
        must(source.counter("a.name-9999").value() == 3, "the last one");
        source.setGauge("another-kind", 1);
        must(Page.misuse("limit") == before + beyond + 1, "gauges count, too");
        source.gauge("another-kind").set(4); // a handle is not made by name
        source.incrementGauge("another-kind");
        must(source.gauge("another-kind").value() == 5, "a handle's");
        must(Page.misuse("limit") == before + beyond + 1, "found, not made");
    }

    private static void sources(int beyond) {
        double before = Page.misuse("limit");
        for (int i = 0; i < SOURCES_MAX - 1 + beyond; i++) {
            Source source = Source.of("source-" + i);
            must(source.name().equals("source-" + i), source.name());
        }
        must(Page.misuse("limit") == before + beyond, "sources: " + Page.misuse("limit"));
        Source nowhere = Source.of("one-more");
        before = Page.misuse("limit");
        nowhere.incrementCounter("events");
        must(Page.misuse("limit") == before + 1, "nowhere");
        must(Source.of("source-0") == Source.of("source-0"), "kept");
    }
}
