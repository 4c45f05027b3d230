// SPDX-License-Identifier: Apache-2.0
package io.crest.jvm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class JvmOptionsTest {
    @ParameterizedTest
    @CsvSource({"250ms, 250", "1s, 1000", "2, 2000", "1.5s, 1500", "0.25, 250", "5m, 300000",
        "0.5h, 1800000", "1h, 3600000", "100ms, 100", "0.001000h, 3600"})
    void readsDurations(String text, long millis) {
        JvmOptions options = JvmOptions.of(Map.of("jvm.interval", text));
        assertEquals(Duration.ofMillis(millis), options.interval);
        assertEquals(JvmOptions.DEFAULT.slowInterval, options.slowInterval);
    }

    @Test
    void readsAll() {
        JvmOptions options = JvmOptions.of(Map.of("jvm", "on", "jvm.slow-interval", "1m",
                "jvm.hiccups", "no", "jvm.hiccups.resolution", "500us"));
        assertEquals(Duration.ofMinutes(1), options.slowInterval);
        assertEquals(Duration.ofNanos(500_000), options.hiccupResolution);
        assertFalse(options.hiccups);
        assertTrue(JvmOptions.of(Map.of()).hiccups);
    }

    @ParameterizedTest
    @CsvSource({"on, true", "true, true", "1, true", "yes, true", "off, false", "0, false"})
    void knowsWhetherItIsOn(String text, boolean on) {
        assertEquals(on, JvmOptions.isOn(Map.of("jvm", text)));
    }

    @Test
    void isOffUnlessAsked() {
        assertFalse(JvmOptions.isOn(Map.of("jvm.interval", "1s")));
    }

    @ParameterizedTest
    @CsvSource({
        "jvm.interval, 99ms, jvm.interval=99ms is not from 100ms to 1h",
        "jvm.interval, 61m, jvm.interval=61m is not from 100ms to 1h",
        "jvm.interval, 999999999h, jvm.interval=999999999h is not from 100ms to 1h",
        "jvm.interval, -1s, 'jvm.interval=-1s is not a duration: write 250ms, 10s, 5m or 1h'",
        "jvm.interval, 1d, 'jvm.interval=1d is not a duration: write 250ms, 10s, 5m or 1h'",
        "jvm.interval, '', 'jvm.interval= is not a duration: write 250ms, 10s, 5m or 1h'",
        "jvm.hiccups.resolution, 99us, jvm.hiccups.resolution=99us is not from 100us to 1s",
        "jvm.hiccups, maybe, jvm.hiccups=maybe is not a switch: write on or off"})
    void refusesWhatIsNone(String key, String text, String message) {
        Throwable refused = assertThrows(IllegalArgumentException.class,
                () -> JvmOptions.of(Map.of(key, text)));
        assertEquals(message, refused.getMessage());
    }

    @Test
    void refusesKeysThatThereAreNot() {
        Throwable refused = assertThrows(IllegalArgumentException.class,
                () -> JvmOptions.of(Map.of("jvm.intervall", "1s")));
        assertEquals("jvm.intervall is not an option; there are jvm, jvm.interval, "
                + "jvm.slow-interval, jvm.hiccups and jvm.hiccups.resolution",
                refused.getMessage());
        assertThrows(IllegalArgumentException.class,
                () -> JvmOptions.isOn(Map.of("jvm", "perhaps")));
        assertThrows(IllegalArgumentException.class, () -> JvmOptions.DEFAULT.interval(null));
    }
}
