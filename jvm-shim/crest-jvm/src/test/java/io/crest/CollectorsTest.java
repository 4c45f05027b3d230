// SPDX-License-Identifier: Apache-2.0
package io.crest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crest.jvm.JvmMetrics;
import io.crest.jvm.JvmOptions;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Options that Java carries out, in the text and the files that the library reads. */
class CollectorsTest {
    static {
        assertTrue(Library.AVAILABLE, Library.problem());
    }

    private static final Duration SOON = Duration.ofSeconds(60);

    private static void refused(String options, String... parts) {
        CrestException e = assertThrows(CrestException.class, () -> Crest.start(options));
        assertEquals(Status.INVALID_OPTIONS, e.status(), e.getMessage());
        for (String part : parts) assertTrue(e.getMessage().contains(part), e.getMessage());
        assertEquals(
                Status.NOT_RUNNING,
                assertThrows(CrestException.class, () -> Crest.stop(SOON)).status());
    }

    @Test
    void wrongOnesAreNamedWithTheirOrigin(@TempDir Path folder) throws Exception {
        refused("windows=off,jvm=perhaps", "jvm=perhaps", "in the string given to crest_start");
        refused("windows=off,jvm.interval=soon", "jvm.interval=soon", "crest_start");
        refused("windows=off,jvm=on,jvm.nonsense=1", "jvm.nonsense", "jvm.hiccups");
        refused("jvm@lan=on,windows=off", "jvm@lan");
        Path file = folder.resolve("options");
        Files.writeString(file, "# of the node\njvm.interval = \"x,y\"\n");
        refused("windows=off,@" + file, "jvm.interval=x,y", file + " line 2");
    }

    @Test
    void offIsNothing() {
        Crest.start("windows=off,jvm=off,jvm.interval=5s");
        Crest.stop(SOON);
    }

    private static boolean collects() {
        return Thread.getAllStackTraces().keySet().stream()
                .anyMatch(thread -> thread.getName().equals("crest-jvm"));
    }

    @Test
    void theyRunFromTheFirstStartToTheLastStop() {
        for (int cycle = 0; cycle < 3; cycle++) {
            Crest.start("windows=off,jvm=on,jvm.hiccups=off,jvm.interval=100ms");
            Crest.start();
            assertTrue(collects());
            Crest.stop(SOON);
            assertTrue(collects());
            assertTrue(Crest.page(PageFormat.TEXT).contains("\njvm_"), "the page has them");
            Crest.stop(SOON);
            assertFalse(collects());
        }
    }

    @Test
    void thoseOfTheProgramGoOn() {
        try (JvmMetrics own = JvmMetrics.start(JvmOptions.DEFAULT.hiccups(false))) {
            Crest.start("windows=off,jvm=on");
            Crest.stop(SOON);
            assertTrue(collects());
        }
        assertFalse(collects());
    }

    @Test
    void aBadOptionOfTheLibraryLeavesNoCollector() {
        refused("jvm=on,interval=soon", "interval=soon");
        assertFalse(collects());
    }
}
