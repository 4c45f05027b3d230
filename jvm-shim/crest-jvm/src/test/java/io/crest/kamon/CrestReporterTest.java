// SPDX-License-Identifier: Apache-2.0
package io.crest.kamon;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import com.typesafe.config.ConfigValueFactory;
import io.crest.Crest;
import io.crest.CrestException;
import io.crest.Status;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import kamon.Kamon;
import kamon.metric.MeasurementUnit;
import kamon.metric.PeriodSnapshot;
import kamon.module.ModuleFactory;
import kamon.tag.TagSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The module's life as Kamon leads it. */
class CrestReporterTest {
    @TempDir Path folder;

    private static Config config(String options) {
        return Kamon.config()
                .withValue("kamon.crest.options", ConfigValueFactory.fromAnyRef(options));
    }

    private static CrestReporter reporter(String options) {
        return (CrestReporter)
                new CrestReporterFactory()
                        .create(new ModuleFactory.Settings(config(options), null));
    }

    private static PeriodSnapshot period(String name) {
        return new Periods()
                .counter(name, MeasurementUnit.none(), Map.of(TagSet.Empty(), 5L))
                .snapshot();
    }

    private static String text(Path page) throws IOException {
        return Files.readString(page, StandardCharsets.UTF_8);
    }

    private static void assertNotRunning() {
        CrestException e =
                assertThrows(CrestException.class, () -> Crest.stop(Duration.ofSeconds(5)));
        assertEquals(Status.NOT_RUNNING, e.status());
    }

    @Test
    void theJarsConfigurationNamesIt() {
        Config module = ConfigFactory.defaultReference().getConfig("kamon.modules.crest-reporter");
        assertTrue(module.getBoolean("enabled"));
        assertEquals(CrestReporterFactory.class.getName(), module.getString("factory"));
    }

    @Test
    void stopDeliversWhatWasForwardedLast() throws IOException {
        Path page = folder.resolve("page.prom");
        CrestReporter reporter = reporter("interval=1h,textfile=" + page);
        reporter.reportPeriodSnapshot(period("reporter.first"));
        reporter.reportPeriodSnapshot(period("reporter.first"));
        reporter.stop();
        assertTrue(text(page).contains("\nreporter_first_total 10\n"), text(page));
        assertTrue(text(page).contains("service=\"kamon-application\""), text(page));
        reporter.stop();
        assertNotRunning();
        reporter.reportPeriodSnapshot(period("reporter.first")); // late, and no harm
    }

    @Test
    void otherOptionsComeIntoForce() throws IOException {
        Path before = folder.resolve("before.prom");
        Path after = folder.resolve("after.prom");
        CrestReporter reporter = reporter("interval=1h,textfile=" + before);
        reporter.reportPeriodSnapshot(period("reporter.second"));
        reporter.reconfigure(config("interval=1h,textfile=" + before));
        reporter.reconfigure(config("interval=1h,textfile=" + after));
        assertTrue(text(before).contains("\nreporter_second_total 5\n"));
        reporter.reportPeriodSnapshot(period("reporter.second"));
        reporter.stop();
        assertTrue(text(after).contains("\nreporter_second_total 10\n"));
        assertFalse(text(before).contains("\nreporter_second_total 10\n"));
        assertNotRunning();
    }

    @Test
    void wrongOptionsLeaveThoseThatWork() throws IOException {
        Path page = folder.resolve("page.prom");
        CrestReporter reporter = reporter("interval=1h,textfile=" + page);
        reporter.reportPeriodSnapshot(period("reporter.fifth"));
        reporter.reconfigure(config("textfile"));
        reporter.reconfigure(config("jvm=perhaps,textfile=" + folder.resolve("other.prom")));
        reporter.reconfigure(config("textfile=" + folder.resolve("none/there/page.prom")));
        reporter.reconfigure(
                config("statsd=on").withValue(
                        "kamon.crest.stop-timeout", ConfigValueFactory.fromAnyRef("soon")));
        assertFalse(Files.exists(folder.resolve("other.prom")));
        reporter.reportPeriodSnapshot(period("reporter.fifth"));
        reporter.stop();
        assertTrue(text(page).contains("\nreporter_fifth_total 10\n"), text(page));
        assertNotRunning();
    }

    @Test
    void optionsThatAreNoneStartNothing() {
        CrestReporter reporter = reporter("textfile");
        reporter.reportPeriodSnapshot(period("reporter.third"));
        reporter.stop();
        assertNotRunning();
    }

    @Test
    void aStartBeforeKamonsCounts() throws IOException {
        Path page = folder.resolve("page.prom");
        Crest.start("interval=1h,textfile=" + page);
        CrestReporter reporter = reporter("interval=1h,textfile=" + folder.resolve("other.prom"));
        reporter.reportPeriodSnapshot(period("reporter.fourth"));
        reporter.stop();
        Crest.stop(Duration.ofSeconds(60));
        assertTrue(text(page).contains("\nreporter_fourth_total 5\n"));
        assertNotRunning();
    }
}
