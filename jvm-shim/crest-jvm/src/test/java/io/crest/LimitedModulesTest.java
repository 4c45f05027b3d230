// SPDX-License-Identifier: Apache-2.0
package io.crest;

import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** A runtime that jlink made of java.base alone, without sun.misc.Unsafe. */
class LimitedModulesTest {
    @Test
    void recordsOrSaysWhatIsMissing() throws Exception {
        String output =
                new ChildJvm().with("--limit-modules", "java.base").run(LimitedModulesMain.class);
        String wanted =
                Runtime.version().feature() >= 24 ? "counted 2" : "Add the module jdk.unsupported";
        assertTrue(output.contains(wanted), output);
        assertTrue(output.contains("ended"), output);
    }
}
