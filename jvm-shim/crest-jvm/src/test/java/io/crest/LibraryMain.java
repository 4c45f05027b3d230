// SPDX-License-Identifier: Apache-2.0
package io.crest;

/** Prints in a JVM of its own whether the library is loaded, and if not, why; and counts. */
final class LibraryMain {
    private LibraryMain() {}

    public static void main(String[] arguments) {
        System.out.println("available " + Library.AVAILABLE);
        System.out.println("problem " + Library.problem());
        System.out.println("reporters " + Library.reportersProblem());
        if (!Library.AVAILABLE) return;
        Counter counter = Counter.of("loading.things");
        for (int i = 0; i < 1000; i++) counter.increment();
        System.out.println("counted " + counter.value());
    }
}
