// SPDX-License-Identifier: Apache-2.0
package io.crest;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Many threads with many histograms: few have counts of their own, and all counts are exact. */
class OwnCountsTest {
    @Test
    void fewPairsHaveCountsOfTheirOwnAndTheBusyGetThem() throws Exception {
        List<String> said =
                new ChildJvm().run(OwnCountsMain.class).lines().collect(Collectors.toList());
        assertEquals(
                List.of(
                        "few: " + OwnCounts.FIRST,
                        "first: shared",
                        "calls: at most 2",
                        "busy: own",
                        "counts: 20000 50000",
                        "sum: " + 100 * ((1L << 20) - 1),
                        "misuse: 1"),
                said);
    }
}
