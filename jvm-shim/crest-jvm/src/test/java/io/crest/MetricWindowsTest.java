// SPDX-License-Identifier: Apache-2.0
package io.crest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Settings of a metric that take time to show: windows, their quantiles, idle hiding. */
class MetricWindowsTest {
    static { assertTrue(Library.AVAILABLE, Library.problem()); }

    private static final long IDLE_NS = 1_000_000_000L;
    private static final long PATIENCE_NS = 60_000_000_000L;

    private static String read(Path path) throws Exception {
        if (!Files.exists(path)) return "";
        return new String(Files.readAllBytes(path), StandardCharsets.UTF_8);
    }

    /**
     * Counts, and checks that the counter is on the page. If so much time went by before the page
     * was read that it is hidden again, it counts once more. Returns how far it has counted.
     */
    private static int shownWhenCounted(Counter hidden, int counted) {
        for (;;) {
            long from = System.nanoTime();
            hidden.increment();
            boolean shown =
                    Crest.page(PageFormat.TEXT).contains("windows_hidden_total " + counted + "\n");
            if (shown || System.nanoTime() - from < IDLE_NS) {
                assertTrue(shown, "windows_hidden_total " + counted + " is not on the page");
                return counted;
            }
            counted++;
        }
    }

    @Test
    void windowsAndQuantilesAndHiding(@TempDir Path folder) throws Exception {
        Path file = folder.resolve("page.prom");
        Timer timer = Metric.named("windows.asked").quantiles(0.5, 0.99).timer();
        Timer without = Metric.named("windows.none").withoutWindows().timer();
        Counter hidden = Metric.named("windows.hidden").idle(Duration.ofNanos(IDLE_NS)).counter();
        Counter shown = Counter.of("windows.shown");
        shown.increment();
        Crest.start("textfile=" + file + ",textfile.windows=on,textfile.interval=1s");
        try {
            // after the start, which may take longer than it is shown
            int counted = shownWhenCounted(hidden, 1);
            long began = System.nanoTime();
            String page;
            boolean hides;
            do {
                timer.record(1_000_000);
                without.record(1_000_000);
                Thread.sleep(50);
                page = read(file);
                hides = !Crest.page(PageFormat.TEXT).contains("windows_hidden_total");
            } while (!(page.contains("windows_asked_p99_1m_seconds{") && hides)
                    && System.nanoTime() - began < PATIENCE_NS);
            assertTrue(page.contains("windows_asked_p50_1m_seconds{outcome=\"ok\"} "), page);
            assertTrue(page.contains("windows_asked_p99_1m_seconds{outcome=\"ok\"} "), page);
            assertTrue(page.contains("windows_asked_max1m_seconds{outcome=\"ok\"} "), page);
            assertTrue(page.contains("windows_none_seconds_count{outcome=\"ok\"} "), page);
            assertFalse(page.contains("windows_none_max1m"), page);
            assertTrue(hides);
            assertTrue(Crest.page(PageFormat.TEXT).contains("windows_shown_total 1"));
            counted = shownWhenCounted(hidden, counted + 1);
            assertEquals(counted, hidden.value());
        } finally {
            Crest.stop(Duration.ofSeconds(60));
        }
    }
}
