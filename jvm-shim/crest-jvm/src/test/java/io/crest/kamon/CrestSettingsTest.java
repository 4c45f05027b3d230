// SPDX-License-Identifier: Apache-2.0
package io.crest.kamon;

import static org.junit.jupiter.api.Assertions.assertTrue;

import com.typesafe.config.ConfigFactory;
import io.crest.Crest;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class CrestSettingsTest {
    /** No text in a tag keeps anything from being reported. */
    @Test
    void whateverTheEnvironmentSaysCanBeStartedWith() {
        assertTrue(Crest.available(), Crest.unavailableReason());
        String odd = "\"a, \\\"b\\\" ${PID}\\r\\nc = @d\"";
        CrestSettings settings =
                new CrestSettings(
                        ConfigFactory.parseString(
                                        "kamon.environment.service = " + odd
                                                + "\nkamon.environment.tags.odd = " + odd
                                                + "\nkamon.crest.options = \"interval=1h\"")
                                .withFallback(ConfigFactory.load())
                                .resolve());
        Crest.start(settings.options);
        Crest.stop(Duration.ofSeconds(60));
    }
}
