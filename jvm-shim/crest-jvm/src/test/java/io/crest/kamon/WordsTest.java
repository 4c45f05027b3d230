// SPDX-License-Identifier: Apache-2.0
package io.crest.kamon;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.typesafe.config.ConfigFactory;
import io.crest.Counter;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Kamon's words, and its environment, in the form that Crest accepts. */
class WordsTest {
    @Test
    void namesOfMetrics() {
        String[][] names = {
            {"akka.actor.time-in-mailbox", "akka.actor.time-in-mailbox"},
            {"a_B9.c", "a_B9.c"},
            {"two  words", "two__words"},
            {"http/server", "http_server"},
            {"a..b", "a._b"},
            {"a.-b.", "a._b_"},
            {".a", "metric._a"},
            {"9lives", "metric.9lives"},
            {"", "metric._"},
            {"żółć ☃ 😀x", "metric.________x"},
            {"-", "metric._"},
        };
        for (String[] name : names) {
            assertEquals(name[1], Words.name(name[0]));
            Counter.of("wordstest." + Words.name(name[0]));
        }
        String one = "a.".repeat(150) + "x";
        String two = "a.".repeat(150) + "y";
        assertTrue(Words.name(one).length() <= 180);
        assertNotEquals(Words.name(one), Words.name(two));
        Counter.of(Words.name(one));
    }

    @Test
    void keysOfLabels() {
        Words words = new Words();
        assertEquals("http_method", words.key("http.method"));
        assertEquals("http_method_2", words.key("http-method"));
        assertEquals("http_method", words.key("http.method"));
        assertEquals("exported_instance", words.key("instance"));
        assertEquals("exported_outcome", words.key("outcome"));
        assertEquals("tag_9", words.key("9"));
        assertEquals("tag__x", words.key("_x"));
        assertEquals("tag_", words.key(""));
        assertEquals("more_tags_2", words.key("more_tags"));
        assertTrue(words.key("k".repeat(300)).length() <= 100);
        assertNotEquals(words.key("k".repeat(300)), words.key("k".repeat(301)));
    }

    @Test
    void whoReports() {
        CrestSettings settings =
                new CrestSettings(
                        ConfigFactory.parseString(
                                        "kamon.environment { service = \"a \\\"b\\\", ${HOME}\","
                                                + " host = h, instance = i,"
                                                + " tags { version = 1.2, env = staging } },"
                                                + " kamon.crest.options = \"statsd=on\"")
                                .withFallback(ConfigFactory.defaultReference()));
        assertTrue(
                settings.options.startsWith(
                        "service=\"a \"\"b\"\", $${HOME}\",instance=\"i\",resource.host=\"h\","),
                settings.options);
        assertTrue(settings.options.contains(",version=\"1.2\""), settings.options);
        assertTrue(settings.options.contains(",resource.env=\"staging\""), settings.options);
        assertTrue(settings.options.endsWith(",statsd=on"), settings.options);
        assertEquals(Duration.ofSeconds(5), settings.stopTimeout);
    }
}
